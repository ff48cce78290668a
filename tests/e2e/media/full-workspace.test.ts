/** A workspace that has no room: nothing is made for it that nobody could keep. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { listObjects } from "#shared/storage/objects.ts";
import type { Storage } from "#shared/storage/client.ts";
import { eventually } from "#tests/faults/wait.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { zipOf } from "#tests/support/hostile-files/documents.ts";

import { type Bench, errorOf, startBench } from "./bench.ts";

const STORAGE_BYTES_MAX = 200_000;

let bench: Bench;
let storage: Storage;

beforeAll(async () => {
  bench = await startBench({
    pools: ["image", "audio", "capability"],
    env: { SLUICE_STORAGE_BYTES_MAX: String(STORAGE_BYTES_MAX) },
  });
  storage = storageOf(bench.stack.env);
}, 60_000);

afterAll(async () => {
  storage?.close();
  await bench?.close();
});

test("a full workspace is rejected before any hold, work or charge, and served again after a file is deleted", async () => {
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

test("a full workspace fails a run whose files do not fit: it costs nothing and leaves nothing, and succeeds later", async () => {
  const { stack, client } = bench;
  for (const { id } of (await client.files.list()).data) await client.files.delete(id);
  const rest = 100;
  const nearly = new File([randomBytes(STORAGE_BYTES_MAX - rest)], "nearly.bin");
  const file = await client.files.create({ file: nearly, purpose: "user_data" });
  const objects = async (): Promise<number> => (await listObjects(storage, "files/", undefined, 1_000)).objects.length;
  await eventually("it is the only one", async () => (await objects()) === 1);
  const path = "/v1/capabilities/image.barcode/run";
  const body = { input: { text: { text: "tea" } }, params: {} };
  const refused = await bench.call(path, body);
  expect([refused.status, (await errorOf(refused)).code]).toEqual([403, "storage_limit_exceeded"]);
  const id = refused.headers.get("x-request-id");
  expect(await stack.query("select status, settled from usage_record where job_id = $1", [id])).toEqual([{ status: "failed", settled: 0n }]); // prettier-ignore
  await eventually("its bytes are gone", async () => (await objects()) === 1);
  expect(await stack.query("select * from audit_storage()")).toEqual([]);
  await client.files.delete(file.id);
  const made = await bench.call(path, body);
  expect(made.status).toBe(200);
  const { files } = (await made.json()) as { files: { file_id: string; bytes: number; name: string }[] };
  const [one] = files;
  expect(await client.files.retrieve(one?.file_id ?? "")).toMatchObject({ bytes: one?.bytes, filename: one?.name });
  const content = await (await client.files.content(one?.file_id ?? "")).arrayBuffer();
  expect(content.byteLength).toBe(one?.bytes ?? 0);
});

test("a full workspace loses the large files of a run whose small files do not fit", async () => {
  const { stack, client } = bench;
  for (const { id } of (await client.files.list()).data) await client.files.delete(id);
  const [large, small] = [70_000, 100];
  const room = new File([randomBytes(STORAGE_BYTES_MAX - large - small + 1)], "room.bin");
  const file = await client.files.create({ file: room, purpose: "user_data" });
  const archive = zipOf({ "small.bin": randomBytes(small), "large.bin": randomBytes(large) }, { isStored: true });
  const input = { archive: { base64: archive.toString("base64"), mime_type: "application/zip" } };
  const refused = await bench.call("/v1/capabilities/archive.extract/run", { input, params: {} });
  expect([refused.status, (await errorOf(refused)).code]).toEqual([403, "storage_limit_exceeded"]);
  // Before its caller hears of it: what another run makes has room again.
  expect((await client.files.list()).data.map(({ id }) => id)).toEqual([file.id]);
  expect(await stack.query("select used::int, files from file_storage")).toEqual([{ used: file.bytes, files: 1 }]);
});
