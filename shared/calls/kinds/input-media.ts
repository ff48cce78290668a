/**
 * Reads media that come with a call: by URL, in base64, or as a stored file. They are checked here as far as the body allows; nothing is
 * downloaded or decoded.
 */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Model } from "#shared/calls/model.ts";
import type { Queryable } from "#shared/database/client.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { type DataUrl, isDataUrl, readDataUrl } from "#shared/files/data-url.ts";
import { linkedFileId } from "#shared/files/links.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { assertPublicUrl } from "#shared/net/guard.ts";

import { checkMayReadFiles } from "#shared/access/may-read-files.ts";
import { viewerOf } from "#shared/access/viewer.ts";

/** Maximum size of media in a call, in bytes, if the model declares none. A worker's memory can contain several media of this size. */
export const INPUT_BYTES_MAX = {
  image: 20 * 1_048_576,
  video: 128 * 1_048_576,
  mesh: 64 * 1_048_576,
  audio: 100 * 1_048_576,
} as const;

export type InputMediaKind = "image" | "video" | "mesh" | "audio";

interface Named {
  /** Name of the input inside this service, such as `image` or `mask`. */
  readonly name: string;
  readonly kind: InputMediaKind;
  /** Member of the body that error messages name. */
  readonly param: string;
}

/** Input media in the object store, by input name, as in a work message of the queue. */
export type StoredInputs = Readonly<NonNullable<JobMessage["stored_inputs"]>>;
type StoredInput = StoredInputs[string];

export type InputMedia = Named &
  (
    | { readonly bytes: Uint8Array; readonly contentType: string }
    | { readonly kept: StoredInput }
    | { readonly url: string }
    | { readonly fileId: string }
  );

/** Accepted media types for each kind of media. */
export const INPUT_TYPES: Readonly<Record<InputMediaKind, readonly string[]>> = {
  image: ["image/png", "image/jpeg", "image/webp"],
  video: ["video/mp4", "video/quicktime", "video/webm"],
  mesh: ["model/gltf-binary"],
  audio: [
    "audio/mpeg",
    "audio/wav",
    "audio/ogg",
    "audio/flac",
    "audio/aac",
    "audio/mp4",
    "audio/webm",
    "video/mp4",
    "video/webm",
    "audio/opus",
    "application/ogg",
    "video/ogg",
    "video/quicktime",
  ],
};

const NOUNS: Readonly<Record<InputMediaKind, string>> = {
  image: "an image",
  video: "a video",
  mesh: "a mesh",
  audio: "audio",
};

type Body = Readonly<Record<string, unknown>>;

/**
 * Reads the media in `<name>_url` or `<name>_file_id` of a body; returns undefined if neither is present. A link to a file of this service
 * counts as the id of that file.
 * @throws ApiError `unsafe_url`, `file_not_found`, `invalid_request`, `unsupported_value`, `unprocessable_input`
 */
async function inputByAddress(
  body: Body,
  name: "image" | "video" | "mesh",
  bytesMax: number,
  kept: StoredInput | undefined,
): Promise<InputMedia | undefined> {
  const [url, fileId] = [body[`${name}_url`], body[`${name}_file_id`]];
  if (url !== undefined && fileId !== undefined) {
    throw new ApiError("invalid_request", `Expected ${name}_url or ${name}_file_id, got both.`, {
      param: `${name}_file_id`,
    });
  }
  const kind = name;
  if (typeof fileId === "string") return { name, kind, fileId, param: `${name}_file_id` };
  const param = `${name}_url`;
  if (kept) return { name, kind, kept, param };
  if (typeof url !== "string") return undefined;
  if (!isDataUrl(url)) {
    const linked = linkedFileId(url, param);
    if (linked !== undefined) return { name, kind, fileId: linked, param };
    return { name, kind, url: assertPublicUrl(url, param).href, param };
  }
  const { type, base64 } = dataOf(url, kind, param);
  return { name, kind, param, ...(await decode(base64, type, kind, bytesMax, { data: param, type: param })) };
}

/**
 * Reads the media in `<name>_base64` or `<name>_file_id` of a body. `<name>_base64` may be a data URL. `<name>_mime_type` contains the
 * type; without it, the bytes determine the type.
 * @throws the errors of `inputByAddress`
 */
export async function inlineInput(
  body: Body,
  name: "image" | "mask" | "audio",
  bytesMax: number,
  { typeParam = `${name}_mime_type`, fileParam = `${name}_file_id` } = {},
): Promise<InputMedia | undefined> {
  const kind: InputMediaKind = name === "audio" ? "audio" : "image";
  const [text, fileId] = [body[`${name}_base64`], body[fileParam]];
  const param = `${name}_base64`;
  if (text !== undefined && fileId !== undefined) {
    throw new ApiError("invalid_request", `Expected ${param} or ${fileParam}, got both.`, { param: fileParam });
  }
  if (typeof fileId === "string") return { name, kind, fileId, param: fileParam };
  if (typeof text !== "string") return undefined;
  const data = isDataUrl(text) ? dataOf(text, kind, param) : { type: "", base64: text };
  const own = body[typeParam];
  const [claim, type] = typeof own === "string" && own !== "" ? [own, typeParam] : [data.type, param];
  return { name, kind, param, ...(await decode(data.base64, claim, kind, bytesMax, { data: param, type })) };
}

/** Returns the maximum size of this kind of media for the model, in bytes. */
export function inputBytesMax(kind: InputMediaKind, { allowed_params: params }: Pick<Model, "allowed_params">): number {
  const own = {
    image: params.max_image_size_bytes,
    audio: params.max_audio_size_bytes,
    video: params.max_file_size_bytes,
    mesh: params.max_file_size_bytes,
  }[kind];
  return Math.min(own ?? Infinity, INPUT_BYTES_MAX[kind]);
}

/** Returns the image of an edit and its mask. @throws the errors of `inlineInput` */
export async function editImages(
  body: Body,
  model: Pick<Model, "allowed_params">,
  kept: StoredInputs = {},
): Promise<readonly InputMedia[]> {
  const found: InputMedia[] = [];
  for (const name of ["image", "mask"] as const) {
    const own = kept[name];
    const one: InputMedia | undefined = own
      ? { name, kind: "image", kept: own, param: `${name}_base64` }
      : await inlineInput(body, name, inputBytesMax("image", model));
    if (one) found.push(one);
  }
  return found;
}

/** Reads the media from which a video or a mesh is created, in addition to the prompt. @throws the errors of `inputByAddress` */
export async function inputsByAddress(
  body: Body,
  model: Pick<Model, "allowed_params">,
  names: readonly ("image" | "video" | "mesh")[],
  kept: StoredInputs = {},
): Promise<readonly InputMedia[]> {
  const found: InputMedia[] = [];
  for (const name of names) {
    const one = await inputByAddress(body, name, inputBytesMax(name, model), kept[name]);
    if (one) found.push(one);
  }
  return found;
}

/** Parses a data URL. @throws ApiError `unprocessable_input` */
function dataOf(url: string, kind: InputMediaKind, param: string): DataUrl {
  const data = readDataUrl(url);
  if (data) return data;
  throw new ApiError("unprocessable_input", `Expected ${NOUNS[kind]} in a base64 data URL.`, { param });
}

async function decode(
  text: string,
  claim: string,
  kind: InputMediaKind,
  bytesMax: number,
  params: { readonly data: string; readonly type: string },
): Promise<{ readonly bytes: Uint8Array; readonly contentType: string }> {
  const noun = NOUNS[kind];
  // Checks the length before decoding makes a second copy.
  if (Math.floor(text.length / 4) * 3 - 2 > bytesMax) {
    throw new ApiError("unsupported_value", `Expected ${noun} of at most ${bytesMax} bytes.`, { param: params.data });
  }
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(text);
  } catch (error) {
    throw new ApiError("unprocessable_input", `Expected ${noun} in base64, or in a base64 data URL.`, {
      param: params.data,
      cause: error,
    });
  }
  const named = claim.trim().toLowerCase();
  const type = named === "image/jpg" ? "image/jpeg" : named;
  // Clients guess the type of audio by its name, so the bytes determine it in every form.
  if (kind === "audio") return { bytes, contentType: type };
  const types = INPUT_TYPES[kind];
  if (kind === "image" && type !== "" && !types.includes(type)) {
    const message = `Expected ${params.type} to be one of ${types.join(", ")}, got ${arrived("enum", claim)}.`;
    throw new ApiError("unsupported_value", message, { param: params.type });
  }
  let contentType: string;
  try {
    contentType = await settleMediaType(bytes, type === "" ? undefined : type, "");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const said = error.message.replace("a file", noun).replace(/\.$/, "");
    throw new ApiError(error.code, `${said}; name its type in ${params.type}, or no type.`, { param: params.data });
  }
  if (!types.includes(contentType)) throw notOfKind(kind, params.data, contentType);
  return { bytes, contentType };
}

/**
 * Looks up the stored files of a call in the caller's workspace. A file of another workspace counts as not found.
 * @throws ApiError `file_not_found`, `unprocessable_input`, `unsupported_value`, `permission_denied`, `service_unavailable`
 */
export async function checkInputFiles(
  database: Queryable,
  caller: Pick<Caller, "workspaceId" | "memberId" | "role">,
  inputs: readonly InputMedia[],
  bytesMax: (kind: InputMediaKind) => number,
): Promise<void> {
  const named = inputs.filter((one) => "fileId" in one);
  const [first] = named;
  if (!first) return;
  checkMayReadFiles(caller, first.param);
  const ids = named.map(({ fileId }) => fileId).filter(isFileId);
  const rows =
    ids.length === 0
      ? []
      : await unavailable(
          "The files of this call cannot be looked up right now; try again shortly.",
          findFiles(database, viewerOf(caller), ids),
        );
  for (const { fileId, kind, param } of named) {
    const row = rows.find(({ id }) => id === fileId);
    if (!row) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
    if (!INPUT_TYPES[kind].includes(row.media_type)) throw notOfKind(kind, param, row.media_type);
    if (Number(row.bytes) > bytesMax(kind)) {
      const message = `Expected ${NOUNS[kind]} of at most ${bytesMax(kind)} bytes, got ${row.bytes}.`;
      throw new ApiError("unsupported_value", message, { param });
    }
  }
}

function notOfKind(kind: InputMediaKind, param: string, got: string): ApiError {
  const message = `Expected ${NOUNS[kind]}: one of ${INPUT_TYPES[kind].join(", ")}, got ${got}.`;
  return new ApiError("unprocessable_input", message, { param });
}
