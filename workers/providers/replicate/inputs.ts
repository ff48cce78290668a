/**
 * Builds the input of a prediction under the source's field names. Media are sent as data URLs or, if large, as uploaded files. Source:
 * replicate.com/docs/topics/predictions/input-files.
 */
import {
  clientParam,
  type Fields,
  type FieldValues,
  isMedia,
  place,
  type PlacedInput,
  setField,
  urlOf,
} from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, parseObject, textOf } from "../json.ts";
import type { MediaInput, Media, MediaKind } from "../media.ts";
import { ProviderError } from "../provider.ts";

import { type PredictionRequest, classifyStart } from "./errors.ts";

/** Maximum size of the content of a data URL, in bytes. Replicate requires a URL for larger media. */
const INLINE_BYTES_MAX = 256 * 1024;

/** Inputs that describe the result; at least one is required. */
const SUBJECTS: ReadonlySet<string> = new Set(["prompt", "image", "video", "mesh"]);

/**
 * Returns those inputs of a call for which the source has a field.
 * @param required inputs that must not be omitted, because the result would be different
 * @throws ProviderError `misconfigured` when the source has no field for a required input, or for any description of the result
 */
export function placeMedia(values: FieldValues, fields: Fields, required: readonly string[]): PlacedInput[] {
  const placed = place(values, fields);
  const names = new Set(placed.map(({ ours }) => ours));
  const lost = required.find((name) => values[name] !== undefined && !names.has(name));
  if (lost !== undefined) throw new ProviderError("misconfigured", `the source has no field for a ${lost}`);
  if (!names.isDisjointFrom(SUBJECTS)) return placed;
  throw new ProviderError("misconfigured", "the source has no field for what is to be made");
}

/**
 * Builds the input of a prediction and uploads its large media.
 * @throws ProviderError when a file is rejected; no paid request has been sent then
 */
export async function writeInput(
  endpoint: Endpoint,
  placed: readonly PlacedInput[],
  call: Upload,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const { ours, theirs, value } of placed) {
    setField(input, theirs, isMedia(value) ? await addressOf(endpoint, ours, value, call) : value);
  }
  return input;
}

interface Upload {
  readonly asked: PredictionRequest;
  readonly signal: AbortSignal;
}

async function addressOf(endpoint: Endpoint, ours: string, media: MediaInput, call: Upload): Promise<string> {
  if ("url" in media || media.bytes.length <= INLINE_BYTES_MAX) return urlOf(media);
  try {
    return await upload(endpoint, ours, media, call);
  } catch (error) {
    throw error instanceof ProviderError ? error.unsent() : error;
  }
}

/** Uploads a file. Replicate keeps it for a day, and only its models can read it. */
async function upload(
  endpoint: Endpoint,
  ours: string,
  { bytes, contentType }: Media,
  { asked, signal }: Upload,
): Promise<string> {
  const [, extension] = /^[a-z]+\/([a-z0-9]+)$/.exec(contentType) ?? [];
  const name = extension === undefined ? "input" : `input.${extension}`;
  const body = new FormData();
  body.append("content", new File([new Uint8Array(bytes)], name, { type: contentType }));
  const { status, headers, text } = await post(endpoint, { path: "/files", body }, signal);
  if (status < 200 || status > 299) throw notTaken(classifyStart(status, headers, text, asked), ours, asked.kind);
  const urls = parseObject(text)?.["urls"];
  const url = isMembers(urls) ? textOf(urls["get"]) : "";
  if (!/^https?:\/\//i.test(url)) throw new ProviderError("failed", "a file was taken without an address", { status });
  return url;
}

/** Returns the error for a rejected upload. If the file is at fault, the error's `param` is the client's name of the input. */
function notTaken(
  { kind, detail, status, retryAfterMs }: ProviderError,
  ours: string,
  asked: MediaKind,
): ProviderError {
  const facts = {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  if (kind !== "rejected") return new ProviderError(kind, detail, facts);
  return new ProviderError("rejected", detail, {
    ...facts,
    code: "unprocessable_input",
    param: clientParam(ours, asked),
    say: "The model cannot process this file; send another one.",
  });
}
