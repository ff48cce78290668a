/**
 * The image side of the local upstream: refuses what OpenAI would, and answers with real images. Models called dall-e-… follow
 * the older rules, all others those of gpt-image.
 */
import { type AnswerBehaviour, type Members, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isText } from "../engine/jobs.ts";
import type { FormFile } from "../multipart.ts";
import { pngOf } from "#tests/support/png.ts";
import { checkBody, fault, type RequestFault, usageMember } from "./check-request.ts";

const COMMON = ["model", "prompt", "n", "size", "quality", "user"];
const GPT = ["background", "output_format", "output_compression", "moderation", "stream", "partial_images"];
const NEWER = [...COMMON, ...GPT];
const OLDER = [...COMMON, "style", "response_format"];
const EDIT = [...NEWER, "input_fidelity", "image[]", "mask"];

const QUALITIES = { newer: ["low", "medium", "high", "auto"], older: ["standard", "hd"] };
const SIZE = /^\d{2,4}x\d{2,4}$/;

/** The fault OpenAI would name first, or null. Source: openai/openai-openapi, CreateImageRequest. */
export const checkImagesRequest = checkBody(
  (body) => (isOlder(body) ? OLDER : NEWER),
  (body) => checkImage(body, Number.isInteger),
);

/** The fault OpenAI would name first in a form, or null. Source: CreateImageEditRequest. */
export const checkEditsRequest = checkBody(
  EDIT,
  (body) => {
    const found = checkImage(body, (text) => /^\d+$/.test(String(text)));
    if (found) return found;
    if (!isImage(body["image[]"])) return fault("image", "Missing required parameter: 'image'.");
    return body["mask"] === undefined || isImage(body["mask"]) ? null : fault("mask", "Invalid mask");
  },
  "multipart/form-data",
);

function checkImage(body: Members, isWhole: (value: unknown) => boolean): RequestFault | null {
  const { prompt, n, size, quality } = body;
  if (!isText(prompt)) return fault("prompt", "missing");
  if (n !== undefined && !(isWhole(n) && Number(n) >= 1 && Number(n) <= 10)) return fault("n", "1 to 10");
  if (size !== undefined && size !== "auto" && !(isText(size) && SIZE.test(size as string)))
    return fault("size", "no size");
  const qualities = isOlder(body) ? QUALITIES.older : QUALITIES.newer;
  const isQuality = quality === undefined || qualities.some((known) => known === quality);
  return isQuality ? null : fault("quality", `expected one of ${qualities.join(", ")}`);
}

function isImage(value: unknown): value is FormFile {
  const { bytes, contentType, filename } = (value ?? {}) as Partial<FormFile>;
  const isType = /^image\/(png|jpeg|webp)$/.test(contentType ?? "");
  return Buffer.isBuffer(bytes) && bytes.length > 0 && isType && /\.(png|jpe?g|webp)$/.test(filename ?? "");
}

/** Tokens that the server counts for one image of `auto` quality. */
export const MOCK_IMAGE_TOKENS = { text: 11, inputImage: 323, output: 4_160 } as const;

/** A whole answer to a checked request. `usage` as for chat: honest, missing, or exactly these members. */
export function imagesReply(body: Members, { usage }: AnswerBehaviour = {}): ReplyBehaviour {
  const isSize = SIZE.test(String(body["size"]));
  const [width = 1_024, height = 1_024] = isSize ? String(body["size"]).split("x").map(Number) : [];
  const isOld = isOlder(body);
  const data = Array.from({ length: Number(body["n"] ?? 1) }, (_, at) =>
    isOld && body["response_format"] !== "b64_json"
      ? { url: `https://pictures.example/${at}.png?sig=x`, revised_prompt: body["prompt"] }
      : { b64_json: pngOf(width, height, [40 * at, 120, 200]).toString("base64") },
  );
  const created = 1_770_935_200;
  if (isOld) return ok({ created, data });
  const facts = { background: "opaque", output_format: "png", quality: body["quality"] ?? "high" };
  return ok({ created, data, ...facts, size: `${width}x${height}`, ...usageMember(usage, honestUsage(body)) });
}

function honestUsage(body: Members): Members {
  const { text, inputImage, output } = MOCK_IMAGE_TOKENS;
  const image = body["image[]"] === undefined ? 0 : inputImage;
  const outputs = output * Number(body["n"] ?? 1);
  return {
    total_tokens: text + image + outputs,
    input_tokens: text + image,
    output_tokens: outputs,
    input_tokens_details: { text_tokens: text, image_tokens: image },
  };
}

function isOlder({ model }: Members): boolean {
  return typeof model === "string" && model.startsWith("dall-e");
}
