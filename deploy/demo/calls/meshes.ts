/** A mesh, and the same mesh with bones. */
import type { MediaResults } from "#schemas/generated/types.ts";

import { type Call, fileIdOf, type Outcome, type Stage } from "../call.ts";

const MESH = "a blue vase";

export const mesh: Call = {
  name: "3d",
  title: "3D",
  model: "sandbox-3d",
  run: (stage) => make(stage, "3d.glb", { prompt: MESH, seed: 7 }, MESH),
};

export const meshTransform: Call = {
  name: "3d-transform",
  title: "3D transform: bones for that mesh",
  model: "sandbox-3d-rig",
  run: (stage) =>
    make(
      stage,
      "3d-transform.glb",
      { prompt: MESH, mesh_file_id: fileIdOf(stage, "3d") },
      "The same, with bones to move it by",
    ),
};

async function make({ model, client }: Stage, file: string, params: object, text: string): Promise<Outcome> {
  const { body, receipt } = await client.post<MediaResults>("/3d/generations", { model, ...params });
  const fileId = body.data[0]?.file_id;
  if (fileId === undefined) throw new Error("the answer holds no mesh");
  return { receipts: [receipt], artifacts: [{ file, bytes: await client.download(fileId) }], fileId, text };
}
