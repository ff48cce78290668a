/**
 * Copies packets of one file into another without decoding. The quality is unchanged, but a copy can begin only at a key frame. For child
 * processes only.
 */
import type { FormatContext, Packet, Stream } from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";
import { type FileSource, whitelists } from "./file-source.ts";
import type { FilterGraphPlan } from "./filter-graph.ts";
import { check, type Ffmpeg, setOptions } from "./graph-streams.ts";
import { openSubtitles, type SubtitleTrack } from "./subtitle-track.ts";

export interface CopyPlan {
  readonly source: FileSource;
  /** Kinds of streams to copy, the first stream of each kind. The first listed kind determines the start of the copy. */
  readonly kinds: readonly ("video" | "audio")[];
  readonly output: FilterGraphPlan["output"];
  /** Time at which the copy should start, in seconds from the beginning of the source. The copy starts at the key frame at or before it. */
  readonly from?: number;
  readonly until?: number;
  /** Subtitle track that is added to the streams of the source. */
  readonly subtitles?: SubtitleTrack;
  /** Called with the length of the result so far, in seconds. */
  readonly onSeconds?: (seconds: number) => void;
}

export interface Copied {
  /** Actual start of the copy, in seconds from the beginning of the source. */
  readonly start: number;
  readonly seconds: number;
}

interface Track {
  readonly kind: "video" | "audio";
  readonly from: Stream;
  readonly to: Stream;
  /** Duration of one clock tick of the stream, in seconds. */
  readonly tick: number;
  /**
   * Packets after the end of the range, in a buffer. They are written only if a later packet belongs to the range, because its decoding may
   * need them.
   */
  held: Packet[];
  isDone: boolean;
}

/** Copies the packets. @throws MediaError corrupt; invalid if the muxer does not support such streams */
export async function copyPackets(plan: CopyPlan): Promise<Copied> {
  const ffmpeg = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const { source, output } = plan;
  const options = { format: source.container, options: whitelists(source.container) };
  const demuxer = await Demuxer.open(source.path, options).catch((error: unknown) => {
    throw new MediaError("corrupt", "The file cannot be read: its container is damaged.", { cause: error });
  });
  const file = new ffmpeg.lib.FormatContext();
  try {
    check(ffmpeg, file.allocOutputContext2(null, output.muxer, output.path), `the muxer ${output.muxer}`);
    const tracks = plan.kinds.flatMap((kind) => {
      const stream = kind === "video" ? demuxer.video() : demuxer.audio();
      return stream === undefined ? [] : [openTrack(ffmpeg, file, output.muxer, kind, stream)];
    });
    const subtitles = plan.subtitles && openSubtitles(ffmpeg, file, plan.subtitles);
    setOptions(ffmpeg, file, { fflags: "+bitexact", ...output.options });
    check(ffmpeg, file.openOutputSync(), "the output file");
    if (file.writeHeaderSync(null) < 0)
      throw new MediaError("invalid", `Expected a format that supports ${codecs(ffmpeg, tracks)}.`);
    const copying: Copying = {
      ffmpeg,
      file,
      startsAt: Math.max(0, demuxer.startTime),
      until: plan.until ?? Infinity,
      onSeconds: (seconds) => {
        subtitles?.writeUntil(seconds + AHEAD_SECONDS);
        plan.onSeconds?.(seconds);
      },
      start: 0,
      seconds: 0,
    };
    const copied = copyTracks(copying, demuxer.getFormatContext(), tracks, plan.from ?? 0);
    subtitles?.writeUntil(copied.seconds);
    check(ffmpeg, file.writeTrailerSync(), "the file's end");
    return copied;
  } finally {
    file.closeOutputSync();
    // Freeing a context whose file is already closed crashes the process.
    file.pb = null;
    file.freeContext();
    await demuxer.close();
  }
}

function openTrack(ffmpeg: Ffmpeg, file: FormatContext, muxer: string, kind: Track["kind"], from: Stream): Track {
  const to = file.newStream(null);
  check(ffmpeg, from.codecpar.copy(to.codecpar), "the parameters of a stream");
  // Codec tags differ by container. The muxer finds its own, except one for HEVC that Apple's players do not support.
  const isHevc = from.codecpar.codecId === ffmpeg.constants.AV_CODEC_ID_HEVC;
  to.codecpar.codecTag = isHevc && (muxer === "mp4" || muxer === "mov") ? "hvc1" : 0;
  to.timeBase = from.timeBase;
  to.sampleAspectRatio = from.sampleAspectRatio;
  to.avgFrameRate = from.avgFrameRate;
  return { kind, from, to, tick: from.timeBase.num / from.timeBase.den, held: [], isDone: false };
}

function codecs({ lib }: Ffmpeg, tracks: readonly Track[]): string {
  return tracks.map(({ from }) => lib.avGetCodecName(from.codecpar.codecId) ?? "its codec").join(" and ");
}

/**
 * Time in seconds by which subtitles are written before their frames. A subtitle that is written after its frames would get a duration of
 * zero.
 */
const AHEAD_SECONDS = 1;

interface Copying {
  readonly ffmpeg: Ffmpeg;
  readonly file: FormatContext;
  /** Time of the first packet in the source's timestamps, in seconds. */
  readonly startsAt: number;
  readonly until: number;
  readonly onSeconds: (seconds: number) => void;
  /** Time of the first copied packet, in seconds from the beginning of the source. */
  start: number;
  /** Length of the result so far, in seconds. */
  seconds: number;
}

function copyTracks(copying: Copying, input: FormatContext, tracks: readonly Track[], from: number): Copied {
  const { ffmpeg, startsAt } = copying;
  const [lead] = tracks;
  if (lead === undefined) throw new MediaError("corrupt", "The file has no stream that can be copied.");
  if (from > 0 && lead.kind === "video") seek(ffmpeg, input, lead, from + startsAt);
  /** Packets of other tracks that arrive before the start of the copy is known. */
  const early: [Track, Packet][] = [];
  let isBegun = false;
  for (const packet of packetsOf(ffmpeg, input)) {
    const track = tracks.find((one) => one.from.index === packet.streamIndex);
    if (track === undefined) continue;
    if (!isBegun && track !== lead) {
      keep(packet, (clone) => early.push([track, clone]));
      continue;
    }
    if (!isBegun) {
      const at = timeOf(ffmpeg, track, packet) - startsAt;
      const isBefore = track.kind === "audio" && at + Number(packet.duration) * track.tick <= from;
      if (isBefore || !packet.isKeyframe) continue;
      isBegun = true;
      copying.start = Math.max(0, at);
      for (const [other, one] of early.splice(0)) {
        writePacket(copying, other, one);
        one.free();
      }
    }
    writePacket(copying, track, packet);
    if (tracks.every(({ isDone }) => isDone)) break;
  }
  for (const one of [...tracks.flatMap(({ held }) => held), ...early.map(([, unwritten]) => unwritten)]) one.free();
  if (!isBegun) throw damaged();
  return { start: copying.start, seconds: copying.seconds };
}

/** Yields packets one by one. A packet is valid only until the next one is requested. */
function* packetsOf({ lib, constants }: Ffmpeg, input: FormatContext): Generator<Packet> {
  const packet = new lib.Packet();
  packet.alloc();
  try {
    for (;;) {
      const code = input.readFrameSync(packet);
      if (code === constants.AVERROR_EOF) return;
      if (code < 0) throw damaged();
      yield packet;
      packet.unref();
    }
  } finally {
    packet.free();
  }
}

/**
 * Writes a packet if it is within the range. A packet after the end of the range is buffered, and written only if a packet within the range
 * follows in decoding order.
 */
function writePacket(copying: Copying, track: Track, packet: Packet): void {
  const { ffmpeg, startsAt, until, start } = copying;
  const at = timeOf(ffmpeg, track, packet) - startsAt;
  if (track.isDone || at < start - track.tick / 2) return;
  const hasOrder = track.kind === "video" && packet.dts !== ffmpeg.constants.AV_NOPTS_VALUE;
  const decodedAt = hasOrder ? Number(packet.dts) * track.tick - startsAt : at;
  if (decodedAt >= until) {
    track.isDone = true;
    return;
  }
  if (at >= until) {
    keep(packet, (clone) => track.held.push(clone));
    return;
  }
  for (const one of track.held.splice(0)) {
    write(copying, track, one);
    one.free();
  }
  write(copying, track, packet);
}

function write(copying: Copying, track: Track, packet: Packet): void {
  const { ffmpeg, file, startsAt, start } = copying;
  const { AV_NOPTS_VALUE } = ffmpeg.constants;
  const at = timeOf(ffmpeg, track, packet) - startsAt - start;
  // A frame that is displayed beyond the end of the range is shortened.
  const over = at + Number(packet.duration) * track.tick - (copying.until - start);
  if (track.kind === "video" && over > 0 && at < copying.until - start)
    packet.duration -= BigInt(Math.round(over / track.tick));
  copying.seconds = Math.max(copying.seconds, at + Number(packet.duration) * track.tick);
  copying.onSeconds(at);
  const ticks = BigInt(Math.round((start + startsAt) / track.tick));
  if (packet.pts !== AV_NOPTS_VALUE) packet.pts -= ticks;
  if (packet.dts !== AV_NOPTS_VALUE) packet.dts -= ticks;
  packet.streamIndex = track.to.index;
  packet.rescaleTs(track.from.timeBase, track.to.timeBase);
  if (file.interleavedWriteFrameSync(packet) < 0) throw damaged();
}

/** Seeks to the key frame at or before a time. */
function seek({ constants }: Ffmpeg, input: FormatContext, { from, tick }: Track, seconds: number): void {
  const at = BigInt(Math.floor(seconds / tick));
  if (input.seekFrameSync(from.index, at, constants.AVSEEK_FLAG_BACKWARD) < 0) throw damaged();
}

function timeOf({ constants }: Ffmpeg, { tick }: Track, packet: Packet): number {
  const ticks = packet.pts === constants.AV_NOPTS_VALUE ? packet.dts : packet.pts;
  return ticks === constants.AV_NOPTS_VALUE ? 0 : Number(ticks) * tick;
}

function keep(packet: Packet, into: (clone: Packet) => void): void {
  const clone = packet.clone();
  if (clone) into(clone);
}

function damaged(): MediaError {
  return new MediaError("corrupt", "The file cannot be copied: its data is damaged.");
}
