/**
 * fal.ai adapters, which use fal's queue. Inputs differ between models, so each source in the catalogue maps them to fields in `fields`.
 * Source: fal.ai/docs/documentation/model-apis/inference/queue.
 */
import type { Endpoint } from "../http.ts";
import type { ProviderAdapters } from "../provider.ts";

import { editBody, generationBody, readImages } from "./images.ts";
import { meshBody, readMesh } from "./mesh.ts";
import { musicBody, readMusic } from "./music.ts";
import { falQueue } from "./queue.ts";
import { readVideo, videoBody } from "./video.ts";

export function createFal(endpoint: Endpoint): ProviderAdapters {
  return {
    images: falQueue(endpoint, { kind: "images", body: generationBody, result: readImages }),
    imageEdits: falQueue(endpoint, { kind: "imageEdits", body: editBody, result: readImages }),
    video: falQueue(endpoint, { kind: "video", body: videoBody, result: readVideo }),
    music: falQueue(endpoint, { kind: "music", body: musicBody, result: readMusic }),
    mesh: falQueue(endpoint, { kind: "mesh", body: meshBody, result: readMesh }),
  };
}
