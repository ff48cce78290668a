/** Tripo adapters, version 3. Tripo generates meshes from text or images, and transforms meshes. Source: developers.tripo3d.ai. */
import type { Endpoint } from "../http.ts";
import type { MediaAdapters } from "../media.ts";

import { createTripoMesh } from "./mesh.ts";

export function createTripo(endpoint: Endpoint): MediaAdapters {
  return { mesh: createTripoMesh(endpoint) };
}
