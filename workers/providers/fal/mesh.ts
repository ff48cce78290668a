/** Requests and responses of fal's mesh models. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import type { Fields } from "../fields.ts";
import type { Artifact, MediaCall, MediaResult, MeshInput } from "../media.ts";
import { meshValues } from "../media-fields.ts";

import { bodyOf, type FalBody } from "./body.ts";
import { computeOf, type Delivery, readFiles } from "./files.ts";

/** Default fields for inputs. Nearly all mesh models of fal have these fields. */
const USUAL: Fields = { prompt: "prompt", image: "image_url", mesh: "model_url", seed: "seed" };

/**
 * Names of the response members that can contain the mesh, in order of preference. Self-contained files come first, then files with better
 * materials.
 */
const DELIVERY: Delivery = {
  members: [
    "model_glb",
    "model_mesh",
    "pbr_model",
    "base_model",
    "rigged_character_glb",
    "model_urls.glb",
    "glb",
    "mesh",
    "model_obj",
  ],
  family: "model",
  name: "mesh",
};

/**
 * Builds the request body of a mesh call. An image without a field at the source is omitted, as the spec says of `image_url`. A mesh is
 * never omitted.
 * @throws ProviderError `misconfigured` when the source has no field for the mesh, or for any input
 */
export function meshBody({ input, fields }: MediaCall<MeshInput>): FalBody {
  return bodyOf(meshValues(input), { fields, usual: USUAL, required: ["mesh"] });
}

/**
 * Returns the meshes of a response. Returns undefined in the same cases as `readFiles`.
 * @throws the errors of `readFiles`
 */
export function readMesh(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return files && { output: files.map(({ artifact }) => artifact), usage: computeOf(answer) };
}
