/** The mesh of a task that succeeded. Addresses are signed and live for three days: docs.meshy.ai/en/api/asset-retention. */
import { isMembers, type Members } from "../json.ts";
import type { Artifact } from "../media.ts";

/**
 * GLB first: one file with everything in it; then by how much of the model a file alone carries. `mtl` is no mesh, and
 * `pre_remeshed_glb` not the one that was asked for.
 */
const FORMATS: readonly (readonly [member: string, contentType?: string])[] = [
  ["glb", "model/gltf-binary"],
  ["usdz", "model/vnd.usdz+zip"],
  ["fbx"],
  ["3mf", "model/3mf"],
  ["obj", "model/obj"],
  ["stl", "model/stl"],
];

/** Members with the files of a rigging task, by format. */
const RIGGED: Readonly<Record<string, string>> = { glb: "rigged_character_glb_url", fbx: "rigged_character_fbx_url" };

/** "none": the task lists its files and has no mesh among them. Undefined: this is not understood, which is no verdict. */
export function readMesh({ model_urls: urls, result }: Members): Artifact | "none" | undefined {
  const files = isMembers(urls) ? urls : isMembers(result) ? rigged(result) : undefined;
  if (!files) return undefined;
  const listed = FORMATS.filter(([name]) => files[name] !== undefined && files[name] !== null && files[name] !== "");
  if (listed.length === 0) return "none";
  for (const [name, contentType] of listed) {
    const url = files[name];
    if (isAddress(url)) return { url, ...(contentType === undefined ? {} : { contentType }) };
  }
  return undefined;
}

function rigged(result: Members): Members {
  return Object.fromEntries(Object.entries(RIGGED).map(([name, theirs]) => [name, result[theirs]]));
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}
