/**
 * Defines video operations. Each operation is a capability and also a step of `video.pipeline`. All steps share one filter graph and one
 * encode.
 */
import type { CapabilityModality, Rule } from "#shared/calls/capabilities/entry.ts";

import {
  defineCapability,
  type DefinedCapability,
  input,
  type InputFile,
  type RunOutput,
  type Run,
} from "../define.ts";
import type { Params, ParamsOf } from "../params.ts";

import { CLIP, encodeVideo, openDeepScene, OUTPUT, type Output, outputRules, VIDEO_PRICE } from "./encode.ts";
import { type VideoFacts, probeVideo } from "./facts.ts";
import { checkScene, type Scene } from "./scene.ts";

/** State of a video before an operation is applied. */
export interface Before {
  readonly facts: VideoFacts;
  /** Filter graph that contains all previous operations. */
  readonly scene: Scene;
  /** File of the second input; undefined for operations without one. */
  readonly second: InputFile | undefined;
  readonly folder: string;
  /** Index of the operation in the pipeline. It is part of the names of the operation's temporary files. */
  readonly at: number;
}

/**
 * Second input of an operation. It is an input member if the operation runs as its own capability, or an asset if it runs in a pipeline.
 */
export interface Second {
  readonly member: string;
  readonly kind: CapabilityModality;
  readonly description: string;
  readonly isOptional?: true;
  readonly sample: Readonly<Record<string, string>>;
}

export interface VideoOperation<P extends Params = Params> {
  readonly params: P;
  readonly rules?: readonly Rule[];
  readonly valueSources?: readonly string[];
  readonly second?: Second;
  /** True if the operation keeps 10 bits and HDR colours. Otherwise, frames are converted to 8 bits and SDR before the operation. */
  readonly keepsDepth?: (params: ParamsOf<P>) => boolean;
  /** Adds the operation to the filter graph. @throws MediaError `invalid` */
  readonly apply: (before: Before, params: ParamsOf<P>) => Promise<Scene> | Scene;
}

interface Published {
  readonly id: string;
  readonly display_name: string;
  readonly description: string;
  readonly examples: readonly { readonly title: string; readonly params: Readonly<Record<string, unknown>> }[];
}

export function videoCapability<const P extends Params>(
  operation: VideoOperation<P>,
  published: Published,
): DefinedCapability {
  const { second } = operation;
  const { member = "", kind = "any", description = "", isOptional } = second ?? {};
  const more = second === undefined ? {} : { [member]: input(kind, description, isOptional ? { optional: true } : {}) };
  return defineCapability({
    ...published,
    output_modality: "video",
    input: { video: input("video", "The video."), ...more },
    params: { ...operation.params, ...OUTPUT },
    rules: [...(operation.rules ?? []), ...outputRules()],
    ...(operation.valueSources === undefined ? {} : { valueSources: operation.valueSources }),
    sample_input: second === undefined ? CLIP : { ...CLIP, [member]: second.sample },
    price: VIDEO_PRICE,
    engine: "ffmpeg",
    run: (run) => runOperation(operation, run as unknown as OperationRun),
  });
}

interface OperationRun extends Pick<Run<object, unknown>, "params" | "folder" | "progress"> {
  readonly inputs: { readonly video: InputFile };
}

/**
 * Applies one operation to a video and encodes the result.
 * @throws MediaError the errors of the operation
 */
export async function runOperation<const P extends Params>(
  operation: VideoOperation<P>,
  { params, inputs, folder, progress }: OperationRun,
): Promise<RunOutput> {
  const own = params as ParamsOf<P> & Output;
  const facts = await probeVideo(inputs.video);
  const second = (inputs as Readonly<Record<string, InputFile | undefined>>)[operation.second?.member ?? ""];
  const before = openDeepScene(facts, own, operation.keepsDepth?.(own) === true);
  const scene = await operation.apply({ facts, scene: before, second, folder, at: 0 }, own);
  checkScene(scene);
  return encodeVideo({ folder, scene, format: facts.format, output: own, progress });
}
