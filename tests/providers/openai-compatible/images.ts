/**
 * The picture side of the local upstream: refuses what OpenAI would, and answers with real pictures. Models called
 * dall-e-… follow the older rules, all others those of gpt-image.
 */
import type { FormFile } from "../multipart.ts";
import { pngOf } from "../png.ts";
import type { ChatBehaviour, ReplyBehaviour } from "./behaviour.ts";
import { isObject, type RequestFault } from "./check-request.ts";

type Members = Readonly<Record<string, unknown>>;

const COMMON = ["model", "prompt", "n", "size", "quality", "user"];
const NEWER = [
  ...COMMON,
  "background",
  "output_format",
  "output_compression",
  "moderation",
  "stream",
  "partial_images",
];
const OLDER = [...COMMON, "style", "response_format"];
const EDIT = [...NEWER, "input_fidelity", "image[]", "mask"];

const QUALITIES = { newer: ["low", "medium", "high", "auto"], older: ["standard", "hd"] };
const SIZE = /^\d{2,4}x\d{2,4}$/;

/** The fault OpenAI would name first, or null. Source: openai/openai-openapi, CreateImageRequest. */
export function checkImagesRequest(contentType: string | undefined, body: unknown): RequestFault | null {
  if (!contentType?.startsWith("application/json")) return { param: null, message: "unsupported content type" };
  if (!isObject(body)) return { param: null, message: "the body is no JSON object" };
  return checkMembers(body, isOlder(body) ? OLDER : NEWER, Number.isInteger);
}

/** As above, of a form. Source: CreateImageEditRequest. */
export function checkEditsRequest(contentType: string | undefined, body: unknown): RequestFault | null {
  if (!contentType?.startsWith("multipart/form-data")) {
    return { param: null, message: `unsupported mimetype ('${contentType ?? ""}')` };
  }
  if (!isObject(body)) return { param: null, message: "the body is no form" };
  const fault = checkMembers(body, EDIT, (text) => /^\d+$/.test(String(text)));
  if (fault) return fault;
  if (!isPicture(body["image[]"])) return { param: "image", message: "Missing required parameter: 'image'." };
  return body["mask"] === undefined || isPicture(body["mask"]) ? null : { param: "mask", message: "Invalid mask" };
}

function checkMembers(
  body: Members,
  known: readonly string[],
  isWhole: (value: unknown) => boolean,
): RequestFault | null {
  const stranger = Object.keys(body).find((name) => !known.includes(name));
  if (stranger !== undefined) return { param: stranger, message: `Unknown parameter: '${stranger}'.` };
  const { model, prompt, n, size, quality } = body;
  if (typeof model !== "string" || model === "") return { param: "model", message: "missing" };
  if (typeof prompt !== "string" || prompt === "") return { param: "prompt", message: "missing" };
  if (n !== undefined && !(isWhole(n) && Number(n) >= 1 && Number(n) <= 10)) return { param: "n", message: "1 to 10" };
  if (size !== undefined && size !== "auto" && !(typeof size === "string" && SIZE.test(size)))
    return { param: "size", message: "no size" };
  const qualities = isOlder(body) ? QUALITIES.older : QUALITIES.newer;
  const isQuality = quality === undefined || qualities.some((known) => known === quality);
  return isQuality ? null : { param: "quality", message: `expected one of ${qualities.join(", ")}` };
}

function isPicture(value: unknown): value is FormFile {
  const { bytes, contentType, filename } = (value ?? {}) as Partial<FormFile>;
  const isType = /^image\/(png|jpeg|webp)$/.test(contentType ?? "");
  return Buffer.isBuffer(bytes) && bytes.length > 0 && isType && /\.(png|jpe?g|webp)$/.test(filename ?? "");
}

/** What the server counts for one picture of `auto` quality. */
export const MOCK_IMAGE_TOKENS = { text: 11, inputImage: 323, output: 4_160 } as const;

/** A whole answer to a checked request. `usage` as for chat: honest, missing, or exactly these members. */
export function imagesReply(body: Members, { usage, delayMs }: ChatBehaviour = {}): ReplyBehaviour {
  const count = Number(body["n"] ?? 1);
  const [width = 1_024, height = 1_024] = SIZE.test(String(body["size"]))
    ? String(body["size"]).split("x").map(Number)
    : [];
  const isOld = isOlder(body);
  const data = Array.from({ length: count }, (_, at) => {
    if (isOld && body["response_format"] !== "b64_json") {
      return { url: `https://pictures.example/${at}.png?sig=x`, revised_prompt: body["prompt"] };
    }
    return { b64_json: pngOf(width, height, [40 * at, 120, 200]).toString("base64") };
  });
  const facts = isOld
    ? {}
    : { background: "opaque", output_format: "png", quality: body["quality"] ?? "high", size: `${width}x${height}` };
  const report = isOld || usage === "missing" ? {} : { usage: typeof usage === "object" ? usage : honestUsage(body) };
  return {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ created: 1_770_935_200, data, ...facts, ...report }),
    ...(delayMs === undefined ? {} : { delayMs }),
  };
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
