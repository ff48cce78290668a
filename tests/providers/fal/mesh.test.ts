import { expect } from "bun:test";

import type { MeshInput } from "#workers/providers/media.ts";

import { overriding } from "../engine/calls.ts";
import { badInput, describeQueuedJob, fault } from "../queued-job.ts";
import { glb } from "./clips.ts";
import { asks, falJobs, gives } from "./jobs.ts";
import { modelReply } from "./server.ts";

const fields = { image: "image_url", seed: "seed", mesh: "model_url" };
const PICTURE = { url: "https://x.example/p.png" };
const GLB = { bytes: Buffer.from("glTF"), contentType: "model/gltf-binary" };
const REMESH = "fal-ai/meshy/v5/remesh";
const INPUT: MeshInput = { image: PICTURE };
const ONE = [{ url: "https://x.example/1" }];
const fails = (...reply: Parameters<typeof modelReply>) => ({ result: modelReply(...reply) });

describeQueuedJob("a fal mesh", {
  ...falJobs(({ mesh }) => mesh, INPUT, { sourceModel: "fal-ai/trellis", fields }),
  sends: [
    [
      "from a picture, in a list where its source wants one",
      {
        input: { prompt: "a fox", seed: 7 },
        sourceModel: "fal-ai/hyper3d/rodin",
        fields: { prompt: "prompt", image: "input_image_urls[]", seed: "seed" },
      },
      { prompt: "a fox", input_image_urls: [PICTURE.url], seed: 7 },
      { path: "/fal-ai/hyper3d/rodin" },
    ],
    [
      "from a mesh that was sent along, as its source changes it",
      {
        input: { prompt: "finer", mesh: GLB },
        sourceModel: REMESH,
        fields: { mesh: "model_url" },
        ...overriding({ target_formats: ["glb"] }),
      },
      {
        model_url: `data:model/gltf-binary;base64,${GLB.bytes.toString("base64")}`,
        target_formats: ["glb"],
      },
      { path: `/${REMESH}` },
    ],
    [
      "under the usual names where its source says nothing",
      { input: { prompt: "a fox", mesh: GLB, seed: 7 }, sourceModel: "acme/sculptor", fields: null },
      { prompt: "a fox", image_url: PICTURE.url, model_url: expect.stringMatching(/^data:/), seed: 7 },
      { path: "/acme/sculptor" },
    ],
    [
      "without a picture that its source has no field for, as the spec says",
      { input: { prompt: "a fox" }, fields: { prompt: "prompt" } },
      { prompt: "a fox" },
    ],
  ],
  unsent: [
    ["of a source without a field for the mesh", { input: { prompt: "x", mesh: GLB }, fields: { prompt: "prompt" } }],
    ["of a source without a field for all there is", { fields: { prompt: "prompt" } }],
  ],
  life: {
    script: { polls: ["IN_PROGRESS", "COMPLETED"] },
    told: ({ request_id: id }, { server }) => [
      { state: "pending" },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/files/${String(id)}-0.glb` }],
        usage: { computeSeconds: 6.25 },
      },
    ],
    requests: asks("/fal-ai/trellis", 2),
    file: glb(),
  },
  done: [
    ["model_mesh", gives({ model_mesh: { ...ONE[0], content_type: "application/octet-stream" } }), ONE],
    ["model_glb before others", gives({ model_mesh: { url: "https://x.example/2" }, model_glb: ONE[0] }), ONE],
    ["the better of two", gives({ base_model: { url: "https://x.example/2" }, pbr_model: ONE[0] }), ONE],
    ["one among addresses", gives({ model_glb: null, model_urls: { glb: ONE[0], fbx: null } }), ONE],
    ["glb", gives({ glb: ONE[0] }), ONE],
    ["mesh, a bare address", gives({ mesh: "https://x.example/1" }), ONE],
    ["a rigged character", gives({ rigged_character_glb: ONE[0], rig_task_id: "7" }), ONE],
    [
      "a file of a known type",
      gives({ model_glb: { ...ONE[0], content_type: "model/gltf-binary" } }),
      [{ ...ONE[0], contentType: "model/gltf-binary" }],
    ],
  ],
  failed: [
    ["nothing in its place", gives({ model_mesh: null }), fault("failed")],
    ["a refusal", fails("content_policy_violation"), fault("refused")],
    ["a picture it cannot read", fails("image_too_small", "image_url"), badInput("image_url")],
    [
      "a mesh it cannot read",
      fails("file_download_error", "model_url"),
      { ...badInput("mesh_url"), say: expect.stringContaining("mesh") },
    ],
    ["a seed it cannot take", fails("less_than_equal", "seed"), { kind: "rejected", param: "seed" }],
  ],
  unclear: [
    ["pictures", gives({ textures: [{ url: "https://x.example/1.png" }] })],
    ["an address that is none", gives({ model_glb: { url: "ftp://x.example/1.glb" } })],
  ],
});
