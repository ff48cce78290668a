import { describe, expect, test } from "bun:test";

import type { MeshInput, Polled } from "#workers/providers/media.ts";

import { ok, type Reply } from "../engine/behaviour.ts";
import { type CallChanges, failureOf, mediaCall, never, queued, stored } from "../engine/calls.ts";
import { pollOf, useFal } from "./jobs.ts";
import { modelReply, type Script } from "./server.ts";

const serve = useFal();

const TRELLIS = "fal-ai/trellis";
const REMESH = "fal-ai/meshy/v5/remesh";
const FIELDS = { image: "image_url", seed: "seed", mesh: "model_url" };
const PICTURE = { url: "https://x.example/p.png" };
const GLB = { bytes: Buffer.from("glTF"), contentType: "model/gltf-binary" };

function start(...scripts: readonly Script[]) {
  const { server, adapters, another } = serve(...scripts);
  const mesh = queued(adapters.mesh);
  return {
    server,
    mesh,
    another,
    make: (input: MeshInput = { image: PICTURE }, changes: CallChanges = {}) =>
      mesh.start(mediaCall(input, { sourceModel: TRELLIS, fields: FIELDS, ...changes })),
  };
}

async function outcomeOf(script: Script): Promise<Polled<unknown>> {
  const { mesh, make } = start({ polls: ["COMPLETED"], ...script });
  return mesh.poll(await make(), never);
}

describe("a mesh", () => {
  test("is made from a picture, in a list where its source wants one", async () => {
    const { server, make } = start();
    const fields = { prompt: "prompt", image: "input_image_urls[]", seed: "seed" };
    await make({ prompt: "a fox", image: PICTURE, seed: 7 }, { sourceModel: "fal-ai/hyper3d/rodin", fields });
    expect(server.requests[0]?.body).toEqual({ prompt: "a fox", input_image_urls: [PICTURE.url], seed: 7 });
  });

  test("is transformed from one that was sent along", async () => {
    const { server, make } = start();
    const adapt = (body: Record<string, unknown>): void => void (body["target_formats"] = ["glb"]);
    await make({ prompt: "finer", mesh: GLB }, { sourceModel: REMESH, fields: { mesh: "model_url" }, adapt });
    expect(server.requests[0]?.body).toEqual({
      model_url: `data:model/gltf-binary;base64,${GLB.bytes.toString("base64")}`,
      target_formats: ["glb"],
    });
  });

  test("goes under the usual names where its source says nothing", async () => {
    const { server, make } = start();
    const input = { prompt: "a fox", image: PICTURE, mesh: GLB, seed: 7 };
    await make(input, { sourceModel: "acme/sculptor", fields: null });
    expect(Object.keys(server.requests[0]?.body ?? {})).toEqual(["prompt", "image_url", "model_url", "seed"]);
  });

  test("leaves out a picture that its source has no field for, as the spec says", async () => {
    const { server, make } = start();
    await make({ prompt: "a fox", image: PICTURE }, { fields: { prompt: "prompt" } });
    expect(server.requests[0]?.body).toEqual({ prompt: "a fox" });
  });

  test.each<[string, MeshInput, Readonly<Record<string, string>>]>([
    ["the mesh", { prompt: "finer", mesh: GLB }, { prompt: "prompt" }],
    ["all there is", { image: PICTURE }, { prompt: "prompt" }],
  ])("is not asked of a source without a field for %s", async (_what, input, fields) => {
    const { server, make } = start();
    expect((await failureOf(make(input, { fields }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("is found by a process that has only what was stored", async () => {
    const { server, another, make } = start({ polls: ["IN_PROGRESS", "COMPLETED"] });
    const job = stored(await make());
    const poll = pollOf(another(), "mesh");
    expect((await poll(job)).state).toBe("pending");
    const url = `${server.filesUrl}/files/${String(job["request_id"])}-0.glb`;
    expect(await poll(job)).toEqual({ state: "done", output: [{ url }], usage: { computeSeconds: 6.25 } });
    expect((await (await fetch(url)).text()).slice(0, 4)).toBe("glTF");
    expect(server.charged).toBe(1);
  });

  test.each<[string, object]>([
    ["model_mesh", { model_mesh: { url: "https://x.example/1", content_type: "application/octet-stream" } }],
    [
      "model_glb before others",
      { model_mesh: { url: "https://x.example/2" }, model_glb: { url: "https://x.example/1" } },
    ],
    ["the better of two", { base_model: { url: "https://x.example/2" }, pbr_model: { url: "https://x.example/1" } }],
    ["one among addresses", { model_glb: null, model_urls: { glb: { url: "https://x.example/1" }, fbx: null } }],
    ["glb", { glb: { url: "https://x.example/1" } }],
    ["mesh, a bare address", { mesh: "https://x.example/1" }],
    ["a rigged character", { rigged_character_glb: { url: "https://x.example/1" }, rig_task_id: "7" }],
  ])("may come as %s", async (_what, body) => {
    const outcome = await outcomeOf({ result: ok(body) });
    expect(outcome).toEqual({ state: "done", output: [{ url: "https://x.example/1" }], usage: {} });
  });

  test("says its type where fal does", async () => {
    const result = ok({ model_glb: { url: "https://x.example/1", content_type: "model/gltf-binary" } });
    expect(await outcomeOf({ result })).toMatchObject({ output: [{ contentType: "model/gltf-binary" }] });
  });

  test.each<[string, Reply]>([
    ["pictures", ok({ textures: [{ url: "https://x.example/1.png" }] })],
    ["an address that is none", ok({ model_glb: { url: "ftp://x.example/1.glb" } })],
  ])("whose result is %s stays open", async (_what, result) => {
    expect(await outcomeOf({ result })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply, object]>([
    ["nothing in its place", ok({ model_mesh: null }), { kind: "failed" }],
    ["a refusal", modelReply("content_policy_violation"), { kind: "refused" }],
    [
      "a picture it cannot read",
      modelReply("image_too_small", "image_url"),
      { kind: "rejected", code: "unprocessable_input", param: "image_url" },
    ],
    [
      "a mesh it cannot read",
      modelReply("file_download_error", "model_url"),
      { kind: "rejected", code: "unprocessable_input", param: "mesh_url", say: expect.stringContaining("mesh") },
    ],
    ["a seed it cannot take", modelReply("less_than_equal", "seed"), { kind: "rejected", param: "seed" }],
  ])("whose result is %s has failed, by its class", async (_what, result, error) => {
    expect(await outcomeOf({ result })).toMatchObject({ state: "failed", error });
  });
});
