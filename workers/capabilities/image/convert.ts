import { choice } from "../params.ts";
import { imageCapability, type ImageOperation } from "./operation.ts";
import { FORMATS } from "./sharp.ts";

const operation: ImageOperation = {
  params: {},
  takesFrames: true,
  keepsDepth: () => true,
  apply: ({ image }) => image,
};

const converted = imageCapability(operation, {
  id: "image.convert",
  display_name: "Convert image",
  description: "Converts an image to another format.",
  examples: [
    { title: "As WebP", params: { format: "webp" } },
    { title: "As a small AVIF", params: { format: "avif", quality: 50 } },
  ],
});

/** Schema of the output format. The parameter is required here, because conversion is the purpose of this capability. */
const { schema } = choice("Format of the result.", FORMATS, { required: true });
const { properties } = converted.params_schema as { readonly properties: object };
export default {
  ...converted,
  params_schema: { ...converted.params_schema, properties: { ...properties, format: schema }, required: ["format"] },
};
