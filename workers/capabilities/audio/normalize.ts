import { MediaError } from "#shared/children/media-error.ts";

import { choice, number } from "../params.ts";
import { audioCapability, type AudioOperation, type Before } from "./operation.ts";

const params = {
  loudness: number("Target integrated loudness.", { min: -40, max: -5, unit: "LUFS", default: -16 }),
  true_peak: number("Maximum true peak.", { min: -9, max: 0, unit: "dBTP", default: -1.5 }),
  range: number("Target loudness range in LU.", { min: 1, max: 20, default: 11 }),
  passes: choice(
    "2 measures first and applies one constant gain if possible, which keeps the dynamics. The gain changes over time with 1, or if the peak would exceed `true_peak`. `output.loudness.mode` is then `dynamic`, and the target may be missed slightly.",
    [1, 2],
    { default: 2 },
  ),
};

export const operation: AudioOperation<typeof params> = {
  params,
  async apply(before, { loudness, true_peak: peak, range, passes }) {
    const wanted = `loudnorm=I=${loudness}:TP=${peak}:LRA=${range}`;
    const filter = `${wanted}${passes === 1 ? "" : await measure(before, wanted)}`;
    // loudnorm outputs 192 kHz.
    const back = `aresample=${before.facts.sampleRate}`;
    return {
      filters: [filter, back],
      seconds: before.seconds,
      report: { filters: [`${filter}:print_format=json`, back], read: (printed) => ({ loudness: reached(printed) }) },
    };
  },
};

const FACTS = {
  input_i: "measured_I",
  input_tp: "measured_TP",
  input_lra: "measured_LRA",
  input_thresh: "measured_thresh",
  target_offset: "offset",
} as const;

async function measure(before: Before, wanted: string): Promise<string> {
  const facts = await loudnessOf(before, wanted);
  if (Object.values(facts).some((value) => !Number.isFinite(value))) {
    throw new MediaError("invalid", "Expected audio of at least 0.4 s that is not entirely silent.");
  }
  const settings = Object.entries(FACTS).map(([ours, theirs]) => `:${theirs}=${facts[ours as keyof typeof FACTS]}`);
  return `${settings.join("")}:linear=true`;
}

/**
 * Returns the loudness that the loudnorm filter measured in its output before encoding, and the filter's mode. If a constant gain would
 * exceed the peak limit, the mode is a gain that changes over time.
 */
function reached(printed: string): object {
  const said = printedBy(printed);
  const known = (value: string | undefined): number | null => (Number.isFinite(Number(value)) ? Number(value) : null);
  return {
    integrated: known(said["output_i"]),
    true_peak: known(said["output_tp"]),
    range: known(said["output_lra"]),
    mode: said["normalization_type"] ?? null,
  };
}

/** Returns the values that the loudnorm filter printed. @throws Error if loudnorm printed nothing */
function printedBy(printed: string): Readonly<Record<string, string>> {
  const json = /\{[^{}]*"input_i"[^{}]*\}/.exec(printed)?.[0];
  if (json === undefined) throw new Error("loudnorm told nothing");
  return JSON.parse(json) as Readonly<Record<string, string>>;
}

/** Measures loudness with the loudnorm filter. @param filter loudnorm with its targets. @throws Error if loudnorm printed nothing */
export async function loudnessOf(
  before: Before,
  filter: string,
): Promise<Readonly<Record<keyof typeof FACTS, number>>> {
  const said = printedBy(await before.measure([`${filter}:print_format=json`]));
  const of = (name: keyof typeof FACTS): number => Number(said[name]);
  return {
    input_i: of("input_i"),
    input_tp: of("input_tp"),
    input_lra: of("input_lra"),
    input_thresh: of("input_thresh"),
    target_offset: of("target_offset"),
  };
}

export default audioCapability(operation, {
  id: "audio.normalize",
  display_name: "Normalize loudness",
  description:
    "Normalizes the loudness of audio to a target (EBU R 128). `output.loudness` contains the measured loudness of the result.",
  examples: [
    { title: "For podcasts", params: {} },
    { title: "For broadcast, in one pass", params: { loudness: -23, passes: 1 } },
  ],
});
