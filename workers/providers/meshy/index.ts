/** Meshy: generates meshes from text or images, and transforms meshes. Source: docs.meshy.ai/openapi.yaml. */
import type { Endpoint } from "../http.ts";
import type { MediaAdapters } from "../media.ts";

import { createMeshyMesh } from "./mesh.ts";

export function createMeshy(endpoint: Endpoint): MediaAdapters {
  return { mesh: createMeshyMesh(endpoint) };
}
