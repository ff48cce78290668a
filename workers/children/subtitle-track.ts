/** Writes subtitles as a separate stream of a video file. For child processes only. */
import type { FormatContext } from "node-av/lib";

import { check, type Ffmpeg } from "./graph-streams.ts";

export interface SubtitleTrack {
  readonly codec: "mov_text" | "subrip" | "webvtt";
  /** Language of the subtitles, as a three-letter code of ISO 639-2. */
  readonly language: string;
  /** Subtitles in order of time. For the codec `mov_text`, a subtitle must not begin before the previous one has ended. */
  readonly cues: readonly SubtitleCue[];
}

export interface SubtitleCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/**
 * Open subtitle stream. It writes the subtitles that begin before a given time, so that they are interleaved with the frames of that time.
 */
export interface OpenSubtitles {
  writeUntil(seconds: number): void;
}

export function openSubtitles(ffmpeg: Ffmpeg, file: FormatContext, track: SubtitleTrack): OpenSubtitles {
  const { lib, constants } = ffmpeg;
  const ids = {
    mov_text: constants.AV_CODEC_ID_MOV_TEXT,
    subrip: constants.AV_CODEC_ID_SUBRIP,
    webvtt: constants.AV_CODEC_ID_WEBVTT,
  } as const;
  const isTimed = track.codec === "mov_text";
  const stream = file.newStream(null);
  stream.codecpar.codecType = constants.AVMEDIA_TYPE_SUBTITLE;
  stream.codecpar.codecId = ids[track.codec];
  if (isTimed) stream.codecpar.extradata = TEXT_SAMPLE_ENTRY;
  const clock = { num: 1, den: 1_000 };
  // With the time base of another stream, the MP4 muxer ends subtitles by that stream, so this one is finer. Even finer ticks fail: a
  // duration above 2³¹ ticks, such as a gap of 36 minutes in microseconds, cannot be written.
  stream.timeBase = new lib.Rational(1, isTimed ? 100_000 : 1_000);
  stream.metadata = lib.Dictionary.fromObject({ language: track.language });
  const cues = isTimed ? withGaps(track.cues) : track.cues;
  const packets = cues.map((cue) => ({
    ...cue,
    data: isTimed ? sample(cue.text) : Buffer.from(track.codec === "webvtt" ? escaped(cue.text) : cue.text),
  }));
  let next = 0;
  return {
    writeUntil(seconds) {
      for (let one = packets[next]; one !== undefined && one.startMs < seconds * 1_000; one = packets[++next]) {
        const packet = new lib.Packet();
        packet.alloc();
        packet.data = one.data;
        packet.streamIndex = stream.index;
        packet.pts = BigInt(one.startMs);
        packet.dts = packet.pts;
        packet.duration = BigInt(one.endMs - one.startMs);
        packet.isKeyframe = true;
        packet.rescaleTs(clock, stream.timeBase);
        check(ffmpeg, file.interleavedWriteFrameSync(packet), "a subtitle");
        packet.free();
      }
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Fills the gaps between subtitles with empty samples, because MP4 does not support gaps. */
function withGaps(cues: readonly SubtitleCue[]): SubtitleCue[] {
  let until = 0;
  return cues.flatMap((cue) => {
    const gap = cue.startMs > until ? [{ startMs: until, endMs: cue.startMs, text: "" }] : [];
    until = cue.endMs;
    return [...gap, cue];
  });
}

function sample(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Default style of 3GPP timed text: at the bottom, centred, white, 18 units high. */
const TEXT_SAMPLE_ENTRY = Buffer.from(
  [
    "00000000 01ff 00000000", // flags; centred, below; no background
    "00000000 00000000", // a box of no size: all of the picture
    "00000000 0001 00 12 ffffffff", // of all letters: font 1, 18 units, white
    "00000012 66746162 0001 0001 05 5365726966", // the one font: Serif
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);
