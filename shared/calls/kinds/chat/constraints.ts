/** Checks a chat call against its model's declarations and calculates its maximum cost, in one walk over the messages. Pure. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { type CallBound, CHAT_DEFAULT_OUTPUT_TOKENS } from "#shared/calls/kinds/call-bound.ts";
import { type CostMax, withinMax } from "#shared/calls/max-credits.ts";
import type { Model } from "#shared/calls/model.ts";
import { boundChat } from "#shared/calls/pricing/price.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";
import { assertPublicUrl } from "#shared/net/guard.ts";

import {
  blockKind,
  type FilePlace,
  INLINE_BYTES_MAX,
  INLINE_ITEM_BYTES_MAX,
  namedFile,
  NO_FILES,
  type StoredFiles,
} from "./files.ts";
import { checkFunctionCall, checkNoServedTool, checkToolChoice } from "./tools.ts";
import { TOKENS_PER_IMAGE } from "./usage.ts";

interface Inputs {
  /** Number of characters in data URLs and base64 members, which are not text. */
  encodedLength: number;
  images: number;
  /** Number of blocks that only the provider can measure (audio, files). Such blocks may fill the whole context. */
  opaque: number;
  files: number;
  hasAudio: boolean;
  /** Total size of the stored files that the worker adds to the request, in bytes. */
  storedBytes: number;
}

/**
 * Checks a chat call against its model and returns its maximum usage.
 * @param bodyBytes size of the whole body; it limits the tokens, because a token has at least one byte
 * @param files stored files that the request references
 * @param max maximum cost of the call. A call without output limit then gets the largest limit that fits, instead of `mayExceed`
 * @throws ApiError 400 that names the parameter which the model does not support; `file_not_found`, `max_credits_exceeded`
 */
export function checkChat(
  request: ChatCompletionRequest,
  model: Model,
  bodyBytes: number,
  files: StoredFiles = NO_FILES,
  max?: CostMax,
): CallBound {
  const inputs = walkMessages(request, model, files);
  checkRequired(inputs, model);
  checkParameters(request, model);
  const n = request.n ?? 1;
  const outputLimit = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const inputTokens = inputTokensOf(inputs, model, bodyBytes);
  const boundOf = (perChoice: number) => {
    const outputTokensMax = perChoice * n;
    const holdNano = boundChat(model.price, {
      inputTokens,
      outputTokens: outputTokensMax,
      hasAudioInput: inputs.hasAudio,
      hasImageInput: inputs.images > 0,
      hasAudioOutput: request.modalities?.includes("audio") === true,
      serviceTier: request.service_tier,
    });
    return { holdNano, outputTokensMax, tokensMax: inputTokens + outputTokensMax };
  };
  const bound = boundOf(Math.min(outputLimit ?? CHAT_DEFAULT_OUTPUT_TOKENS, model.max_output_tokens));
  if (max === undefined) {
    return outputLimit === undefined ? { ...bound, mayExceed: true } : { ...bound, mayExceed: false, outputLimit };
  }
  const most = Math.min(outputLimit ?? max.outputTokensMax ?? Infinity, model.max_output_tokens);
  const within = (nano: bigint | undefined): number =>
    nano === undefined ? most : largestWithin(most, (perChoice) => boundOf(perChoice).holdNano <= nano);
  const allowed = within(max.nano);
  const advice = allowed === 0 ? "shorten the input" : `lower the output limit to at most ${allowed} tokens`;
  if (outputLimit !== undefined) return withinMax({ ...bound, mayExceed: false, outputLimit }, max, advice);
  const fitting = within(max.fitNano);
  const perChoice = fitting < Math.min(max.outputTokensMin ?? 1, most) ? allowed : fitting;
  const limited = { ...boundOf(Math.max(1, perChoice)), mayExceed: false };
  return withinMax(
    perChoice < model.max_output_tokens ? { ...limited, loweredLimit: perChoice } : limited,
    max,
    advice,
  );
}

/** Returns the largest number from 1 to `most` that fits, if smaller numbers fit too; 0 if none fits. */
function largestWithin(most: number, fits: (value: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns the request with the output limit that its hold covers, if the request has no limit and its charge may not exceed the hold.
 * @param outputTokensMax output tokens of all choices in the hold
 */
export function withHeldLimit(request: ChatCompletionRequest, outputTokensMax: number): ChatCompletionRequest {
  if ((request.max_completion_tokens ?? request.max_tokens) != null) return request;
  return { ...request, max_completion_tokens: Math.floor(outputTokensMax / (request.n ?? 1)) };
}

/** Returns the request with an output limit that is at most the model's limit. */
export function withinOutputLimit(request: ChatCompletionRequest, model: Model): ChatCompletionRequest {
  const { max_output_tokens: most } = model;
  const { max_completion_tokens: limit, max_tokens: oldLimit } = request;
  if ((limit ?? 0) <= most && (oldLimit ?? 0) <= most) return request;
  return {
    ...request,
    ...(limit == null ? {} : { max_completion_tokens: Math.min(limit, most) }),
    ...(oldLimit == null ? {} : { max_tokens: Math.min(oldLimit, most) }),
  };
}

/** Returns the maximum number of input tokens of an admitted call, without checking it again. @param bodyBytes as for `checkChat` */
export function chatInputTokensMax(request: ChatCompletionRequest, model: Model, bodyBytes: number): number {
  const inputs = { encodedLength: 0, images: 0, opaque: 0 };
  for (const { content } of request.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) {
      if (part.type === "input_audio" || part.type === "file") inputs.opaque += 1;
      if (part.type !== "image_url") continue;
      inputs.images += 1;
      if (/^data:/i.test(part.image_url.url)) inputs.encodedLength += part.image_url.url.length;
    }
  }
  return inputTokensOf(inputs, model, bodyBytes);
}

function inputTokensOf(
  inputs: Pick<Inputs, "encodedLength" | "images" | "opaque">,
  model: Model,
  bodyBytes: number,
): number {
  if (inputs.opaque > 0) return model.max_context_tokens;
  const textBytes = Math.max(0, bodyBytes - inputs.encodedLength);
  const counted = textBytes + inputs.images * (model.tokens_per_image_max ?? TOKENS_PER_IMAGE);
  return Math.min(model.max_context_tokens, counted);
}

/** Service tiers that providers charge at the published price or less. */
const BASE_TIERS: readonly string[] = ["auto", "default", "flex"];

function checkParameters(request: ChatCompletionRequest, model: Model): void {
  const refuse = (param: string, message: string): never => {
    throw new ApiError("unsupported_value", message, { param });
  };
  if (request.stream === true && !model.supports_streaming)
    refuse("stream", "This model cannot stream; set stream to false.");
  if ((request.tools?.length ?? 0) > 0 && !model.supports_tools)
    refuse("tools", `This model cannot call tools; remove tools.`);
  if ((request.functions?.length ?? 0) > 0 && !model.supports_tools) {
    refuse("functions", `This model cannot call functions; remove functions.`);
  }
  checkNoServedTool(request);
  checkToolChoice(request);
  checkFunctionCall(request);
  const { unit, tokenRates } = model.price;
  // Audio without its own price would be charged as text, a small part of its cost.
  if (
    request.modalities?.includes("audio") &&
    unit === "per_token" &&
    tokenRates.audio_output_per_million === undefined
  ) {
    const got = request.modalities.join(", ");
    refuse("modalities", `This model returns text only: expected modalities to be ["text"], got ${got}.`);
  }
  // A tier above the published price would be charged to us.
  const tier = request.service_tier;
  const tiers = [...new Set([...BASE_TIERS, ...Object.keys(model.price.serviceTiers ?? {})])];
  if (tier != null && !tiers.includes(tier)) {
    refuse(
      "service_tier",
      `Expected one of ${tiers.join(", ")}, got ${arrived("enum", tier)}. Other tiers have no price for this model.`,
    );
  }
  if (request.web_search_options != null)
    refuse("web_search_options", "Web search has no price for this model; remove web_search_options.");
  const wantsJson = request.response_format != null && request.response_format.type !== "text";
  if (wantsJson && model.supports_json === false) {
    const got = request.response_format?.type;
    refuse("response_format", `This model has no JSON mode: expected response_format of type text, got ${got}.`);
  }
  const maxN = model.allowed_params.max_n;
  if (maxN !== undefined && (request.n ?? 1) > maxN)
    refuse("n", `This model returns at most ${maxN} choices, got ${request.n}.`);
}

function walkMessages(request: ChatCompletionRequest, model: Model, files: StoredFiles): Inputs {
  const inputs: Inputs = { encodedLength: 0, images: 0, opaque: 0, files: 0, hasAudio: false, storedBytes: 0 };
  const supported = model.allowed_params.supported_inputs ?? ["text"];
  request.messages.forEach((message, at) => {
    if (!Array.isArray(message.content)) return;
    message.content.forEach((part, index) => {
      const param = `messages[${at}].content[${index}]`;
      const named = part.type === "file" || part.type === "image_url" ? namedFile(part) : undefined;
      switch (part.type) {
        case "image_url":
          if (isAudio({ file_url: part.image_url.url }) && !supported.includes("audio")) {
            throw notSupported("audio", param);
          }
          if (!supported.includes("image")) throw notSupported("image", param);
          if (named) {
            takeStored({ ...named, param: `${param}.${named.param}` }, "image", files, model, inputs);
            break;
          }
          takeImage(part.image_url.url, model, inputs, `${param}.image_url.url`);
          break;
        case "input_audio":
          if (!supported.includes("audio")) throw notSupported("audio", param);
          checkSize(encodedBytes(part.input_audio.data), "audio/*", "audio", model, `${param}.input_audio.data`);
          inputs.encodedLength += part.input_audio.data.length;
          inputs.opaque += 1;
          inputs.hasAudio = true;
          break;
        case "file":
          takeOneMore(inputs, model, param);
          if (named) {
            if (Object.keys(part.file).filter((name) => NAMES_OF_FILE.has(name)).length > 1) {
              const message = "Expected a file as file_id, file_data or file_url, got several of them.";
              throw new ApiError("unsupported_value", message, { param: `${param}.${named.param}` });
            }
            takeStored({ ...named, param: `${param}.${named.param}` }, "any", files, model, inputs);
            break;
          }
          if (isAudio(part.file) && !supported.includes("audio")) throw notSupported("audio", param);
          if (!supported.includes("file")) {
            throw new ApiError("unsupported_value", "This model does not accept files.", { param });
          }
          takeFile(part.file, model, inputs, `${param}.file`);
          break;
        default:
          break;
      }
    });
  });
  return inputs;
}

/** Checks that the call contains every kind of input that the model requires. @throws ApiError */
function checkRequired({ images, hasAudio }: Inputs, { allowed_params: params }: Model): void {
  const missing =
    params.requires_input_image === true && images === 0
      ? "an image"
      : params.requires_input_audio === true && !hasAudio
        ? "audio"
        : undefined;
  if (missing === undefined) return;
  throw new ApiError("missing_required_parameter", `This model requires ${missing} in the messages.`, {
    param: "messages",
  });
}

function notSupported(kind: "image" | "audio", param: string): ApiError {
  return kind === "audio"
    ? new ApiError(
        "audio_not_supported_by_model",
        "This model does not accept audio; transcribe it first and send the text.",
        { param },
      )
    : new ApiError("image_not_supported_by_model", "This model does not accept images.", { param });
}

const DATA_URL = /^data:[a-z0-9.+-]+\/[a-z0-9.+-]+(;[a-z0-9=._-]+)*;base64,/i;

function takeImage(url: string, model: Model, inputs: Inputs, param: string): void {
  inputs.images += 1;
  if (!/^data:/i.test(url)) {
    assertPublicUrl(url, param);
    return;
  }
  checkDataUrl(url, param);
  // A video or a document would cost far more than the image covered by the hold.
  if (!/^data:image\//i.test(url)) {
    const type = /^data:([^;,]{0,40})/i.exec(url)?.[1] ?? "another type";
    const message = `Expected an image in a data URL, data:image/<type>;base64,<data>, got ${type}.`;
    throw new ApiError("unsupported_value", message, { param });
  }
  if (!beginsAsImage(url.slice(url.indexOf(",") + 1))) {
    const message = "Expected an image such as PNG, JPEG, WebP or GIF in base64, got bytes of no known image format.";
    throw new ApiError("unprocessable_input", message, { param });
  }
  const bytes = Math.floor((url.length - url.indexOf(",") - 1) * 0.75);
  const max = model.allowed_params.max_image_size_bytes;
  if (max !== undefined && bytes > max) {
    throw new ApiError("unsupported_value", `This model accepts images of at most ${max} bytes, got about ${bytes}.`, {
      param,
    });
  }
  inputs.encodedLength += url.length;
}

function takeOneMore(inputs: Inputs, model: Model, param: string): void {
  inputs.files += 1;
  const max = model.allowed_params.max_files;
  if (max === undefined || inputs.files <= max) return;
  throw new ApiError("unsupported_value", `This model accepts at most ${max} files, got more.`, { param });
}

function takeFile(file: { file_data?: string; file_url?: string }, model: Model, inputs: Inputs, param: string): void {
  inputs.opaque += 1;
  if (file.file_url !== undefined) assertPublicUrl(file.file_url, `${param}.file_url`);
  if (file.file_data === undefined) return;
  if (/^https?:/i.test(file.file_data)) {
    assertPublicUrl(file.file_data, `${param}.file_data`);
    return;
  }
  checkDataUrl(file.file_data, `${param}.file_data`);
  const type = /^data:([^;,]*)/i.exec(file.file_data)?.[1]?.toLowerCase() ?? "";
  checkSize(
    encodedBytes(file.file_data.slice(file.file_data.indexOf(",") + 1)),
    type,
    blockKind(type) ?? "file",
    model,
    `${param}.file_data`,
  );
  if (/^data:(audio|video)\//i.test(file.file_data)) inputs.hasAudio = true;
  inputs.encodedLength += file.file_data.length;
}

const NAMES_OF_FILE: ReadonlySet<string> = new Set(["file_id", "file_data", "file_url"]);

/** Counts a stored file according to its type: as an image, audio or a document. */
function takeStored(
  { fileId, param }: Pick<FilePlace, "fileId" | "param">,
  expected: "image" | "any",
  files: StoredFiles,
  model: Model,
  inputs: Inputs,
): void {
  const refuse = (message: string): never => {
    throw new ApiError("unsupported_value", message, { param });
  };
  const file = files.get(fileId);
  if (!file) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  const supported = model.allowed_params.supported_inputs ?? ["text"];
  if (file.mediaType.startsWith("audio/") && !supported.includes("audio")) throw notSupported("audio", param);
  const kind = blockKind(file.mediaType) ?? refuse(`Models cannot read files of type ${file.mediaType}.`);
  if (expected === "image" && kind !== "image") {
    const message = `Expected an image such as PNG, JPEG, WebP or GIF at this link, got ${file.mediaType}.`;
    throw new ApiError("unprocessable_input", message, { param });
  }
  if (!supported.includes(kind)) {
    if (kind === "file") refuse("This model does not accept files.");
    else throw notSupported(kind, param);
  }
  const max = Math.min(INLINE_ITEM_BYTES_MAX, bytesMaxOf(file.mediaType, kind, model));
  if (file.bytes > max) refuse(`This model accepts such files of at most ${max} bytes, got ${file.bytes}.`);
  inputs.storedBytes += file.bytes;
  if (inputs.storedBytes > INLINE_BYTES_MAX) {
    refuse(`Expected at most ${INLINE_BYTES_MAX} bytes of stored files in one call.`);
  }
  if (kind === "image") inputs.images += 1;
  else inputs.opaque += 1;
  if (kind === "audio") inputs.hasAudio = true;
}

type BlockKind = "image" | "audio" | "file";

/** Checks the size of media in the body against the maximum for its type. */
function checkSize(bytes: number, mediaType: string, kind: BlockKind, model: Model, param: string): void {
  const max = bytesMaxOf(mediaType, kind, model);
  if (bytes <= max) return;
  throw new ApiError(
    "unsupported_value",
    `This model accepts such files of at most ${max} bytes, got about ${bytes}.`,
    {
      param,
    },
  );
}

function encodedBytes(base64: string): number {
  return Math.floor(base64.length * 0.75);
}

function bytesMaxOf(mediaType: string, kind: BlockKind, model: Model): number {
  const { allowed_params: allowed } = model;
  const ofKind = {
    image: allowed.max_image_size_bytes,
    audio: allowed.max_audio_size_bytes,
    file: mediaType === "application/pdf" ? allowed.max_pdf_size_bytes : undefined,
  }[kind];
  return ofKind ?? allowed.max_file_size_bytes ?? Number.POSITIVE_INFINITY;
}

function checkDataUrl(url: string, param: string): void {
  if (!DATA_URL.test(url.slice(0, 256))) {
    throw new ApiError("unsupported_value", "Expected a data URL of the form data:<type>;base64,<data>.", { param });
  }
}

/** Recognizes the type of media in a chat call by its URL or by its first bytes. Pure. */

const AUDIO_ADDRESS = /^https?:\/\/[^?#]*\.(?:mp3|wav|ogg|oga|opus|flac|aac|m4a|weba|mp4|mov|webm)(?:[?#]|$)/i;
const AUDIO_DATA = /^data:(?:audio|video)\//i;

/** Returns true if a file is audio, or a video that may contain audio. Only its media type or the name in its URL is checked. */
function isAudio({ file_data, file_url }: { file_data?: string; file_url?: string }): boolean {
  return [file_data, file_url].some((it) => it !== undefined && (AUDIO_DATA.test(it) || AUDIO_ADDRESS.test(it)));
}

/** Signatures of image formats in Latin-1, with their offsets in bytes. The last one is a box of HEIC and AVIF. */
const MARKS: readonly (readonly [mark: string, at: number])[] = [
  ["\u0089PNG", 0],
  ["\u00ff\u00d8\u00ff", 0],
  ["GIF8", 0],
  ["WEBP", 8],
  ["BM", 0],
  ["<svg", 0],
  ["<?xml", 0],
  ["II*\0", 0],
  ["MM\0*", 0],
  ["ftyp", 4],
];
/** Number of base64 characters that contain the longest signature and the bytes before it. */
const HEAD_CHARACTERS = 16;
const WITH_BREAKS = 64;

/** Returns true if the base64 text begins like an image in a format that models support. */
function beginsAsImage(base64: string): boolean {
  const text = base64.slice(0, WITH_BREAKS).replaceAll(/\s/g, "").slice(0, HEAD_CHARACTERS);
  const head = Buffer.from(text, "base64").toString("latin1");
  return MARKS.some(([mark, at]) => head.startsWith(mark, at));
}
