/** Looks at inputs before a run: what they see, what they leave unseen, and what they may take. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import {
  probeInputs,
  type ProbeContext,
  CAPABILITY_PROBE_WHOLE_FILE_BYTES_MAX,
  CAPABILITY_PROBE_BYTES_MAX,
  CAPABILITY_PROBES_CONCURRENT_MAX,
} from "#shared/calls/capabilities/probe-inputs.ts";
import { newFileId, objectKey } from "#shared/files/id.ts";
import { type MediaProbes, openMediaProbes } from "#shared/media/media-probes.ts";
import type { Storage } from "#shared/storage/client.ts";
import { putObject } from "#shared/storage/objects.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";
import { createTestBucket } from "#tests/support/storage.ts";

import { storageAt } from "#tests/shared/files/bench.ts";

let storage: Storage;
let probes: MediaProbes;
let context: ProbeContext & { readonly workspaceId: string };
beforeAll(async () => {
  const { endpoint, bucket, env } = await createTestBucket();
  storage = storageAt(endpoint, bucket, env);
  probes = openMediaProbes();
  context = { storage, probes, workspaceId: "a" };
});
afterAll(() => probes.close());

const stored = async (bytes: Uint8Array): Promise<string> => {
  const id = newFileId();
  await putObject(storage, objectKey(id), bytes);
  return id;
};
/** A WAV of so many bytes in all, 8 kHz, 8 bits, one channel. */
const recording = (bytes: number): Buffer => wav({ bits: 8 }, Buffer.alloc(bytes - 44, 0x80));

describe("a file is inspected", () => {
  test("completely up to a size, and is unknown above it", async () => {
    const most = CAPABILITY_PROBE_WHOLE_FILE_BYTES_MAX;
    const [fits, past] = await Promise.all(
      [most, most + 1].map((bytes) =>
        probeInputs(context, "audio", [{ member: "audio", bytes: recording(bytes) }], new Map()),
      ),
    );
    expect(fits?.["audio"]?.[0]?.media?.seconds).toBeCloseTo((most - 44) / 8_000, 2);
    expect(past).toEqual({ audio: [{}] });
  }, 30_000);

  test("once: the store is not read again for a file with known facts", async () => {
    const id = await stored(
      await sharp({ create: { width: 7, height: 5, channels: 3, background: "teal" } })
        .png()
        .toBuffer(),
    );
    const one = { member: "image", fileId: id };
    const sizes = new Map([[id, 1_000]]);
    const seen = await probeInputs(context, "image", [one], sizes);
    expect(seen["image"]?.[0]?.image).toMatchObject({ width: 7, height: 5 });
    const away = { ...context, storage: storageAt("http://127.0.0.1:9", "b") };
    expect(await probeInputs(away, "image", [one], sizes)).toEqual(seen);
    // What it costs follows from another look there.
    expect(await probeInputs(away, "audio", [{ ...one, member: "audio" }], sizes)).toEqual({ audio: [{}] });
  });

  test("in the store, with all others of its run, up to a number of bytes", async () => {
    const each = CAPABILITY_PROBE_WHOLE_FILE_BYTES_MAX;
    const count = CAPABILITY_PROBE_BYTES_MAX / each;
    // What a child would see is not asked here.
    const second = { seconds: 1, format: "wav", sampleRate: 8_000, channels: 1 } as const;
    const known = async (files: number): Promise<number> => {
      const ids = await Promise.all(Array.from({ length: files }, () => stored(recording(each))));
      const { audios = [] } = await probeInputs(
        { ...context, probes: { ...probes, audio: () => Promise.resolve(second) } },
        "audio",
        ids.map((fileId) => ({ member: "audios", fileId })),
        new Map(ids.map((id) => [id, each])),
      );
      return audios.filter(({ media }) => media !== undefined).length;
    };
    expect([await known(count), await known(count + 1)]).toEqual([count, count]);
  }, 60_000);

  test("by its header only for an image, and by its end if the size is there", async () => {
    const noise = { create: { width: 1_500, height: 1_000, channels: 3, background: "grey", noise: { type: "gaussian", mean: 128, sigma: 60 } } } as const; // prettier-ignore
    for (const format of ["png", "tiff"] as const) {
      const bytes = await sharp(noise).toFormat(format).toBuffer();
      expect(bytes.length).toBeGreaterThan(500_000);
      const id = await stored(bytes);
      const { image } = await probeInputs(
        context,
        "image",
        [{ member: "image", fileId: id }],
        new Map([[id, bytes.length]]),
      );
      expect(image).toMatchObject([{ image: { width: 1_500, height: 1_000, frames: 1 } }]);
    }
  }, 30_000);

  test("and is unknown if it is missing or of another type; inputs without a price by size are not inspected", async () => {
    const id = newFileId();
    const sizes = new Map([[id, 5_000]]);
    expect(await probeInputs(context, "image", [{ member: "image", fileId: id }], sizes)).toEqual({ image: [{}] });
    const words = { member: "image", bytes: Buffer.from("words") };
    expect(await probeInputs(context, "image", [words], new Map())).toEqual({ image: [{}] });
    expect(
      await probeInputs(context, "document", [{ member: "document", bytes: Buffer.from("words") }], new Map()),
    ).toEqual({});
  });
});

describe("inspections are limited", () => {
  test("by time, after which the remaining files are unknown", async () => {
    // A child that is stuck: it ends with its caller's patience.
    const stuck = {
      audio: (_source: unknown, signal?: AbortSignal) =>
        new Promise<never>((_resolve, reject) =>
          signal?.addEventListener("abort", () => reject(new Error("too late"))),
        ),
    } as unknown as MediaProbes;
    const inputs = [1, 2].map(() => ({ member: "audios", bytes: recording(1_000) }));
    expect(await probeInputs({ ...context, probes: stuck }, "audio", inputs, new Map())).toEqual({ audios: [{}, {}] });
  }, 20_000);

  test("to half of the concurrent ones for one workspace: another's files are inspected meanwhile", async () => {
    const leaving = new AbortController();
    const stuck = {
      audio: () =>
        new Promise<never>((_resolve, reject) => {
          const end = () => reject(new Error("it ended"));
          if (leaving.signal.aborted) end();
          else leaving.signal.addEventListener("abort", end);
        }),
    } as unknown as MediaProbes;
    const slow = Array.from({ length: 2 * CAPABILITY_PROBES_CONCURRENT_MAX }, () =>
      probeInputs({ ...context, probes: stuck }, "audio", [{ member: "audio", bytes: recording(1_000) }], new Map()),
    );
    const bytes = await sharp({ create: { width: 3, height: 2, channels: 3, background: "grey" } })
      .png()
      .toBuffer();
    const { image } = await probeInputs(
      { ...context, workspaceId: "b" },
      "image",
      [{ member: "image", bytes }],
      new Map(),
    );
    leaving.abort();
    expect(image).toMatchObject([{ image: { width: 3, height: 2 } }]);
    await Promise.all(slow);
  }, 20_000);

  test("by number: the next one waits", async () => {
    let running = 0;
    let most = 0;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const counting = {
      audio: async () => {
        running += 1;
        most = Math.max(most, running);
        await opened;
        running -= 1;
        return { seconds: 1, format: "wav", sampleRate: 1, channels: 1 };
      },
    } as unknown as MediaProbes;
    const one = (_none: unknown, at: number) =>
      probeInputs(
        { ...context, workspaceId: String(at), probes: counting },
        "audio",
        [{ member: "audio", bytes: recording(1_000) }],
        new Map(),
      );
    const all = Array.from({ length: CAPABILITY_PROBES_CONCURRENT_MAX + 1 }, one);
    const areBusy = (): boolean => running >= CAPABILITY_PROBES_CONCURRENT_MAX;
    while (!areBusy()) await new Promise((resolve) => setImmediate(resolve));
    open();
    expect(await Promise.all(all)).toEqual(
      all.map(() => ({ audio: [{ media: { seconds: 1, width: 0, height: 0 } }] })),
    );
    expect(most).toBe(CAPABILITY_PROBES_CONCURRENT_MAX);
  }, 20_000);
});
