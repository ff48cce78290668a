/** Checks a mesh call against its model's declarations and calculates its maximum cost. Pure. */
import type { MeshGenerationRequest } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { boundMedia, ONE_RESULT, type Quantities } from "#shared/calls/pricing/media.ts";
import { priceOf } from "#shared/calls/pricing/price.ts";

import { type CheckedMedia, only, refusal, timeBound, usualTime } from "./media-check.ts";
import { CALL_UNITS, type MediaKind } from "./kind.ts";
import { inputsByAddress } from "./input-media.ts";

/** Request parameters that a source of the model receives, without the image and the mesh of the call. */
export interface MeshParams {
  readonly prompt?: string;
  readonly seed?: number;
}

/**
 * Returns true if the model accepts images and one of its sources has a field for them. A source with `fields` receives no other inputs.
 */
function takesImages({ sources, allowed_params: { supported_inputs: inputs } }: Model): boolean {
  return inputs?.includes("image") !== false && sources.some(({ fields }) => !fields || fields["image"] !== undefined);
}

export const MESH: MediaKind<MeshGenerationRequest, CheckedMedia<MeshParams>> = {
  name: "mesh",
  endpoint: "/v1/3d/generations",
  pool: "3d",
  afterCrash: "resume",
  keepsFiles: true,
  keepsRecord: true,
  read: (body) => parse("MeshGenerationRequest", body),
  modality: "object_3d",
  units: ["per_second", ...CALL_UNITS],
  hasLength: false,
  writes: "output",
  nouns: { one: "a mesh model", all: "mesh models" },
  isOfKind: ({ modality }) => modality === "object_3d",
  check: checkMesh,
  inputs: (request, model, kept) => inputsByAddress({ ...request }, model, ["image", "mesh"], kept),
  route: {
    operationId: "createMesh",
    summary: "Create 3D mesh",
    description:
      "Generates a mesh from a prompt, an image or both. Models that transform a mesh require one. A call that " +
      "exceeds the wait limit fails with `job_timeout` and the job's id; the mesh can be retrieved from the job.",
    tag: "3D",
    request: { schema: "MeshGenerationRequest" },
    answers: "results",
    answer: { description: "The mesh", schema: "MediaResults" },
    does: ["reads_files", "fetches_addresses"],
  },
};

/** Checks a mesh call and returns its parameters and maximum usage. @throws ApiError 400 that names the invalid parameter */
function checkMesh(request: MeshGenerationRequest, model: Model): CheckedMedia<MeshParams> {
  const { requires_input_3d: transforms, requires_input_image: needsImage } = model.allowed_params;
  const prompt = request.prompt?.trim() === "" ? undefined : request.prompt;
  const image = request.image_url ?? request.image_file_id;
  const mesh = request.mesh_url ?? request.mesh_file_id;
  if (prompt === undefined && image === undefined) {
    throw new ApiError(
      "missing_required_parameter",
      "Missing required parameter: a prompt that is not blank, image_url, or both.",
      {
        param: "prompt",
      },
    );
  }
  if (prompt === undefined && transforms !== true && !takesImages(model)) {
    throw new ApiError(
      "missing_required_parameter",
      "Missing required parameter: prompt. This model does not accept an image.",
      {
        param: "prompt",
      },
    );
  }
  if (transforms === true && mesh === undefined) {
    throw new ApiError(
      "missing_required_parameter",
      "Missing required parameter: mesh_url. This model transforms a mesh.",
      {
        param: "mesh_url",
      },
    );
  }
  if (transforms !== true && mesh !== undefined) {
    const param = request.mesh_url === undefined ? "mesh_file_id" : "mesh_url";
    throw refusal(param, `This model generates meshes and cannot transform one; remove ${param}.`);
  }
  if (needsImage === true && image === undefined) {
    throw new ApiError(
      "missing_required_parameter",
      "Missing required parameter: image_url. This model requires an image.",
      {
        param: "image_url",
      },
    );
  }
  const price = priceOf(model, {});
  const most: Quantities = { ...ONE_RESULT, milliseconds: timeBound(model, 0) };
  return {
    params: { ...only("prompt", prompt), ...only("seed", request.seed) },
    price,
    most,
    usual: { ...ONE_RESULT, milliseconds: usualTime(model, 0) },
    bound: {
      holdNano: boundMedia(price, most, { input: 0, output: 0 }),
      outputTokensMax: 0,
      mayExceed: false,
      tokensMax: 0,
    },
  };
}
