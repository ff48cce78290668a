/**
 * Implements the tool type `image_generation` of the Responses API: the function that the model sees, and the generation of the image when
 * the model calls it.
 */
import type { MediaResults, ResponsesImageTool, ResponsesTool } from "#schemas/generated/types.ts";
import { mayCallModel } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { IMAGES } from "#shared/calls/kinds/images.ts";
import { kindOfCall, modelOf } from "#shared/calls/kinds/models.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { findBlocks } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readFile } from "#shared/files/read.ts";

import type { ApiClient } from "../../tools/api-client.ts";
import type { Arguments } from "../../tools/arguments.ts";
import type { LoopTool } from "../../tools/loop.ts";
import type { ToolSetReader } from "../../tools/tool-set.ts";
import { runWork, type ToolOutcome, type WorkRoute } from "../../tools/run-tool.ts";
import { withParam } from "../../core/with-param.ts";

import { IMAGE_TOOL, type ImageItemFields } from "./image-items.ts";

/**
 * Maximum total size of images included in a response, in bytes. Included images are in memory and in the last event. Further images are
 * only available as files.
 */
const RESULTS_BYTES_MAX = 8 * 1_048_576;
/** Maximum number of images per response. Further calls return an error to the model. */
const IMAGES_MAX = 4;

/** Caller whose limits apply to the image model. */
type Limited = Pick<Caller, "accessLists">;

const DESCRIPTION =
  "Makes an image of a description and shows it to the user, who sees it without a link. Describe subject, composition, style and " +
  "colours in the prompt, as the image model knows nothing of the conversation.";

/** Returns the functions with which `readToolSet` reads the tools of a Responses call. */
export function toolSetReader(catalogue: Catalogue, caller: Limited): ToolSetReader<ResponsesTool> {
  return {
    nameOf: (tool) => (tool.type === "function" || tool.type === "custom" ? tool.name : undefined),
    serve: (tool, from) =>
      tool.type === "image_generation" ? readImageTool(catalogue, caller, tool, from) : undefined,
  };
}

/**
 * Reads the image tool of a call.
 * @param from JSON path of the tool in the caller's body
 * @throws ApiError `model_not_found`, `model_not_supported`, `permission_denied`; `unsupported_value` that names the invalid setting
 */
export function readImageTool(catalogue: Catalogue, caller: Limited, tool: ResponsesImageTool, from: string): LoopTool {
  const settings = settingsOf(tool);
  const model = imageModelOf(catalogue, caller, tool.model ?? undefined, settings, from);
  const capacity = { bytes: RESULTS_BYTES_MAX };
  const { sizes } = model.allowed_params;
  const hasChoice = settings.size === undefined && sizes !== undefined && sizes.length > 0;
  return {
    id: IMAGE_TOOL,
    name: IMAGE_TOOL,
    description: DESCRIPTION,
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the image shows." },
        ...(hasChoice ? { size: { type: "string", enum: sizes, description: "Width and height." } } : {}),
      },
      required: ["prompt"],
    },
    most: IMAGES_MAX,
    run(api, args, bounds) {
      const size = hasChoice && args["size"] !== undefined ? { size: args["size"] } : {};
      const body = { ...size, ...settings, model: model.slug, prompt: args["prompt"] };
      return runWork(api, MAKING, { body }, bounds, (answer, nano) => outcomeOf(api, answer, { nano, body, capacity }));
    },
  };
}

const MAKING: WorkRoute = {
  run: "createImage",
  estimate: ({ body = {} }) => ({
    operationId: "estimateCall",
    params: { slug: "model" in body ? String(body.model) : "" },
    body,
  }),
  cancel: "cancelJob",
  param: "job_id",
};

type Settings = Pick<Arguments, string> & { readonly size?: string };

/** Returns the tool's settings as members of an image request. Settings that the model chooses are omitted. */
function settingsOf({ size, quality, background, output_format, output_compression, moderation }: ResponsesImageTool) {
  const values = { size, quality, background, output_format, output_compression, moderation };
  const said = Object.entries(values).filter(([, value]) => value != null && value !== "auto");
  return Object.fromEntries(said) as Settings;
}

function imageModelOf(
  catalogue: Catalogue,
  caller: Limited,
  slug: string | undefined,
  settings: Settings,
  from: string,
): Model {
  if (slug === undefined) return cheapestModel(catalogue, caller, settings, from);
  try {
    const model = modelOf(IMAGES, catalogue, caller, slug);
    mostPaid(model, settings);
    return model;
  } catch (error) {
    throw withParam(error, (param) => `${from}.${param}`);
  }
}

/** Returns the image model with the lowest maximum price per image, of the models that the key may call and that accept the settings. */
function cheapestModel({ models }: Catalogue, caller: Limited, settings: Settings, from: string): Model {
  const faults: unknown[] = [];
  const priced = [...models.values()].flatMap((model) => {
    if (model.kind === "tool" || kindOfCall(model) !== IMAGES || !mayCallModel(caller, model.slug)) return [];
    try {
      return [{ model, nano: mostPaid(model, settings) }];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(error);
      return [];
    }
  });
  const compare = (a: (typeof priced)[number], b: (typeof priced)[number]): number =>
    a.nano === b.nano ? (a.model.slug < b.model.slug ? -1 : 1) : a.nano < b.nano ? -1 : 1;
  const [cheapest] = priced.toSorted(compare);
  if (cheapest) return cheapest.model;
  // The error of a single model is precise; those of several would contradict each other.
  if (faults.length === 1) throw withParam(faults[0], (param) => `${from}.${param}`);
  const message =
    faults.length === 0
      ? "This service has no image model that the key may call; remove the tool of type image_generation."
      : "No image model supports these parameters together; change them, or name a model.";
  throw new ApiError("model_not_found", message, { param: `${from}.model` });
}

/**
 * Returns the maximum price of one image with these settings, in nano-credits.
 * @throws ApiError that names the setting that the model does not accept
 */
function mostPaid(model: Model, settings: Settings): bigint {
  return IMAGES.check({ ...settings, model: model.slug, prompt: "image" }, model).bound.holdNano;
}

interface ImageCall {
  readonly nano: bigint;
  readonly body: Arguments;
  readonly capacity: { bytes: number };
}

async function outcomeOf(api: ApiClient, answer: Response, { nano, body, capacity }: ImageCall): Promise<ToolOutcome> {
  const [image] = ((await answer.json()) as MediaResults).data;
  if (image?.file_id === undefined) throw new Error("an image without a file");
  const { file_id, content_type } = image;
  const asked = ["size", "quality", "background"].flatMap((name) => {
    const value = body[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const model = answer.headers.get("x-model-used");
  const itemFields: ImageItemFields = {
    result: await base64Of(api, file_id, capacity),
    file_id,
    ...(model === null ? {} : { model }),
    ...(content_type === undefined ? {} : { output_format: content_type.replace(/^image\//, "") }),
    ...Object.fromEntries(asked),
  };
  const output = JSON.stringify({ file_id, content_type, note: "The user sees the image." });
  return { status: "completed", output, files: [], nano, itemFields };
}

/**
 * Returns the image in base64. Returns null if the image exceeds the remaining bytes or the file cannot be read; the image is charged and
 * stored in both cases.
 */
async function base64Of(
  { context: { database, storage, log }, call }: ApiClient,
  fileId: string,
  capacity: { bytes: number },
): Promise<string | null> {
  try {
    const blocks = await findBlocks(database, fileId);
    if (!blocks) throw new Error(`${fileId} is not there any more`);
    if (blocks.bytes > capacity.bytes) return null;
    capacity.bytes -= blocks.bytes;
    const pieces: Uint8Array[] = [];
    for await (const piece of readFile(storage, blocks)) pieces.push(piece);
    return Buffer.concat(pieces).toString("base64");
  } catch (error) {
    log.warn({ err: error, job_id: call.requestId }, "a generated image could not be read");
    return null;
  }
}
