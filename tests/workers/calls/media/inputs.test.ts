import { afterAll, beforeAll, expect, test } from "bun:test";

import type { InputMedia } from "#shared/calls/kinds/input-media.ts";
import { newId } from "#shared/base/ids.ts";
import { allowOutbound } from "#shared/net/allowance.ts";
import { storeCallMedia } from "#shared/storage/call-media.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import type { WorkerContext } from "#workers/context.ts";
import { createInputReader, INPUT_PROCESS_BYTES_MAX } from "#workers/calls/media/inputs.ts";

const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(1_000)]);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(PNG, { headers: { "content-type": "image/png" } }),
});
const quiet = { warn: () => undefined };

beforeAll(() => allowOutbound([`127.0.0.1:${server.port}`], quiet));
afterAll(async () => {
  allowOutbound([], quiet);
  await server.stop(true);
});

test("jobs with two media each never hold one while they wait for the other", async () => {
  const signal = AbortSignal.timeout(20_000);
  const jobs = Array.from({ length: 6 }, async () => {
    const given = ["image", "mask"].map((name) => ({
      name,
      kind: "image" as const,
      param: name,
      url: server.url.href,
    }));
    // Each of them may be as large as all that a process holds.
    const reader = createInputReader({} as WorkerContext, "w", given, () => INPUT_PROCESS_BYTES_MAX);
    const inputs = await reader.read(false, signal);
    // What is held meanwhile is no more than what came.
    await Bun.sleep(5);
    reader.release();
    return Object.keys(inputs);
  });
  for (const names of await Promise.all(jobs)) expect(names).toEqual(["image", "mask"]);
});

test("an offloaded input is read on demand, again after its release, and never when it is damaged", async () => {
  const bucket = await createTestBucket();
  const storage = storageOf(bucket.env);
  const signal = AbortSignal.timeout(20_000);
  try {
    const jobId = newId();
    const reference = await storeCallMedia(storage, jobId, "image", PNG);
    const one = { name: "image", kind: "image", param: "image_base64", kept: { reference, content_type: "image/png" } };
    const context = { storage } as WorkerContext;
    const reader = createInputReader(context, "w", [one as InputMedia], () => INPUT_PROCESS_BYTES_MAX);
    for (let time = 0; time < 2; time++) {
      const { image } = await reader.read(true, signal);
      expect(image).toEqual({ bytes: Buffer.from(PNG), contentType: "image/png" });
      reader.release();
    }
    await storeCallMedia(storage, jobId, "image", Buffer.from(PNG).fill(1, 20, 21));
    expect(await reader.read(true, signal).catch(String)).toContain("damaged");
    reader.release();
  } finally {
    storage.close();
  }
});
