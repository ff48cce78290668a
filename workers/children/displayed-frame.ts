/** Finds the frame of a file that is displayed at a given time. It reads packets without decoding them. For child processes only. */
import type { Demuxer } from "node-av";
import type { Packet } from "node-av/lib";

import { loadFfmpeg } from "./ffmpeg.ts";

export interface DisplayedFrame {
  /** Start of the displayed frame, in seconds; undefined before the first frame. */
  readonly displayed: number | undefined;
  /** Start of the first frame at or after the requested time, in seconds; undefined after the last frame. */
  readonly next: number | undefined;
}

/**
 * Additional time by which a seek goes back, in seconds. A key frame can be stored well before its display time. Without this margin, a
 * seek could find a key frame that is displayed too late.
 */
const SEEK_BEFORE_SECONDS = 1;
/** Tolerance in seconds when times are compared, because times are rounded to the ticks of a container. */
const TOLERANCE_SECONDS = 0.0005;

/**
 * Finds the frame that is displayed at a given time.
 * @param open opens a demuxer, which this function closes
 * @param seconds requested time in the file's timestamps, like the times in the result
 */
export async function findDisplayedFrame(open: () => Promise<Demuxer>, seconds: number): Promise<DisplayedFrame> {
  const found = await search(open, seconds, true);
  return found.displayed === undefined ? search(open, seconds, false) : found;
}

async function search(open: () => Promise<Demuxer>, seconds: number, seeks: boolean): Promise<DisplayedFrame> {
  const { lib, constants } = await loadFfmpeg();
  const demuxer = await open();
  const packet = new lib.Packet();
  packet.alloc();
  try {
    const input = demuxer.getFormatContext();
    const stream = demuxer.video();
    if (stream === undefined) return { displayed: undefined, next: undefined };
    const tick = stream.timeBase.num / stream.timeBase.den;
    const timeOf = (ticks: bigint, other: bigint): number => {
      const known = ticks === constants.AV_NOPTS_VALUE ? other : ticks;
      return known === constants.AV_NOPTS_VALUE ? 0 : Number(known) * tick;
    };
    const from = seconds - SEEK_BEFORE_SECONDS;
    if (seeks && from > 0) {
      input.seekFrameSync(stream.index, BigInt(Math.floor(from / tick)), constants.AVSEEK_FLAG_BACKWARD);
    }
    let [displayed, next] = [-Infinity, Infinity];
    while (input.readFrameSync(packet) >= 0) {
      const { streamIndex, pts, dts } = packet as Pick<Packet, "streamIndex" | "pts" | "dts">;
      packet.unref();
      if (streamIndex !== stream.index) continue;
      const at = timeOf(pts, dts);
      if (at <= seconds + TOLERANCE_SECONDS) displayed = Math.max(displayed, at);
      if (at >= seconds - TOLERANCE_SECONDS) next = Math.min(next, at);
      // Later packets are decoded later, so they are also displayed later.
      if (next < Infinity && timeOf(dts, pts) > next) break;
    }
    return { displayed: displayed === -Infinity ? undefined : displayed, next: next === Infinity ? undefined : next };
  } finally {
    packet.free();
    await demuxer.close();
  }
}
