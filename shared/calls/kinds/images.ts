/**
 * Checks an image call against its model's declarations and calculates its maximum cost. Pure. Rejects a value outside a set that the model
 * declares. Omits a field for which the model declares no set.
 */
import type { ImageEditRequest, ImageGenerationRequest } from "#schemas/generated/types.ts";
import editSchema from "#schemas/requests/image-edit.schema.json" with { type: "json" };
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";
import { TOKENS_PER_IMAGE } from "#shared/calls/kinds/chat/usage.ts";

import type { CallBound } from "./call-bound.ts";
import { type CheckedMedia, member, only, refusal, refuseFormat, refuseUntaken } from "./media-check.ts";
import { CALL_UNITS, type MediaKind, NO_INPUTS } from "./kind.ts";
import { editImages } from "./input-media.ts";

/**
 * Request parameters that a source of the model receives, with the names of our API. A parameter is absent if the model declares no set of
 * values for it.
 */
export interface ImageParams {
  readonly prompt: string;
  readonly n: number;
  readonly size?: string;
  readonly quality?: string;
  readonly style?: string;
  readonly aspectRatio?: string;
  readonly imageSize?: string;
  readonly background?: string;
  readonly outputFormat?: "png" | "jpeg" | "webp";
  readonly outputCompression?: number;
  readonly inputFidelity?: string;
  readonly moderation?: string;
  readonly negativePrompt?: string;
  readonly personGeneration?: string;
  readonly seed?: number;
  readonly steps?: number;
  readonly promptExtend?: boolean;
  readonly user?: string;
}

/** Parameters of an image edit, without its images. */
export interface ImageEditParams extends ImageParams {
  readonly strength?: number;
}

type CheckedImages = CheckedMedia<ImageParams>;

/** Number of pixels assumed for an image when neither the request nor the catalogue states the size. */
const USUAL_PIXELS = 1_024 * 1_024;
/** Number of tokens that a template adds to a prompt. The prompt itself has at most one token per byte. */
const PROMPT_MARKS = 64;

export const IMAGES: MediaKind<ImageGenerationRequest, CheckedImages> = {
  name: "images",
  endpoint: "/v1/images/generations",
  pool: "image",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("ImageGenerationRequest", body),
  modality: "image",
  units: ["per_image", "per_megapixel", "per_token", ...CALL_UNITS],
  hasLength: false,
  writes: "imageOutput",
  nouns: { one: "an image model", all: "image models" },
  isOfKind: ({ modality }) => modality === "image",
  check: checkImages,
  inputs: NO_INPUTS,
  route: {
    operationId: "createImage",
    summary: "Create image",
    description:
      "Generates images in a durable job, which continues when the client disconnects. A call that exceeds the " +
      "wait limit fails with `job_timeout` and the job's id; the images can be retrieved from the job. With " +
      "`stream: true` the response is an event stream of states that ends with `[DONE]`; closing the connection " +
      "cancels the call.",
    tag: "Images",
    request: { schema: "ImageGenerationRequest", example: { model: "sandbox-image", prompt: "a boat at sea" } },
    answers: "results",
    answersInline: true,
    answer: { description: "The images, or a stream of states", schema: "MediaResults", stream: "MediaState" },
    statesBy: "member",
  },
};

/** Members of JSON requests that contain or describe an image. They have no meaning in a form. */
const IMAGE_MEMBERS = ["image_base64", "image_file_id", "mask_base64", "mask_file_id"];

/** Properties of an edit that a form may set. In a form, a binary part contains the image, and its bytes determine its type. */
const {
  image_base64: _image,
  image_mime_type: _imageType,
  mask_base64: _mask,
  mask_mime_type: _maskType,
  ...FORM_MEMBERS
} = editSchema.properties;

export const IMAGE_EDITS: MediaKind<ImageEditRequest, CheckedMedia<ImageEditParams>> = {
  name: "image_edits",
  endpoint: "/v1/images/edits",
  pool: "image",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("ImageEditRequest", body),
  modality: "upscale",
  units: ["per_image", ...CALL_UNITS],
  hasLength: false,
  writes: "imageOutput",
  nouns: { one: "an image model", all: "upscaling models" },
  isOfKind: ({ modality }) => modality === "image" || modality === "upscale",
  isMeantBy: ({ modality, allowed_params: { requires_input_image: requires } }, members) =>
    modality === "upscale" || requires === true || IMAGE_MEMBERS.some((name) => (members[name] ?? null) !== null),
  check: checkImageEdit,
  inputs: (request, model, kept) => editImages({ ...request }, model, kept),
  route: {
    operationId: "editImage",
    summary: "Create image edit",
    description:
      "Edits an image that the body contains in base64 or names as a stored file. Models with the modality " +
      "`upscale` are also called here. In a form the images are the parts `image` and `mask`.",
    tag: "Images",
    request: {
      schema: "ImageEditRequest",
      form: {
        members: FORM_MEMBERS,
        files: { image: { member: "image_base64" }, mask: { member: "mask_base64" } },
      },
    },
    answers: "results",
    answersInline: true,
    answer: { description: "The edited images", schema: "MediaResults" },
    does: ["reads_files"],
    codes: ["edit_not_supported"],
  },
};

/**
 * Checks an image generation and returns its parameters and maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support
 */
export function checkImages(request: ImageGenerationRequest, model: Model): CheckedImages {
  if (model.allowed_params.requires_input_image === true) {
    throw new ApiError(
      "model_not_supported",
      "This model edits images and cannot generate one from text; call POST /v1/images/edits.",
      {
        param: "model",
      },
    );
  }
  refuseUntaken(request, model, "images");
  refuseFormat(request.output_format, model);
  return check(request, model, 0);
}

/**
 * Checks an image edit, except for its images (input-media.ts).
 * @throws ApiError 400 `edit_not_supported` if the model accepts no images; otherwise ApiError 400 that names the invalid parameter
 */
export function checkImageEdit(request: ImageEditRequest, model: Model): CheckedMedia<ImageEditParams> {
  const { accepts_input_image: accepts, requires_input_image: requires, strength: range } = model.allowed_params;
  if (accepts !== true && requires !== true) {
    throw new ApiError(
      "edit_not_supported",
      "This model generates images and cannot edit one; call POST /v1/images/generations.",
      { param: "model" },
    );
  }
  if (request.image_base64 === undefined && request.image_file_id === undefined) {
    throw new ApiError("missing_required_parameter", "Missing required parameter: image_base64 or image_file_id.", {
      param: "image_base64",
    });
  }
  if (range?.required === true && request.strength === undefined) {
    throw new ApiError("missing_required_parameter", "Missing required parameter: strength. This model requires it.", {
      param: "strength",
    });
  }
  refuseUntaken(request, model, "image_edits");
  const strength =
    range && request.strength !== undefined ? Math.min(range.max, Math.max(range.min, request.strength)) : undefined;
  const images = (request.mask_base64 ?? request.mask_file_id) === undefined ? 1 : 2;
  const checked = check(declaredOf(request), model, images);
  return { ...checked, params: { ...checked.params, ...only("strength", strength) } };
}

/**
 * Returns only the members that the schema of edits declares. Other members, such as `seed` of generations, are ignored: they are not
 * validated and must not reach a provider.
 */
function declaredOf(request: ImageEditRequest): ImageEditRequest {
  const declared = Object.entries(request).filter(([name]) => Object.hasOwn(editSchema.properties, name));
  return Object.fromEntries(declared) as unknown as ImageEditRequest;
}

/**
 * Checks the members that generations and edits share.
 * @param images number of images in the call
 */
function check(request: ImageGenerationRequest | ImageEditRequest, model: Model, images: number): CheckedImages {
  const allowed = model.allowed_params;
  const asked: ImageGenerationRequest = { ...allowed.default_params, ...request };
  const n = asked.n ?? 1;
  const max = allowed.max_n ?? 1;
  if (n > max) throw refusal("n", `This model generates at most ${max} ${max === 1 ? "image" : "images"}, got ${n}.`);
  if (asked.size !== undefined && allowed.sizes === undefined) {
    throw refusal("size", `This model does not support size${otherThanSize(model)}.`);
  }
  member("response_format", asked.response_format, allowed.response_formats);
  const steps = asked.steps;
  const params: ImageParams = {
    prompt: asked.prompt,
    n,
    ...only("size", member("size", asked.size, allowed.sizes)),
    ...only("quality", member("quality", asked.quality, allowed.qualities)),
    ...only("style", member("style", asked.style, allowed.styles)),
    ...only("aspectRatio", member("aspect_ratio", asked.aspect_ratio, allowed.aspect_ratios)),
    ...only("imageSize", member("image_size", asked.image_size, allowed.image_sizes)),
    ...only("background", member("background", asked.background, allowed.background)),
    ...only("outputFormat", member("output_format", asked.output_format, allowed.output_formats)),
    ...only("personGeneration", member("person_generation", asked.person_generation, allowed.person_generation)),
    ...only("inputFidelity", asked.input_fidelity),
    ...only("moderation", asked.moderation),
    ...only("negativePrompt", asked.negative_prompt),
    ...only("seed", asked.seed),
    ...only("steps", steps),
    ...only("promptExtend", asked.prompt_extend),
    ...only("user", asked.user),
  };
  const compressed = params.outputFormat === "jpeg" || params.outputFormat === "webp";
  const defaultSteps = usualSteps(model) ?? steps ?? 1;
  const pixels = pixelsOf(params.size, allowed.sizes);
  const counted = { results: n, pixels: Array<number>(n).fill(pixels), steps: steps ?? defaultSteps, defaultSteps };
  const most: Quantities = { ...ONE_RESULT, ...counted };
  // `image_size` applies only if `size` is absent.
  const labelled = request.size === undefined ? { image_size: asked.image_size } : {};
  const price = priceOf(model, {
    ...labelled,
    quality: asked.quality,
    size: asked.size,
    aspect_ratio: asked.aspect_ratio,
    prompt_extend: asked.prompt_extend,
  });
  return {
    params: { ...params, ...only("outputCompression", compressed ? asked.output_compression : undefined) },
    price,
    most,
    usual: most,
    bound: boundOf({ ...model, price }, params, most, images),
  };
}

function boundOf(
  model: Pick<Model, "price" | "max_output_tokens" | "tokens_per_image_max">,
  { prompt, n }: ImageParams,
  most: Quantities,
  images: number,
): CallBound {
  const isByToken = model.price.unit === "per_token";
  const input = Buffer.byteLength(prompt) + PROMPT_MARKS;
  const output = n * model.max_output_tokens;
  const imageInput = images * (model.tokens_per_image_max ?? TOKENS_PER_IMAGE);
  return {
    holdNano: boundMedia(model.price, most, { input, imageInput, output }),
    outputTokensMax: isByToken ? output : 0,
    mayExceed: false,
    tokensMax: isByToken ? input + imageInput + output : 0,
  };
}

function otherThanSize({ allowed_params: { aspect_ratios: ratios, image_sizes: sizes } }: Model): string {
  const others = [...(ratios ? ["aspect_ratio"] : []), ...(sizes ? ["image_size"] : [])];
  return others.length === 0 ? "" : `, but ${others.join(" and ")}`;
}

function usualSteps({ allowed_params: { default_params: usual } }: Model): number | undefined {
  const steps = usual?.["steps"];
  return typeof steps === "number" && Number.isInteger(steps) && steps > 0 ? steps : undefined;
}

function pixelsOf(size: string | undefined, sizes: readonly string[] | undefined): number {
  const known = readSize(size);
  if (known !== undefined) return known;
  const largest = Math.max(0, ...(sizes ?? []).map((one) => readSize(one) ?? 0));
  return largest > 0 ? largest : USUAL_PIXELS;
}

function readSize(size: string | undefined): number | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  return width === undefined || height === undefined ? undefined : Number(width) * Number(height);
}
