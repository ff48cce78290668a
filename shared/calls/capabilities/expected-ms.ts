/**
 * Expected time of audio and video capabilities. Rough, because machines and contents differ: the maximum is ten times the estimate plus
 * half a minute. A longer run is charged for the maximum.
 */
import type { KnownInputs, MediaLength, Range } from "./expected.ts";

type Params = Readonly<Record<string, unknown>>;

/** Factor of the maximum over the usual time: busy machines, noise, slow drives. */
const MOST_TIMES = 10;
const MOST_MORE_MS = 30_000;
/** Time for opening files and starting, in milliseconds. */
const BEGIN_MS = 300;

/** Scripts: most end immediately, others may use their whole time limit. */
const SCRIPTS = new Set(["code.run_javascript", "code.run_python"]);
const SCRIPT_MS = 200;

/** Returns undefined if the time cannot be estimated. */
export function expectedMs(id: string, params: Params, known: KnownInputs): Range | undefined {
  const [category, operation = ""] = id.split(".");
  if (SCRIPTS.has(id)) return { usual: SCRIPT_MS, most: Infinity };
  if (category !== "audio" && category !== "video") return undefined;
  const inputs = inputsOf(known, category);
  if (inputs === undefined) return undefined;
  const work = category === "audio" ? audioMs(operation, params, inputs) : videoMs(operation, params, inputs);
  const usual = BEGIN_MS + work;
  return { usual, most: usual * MOST_TIMES + MOST_MORE_MS };
}

/** Returns all inputs of the first member; undefined unless all are known. */
function inputsOf(known: KnownInputs, category: "audio" | "video"): readonly MediaLength[] | undefined {
  const files = known[category] ?? known[`${category}s`] ?? [];
  const media = files.flatMap((one) => (one.media === undefined ? [] : [one.media]));
  return media.length === 0 || media.length < files.length ? undefined : media;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

function numberOf(params: Params, name: string): number | undefined {
  const value = params[name];
  return typeof value === "number" ? value : undefined;
}

function textOf(params: Params, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns the end of the cut in seconds of its input; undefined: the end of the input. */
function endOf(params: Params): number | undefined {
  const start = numberOf(params, "start") ?? 0;
  const duration = numberOf(params, "duration");
  return numberOf(params, "end") ?? (duration === undefined ? undefined : start + duration);
}

/** Returns the seconds of decoded input: the cut, and everything before it. */
function decodedSeconds(params: Params, seconds: number): number {
  return Math.min(seconds, endOf(params) ?? seconds);
}

function steps(params: Params): readonly { readonly operation: string; readonly params: Params }[] {
  const { operations } = params;
  if (!Array.isArray(operations)) return [];
  return (operations as readonly { operation: string; params?: Params }[]).map((one) => ({ params: {}, ...one }));
}

/** Time for decoding and encoding a second of stereo sound, in milliseconds. */
const SOUND_MS = 35;
/** Additional time of an operation per second of sound, in milliseconds; loudness is measured and set at 192 kHz. */
const SOUND_STEP_MS = 10;
const LOUDNESS_MS = 170;

function audioMs(operation: string, params: Params, inputs: readonly MediaLength[]): number {
  const seconds = sum(inputs.map((one) => (operation === "trim" ? decodedSeconds(params, one.seconds) : one.seconds)));
  const names = operation === "pipeline" ? steps(params).map((step) => step.operation) : [operation];
  const each = sum(names.map((name) => (name === "normalize" ? LOUDNESS_MS : SOUND_STEP_MS)));
  return seconds * (SOUND_MS + each);
}

/** Time per megapixel of a frame in milliseconds, for decoding and for encoding at `veryfast`. */
const DECODE_MS = 12;
const ENCODE_MS: Readonly<Record<string, number>> = { h264: 16, h265: 64, vp8: 32, vp9: 64, av1: 48 };
const PRESETS: Readonly<Record<string, number>> = {
  ultrafast: 0.5,
  superfast: 0.7,
  veryfast: 1,
  faster: 1.5,
  fast: 2,
  medium: 2.5,
  slow: 6,
};
/** Most videos have fewer frames per second; few have more than twice as many. */
const FPS = 30;

function videoMs(operation: string, params: Params, inputs: readonly MediaLength[]): number {
  if (params["mode"] === "copy") return 0;
  const own = operation === "pipeline" ? steps(params) : [{ operation, params }];
  const output = operation === "pipeline" ? ((params["output"] ?? {}) as Params) : params;
  let [decode, encode, sound] = [0, 0, 0];
  for (const { seconds, width, height } of inputs) {
    const trim = own.findIndex((step) => step.operation === "trim" || step.operation === "to_gif");
    const piece = trim === 0 ? decodedSeconds(own[0]?.params ?? {}, seconds) : seconds;
    const start = trim === 0 ? (numberOf(own[0]?.params ?? {}, "start") ?? 0) : 0;
    const slow = Math.max(
      1,
      ...own.map((step) => (step.operation === "speed" ? 1 / (numberOf(step.params, "rate") ?? 1) : 1)),
    );
    sound += piece * SOUND_MS;
    decode += piece * FPS * ((width * height) / 1_000_000);
    encode += Math.max(0, piece - start) * slow * FPS * (largest(own, { width, height }) / 1_000_000);
  }
  const encoder = ENCODE_MS[encoderOf(output)] ?? 0;
  const preset = PRESETS[textOf(output, "preset") ?? "veryfast"] ?? 1;
  const copies = Array.isArray(params["heights"]) ? params["heights"].length : 1;
  return decode * DECODE_MS + (STILLS.has(operation) ? 0 : encode * encoder * preset * copies) + sound;
}

/** Operations that produce images of some frames, or sound alone. */
const STILLS = new Set(["thumbnail", "frames", "extract_audio"]);

function encoderOf(output: Params): string {
  return textOf(output, "video_codec") ?? (output["format"] === "webm" ? "vp9" : "h264");
}

/** Returns the pixels of a frame during processing. */
function largest(
  steps: readonly { readonly params: Params }[],
  { width, height }: { width: number; height: number },
): number {
  const sizes = steps.map(({ params }) => {
    const across = numberOf(params, "width");
    const down = numberOf(params, "height");
    if (across !== undefined && down !== undefined) return across * down;
    if (across !== undefined) return (across * across * height) / Math.max(1, width);
    return down === undefined ? 0 : (down * down * width) / Math.max(1, height);
  });
  return Math.max(width * height, ...sizes);
}
