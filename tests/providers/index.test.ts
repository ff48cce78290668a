import { afterEach, describe, expect, test } from "bun:test";

import providerSchema from "#schemas/provider.schema.json" with { type: "json" };
import type { Provider } from "#shared/calls/model.ts";
import { type OpenAiServer, startOpenAiServer } from "#tests/providers/openai-compatible/server.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { createProviders } from "#workers/providers/index.ts";
import type { ChatCall } from "#workers/providers/provider.ts";

const servers: OpenAiServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function start(): Promise<OpenAiServer> {
  const server = startOpenAiServer();
  servers.push(server);
  return server;
}

const CALL: ChatCall = {
  request: { model: "m", messages: [{ role: "user", content: "hi" }] },
  sourceModel: "m",
  outputTokensMax: 10,
  signal: new AbortController().signal,
  workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
  traits: new Set(),
  takesAudio: true,
  adapt: () => undefined,
};

describe("the adapters", () => {
  test("call each provider at its own address with its own key only", async () => {
    const [one, two] = [await start(), await start()];
    const providers = createProviders((variable) => `value of ${variable}`);
    const entry = (id: string, server: OpenAiServer): Provider => ({
      id,
      family: "openai-compatible",
      base_url: server.url,
      api_key_env: `${id.toUpperCase()}_API_KEY`,
    });
    await providers.chat(entry("one", one))?.complete(CALL);
    await providers.chat(entry("two", two))?.complete(CALL);
    expect(one.requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer value of ONE_API_KEY"]);
    expect(two.requests.map(({ headers }) => headers["authorization"])).toEqual(["Bearer value of TWO_API_KEY"]);
  });

  test("send no key to a provider without one", async () => {
    const server = await start();
    const providers = createProviders(() => "sk-of-somebody-else");
    await providers.chat({ id: "local", family: "openai-compatible", base_url: `${server.url}/` })?.complete(CALL);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  });

  test("pass addresses of images on only to the providers listed in the catalogue", async () => {
    const server = await start();
    const providers = createProviders(() => "key");
    const url = "http://127.0.0.1:1/a.png";
    const picture = { type: "image_url" as const, image_url: { url } };
    const call: ChatCall = { ...CALL, request: { model: "m", messages: [{ role: "user", content: [picture] }] } };
    const entry: Provider = { id: "local", family: "openai-compatible", base_url: server.url };
    await providers.chat({ ...entry, media: "pass" })?.complete(call);
    expect(server.requests[0]?.body).toMatchObject({ messages: [{ content: [picture] }] });
    for (const other of [entry, { ...entry, media: "inline" as const }]) {
      const error: unknown = await providers
        .chat(other)
        ?.complete(call)
        .catch((fault: unknown) => fault);
      expect(error).toMatchObject({ kind: "rejected", code: "unsafe_url" });
    }
    expect(server.requests).toHaveLength(1);
  });

  test("are created once for an entry of the catalogue, and again for the next catalogue", () => {
    const providers = createProviders(() => "key");
    const entry: Provider = { id: "play", family: "sandbox" };
    expect(providers.chat(entry)).toBe(providers.chat(entry));
    expect(providers.chat({ ...entry })).not.toBe(providers.chat(entry));
  });
});

test.each(providerSchema.properties.family.enum)("the family %s has its own tests", (family) => {
  const glob = new Bun.Glob(`tests/**/providers/${family}/**/*.test.ts`);
  const found = [...glob.scanSync({ cwd: PROJECT_ROOT })];
  expect(found).not.toBeEmpty();
});
