import { afterAll, beforeAll, expect, test } from "bun:test";

import { LIMITS } from "#shared/limits.ts";
import { allowOutbound } from "#shared/outbound/allowance.ts";
import type { WorkerContext } from "#workers/context.ts";
import { createGivenReader } from "#workers/pools/media/given.ts";

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
    const reader = createGivenReader({} as WorkerContext, "w", given, () => LIMITS.givenProcessBytesMax);
    const inputs = await reader.read(false, signal);
    // What is held meanwhile is no more than what came.
    await Bun.sleep(5);
    reader.release();
    return Object.keys(inputs);
  });
  for (const names of await Promise.all(jobs)) expect(names).toEqual(["image", "mask"]);
});
