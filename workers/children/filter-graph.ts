/**
 * Runs one FFmpeg filter graph (through node-av) and writes its ends into one file. For child processes only: a fault in
 * FFmpeg must not take a server along. Everything runs on one thread and "bitexact", so equal inputs give equal bytes.
 */
import { setImmediate } from "node:timers/promises";

import type { AVLogLevel } from "node-av/constants";
import type { FilterGraph } from "node-av/lib";

import { MediaError } from "#shared/children/media-error.ts";

import { loadFfmpeg } from "./ffmpeg.ts";
import {
  check,
  openStream,
  setOptions,
  sinkText,
  writeStreams,
  type Ffmpeg,
  type FfmpegOptions,
  type OpenStream,
  type StreamPlan,
} from "./graph-streams.ts";

export interface FilterGraphPlan {
  /**
   * FFmpeg's own notation, with sources by `fileSource` inside and one open label for each stream, such as `[v]`. Graph text
   * is code: a caller's words reach it through `filterText` or a file only.
   */
  readonly graph: string;
  /** In the order they have in the file. */
  readonly streams: readonly StreamPlan[];
  readonly output: {
    readonly path: string;
    /** FFmpeg's name, such as `mp4`. */
    readonly muxer: string;
    readonly options?: FfmpegOptions;
  };
  /** A stream that lasts longer is an error. */
  readonly secondsMax: number;
  /** Hears what filters print, such as a measurement. */
  readonly onLog?: (line: string) => void;
  /** Hears how many seconds of all streams are written. */
  readonly onSeconds?: (seconds: number) => void;
}

/**
 * H.264 that every player decodes. Measured at 720p on one core: veryfast 7 ms a frame, superfast 5 and twice the bytes.
 * Without x264's macroblock tree, which reads memory that it has not written: equal frames gave other bytes now and then.
 */
export const H264 = {
  encoder: "libx264",
  options: { preset: "veryfast", crf: "20", "x264-params": "mbtree=0" },
} as const;
/** FFmpeg's own AAC encoder needs 192 kbit/s for music in two channels. */
export const AAC = { encoder: "aac", options: { b: "192k" } } as const;
/** The index stands before the data, so that a player can start while it loads. */
export const MP4 = { muxer: "mp4", options: { movflags: "+faststart" } } as const;

/**
 * @throws MediaError failed: FFmpeg refuses the graph, an encoder or the muxer, or fails while it runs, which a damaged
 * input may cause; corrupt: a stream has no frame; too_large: a stream is longer than `secondsMax`
 */
export async function runFilterGraph(plan: FilterGraphPlan): Promise<void> {
  const ffmpeg = await loadFfmpeg();
  const { path, muxer, options } = plan.output;
  const graph = await openGraph(ffmpeg, plan);
  const file = new ffmpeg.lib.FormatContext();
  const streams: OpenStream[] = [];
  let log: Log | undefined;
  try {
    check(ffmpeg, file.allocOutputContext2(null, muxer, path), `the muxer ${muxer}`);
    for (const stream of plan.streams) streams.push(openStream(ffmpeg, graph, file, stream));
    setOptions(ffmpeg, file, { fflags: "+bitexact", ...options });
    check(ffmpeg, file.openOutputSync(), "the output file");
    check(ffmpeg, file.writeHeaderSync(null), "the file's header");
    if (plan.onLog) log = listen(ffmpeg, ffmpeg.constants.AV_LOG_INFO, plan.onLog);
    writeStreams(ffmpeg, file, streams, plan.secondsMax, plan.onSeconds ?? (() => {}));
    check(ffmpeg, file.writeTrailerSync(), "the file's end");
  } finally {
    for (const { encoder } of streams) encoder.freeContext();
    file.closeOutputSync();
    // Freed with a file that is closed already, the context would crash.
    file.pb = null;
    file.freeContext();
    // Some filters tell what they have measured when they end.
    graph.free();
    await log?.end();
  }
}

/** Turns of the event loop within which all lines arrive that FFmpeg has printed; measured: one. */
const LOG_TURNS_MAX = 1_000;

interface Log {
  /** Waits until all lines so far have arrived, and closes the log. @throws Error when they do not arrive */
  end(): Promise<void>;
}

/** Receives the lines that FFmpeg prints. They arrive in order, in tasks of their own that a timer may overtake. */
function listen({ lib, constants }: Ffmpeg, level: AVLogLevel, onLine: (line: string) => void): Log {
  const last = crypto.randomUUID();
  const arrived = { last: false };
  lib.Log.setLevel(level);
  lib.Log.setCallback((_level, line) => {
    if (line === last) arrived.last = true;
    else onLine(line);
  });
  return {
    async end() {
      lib.Log.log(level, last);
      for (let turn = 0; turn < LOG_TURNS_MAX && !arrived.last; turn += 1) await setImmediate();
      lib.Log.setCallback(null);
      lib.Log.setLevel(constants.AV_LOG_QUIET);
      if (!arrived.last) throw new Error("the log of FFmpeg did not arrive");
    },
  };
}

const COMPLAINT_CHARACTERS_MAX = 600;

async function openGraph(ffmpeg: Ffmpeg, { graph: text, streams }: FilterGraphPlan): Promise<FilterGraph> {
  const { lib, constants } = ffmpeg;
  const graph = new lib.FilterGraph();
  const complaints: string[] = [];
  graph.alloc();
  graph.nbThreads = 1;
  const log = listen(ffmpeg, constants.AV_LOG_ERROR, (line) => complaints.push(line.trim()));
  try {
    const parsed = graph.parsePtr([text, ...streams.map((stream) => sinkText(ffmpeg, stream))].join(";"));
    const code = parsed < 0 ? parsed : graph.configSync();
    if (code >= 0) return graph;
    await log.end();
    graph.free();
    const why = complaints.join("; ").slice(0, COMPLAINT_CHARACTERS_MAX) || lib.FFmpegError.strerror(code);
    throw new MediaError("failed", `FFmpeg refuses the filter graph: ${why}`);
  } finally {
    lib.Log.setCallback(null);
    lib.Log.setLevel(constants.AV_LOG_QUIET);
  }
}

/** One filter with settings of any characters: FFmpeg unescapes the graph's text first, then each setting. */
export function filterText(name: string, settings: Readonly<Record<string, string | number>>): string {
  const text = Object.entries(settings).map(
    ([setting, value]) => `${setting}=${String(value).replaceAll(/[\\':]/g, String.raw`\$&`)}`,
  );
  return `${name}='${text.join(":").replaceAll("'", String.raw`'\''`)}'`;
}
