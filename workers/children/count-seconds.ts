/** Measures the length of a stream whose file does not state it. For child processes only. */
import type { Demuxer, Stream } from "node-av";

import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";

/** Maximum number of packets of all streams. Four hours of video and audio have half as many. */
const PACKETS_MAX = 4_000_000;

/**
 * Measures the length of a stream by reading all packets without decoding. Needed because FLAC encoders that write to a pipe, and browsers
 * that record WebM, omit the length.
 * @param demuxer is at the end of its file afterwards
 * @returns seconds from the start of the first packet to the end of the last packet
 * @throws MediaError too_large
 */
export async function countSeconds(demuxer: Demuxer, { index, timeBase }: Stream): Promise<number> {
  const { lib, constants } = await loadFfmpeg();
  const input = demuxer.getFormatContext();
  const packet = new lib.Packet();
  packet.alloc();
  let [first, end, counted] = [Infinity, 0, 0];
  try {
    for (let packets = 0; input.readFrameSync(packet) >= 0; packets++) {
      if (packets >= PACKETS_MAX)
        throw new MediaError("too_large", `Expected at most ${PACKETS_MAX} packets, got more.`);
      const { streamIndex, pts, duration } = packet;
      packet.unref();
      if (streamIndex !== index) continue;
      counted += Number(duration);
      if (pts === constants.AV_NOPTS_VALUE) continue;
      first = Math.min(first, Number(pts));
      end = Math.max(end, Number(pts + duration));
    }
  } finally {
    packet.free();
  }
  return (Math.max(counted, end - first, 0) * timeBase.num) / timeBase.den;
}
