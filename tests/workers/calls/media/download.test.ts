/** Files that a provider hands over from its own origin, does not, or not to their end. */
import { afterAll, describe, expect, test } from "bun:test";

import { jobAbort } from "#workers/job.ts";
import { spool, type SpoolLimits } from "#workers/calls/media/spool.ts";
import type { Artifact } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { openVideo } from "#workers/providers/video-media.ts";

const LIMITS: SpoolLimits = { bytesMax: 1_000_000, fetchMs: 30_000, accept: "video/*" };
const PIECE = new Uint8Array(1_000);

const released: (() => void)[] = [];
/** Takes every call: of `/begins` it sends a piece, and nothing more of anything. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    if (!request.url.endsWith("/begins")) await new Promise<void>((resolve) => released.push(resolve));
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(PIECE) }), {
      headers: { "content-type": "video/mp4" },
    });
  },
});
afterAll(async () => {
  for (const release of released) release();
  await server.stop(true);
});

const there = (path: string): Artifact => ({
  open: (signal) => openVideo({ baseUrl: server.url.origin, headers: {} }, path, signal),
  contentType: "video/mp4",
});
/** Hears of no end. */
const deaf: Artifact = { open: () => new Promise(() => undefined), contentType: "video/mp4" };

async function failureOf(made: Artifact, limits: Partial<SpoolLimits>, signal = new AbortController().signal) {
  const fault: unknown = await spool(made, { ...LIMITS, ...limits }, signal).catch((error: unknown) => error);
  if (!(fault instanceof ProviderError)) throw new Error("expected a ProviderError", { cause: fault });
  return fault;
}

describe("a result at its provider", () => {
  test("that is never answered fails at the time limit", async () => {
    expect((await failureOf(there("/never"), { fetchMs: 50 })).kind).toBe("failed");
    expect((await failureOf(deaf, { fetchMs: 50 })).kind).toBe("failed");
  });

  test("that stalls fails long before the time limit", async () => {
    let bytes = 0;
    const fault = await spool(there("/begins"), { ...LIMITS, stallMs: 50 }, new AbortController().signal, {
      onBytes(piece) {
        bytes += piece.length;
      },
    }).catch((error: unknown) => error);
    expect([fault, bytes]).toEqual([expect.objectContaining({ name: "ProviderError", kind: "failed" }), PIECE.length]);
  });

  test("that drips without end fails at the time limit", async () => {
    const drip = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(5);
        controller.enqueue(new Uint8Array(1));
      },
    });
    const made: Artifact = { open: () => Promise.resolve(drip), contentType: "video/mp4" };
    expect((await failureOf(made, { fetchMs: 100 })).kind).toBe("failed");
  });

  test.each<[string, Artifact]>([
    ["is not answered", there("/never")],
    ["has begun", there("/begins")],
    ["hears of nothing", deaf],
  ])("that is %s is aborted with its job, which is not a failure", async (_what, made) => {
    const job = new AbortController();
    const ending = failureOf(made, {}, job.signal);
    setTimeout(() => job.abort(jobAbort("shutdown")), 20);
    expect((await ending).kind).toBe("aborted");
  });

  test("that exceeds the maximum size is not downloaded further", async () => {
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(PIECE),
      cancel: () => cancel(),
    });
    const made: Artifact = { open: () => Promise.resolve(endless), contentType: "video/mp4" };
    const fault = await spool(made, { ...LIMITS, bytesMax: 5_000 }, new AbortController().signal).catch(
      (error: unknown) => error,
    );
    expect(fault).toMatchObject({ name: "OutboundError", fault: "too_large" });
    await cancelled;
  });
});

describe("a result during its generation", () => {
  const spoken = (pieces: number): Artifact => ({
    open: () => {
      let left = pieces;
      return Promise.resolve(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await Bun.sleep(25);
            if (left-- > 0) controller.enqueue(PIECE);
            else controller.close();
          },
        }),
      );
    },
    contentType: "audio/mpeg",
  });

  test("may take longer than a finished one, while bytes arrive", async () => {
    const limits = { ...LIMITS, fetchMs: 60, stallMs: 30_000 };
    const whole = await spool(spoken(5), { ...limits, isLive: true }, new AbortController().signal);
    expect(whole.size).toBe(5_000);
    whole.remove();
    expect((await failureOf(spoken(5), limits)).kind).toBe("failed");
  });

  test("fails when it stalls", async () => {
    expect((await failureOf(there("/begins"), { fetchMs: 200, isLive: true })).kind).toBe("failed");
  });
});
