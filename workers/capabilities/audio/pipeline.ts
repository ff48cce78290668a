import { brokenRule } from "#shared/capabilities/rules.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { custom, objectSchema, withDefaults } from "../params.ts";
import { operation as denoise } from "./denoise.ts";
import { operation as fade } from "./fade.ts";
import { AUDIO_PRICE, chainOf, encodeAudio, OUTPUT, type Output, probeAudio, TUNE } from "./graph.ts";
import { operation as normalize } from "./normalize.ts";
import { type AudioOperation, beforeOf } from "./operation.ts";
import { operation as removeSilence } from "./remove-silence.ts";
import { operation as speed } from "./speed.ts";
import { operation as trim } from "./trim.ts";
import { operation as volume } from "./volume.ts";

/** As capabilities they are called `audio.<name>`. */
const OPERATIONS = {
  trim,
  volume,
  normalize,
  fade,
  speed,
  remove_silence: removeSilence,
  denoise,
} as unknown as Readonly<Record<string, AudioOperation>>;

interface Step {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const STEP = {
  anyOf: Object.entries(OPERATIONS).map(([name, { params }]) => ({
    type: "object",
    properties: { operation: { const: name }, params: objectSchema(params) },
    required: ["operation"],
    additionalProperties: false,
  })),
};

export default defineCapability({
  id: "audio.pipeline",
  display_name: "Audio pipeline",
  description: "Does several operations to audio, one after the other, and encodes it once.",
  long_description:
    "Each operation is a capability without its `audio.`, with that capability's `params` but for the output block, which stands once in " +
    "`output`. Operations are done strictly in their order, in one chain with a single encode at its end, so that nothing is lost between " +
    "them. An operation that measures first (loudness, silence) measures what the operations before it made.",
  output_modality: "audio",
  composite: true,
  input: { audio: input("audio", "The audio.") },
  params: {
    operations: custom<readonly Step[], { readonly required: true }>(
      { description: "Done in this order.", type: "array", items: STEP, minItems: 1, maxItems: 20 },
      { required: true },
    ),
    output: custom<Output, { readonly default: Output }>(
      { ...objectSchema(OUTPUT), description: "How the result is written." },
      { default: {} as Output },
    ),
  },
  sample_input: TUNE,
  examples: [
    {
      title: "Faster and at an even loudness",
      params: { operations: [{ operation: "speed", params: { rate: 1.25 } }, { operation: "normalize" }] },
    },
    {
      title: "A piece that fades out, as WAV",
      params: {
        operations: [
          { operation: "trim", params: { duration: 1 } },
          { operation: "fade", params: { out: 0.4 } },
        ],
        output: { format: "wav" },
      },
    },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const facts = await probeAudio(inputs.audio);
    const filters: string[] = [];
    let { seconds } = facts;
    for (const [at, { operation: name, params: given = {} }] of params.operations.entries()) {
      const operation = OPERATIONS[name];
      if (!operation)
        throw new MediaError("invalid", `Expected params.operations[${at}].operation to be one that there is.`);
      const place = `params.operations[${at}].params.`;
      const broken = brokenRule(operation.rules ?? [], { params: given });
      if (broken) throw new MediaError("invalid", broken.message.replaceAll("params.", place));
      try {
        const after = await operation.apply(
          beforeOf(folder, facts, filters, seconds),
          withDefaults(operation.params, given),
        );
        filters.push(...after.filters);
        ({ seconds } = after);
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        throw new MediaError(error.fault, error.message.replaceAll("params.", place), { cause: error });
      }
    }
    return encodeAudio({
      folder,
      graph: chainOf(facts, filters),
      from: facts,
      output: params.output,
      seconds,
      progress,
    });
  },
});
