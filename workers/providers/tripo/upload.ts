/**
 * Bytes go to Tripo ahead of the task that reads them, and are named in it by a token. Source:
 * developers.tripo3d.ai/en/docs/upload. Uploads cost nothing, so one whose answer is lost may be repeated.
 */
import { type Endpoint, post } from "../http.ts";
import type { GivenMedia } from "../media.ts";
import type { MeshInputName } from "../mesh-inputs.ts";
import { ProviderError } from "../provider.ts";

import { classifyRefusal, readAnswer } from "./errors.ts";

/** The ending of a file's name says what it is. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "model/obj": "obj",
  "model/stl": "stl",
};

/** The token of the file. @throws ProviderError, of a task that was not begun */
export async function uploadFile(
  endpoint: Endpoint,
  media: Exclude<GivenMedia, { readonly url: string }>,
  ours: MeshInputName,
  signal: AbortSignal,
): Promise<string> {
  const { bytes, contentType } = media;
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  const name = `${ours}.${ENDINGS[type] ?? (ours === "mesh" ? endingOf(bytes) : "jpg")}`;
  const form = new FormData();
  form.append("file", new Blob([bytes], { type: contentType }), name);
  try {
    const { status, headers, text } = await post(endpoint, { path: "/files", body: form }, signal);
    const answer = readAnswer(status, text);
    if (answer.state === "refused") throw classifyRefusal(status, headers, answer, [ours]);
    const token = answer.data?.["file_token"];
    if (typeof token === "string" && token !== "") return token;
    throw new ProviderError("failed", "the upload was answered without a token");
  } catch (error) {
    // The task that is paid for was not sent.
    throw error instanceof ProviderError && error.kind === "failed" ? error.unsent() : error;
  }
}

/** File name ending of a mesh whose type is unknown. */
function endingOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  return head.startsWith("Kaydara FBX") ? "fbx" : "glb";
}
