/** Files that would keep a probe busy: counts are capped and ids looked up, so work grows with the steps alone. */
import { expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { PROBE_LIMITS } from "#shared/media/limits.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { be, box, checksumOf } from "#tests/support/file-parts.ts";
import { spoilt } from "#tests/support/hostile-files/damage.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

import { type Muxed, muxed } from "./muxed.ts";

const TOO_MANY = "has too many tracks";

const START = box("ftyp", "isom\0\0\0\0isom");

function trackOf(id: number): Buffer {
  return box("trak", box("tkhd", be(0, 12), be(id, 4), be(0, 8)));
}

function fragmentOf(id: number): Buffer {
  return box("moof", box("traf", box("tfhd", be(0, 4), be(id, 4))));
}

test("an MP4 may have as many tracks as the limit, and not one more", () => {
  const tracks = (count: number): Buffer => box("moov", ...Array.from({ length: count }, (_, at) => trackOf(at + 1)));
  const most = Buffer.concat([START, tracks(PROBE_LIMITS.tracksMax)]);
  expect(() => probeAudio(most)).toThrow("has no audio track");
  expect(() => probeVideo(most)).toThrow("has no video track");
  const more = Buffer.concat([
    START,
    tracks(PROBE_LIMITS.tracksMax + 1),
    ...Array.from({ length: 1_000 }, () => fragmentOf(0)),
  ]);
  expect(() => probeAudio(more)).toThrow(TOO_MANY);
  expect(() => probeVideo(more)).toThrow(TOO_MANY);
});

test("a WebM may have as many tracks as the limit, and not one more", () => {
  const head = Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x18, 0x53, 0x80, 0x67, 0xff, 0x16, 0x54, 0xae, 0x6b, 0xff]);
  const tracks = (count: number): Buffer => Buffer.concat([head, Buffer.alloc(2 * count, Buffer.from([0xae, 0x80]))]);
  expect(() => probeAudio(tracks(PROBE_LIMITS.tracksMax))).toThrow("has no audio track");
  expect(() => probeAudio(tracks(PROBE_LIMITS.tracksMax + 1))).toThrow(TOO_MANY);
  expect(() => probeVideo(tracks(PROBE_LIMITS.tracksMax + 1))).toThrow(TOO_MANY);
});

test("frames of FLAC count as steps", () => {
  const [head = Buffer.alloc(0), frame = Buffer.alloc(0)] = smallestFlac();
  const frames = Buffer.alloc(frame.length * (PROBE_LIMITS.stepsMax + 1), frame);
  expect(() => probeAudio(Buffer.concat([head, frames]))).toThrow("has too many parts");
});

/** A head of one channel of 16 bits at 8 kHz, and a frame that is its own head alone. */
function smallestFlac(): Buffer[] {
  const info = Buffer.alloc(34);
  info.writeUInt32BE(((8_000 << 12) | (15 << 4)) >>> 0, 10);
  const head = Buffer.concat([Buffer.from("fLaC"), Buffer.from([0x80, 0, 0, 34]), info]);
  const frame = Buffer.from([0xff, 0xf8, 0x14, 0x08, 0, 0]);
  frame[5] = checksumOf(frame.subarray(0, 5), 7, 8);
  return [head, frame];
}

const KINDS: readonly Muxed[] = [
  { encoder: "aac", container: "mp4" },
  { encoder: "aac", container: "mp4", movflags: "frag_every_frame+empty_moov" },
  { encoder: "libopus", container: "webm" },
  { encoder: "libopus", container: "ogg" },
  { encoder: "flac", container: "flac" },
];

test.each(KINDS)("%p that is damaged is measured, or rejected as damaged", async (kind) => {
  const random = seeded(testSeed(`probe bounds, ${kind.container}`));
  const below = (count: number): number => Math.floor(random() * count);
  const whole = await muxed(kind, 1);
  for (let round = 0; round < 200; round += 1) {
    const bytes = spoilt(whole, random, 1 + below(8));
    const from = below(bytes.length);
    const to = Math.min(bytes.length, from + below(4_096));
    const repeated = Array.from({ length: 40 }, () => bytes.subarray(from, to));
    const longer = Buffer.concat([bytes.subarray(0, to), ...repeated, bytes.subarray(to)]);
    for (const damaged of [bytes, longer, bytes.subarray(0, from)]) expectVerdict(damaged);
  }
});

function expectVerdict(bytes: Uint8Array): void {
  for (const probe of [probeAudio, probeVideo]) {
    try {
      expect(probe(bytes).seconds).toBeGreaterThan(0);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
    }
  }
}
