/**
 * Defines audio operations. Each operation is a capability and also a step of `audio.pipeline`. All steps share one filter graph and one
 * encode.
 */
import type { Rule } from "#shared/calls/capabilities/entry.ts";

import {
  defineCapability,
  type DefinedCapability,
  input,
  type InputFile,
  type RunOutput,
  type Run,
} from "../define.ts";
import type { Params, ParamsOf } from "../params.ts";
import {
  AUDIO_PRICE,
  type AudioFacts,
  chainOf,
  channelFilters,
  channelsOf,
  encodeAudio,
  measured,
  OUTPUT,
  type Output,
  probeAudio,
  TUNE,
} from "./graph.ts";

/** Audio as it is before a step. */
export interface Before {
  readonly facts: AudioFacts;
  /** Length of the previous steps' output, in seconds. */
  readonly seconds: number;
  /** Runs filters on the previous steps' output, and returns the lines that they printed. */
  measure(filters: readonly string[]): Promise<string>;
}

export interface After {
  readonly filters: readonly string[];
  readonly seconds: number;
  /**
   * Filters that report a result. They replace `filters` when the audio is encoded: they have the same effect, and also print the result.
   */
  readonly report?: {
    readonly filters: readonly string[];
    /** Parses the printed lines, and returns members of the capability's `output`. */
    readonly read: (printed: string) => object;
  };
}

export interface AudioOperation<P extends Params = Params> {
  readonly params: P;
  readonly rules?: readonly Rule[];
  readonly valueSources?: readonly string[];
  /**
   * Returns the FFmpeg filters of the operation for the given parameters.
   * @throws MediaError `invalid`
   */
  readonly apply: (before: Before, params: ParamsOf<P>) => Promise<After> | After;
}

interface Published {
  readonly id: string;
  readonly display_name: string;
  readonly description: string;
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
}

export function audioCapability<const P extends Params>(
  operation: AudioOperation<P>,
  published: Published,
): DefinedCapability {
  return defineCapability({
    ...published,
    output_modality: "audio",
    input: { audio: input("audio", "The audio.") },
    params: { ...operation.params, ...OUTPUT },
    rules: operation.rules ?? [],
    ...(operation.valueSources === undefined ? {} : { valueSources: operation.valueSources }),
    sample_input: TUNE,
    price: AUDIO_PRICE,
    engine: "ffmpeg",
    run: (run) => runOperation(operation, run),
  });
}

/**
 * Applies one operation to the input audio, and encodes the result.
 * @throws the errors of the operation
 */
export async function runOperation<const P extends Params>(
  operation: AudioOperation<P>,
  { params, inputs, folder, progress }: Run<object, { readonly audio: InputFile }>,
): Promise<RunOutput> {
  const own = params as ParamsOf<P> & Output;
  const { facts, shape } = await shapedAudio(inputs.audio, own);
  const after = await operation.apply(beforeOf(folder, facts, shape, facts.seconds), own);
  return encodeSteps({ folder, facts, shape, steps: [after], output: own, progress });
}

/** Encodes the result of all steps. If several steps have a `report`, only the last one's report is in the output. */
export async function encodeSteps({ folder, facts, shape, steps, output, progress }: EncodedSteps): Promise<RunOutput> {
  const last = steps.findLast(({ report }) => report !== undefined);
  const filters = steps.flatMap((step) => (step === last ? step.report?.filters : undefined) ?? step.filters);
  const lines: string[] = [];
  const encoded = await encodeAudio({
    folder,
    graph: chainOf(facts, [...shape, ...filters]),
    from: facts,
    output,
    seconds: steps.at(-1)?.seconds ?? facts.seconds,
    progress,
    ...(last === undefined ? {} : { onLog: (line: string) => void lines.push(line) }),
  });
  return last === undefined
    ? encoded
    : { ...encoded, output: { ...encoded.output, ...last.report?.read(lines.join("")) } };
}

interface EncodedSteps extends Pick<Run<object, object>, "folder" | "progress"> {
  readonly facts: AudioFacts;
  /** Filters that set the number of channels. They run before all steps. */
  readonly shape: readonly string[];
  readonly steps: readonly After[];
  readonly output: Output;
}

/**
 * Returns facts about an input, and the filters that convert it to the result's number of channels. These filters run before all steps, so
 * that measurements and limits apply to the converted audio.
 * @throws the errors of `probeAudio`
 */
export async function shapedAudio(
  file: InputFile,
  output: Pick<Output, "channels">,
): Promise<{ readonly facts: AudioFacts; readonly shape: readonly string[] }> {
  const facts = await probeAudio(file);
  const channels = channelsOf(facts, output);
  return { facts: { ...facts, channels }, shape: channelFilters(facts.channels, channels) };
}

/**
 * Returns the input of the next step.
 * @param done filters of the previous steps
 */
export function beforeOf(folder: string, facts: AudioFacts, done: readonly string[], seconds: number): Before {
  return { facts, seconds, measure: (filters) => measured(folder, chainOf(facts, [...done, ...filters]), seconds) };
}
