import { defineCapability, input } from "../define.ts";
import { flag } from "../params.ts";

import { CLIP, round } from "./encode.ts";
import { openVideo, probeVideo } from "./facts.ts";
import { isHdr, namedColor } from "./signal.ts";

export default defineCapability({
  id: "video.probe",
  display_name: "Probe video",
  description:
    "Returns duration, size, frame rate, codecs, rotation, bit depth, colours, number of tracks and tags of a video.",
  output_modality: "text",
  input: { video: input("video", "The video.") },
  params: { count_frames: flag("Count the frames by reading the whole video.", false) },
  sample_input: CLIP,
  examples: [
    { title: "Basic facts", params: {} },
    { title: "With a frame count", params: { count_frames: true } },
  ],
  price: { unit: "per_operation", operation_price: "0.02" },
  engine: "ffmpeg",
  async run({ params, inputs: { video } }) {
    const facts = await probeVideo(video);
    const { seconds, width, height, fps, codec, rotation, audio, bitrate, tags, signal, tracks } = facts;
    const output = {
      seconds: round(seconds),
      width,
      height,
      fps: round(fps),
      video_codec: codec,
      rotation,
      bit_depth: signal.bits,
      color: namedColor(signal),
      hdr: isHdr(signal),
      tracks,
      audio: audio && { codec: audio.codec, sample_rate: audio.sampleRate, channels: audio.channels },
      bitrate,
      bytes: video.bytes,
      tags,
    };
    return { output: params.count_frames ? { ...output, frames: await countFrames(video) } : output };
  },
});

/** Counts the frames of a video by counting packets, because each packet contains one frame. */
async function countFrames(video: Parameters<typeof openVideo>[0]): Promise<number> {
  const demuxer = await openVideo(video);
  try {
    const index = demuxer.video()?.index;
    let frames = 0;
    for await (const packet of demuxer.packets(index)) {
      if (packet === null) break;
      frames++;
      packet.free();
    }
    return frames;
  } finally {
    await demuxer.close();
  }
}
