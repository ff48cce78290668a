/** Two checkouts in turns: ratios of the pairs, loads, and the entry that has an older checkout ask over TLS. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { temporaryDirectory } from "../support/infrastructure.ts";
import { compare, readLoad } from "./compare.ts";
import { writeEntryOverTls } from "./entry-over-tls.ts";

test("a minute at half the machine's speed changes the figures and not the ratio", () => {
  const pairs = [1, 2, 1, 2, 1].map((slow) => [500 * slow, 400 * slow] as const);
  expect(compare(pairs)).toEqual({ before: 500, after: 400, ratio: [0.8, 0.8, 0.8] });
});

test("one disturbed turn is not in the middle half", () => {
  const pairs = [[100, 100], [100, 101], [100, 102], [100, 103], [100, 900]] as const; // prettier-ignore
  expect(compare(pairs).ratio).toEqual([1.01, 1.02, 1.03]);
});

test("a load is calls in flight, calls a second, or streams", () => {
  expect(readLoad("64", 2)).toEqual({ isStream: false, seconds: 2, inFlight: 64 });
  expect(readLoad("1200/s", 3)).toEqual({ isStream: false, seconds: 3, rate: 1_200 });
  expect(readLoad("16s", 2)).toEqual({ isStream: true, seconds: 2, inFlight: 16 });
});

test.each(["", "0", "64/m", "-1", "1.5", "c64", "1200/s ", "s", "16ss"])("%j is no load", (text) => {
  expect(() => readLoad(text, 2)).toThrow("a load is calls in flight");
});

test("the entry over TLS starts a checkout's role with the upstream's https address and its certificate", async () => {
  const { directory, remove } = temporaryDirectory();
  try {
    const checkout = join(directory, "before it's merged");
    mkdirSync(join(checkout, "deploy"), { recursive: true });
    const script = `const { SLUICE_CATALOGUE: file = "", NODE_EXTRA_CA_CERTS: ca } = process.env;
      const catalogue = file && (await Bun.file(file).text());
      process.stdout.write(JSON.stringify({ args: process.argv.slice(2), ca, catalogue }));`;
    writeFileSync(join(checkout, "deploy/sluice.ts"), script);
    const catalogue = join(directory, "load.yaml");
    writeFileSync(catalogue, "base_url: http://127.0.0.1:4100/v1\nother: http://127.0.0.1:41001/v1\n");

    const entry = writeEntryOverTls(directory, checkout, 4_100, "/run/cert.pem");
    const start = async (env: Record<string, string>): Promise<unknown> => {
      const role = Bun.spawn([entry, "worker", "chat"], { env: { PATH: process.env["PATH"] ?? "", ...env } });
      return JSON.parse(await new Response(role.stdout).text());
    };
    const role = { args: ["worker", "chat"], ca: "/run/cert.pem" };
    expect(await start({ SLUICE_CATALOGUE: catalogue })).toEqual({
      ...role,
      catalogue: "base_url: https://127.0.0.1:4100/v1\nother: http://127.0.0.1:41001/v1\n",
    });
    expect(await start({})).toEqual({ ...role, catalogue: "" });
  } finally {
    remove();
  }
});
