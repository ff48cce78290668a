/** Estimates and holds that follow what is known of a run's inputs. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import sharp from "sharp";

import { createWorkspace } from "#tests/faults/bed.ts";
import { box, bytesOf } from "#tests/support/file-parts.ts";
import { mp4OfTicks } from "#tests/support/hostile-files/films.ts";

import { errorOf } from "../media/bench.ts";

import type { CapabilityBench, RunAnswer } from "./bench.ts";
import { sharedBench } from "./shared-bench.ts";

let bench: CapabilityBench;
beforeAll(async () => {
  bench = await sharedBench();
}, 60_000);

interface Estimate {
  readonly estimated_credits: number;
  readonly max_credits: number;
}

const estimated = async (id: string, body: object): Promise<Estimate> => {
  const answer = await bench.call(`/v1/capabilities/${id}/estimate`, body);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Estimate;
};
const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string): Promise<string> => {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new Blob([bytes]), name);
  const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, { method: "POST", headers: { authorization: `Bearer ${bench.stack.key}` }, body: form }); // prettier-ignore
  return ((await answer.json()) as { id: string }).id;
};

const PHOTO = { image: { file_id: "file-sample-photo" } };
/** 1.575 megapixels. */
const large = (format: "avif" | "png" | "tiff"): Promise<Buffer> =>
  sharp({ create: { width: 1_260, height: 1_250, channels: 3, background: "teal" } })
    .toFormat(format, format === "avif" ? { effort: 0 } : {})
    .toBuffer();

describe("an image costs what is estimated,", () => {
  test.each(["avif", "png", "tiff"] as const)(
    "%s in base64 and stored",
    async (format) => {
      const bytes = Buffer.from(await large(format));
      const file_id = await upload(bytes, `large.${format}`);
      for (const image of [{ file_id }, ...(bytes.length < 1_000_000 ? [{ base64: bytes.toString("base64") }] : [])]) {
        const body = { input: { image }, params: { format: "webp", quality: 20 } };
        const { estimated_credits, max_credits } = await estimated("image.convert", body);
        const { credits_used } = await bench.made("image.convert", body);
        expect([estimated_credits, credits_used]).toEqual([0.0315, 0.0315]);
        expect(max_credits).toBeLessThan(0.05);
      }
    },
    60_000,
  );

  test("so a small balance covers it, and the hold is as small", async () => {
    const { estimated_credits, max_credits } = await estimated("image.resize", {
      input: PHOTO,
      params: { width: 100 },
    });
    expect([estimated_credits, max_credits]).toEqual([0.0192, 0.0192]);
    const poor = await createWorkspace(bench.stack, { creditsNano: 19_200_000n });
    const answer = await bench.run("image.resize", { input: PHOTO, params: { width: 100 } }, poor.key);
    expect([answer.status, ((await answer.json()) as RunAnswer).credits_used]).toEqual([200, 0.0192]);
    const wide = await bench.run("image.resize", { input: PHOTO, params: { width: 4_000 } }, poor.key);
    expect((await errorOf(wide)).status).toBe(402);
  }, 30_000);

  test("and an image from an address costs at most the limits, without a fetch", async () => {
    const image = { url: "https://example.invalid/photo.jpg" };
    expect(await estimated("image.resize", { input: { image }, params: { width: 100 } })).toMatchObject({
      estimated_credits: 0.04,
      max_credits: 5.12,
    });
  });
});

describe("a video is estimated by its length,", () => {
  const clip = readFileSync("shared/calls/capabilities/samples/clip.mp4");
  /** Its tables at the end, behind data as large as a long video's, and each frame so many times as long. */
  const long = (times: number): Buffer => {
    const longer = mp4OfTicks(clip, (ticks) => ticks * times);
    const head = longer.readUInt32BE(0);
    return bytesOf(longer.subarray(0, head), box("free", Buffer.alloc(6 * 1_048_576 - 8)), longer.subarray(head));
  };

  test("a part of it by the length of the part", async () => {
    const video = { file_id: await upload(Buffer.from(long(900)), "long.mp4") };
    const whole = await estimated("video.transcode", { input: { video } });
    const piece = await estimated("video.trim", { input: { video }, params: { duration: 2 } });
    expect(whole.max_credits).toBe(18);
    expect(piece.max_credits).toBeLessThan(2);
    expect(piece.estimated_credits).toBeLessThan(whole.estimated_credits / 100);
    const late = await estimated("video.trim", { input: { video }, params: { start: 1_800, duration: 2 } });
    expect(late.estimated_credits).toBeGreaterThan(piece.estimated_credits);
  }, 30_000);

  test("and is charged at most its hold", async () => {
    const body = { input: { video: { file_id: "file-sample-clip" } }, params: { width: 160 } };
    const { max_credits } = await estimated("video.resize", body);
    expect(max_credits).toBeLessThan(2);
    expect((await bench.made("video.resize", body)).credits_used).toBeLessThanOrEqual(max_credits);
    const audio = { input: { audio: { file_id: "file-sample-tune" } }, params: { format: "wav" } };
    const tune = await estimated("audio.convert", audio);
    expect(tune.max_credits).toBeLessThan(1);
    expect((await bench.made("audio.convert", audio)).credits_used).toBeLessThanOrEqual(tune.max_credits);
  }, 60_000);

  test("and an unreadable video by the limits", async () => {
    const video = { base64: Buffer.concat([clip.subarray(0, 40), Buffer.alloc(500)]).toString("base64") };
    expect(await estimated("video.transcode", { input: { video } })).toMatchObject({ max_credits: 18 });
  });
});

test("a missing file is reported before the estimate", async () => {
  const image = { file_id: "file-0123456789abcdef0123456789abcdef" };
  const answer = await bench.call("/v1/capabilities/image.resize/estimate", { input: { image }, params: { width: 9 } });
  expect(await errorOf(answer)).toMatchObject({ status: 404, code: "file_not_found", param: "input.image.file_id" });
});
