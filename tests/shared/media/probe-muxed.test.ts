/** Recordings as real encoders write them, and the same with forged times: a length is counted, not read. */
import { describe, expect, test } from "bun:test";

import { probeAudio } from "#shared/media/probe/probe.ts";

import { type Muxed, muxed } from "./muxed.ts";

const SECONDS = 1.3;
/** Seconds of Matroska recordings, which begin a cluster after five. */
const CLUSTERED_SECONDS = 5.3;

const KINDS: Readonly<Record<string, Muxed>> = {
  "Vorbis in Ogg": { encoder: "libvorbis", container: "ogg", sampleRate: 44_100, channels: 2 },
  "Vorbis at its best in Ogg": { encoder: "libvorbis", container: "ogg", channels: 2, bitRate: 480_000n },
  "Opus in Ogg": { encoder: "libopus", container: "ogg" },
  "FLAC in Ogg": { encoder: "flac", container: "ogg", sampleRate: 16_000 },
  FLAC: { encoder: "flac", container: "flac", sampleRate: 44_100, channels: 2 },
  "Opus in WebM": { encoder: "libopus", container: "webm" },
  "Vorbis in WebM": { encoder: "libvorbis", container: "webm", channels: 2 },
  "AAC in Matroska": { encoder: "aac", container: "matroska", sampleRate: 16_000 },
  "MP3 in Matroska": { encoder: "libmp3lame", container: "matroska", sampleRate: 44_100 },
  "FLAC in Matroska": { encoder: "flac", container: "matroska" },
  "ALAC in Matroska": { encoder: "alac", container: "matroska" },
  "AC-3 in Matroska": { encoder: "ac3", container: "matroska", channels: 2, bitRate: 640_000n },
  "PCM in Matroska": { encoder: "pcm_s16le", container: "matroska" },
  "AAC in MP4": { encoder: "aac", container: "mp4", sampleRate: 44_100 },
  "AAC of 96 kHz in MP4": { encoder: "aac", container: "mp4", sampleRate: 96_000, channels: 2, bitRate: 256_000n },
  "AAC in an MP4 of fragments": { encoder: "aac", container: "mp4", movflags: "frag_keyframe+empty_moov" },
  "MP3 in MP4": { encoder: "libmp3lame", container: "mp4", sampleRate: 44_100 },
  "Opus in MP4": { encoder: "libopus", container: "mp4" },
  "Opus in an MP4 of fragments": { encoder: "libopus", container: "mp4", movflags: "empty_moov+default_base_moof" },
  "FLAC in MP4": { encoder: "flac", container: "mp4" },
  "ALAC in MP4": { encoder: "alac", container: "mp4" },
  "AC-3 in MP4": { encoder: "ac3", container: "mp4", channels: 2, bitRate: 640_000n },
  "E-AC-3 in MP4": { encoder: "eac3", container: "mp4", channels: 2, bitRate: 192_000n },
  "PCM in QuickTime": { encoder: "pcm_s16le", container: "mov", sampleRate: 16_000 },
  "PCM of 24 bits in QuickTime": { encoder: "pcm_s24le", container: "mov", sampleRate: 96_000, channels: 2 },
};

/** With its bytes at `at` replaced. */
function patched(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = bytes.slice();
  copy.set(values, at);
  return copy;
}

describe("a recording", () => {
  test.each(Object.keys(KINDS))("of %s has its playing time, regardless of its timestamps", async (name) => {
    const kind = KINDS[name] as Muxed;
    const seconds = ["matroska", "webm"].includes(kind.container) ? CLUSTERED_SECONDS : SECONDS;
    const honest = probeAudio(await muxed(kind, seconds));
    // An encoder fills its last packet up, and some say nothing of it.
    expect(honest.seconds).toBeGreaterThan(seconds - 0.01);
    expect(honest.seconds).toBeLessThan(seconds + 0.1);
    expect(honest.channels).toBe(kind.channels ?? 1);
    const forged = probeAudio(await muxed(kind, seconds, true));
    expect(forged.seconds).toBeGreaterThan(seconds - 0.05);
    expect(forged.seconds).toBeLessThan(seconds + 0.2);
  });

  test("of FLAC has its actual frames, regardless of their numbers and the declared samples", async () => {
    const flac = await muxed({ encoder: "flac", container: "flac" }, SECONDS);
    // STREAMINFO's promise; the first frame stands behind the last block of its head.
    const silent = patched(flac, 21, (flac[21] ?? 0) & 0xf0, 0, 0, 0, 0);
    const frames = silent.subarray(Buffer.from(silent).indexOf(Buffer.of(0xff, 0xf8)));
    expect(probeAudio(silent).seconds).toBeCloseTo(SECONDS, 2);
    expect(probeAudio(Buffer.concat([silent, frames, frames])).seconds).toBeCloseTo(3 * SECONDS, 2);
  });

  test("of AAC has the rate of its decoder configuration, regardless of the container", async () => {
    const aac = await muxed({ encoder: "aac", container: "mp4", sampleRate: 16_000 }, SECONDS, true);
    const entry = Buffer.from(aac).indexOf("mp4a");
    const forged = probeAudio(patched(aac, entry + 28, 0xff, 0xff));
    expect(forged.sampleRate).toBe(65_535);
    expect(forged.seconds).toBeGreaterThan(SECONDS - 0.05);
  });

  test("of Vorbis without valid modes is rejected", async () => {
    const vorbis = Buffer.from(await muxed({ encoder: "libvorbis", container: "ogg" }, 1));
    const setup = vorbis.indexOf("\u0005vorbis", 0, "latin1");
    const end = vorbis.indexOf("OggS", setup);
    expect(() => probeAudio(vorbis.fill(0, setup + 7, end))).toThrow("has no Vorbis modes");
  });
});
