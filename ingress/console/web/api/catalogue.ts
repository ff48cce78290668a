/** Models, capabilities and request schemas of the service. */
import type { CapabilityEntry, ModelEntry } from "#schemas/generated/types.ts";
import type { Schema } from "./schema.ts";
import { call } from "./client.ts";
import { type Query, useQuery } from "./query.ts";

/** Names of the kinds of models. */
export const MODALITIES: Readonly<Record<ModelEntry["_svc"]["modality"], string>> = {
  text: "Text",
  vision: "Vision",
  image: "Image",
  upscale: "Upscaling",
  audio: "Speech",
  stt: "Transcription",
  music: "Music",
  video: "Video",
  object_3d: "3D",
  embedding: "Embedding",
};

/** Models that the key may call. */
export function useModels(): Query<readonly ModelEntry[]> {
  return useQuery("models", async (signal) => (await call("GET /v1/models", { signal })).data as readonly ModelEntry[]);
}

/** Capabilities that the key may run. */
export function useCapabilities(): Query<readonly CapabilityEntry[]> {
  return useQuery("capabilities", async (signal) => (await call("GET /v1/tools", { signal })).data);
}

/** Schema of a request body. @param name title of the schema, such as `SpeechRequest`; "" loads nothing */
export function useRequestSchema(name: string): Query<Schema> {
  return useQuery(
    name === "" ? "" : `schema ${name}`,
    async (signal) => (await call("GET /schemas/{file}", { path: { file: `${name}.json` }, signal })) as Schema,
  );
}
