/**
 * Images by `generateContent`. A call generates one image, so several images are requested in parallel. Masks are not supported. Edits send
 * the image with the prompt. Source: ai.google.dev/gemini-api/docs/image-generation.
 */
import { sniffMediaType } from "#shared/media/sniff.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { type Endpoint, type JsonRequest, post } from "../http.ts";
import { type Fields, isMedia, setField } from "../fields.ts";
import { noMasks, placeInputsOfOne, unreadableImage } from "../image-fields.ts";
import { textIn, isMembers, type Members, membersOf, parseObject } from "../json.ts";
import type { Artifact, ImageEditInput, ImageInput, MediaCall, MediaAdapters, MediaResult } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { exchanged } from "../start.ts";

import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { checkPrompt, finishReason } from "./finish.ts";
import { dataPart } from "./media.ts";
import { readUsage } from "./usage.ts";

/** Default fields for inputs, in `generationConfig`. */
const USUAL: Fields = { aspect_ratio: "imageConfig.aspectRatio", image_size: "imageConfig.imageSize", seed: "seed" };

export function createGeminiImages(endpoint: Endpoint): Pick<MediaAdapters, "images" | "imageEdits"> {
  return {
    images: { run: (call) => images(endpoint, call) },
    imageEdits: { run: (call) => images(endpoint, call) },
  };
}

interface Image {
  readonly image: Artifact;
  readonly tokens: TokenUsage | undefined;
}

/** Makes one call per image. Images that were generated are delivered and charged, even if other calls failed. */
async function images(
  endpoint: Endpoint,
  call: MediaCall<ImageInput | ImageEditInput>,
): Promise<MediaResult<readonly Artifact[]>> {
  const requests = Array.from({ length: call.input.n }, (_, at) => imageRequest(call, at));
  const outcomes = await Promise.allSettled(requests.map((request) => oneImage(endpoint, request, call)));
  const generated = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  if (generated.length === 0 && call.signal.aborted) throw new ProviderError("aborted", "the call was aborted");
  if (generated.length === 0) throw firstOf(outcomes);
  const tokens = sum(generated.map((outcome) => outcome.tokens));
  return {
    output: generated.map(({ image }) => image),
    usage: { images: generated.length, ...(tokens === undefined ? {} : { tokens }) },
  };
}

/**
 * Returns the error to report if all requests failed. An error with an unknown outcome takes precedence: that request may have been
 * charged, so the source must not be called again.
 */
function firstOf(outcomes: readonly PromiseSettledResult<Image>[]): unknown {
  const errors: unknown[] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  return errors.find((error) => error instanceof ProviderError && error.kind === "unknown") ?? errors[0];
}

async function oneImage(
  endpoint: Endpoint,
  request: JsonRequest,
  { signal, reserveBytes }: Pick<MediaCall<ImageInput>, "signal" | "reserveBytes">,
): Promise<Image> {
  return exchanged(
    () => post(endpoint, request, signal, reserveBytes),
    ({ status, headers, text }) => {
      if (status < 200 || status > 299) throw sharpened(classifyAnswer(status, headers, text));
      return readImage(text);
    },
  );
}

/**
 * Builds the request of one image.
 * @param at index of the image; added to the seed, because equal seeds would produce equal images
 */
function imageRequest(call: MediaCall<ImageInput | ImageEditInput>, at: number): JsonRequest {
  const { input, sourceModel } = call;
  const generationConfig: Members = { responseModalities: ["IMAGE"] };
  for (const { ours, theirs, value } of placeInputsOfOne(call, USUAL)) {
    // This dialect has no mask, even if the source sets a field for it. Images become parts.
    if (ours === "mask") throw noMasks();
    if (isMedia(value)) continue;
    setField(generationConfig, theirs, ours === "seed" ? wrapSeed(Number(value) + at) : value);
  }
  const { image } = input as Partial<ImageEditInput>;
  const parts: Members[] = [{ text: input.prompt }];
  if (image) parts.push(dataPart(image.contentType, Buffer.from(image.bytes).toString("base64")));
  const body: Members = { contents: [{ role: "user", parts }], generationConfig };
  call.adapt(body);
  return { path: `/models/${encodeURIComponent(sourceModel)}:generateContent`, body: JSON.stringify(body) };
}

/** Converts a seed to Gemini's signed 32-bit integer. */
function wrapSeed(seed: number): number {
  return Math.trunc(seed % 4_294_967_296) | 0;
}

/**
 * Parses the response of one image call.
 * @throws ProviderError `refused` for a filtered image, `failed` without an image for another reason, `unknown` for an unreadable image
 */
async function readImage(text: string): Promise<Image> {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("unknown", "the answer is not a JSON object");
  if (answer["error"]) throw sharpened(classifyErrorMember(answer["error"]));
  checkPrompt(answer);
  const [candidate] = membersOf(answer["candidates"]);
  if (!candidate) throw new ProviderError("failed", "the answer has no candidates");
  const content = candidate["content"];
  const parts = membersOf(isMembers(content) ? content["parts"] : undefined).filter(({ thought }) => thought !== true);
  // Drafts come before the image.
  const data = parts.map((part) => part["inlineData"]).findLast(isMembers);
  if (data) {
    const usage = readUsage(answer["usageMetadata"]);
    return { image: await artifact(data), tokens: usage === null || usage === "impossible" ? undefined : usage };
  }
  if (finishReason(candidate) === "content_filter") throw new ProviderError("refused", "the image was filtered");
  const answerText = parts.map((part) => textIn(part["text"]) ?? "").join("");
  // A model that returns text instead of an image has refused.
  if (answerText !== "") throw new ProviderError("refused", `words in place of an image: ${answerText}`);
  throw new ProviderError("failed", "the answer has no image");
}

async function artifact(data: Members): Promise<Artifact> {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(textIn(data["data"]) ?? "");
  } catch (error) {
    throw new ProviderError("unknown", "the image is no base64", { cause: error });
  }
  const contentType = await sniffMediaType(bytes);
  if (contentType !== undefined && IMAGE_TYPES.has(contentType)) return { bytes, contentType };
  throw new ProviderError("unknown", "what was sent as an image is none");
}

const UNREADABLE_WORDS = /\bunable to process input image\b|\bimage\b.*\b(?:not valid|not supported|unsupported)\b/i;

function sharpened(error: ProviderError): ProviderError {
  if (error.kind !== "rejected" || !UNREADABLE_WORDS.test(error.detail)) return error;
  return unreadableImage(error.detail, "image", error.status === undefined ? {} : { status: error.status });
}

/** Adds usage reports. The sum is unknown if one call has no report. */
function sum(reports: readonly (TokenUsage | undefined)[]): TokenUsage | undefined {
  const known = reports.filter((report) => report !== undefined);
  if (known.length < reports.length) return undefined;
  return known.reduce((total, report) => plus(total, report), NO_USAGE);
}

function plus(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    ...NO_USAGE,
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    audioInput: one.audioInput + other.audioInput,
    imageInput: one.imageInput + other.imageInput,
    output: one.output + other.output,
    audioOutput: one.audioOutput + other.audioOutput,
    imageOutput: one.imageOutput + other.imageOutput,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** Image types that callers may receive. An image of another type counts as unreadable. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
