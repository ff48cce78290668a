/** Meshes as fal's models take and give them. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import type { Fields } from "../fields.ts";
import type { Artifact, MediaCall, MediaResult, MeshInput } from "../media.ts";
import { meshValues } from "../media-fields.ts";

import { bodyOf, type FalBody } from "./body.ts";
import { computeOf, type Delivery, readFiles } from "./files.ts";

/** A source that says nothing takes what nearly all do. */
const USUAL: Fields = { prompt: "prompt", image: "image_url", mesh: "model_url", seed: "seed" };

/** A mesh that is whole in one file comes first, one with better materials before one without. */
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
 * An image that the source has no field for is left out, as the spec says of `image_url`; a mesh is not.
 * @throws ProviderError `misconfigured` when the source does not say where the mesh, or all there is, goes
 */
export function meshBody({ input, fields }: MediaCall<MeshInput>): FalBody {
  return bodyOf(meshValues(input), { fields, usual: USUAL, required: ["mesh"] });
}

/** Meshes of an answer; undefined and errors as in readFiles. */
export function readMesh(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return files && { output: files.map(({ artifact }) => artifact), usage: computeOf(answer) };
}
