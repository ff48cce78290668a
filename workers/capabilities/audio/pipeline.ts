import { defineCapability, input } from "../define.ts";
import { inSteps, pipelineParams } from "../steps.ts";
import { operation as denoise } from "./denoise.ts";
import { operation as fade } from "./fade.ts";
import { AUDIO_PRICE, OUTPUT, TUNE } from "./graph.ts";
import { operation as normalize } from "./normalize.ts";
import { type After, type AudioOperation, beforeOf, encodeSteps, shapedAudio } from "./operation.ts";
import { operation as removeSilence } from "./remove-silence.ts";
import { operation as speed } from "./speed.ts";
import { operation as trim } from "./trim.ts";
import { operation as volume } from "./volume.ts";

/** Operations by name. Each operation is also the capability `audio.<name>`. */
const OPERATIONS = {
  trim,
  volume,
  normalize,
  fade,
  speed,
  remove_silence: removeSilence,
  denoise,
} as unknown as Readonly<Record<string, AudioOperation>>;

export default defineCapability({
  id: "audio.pipeline",
  display_name: "Audio pipeline",
  description: "Applies several operations to audio in order and encodes the result once.",
  long_description:
    "Each operation is the capability of the same name without `audio.`, with the same `params` except for the output params, which are " +
    "given once in `output`. Operations are applied strictly in order, in one filter chain with a single encode at the end, so that no " +
    "quality is lost in between. Operations that measure first (loudness, silence) measure the result of the previous operations.",
  output_modality: "audio",
  composite: true,
  input: { audio: input("audio", "The audio.") },
  params: pipelineParams(OPERATIONS, OUTPUT),
  sample_input: TUNE,
  examples: [
    {
      title: "Faster, with normalized loudness",
      params: { operations: [{ operation: "speed", params: { rate: 1.25 } }, { operation: "normalize" }] },
    },
    {
      title: "The first second with a fade-out, as WAV",
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
    const { facts, shape } = await shapedAudio(inputs.audio, params.output);
    const steps: After[] = [];
    await inSteps(OPERATIONS, params.operations, undefined, async ({ operation, params: own }) => {
      const filters = [...shape, ...steps.flatMap((step) => step.filters)];
      const seconds = steps.at(-1)?.seconds ?? facts.seconds;
      steps.push(await operation.apply(beforeOf(folder, facts, filters, seconds), own));
    });
    return encodeSteps({ folder, facts, shape, steps, output: params.output, progress });
  },
});
