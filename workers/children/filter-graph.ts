/**
 * Runs one FFmpeg filter graph (node-av) and writes its outputs into one file. For child processes only, because a crash of FFmpeg must not
 * end a server. The graph uses one thread and "bitexact", so that equal inputs give equal bytes.
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
   * Graph in FFmpeg's syntax, with sources by `fileSource` and one open label per stream, such as `[v]`. Graph text is code, so a caller's
   * text must be escaped by `filterText` or read from a file.
   */
  readonly graph: string;
  /** Output streams, in their order in the file. */
  readonly streams: readonly StreamPlan[];
  readonly output: {
    readonly path: string;
    /** FFmpeg's name of the muxer, such as `mp4`. */
    readonly muxer: string;
    readonly options?: FfmpegOptions;
  };
  /** Maximum length of a stream, in seconds. A longer stream is an error. */
  readonly secondsMax: number;
  /** Called with each line that a filter prints, such as a measurement. */
  readonly onLog?: (line: string) => void;
  /** Called with the time up to which all output streams are written, in seconds. */
  readonly onSeconds?: (seconds: number) => void;
}

/**
 * Encoder settings for H.264 that every player can decode. Measured at 720p on one core: veryfast takes 7 ms per frame. Superfast takes 5
 * ms with twice the bytes. The macroblock tree of x264 is off, because it reads uninitialized memory, so that equal frames sometimes gave
 * different bytes.
 */
export const H264 = {
  encoder: "libx264",
  options: { preset: "veryfast", crf: "20", "x264-params": "mbtree=0" },
} as const;
/** Encoder settings for AAC. FFmpeg's own AAC encoder needs 192 kbit/s for music in two channels. */
export const AAC = { encoder: "aac", options: { b: "192k" } } as const;
/** Muxer settings for MP4. The index precedes the data, so that a player can start before the file has loaded completely. */
export const MP4 = { muxer: "mp4", options: { movflags: "+faststart" } } as const;

/**
 * Runs the graph until all outputs are written.
 * @throws MediaError failed if FFmpeg rejects the graph, an encoder or the muxer, or fails while the graph runs, also because of a damaged
 * input
 * @throws MediaError corrupt if a stream has no frame; too_large if a stream is longer than `secondsMax`
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
    // Freeing a context whose file is already closed crashes the process.
    file.pb = null;
    file.freeContext();
    // Some filters print their measurements only when they are freed.
    graph.free();
    await log?.end();
  }
}

/** Maximum number of event loop turns in which FFmpeg's printed lines must arrive. Measured: one turn. */
const LOG_TURNS_MAX = 1_000;

interface Log {
  /** Waits until all lines that were printed so far have arrived, and closes the log. @throws Error if they do not arrive */
  end(): Promise<void>;
}

/** Registers a listener for the lines that FFmpeg prints. The lines arrive in order, but a timer may run before they do. */
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

/**
 * Returns the text of one filter, whose settings may contain any characters. FFmpeg unescapes the graph's text first, and then each
 * setting.
 */
export function filterText(name: string, settings: Readonly<Record<string, string | number>>): string {
  const text = Object.entries(settings).map(
    ([setting, value]) => `${setting}=${String(value).replaceAll(/[\\':]/g, String.raw`\$&`)}`,
  );
  return `${name}='${text.join(":").replaceAll("'", String.raw`'\''`)}'`;
}
