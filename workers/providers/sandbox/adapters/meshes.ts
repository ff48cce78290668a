/** The sandbox's meshes as a provider's that works by itself: made of words or a picture, or one transformed into another. */
import type { MediaAdapters, MeshInput } from "../../media.ts";
import { ProviderError } from "../../provider.ts";
import { bytesOf } from "../../video-media.ts";
import { keepsJobs } from "./own-jobs.ts";
import type { Tools } from "./faults.ts";

export function createSandboxMeshes({ media, delay }: Tools): Pick<MediaAdapters, "mesh"> {
  return {
    mesh: keepsJobs<MeshInput>(
      async ({ input, sourceModel, signal }) => {
        const { prompt = "", image, mesh } = input;
        const params = { prompt, seed: input.seed ?? 0, ...(image ? { image: bytesOf(image).bytes } : {}) };
        const operation = operationOf(sourceModel);
        if (!operation) return glb(await media().makeMesh(params, signal));
        if (!mesh) throw new ProviderError("failed", "a transformation without its mesh");
        return glb(await media().transformMesh({ ...params, mesh: bytesOf(mesh).bytes, operation }, signal));
      },
      delay,
      ({ mesh }, fault) => (mesh && !/\bThe image\b/.test(fault) ? "mesh_url" : "image_url"),
    ),
  };
}

function operationOf(sourceModel: string) {
  return (["remesh", "retexture", "segment", "rig"] as const).find((one) => sourceModel === `sandbox-3d-${one}`);
}

function glb({ bytes }: { readonly bytes: Uint8Array }) {
  return [{ bytes, contentType: "model/gltf-binary" }];
}
