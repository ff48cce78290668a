/** A workspace that has no room: nothing is made for it that nobody could keep. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { type Bench, errorOf, startBench } from "./bench.ts";

const STORAGE_BYTES_MAX = 200_000;

let bench: Bench;

beforeAll(async () => {
  bench = await startBench({ pools: ["image", "audio"], env: { SLUICE_STORAGE_BYTES_MAX: String(STORAGE_BYTES_MAX) } });
}, 60_000);

afterAll(() => bench?.close());

test("is refused before anything is held, made or paid, and served again once a file is deleted", async () => {
  const { stack, client } = bench;
  const file = await client.files.create({
    file: new File([randomBytes(STORAGE_BYTES_MAX)], "all.bin"),
    purpose: "user_data",
  });
  const calls = [
    ["/v1/images/generations", { model: "sandbox-image", prompt: "a boat", size: "256x256" }],
    ["/v1/audio/speech", { model: "sandbox-tts", input: "hello", voice: "alloy" }],
  ] as const;
  for (const [path, body] of calls) {
    const error = await errorOf(await bench.call(path, body));
    expect([path, error.status, error.code]).toEqual([path, 403, "storage_limit_exceeded"]);
  }
  for (const table of ["job", "hold", "usage_record"]) {
    expect([table, await stack.query(`select 1 from ${table}`)]).toEqual([table, []]);
  }
  await client.files.delete(file.id);
  for (const [path, body] of calls) {
    const response = await bench.call(path, body);
    expect([path, response.status]).toEqual([path, 200]);
    await response.arrayBuffer();
  }
});
