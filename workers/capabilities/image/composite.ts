import type { OverlayOptions } from "sharp";

import { IMAGE_SIDE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { named } from "../define.ts";
import { custom, GRAVITIES } from "../params.ts";
import { placed } from "../placed.ts";
import { assetOf } from "../steps.ts";
import { imageCapability, type ImageOperation } from "./operation.ts";
import { imageOverlay, within } from "./overlay.ts";

const BLENDS = ["over", "multiply", "screen", "overlay", "darken", "lighten", "difference"] as const;
const SIDE = IMAGE_SIDE_PIXELS_MAX;

interface Layer {
  readonly asset: string;
  readonly x?: number;
  readonly y?: number;
  readonly gravity?: string;
  readonly width?: number;
  readonly opacity?: number;
  readonly blend?: (typeof BLENDS)[number];
}

const LAYER = {
  type: "object",
  properties: {
    asset: {
      description: "Name of the member of `input.assets` to place.",
      type: "string",
      minLength: 1,
      maxLength: 40,
    },
    x: {
      description: "Left edge of the layer; may be outside the image.",
      type: "integer",
      minimum: -SIDE,
      maximum: SIDE,
      "x-svc-unit": "px",
    },
    y: {
      description: "Top edge of the layer; may be outside the image.",
      type: "integer",
      minimum: -SIDE,
      maximum: SIDE,
      "x-svc-unit": "px",
    },
    gravity: {
      description: "Position of the layer, if `x` and `y` are not given. Default: center.",
      type: "string",
      enum: GRAVITIES,
    },
    width: {
      description: "Width of the layer. Default: its own width.",
      type: "integer",
      minimum: 1,
      maximum: SIDE,
      "x-svc-unit": "px",
    },
    opacity: {
      description: "Opacity: 0 is invisible, 1 is opaque.",
      type: "number",
      minimum: 0,
      maximum: 1,
      default: 1,
    },
    blend: { description: "Blend mode.", type: "string", enum: BLENDS, default: "over" },
  },
  required: ["asset"],
  additionalProperties: false,
} as const;

const params = {
  layers: custom<readonly Layer[], { readonly required: true }>(
    { description: "Layers, from bottom to top.", type: "array", items: LAYER, minItems: 1, maxItems: 20 },
    { required: true },
  ),
};

export const operation: ImageOperation<typeof params> = {
  params,
  async apply({ image, width, height }, { layers }, assets) {
    const overlays: OverlayOptions[] = [];
    for (const [at, layer] of layers.entries()) {
      const file = assetOf(assets, layer.asset, `params.layers[${at}].asset`);
      const { data, ...size } = await imageOverlay(file, layer.width, layer.opacity ?? 1);
      const place = placed(layer.gravity ?? "center", { width, height }, size);
      const inside = await within({ data, ...size }, layer.x ?? place.left, layer.y ?? place.top, { width, height });
      if (inside) overlays.push({ ...inside, blend: layer.blend ?? "over" });
    }
    return overlays.length === 0 ? image : image.composite(overlays);
  },
};

export default imageCapability(operation, {
  id: "image.composite",
  display_name: "Combine images",
  description: "Places up to 20 images over another one, each with its own position, size, opacity and blend mode.",
  assets: { assets: named("image", "The images of the layers, by the names that `layers` use.", 20) },
  sample_input: { image: { file_id: "file-sample-photo" }, assets: { chart: { file_id: "file-sample-chart" } } },
  examples: [
    { title: "One layer in the centre", params: { layers: [{ asset: "chart" }] } },
    {
      title: "A small layer in a corner, and one multiplied over the image",
      params: {
        layers: [
          { asset: "chart", width: 200, gravity: "northeast", opacity: 0.8 },
          { asset: "chart", blend: "multiply" },
        ],
      },
    },
  ],
});
