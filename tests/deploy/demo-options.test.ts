/** Options of `npm run demo`. */
import { expect, test } from "bun:test";

import { findStack, readOptions } from "#deploy/demo/stack.mjs";
import { StartFault } from "#deploy/embedded/fault.mjs";

const read = (args: string[], environment = {}) => readOptions(args, environment, "/tmp/here");

test.each(["http://a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/"])(
  "the address %s gets /v1, from the option or from the environment",
  (address) => {
    expect(read(["--base-url", address]).baseUrl).toBe("http://a:1/v1");
    const fromEnvironment = read([], { SLUICE_BASE_URL: address, SLUICE_KEY: "k" });
    expect(fromEnvironment).toMatchObject({ baseUrl: "http://a:1/v1", key: "k" });
    expect(findStack(fromEnvironment)).toEqual({ baseUrl: "http://a:1/v1", apiKey: "k" });
  },
);

test("defaults are no address, no key, the folder demo-output and the models of the calls", () => {
  expect(read([])).toMatchObject({
    baseUrl: undefined,
    key: undefined,
    out: "/tmp/here/demo-output",
    models: new Map(),
  });
});

test("the output folder is relative to the user's folder, and --model may be repeated", () => {
  expect(read(["--out", "there"]).out).toBe("/tmp/here/there");
  expect(read(["--out", "/there"]).out).toBe("/there");
  const { models } = read(["--model", "image=gpt-image-1", "--model", "3d=a/b:c"]);
  expect(Object.fromEntries(models)).toEqual({ image: "gpt-image-1", "3d": "a/b:c" });
});

test.each([
  ["an unknown option", ["--nobody"], /--nobody[\s\S]*usage: npm run demo/],
  ["a malformed address", ["--base-url", "8080"], /^--base-url must be an address .*got "8080"\.$/],
  ["a model without a call", ["--model", "image"], /^--model must be CALL=MODEL.*got "image"\.$/],
])("rejects %s with a message", (_case, args, message) => {
  expect(() => read(args)).toThrow(StartFault);
  expect(() => read(args)).toThrow(message);
});

test("rejects an address without a key, so the key of the local stack is not sent to it", () => {
  const options = read(["--base-url", "http://127.0.0.1:9"]);
  expect(() => findStack(options)).toThrow(StartFault);
  expect(() => findStack(options)).toThrow("--base-url needs an API key");
});
