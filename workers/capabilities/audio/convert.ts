import { choice } from "../params.ts";
import { FORMATS } from "./graph.ts";
import { audioCapability } from "./operation.ts";

const converted = audioCapability(
  { params: {}, apply: ({ seconds }) => ({ filters: [], seconds }) },
  {
    id: "audio.convert",
    display_name: "Convert audio",
    description: "Converts audio to another format, bitrate, sample rate or number of channels.",
    examples: [
      { title: "As MP3", params: { format: "mp3" } },
      { title: "As small mono Opus", params: { format: "opus", bitrate: 32, channels: 1 } },
    ],
  },
);

/** Schema of the output format. The parameter is required here, because conversion is the purpose of this capability. */
const { schema } = choice("Format of the result.", FORMATS, { required: true });
const { properties } = converted.params_schema as { readonly properties: object };
export default {
  ...converted,
  params_schema: { ...converted.params_schema, properties: { ...properties, format: schema }, required: ["format"] },
};
