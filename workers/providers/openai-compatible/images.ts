/**
 * Images over OpenAI's wire format: generation by JSON, edits by multipart. The default fields are those of the gpt-image models, which
 * always return base64. Other sources set their own fields in the catalogue, with `response_format` among their overrides. Source:
 * platform.openai.com/docs/api-reference/images.
 */
import { type Endpoint, post, type ProviderRequest } from "../http.ts";
import { type Fields } from "../fields.ts";
import { placeInputs } from "../image-fields.ts";
import type { Artifact, ImageEditInput, ImageInput, Media, MediaCall, MediaAdapters, MediaResult } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { exchanged } from "../start.ts";

import { classifyImages, readImages } from "./images-answer.ts";

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
