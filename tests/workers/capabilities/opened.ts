/** Opens what capabilities made, by a decoder that had no part in making it. */
import { expect } from "bun:test";

import { probeVideo } from "#shared/media/probe/video.ts";
import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import { decoders } from "#tests/support/decoded-sound.ts";
import sharp from "sharp";

import { runCapability } from "./in-folder.ts";

/** @param engine that made it. @throws Error for what cannot be opened */
export async function openElsewhere(mediaType: string, bytes: Uint8Array, engine: string): Promise<void> {
  const [kind, name = ""] = mediaType.split("/");
  if (kind === "image" && !name.startsWith("svg")) return openImage(bytes, engine === "ffmpeg");
  if (kind === "video" && ["mp4", "webm", "quicktime"].includes(name)) {
    expect(probeVideo(bytes)?.width).toBeGreaterThan(0);
  }
  const decode = { "audio/mpeg": decoders.mp3, "audio/flac": decoders.flac, "audio/wav": decoders.wav }[mediaType];
  if (decode) expect((await decode(bytes)).samples.length).toBeGreaterThan(0);
  // Of PDFs there are three makers, and a fourth that reads.
  if (mediaType === "application/pdf") {
    const locked = Buffer.from(bytes).includes("/Encrypt");
    if (!locked) expect((await runCapability("document.extract_text", { document: bytes })).output).toMatchObject({});
  }
}

/** FFmpeg opens what sharp wrote, and sharp what FFmpeg wrote. */
async function openImage(bytes: Uint8Array, isOfFfmpeg: boolean): Promise<void> {
  if (isOfFfmpeg) {
    expect((await sharp(bytes).stats()).channels.length).toBeGreaterThan(0);
    return;
  }
  await loadFfmpeg();
  const { Decoder, Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(Buffer.from(bytes));
  const stream = demuxer.video();
  if (stream === undefined) throw new Error("there is no picture in it");
  const decoder = await Decoder.create(stream);
  let frames = 0;
  for await (const frame of decoder.frames(demuxer.packets(stream.index))) {
    if (frame === null) break;
    expect(frame.width).toBeGreaterThan(0);
    frame.free();
    frames++;
  }
  decoder.close();
  await demuxer.close();
  expect(frames).toBeGreaterThan(0);
}
