/**
 * Images over OpenAI's wire format: generation by JSON, edits by multipart. The default fields are those of the gpt-image models, which
 * always return base64. Other sources set their own fields in the catalogue, with `response_format` among their overrides. Source:
 * platform.openai.com/docs/api-reference/images.
 */
import type { TokenUsage } from "#shared/calls/pricing/usage.ts";
import { sniffMediaType } from "#shared/media/sniff.ts";

import { clientParam, type Fields } from "../fields.ts";
import { type Endpoint, post, type ProviderRequest } from "../http.ts";
import { placeInputs, unreadableImage } from "../image-fields.ts";
import { isMembers, parseObject } from "../json.ts";
import type { Artifact, ImageEditInput, ImageInput, Media, MediaAdapters, MediaCall, MediaResult } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { exchanged } from "../start.ts";
import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { readOpenAiUsage } from "./usage.ts";

/** `style` exists only for older models, whose catalogue entries set it. */
const USUAL: Fields = {
  n: "n",
  size: "size",
  quality: "quality",
  background: "background",
  output_format: "output_format",
  output_compression: "output_compression",
  moderation: "moderation",
  user: "user",
};
const USUAL_OF_EDITS: Fields = { ...USUAL, input_fidelity: "input_fidelity", image: "image[]", mask: "mask" };

export function createOpenAiImages(endpoint: Endpoint): Pick<MediaAdapters, "images" | "imageEdits"> {
  return {
    images: { run: async (call) => exchange(endpoint, generationRequest(call), call) },
    imageEdits: { run: async (call) => exchange(endpoint, editRequest(call), call) },
  };
}

async function exchange(
  endpoint: Endpoint,
  request: ProviderRequest,
  call: MediaCall<ImageInput>,
): Promise<MediaResult<readonly Artifact[]>> {
  return exchanged(
    () => post(endpoint, request, call.signal, call.reserveBytes),
    ({ status, headers, text }) => {
      if (status < 200 || status > 299) throw classifyImages(status, headers, text);
      return readImages(text, call.input.n);
    },
  );
}

function generationRequest(call: MediaCall<ImageInput>): ProviderRequest {
  const body: Record<string, unknown> = { model: call.sourceModel, prompt: call.input.prompt };
  for (const { theirs, value } of placeInputs(call, USUAL)) body[theirs] = value;
  call.adapt(body);
  return { path: "/images/generations", body: JSON.stringify(body) };
}

function editRequest(call: MediaCall<ImageEditInput>): ProviderRequest {
  const placed = placeInputs(call, USUAL_OF_EDITS);
  if (!placed.some(({ ours }) => ours === "image")) {
    throw new ProviderError("misconfigured", "the source has no field for an image");
  }
  const body: Record<string, unknown> = { model: call.sourceModel, prompt: call.input.prompt };
  for (const { ours, theirs, value } of placed)
    body[theirs] = typeof value === "object" && "bytes" in value ? fileOf(ours, value) : value;
  call.adapt(body);
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    if (value instanceof File) form.append(name, value);
    else form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return { path: "/images/edits", body: form };
}

/** Returns the image as a file. Servers detect the format by file name and by type. */
function fileOf(name: string, { bytes, contentType }: Media): File {
  const extension = contentType.replace(/^image\//, "").replace(/[^a-z0-9]/g, "");
  return new File([bytes], `${name}.${extension}`, { type: contentType });
}

// Responses of an images endpoint: images with their cost in tokens, or an error.

/**
 * @param asked most images that are delivered and paid for
 * @throws ProviderError `unknown` when the text or every image is unreadable, since the images were generated and paid for; `failed` when
 * the response contains no images; the error in the response
 */
async function readImages(text: string, asked: number): Promise<MediaResult<readonly Artifact[]>> {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("unknown", "the answer is not a JSON object");
  if (answer["error"]) throw sharpened(classifyErrorMember(answer["error"]), codeOf(answer["error"]));
  const { data } = answer;
  if (!Array.isArray(data)) throw new ProviderError("unknown", "the answer has no list of images");
  if (data.length === 0) throw new ProviderError("failed", "the answer has no images");
  const outcomes = await Promise.allSettled(data.slice(0, asked).map(readImage));
  const output = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  // An unreadable image does not discard the others.
  const [failure] = outcomes.filter((outcome) => outcome.status === "rejected");
  if (output.length === 0 && failure) throw failure.reason;
  const tokens = readTokens(answer["usage"]);
  return { output, usage: { images: output.length, ...(tokens === undefined ? {} : { tokens }) } };
}

async function readImage(item: unknown): Promise<Artifact> {
  const { b64_json: base64, url } = isMembers(item) ? item : {};
  if (typeof base64 === "string" && base64 !== "") return fromBase64(base64);
  if (typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url)) return { url };
  throw new ProviderError("unknown", "an image has neither base64 nor an address");
}

/** Detects the format from the bytes; the server's declaration is ignored. */
async function fromBase64(text: string): Promise<Artifact> {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(text);
  } catch (error) {
    throw new ProviderError("unknown", "an image is no base64", { cause: error });
  }
  const contentType = await sniffMediaType(bytes);
  if (contentType !== undefined && IMAGE_TYPES.has(contentType)) return { bytes, contentType };
  throw new ProviderError("unknown", "what was sent as an image is none");
}

/** Returns the token usage, or undefined for a missing or impossible report. Output tokens are image tokens unless reported separately. */
function readTokens(report: unknown): TokenUsage | undefined {
  if (!isMembers(report)) return undefined;
  const { input_tokens, output_tokens, input_tokens_details: input, output_tokens_details: output } = report;
  const usage = readOpenAiUsage({
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    prompt_tokens_details: input,
    completion_tokens_details: isMembers(output) ? output : { image_tokens: output_tokens },
  });
  return usage === null || usage === "impossible" ? undefined : usage;
}

/** Returns the error of a response that is not 2xx. */
function classifyImages(status: number, headers: Headers, text: string): ProviderError {
  return sharpened(classifyAnswer(status, headers, text), codeOf(parseObject(text)?.["error"]));
}

const UNREADABLE_IMAGE = /^(?:invalid|unsupported|empty)_(?:[a-z0-9]+_)*image|^image_(?:file_)?(?:parse|too)/;

function sharpened(error: ProviderError, code: string): ProviderError {
  if (error.kind !== "rejected") return error;
  const facts = error.status === undefined ? {} : { status: error.status };
  // The catalogue decides which fields are sent, so a field that the source does not know is no error of the caller.
  if (code === "unknown_parameter") return new ProviderError("misconfigured", error.detail, facts);
  const field = /^(?:image|mask)\b/.exec(error.param ?? "")?.[0];
  if (UNREADABLE_IMAGE.test(code)) return unreadableImage(error.detail, field ?? "image", facts);
  if (field === undefined) return error;
  return new ProviderError("rejected", error.detail, {
    ...facts,
    ...(error.code === undefined ? {} : { code: error.code }),
    param: clientParam(field, "imageEdits"),
  });
}

function codeOf(error: unknown): string {
  const code = isMembers(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : "";
}

/** Image types for callers; an image of another type counts as unreadable. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
