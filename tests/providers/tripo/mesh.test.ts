import { describe, expect, test } from "bun:test";

import { createTripo } from "#workers/providers/tripo/index.ts";
import type { MediaCall, MeshInput, Polled, ProviderJob } from "#workers/providers/media.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { adaptTo } from "#workers/calls/source-params.ts";

import { jsonReply, ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued, useServers } from "../engine/calls.ts";
import { creditsOf } from "../engine/jobs.ts";
import { glb } from "../fal/clips.ts";
import { error, type Script, startTripoServer, type TripoServer, uploadsOf } from "./server.ts";

const own = useServers();

const PICTURE = { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3), contentType: "image/jpeg" };
const MESH = { bytes: glb(), contentType: "model/gltf-binary" };
const PICTURE_URL = { url: "https://files.example/chair.png" };
const MESH_URL = { url: "https://files.example/chair.glb" };
const TEXT = "text-to-model/v3.1-20260211";
const IMAGE = "image-to-model/v3.1-20260211";
const TEXTURE = "texture/v3.0-20250812";

function start(...scripts: readonly Script[]) {
  const server = own(startTripoServer({ apiKey: "ours" }));
  server.next(...scripts);
  const adapter = () => queued(createTripo({ baseUrl: server.url, headers: { authorization: "Bearer ours" } }).mesh);
  const meshes = adapter();
  return {
    server,
    meshes,
    /** Opens the adapter that another process would have. */
    another: adapter,
    make: (sourceModel = TEXT, input: MeshInput = { prompt: "a chair" }, call: Partial<MediaCall<MeshInput>> = {}) =>
      meshes.start(mediaCall(input, { sourceModel, ...call })),
  };
}

const asked = ({ requests }: TripoServer): string[] => requests.map(({ method, path }) => `${method} ${path}`);

/** Returns the outcome of a job with these answers. */
async function outcomeOf(script: Script): Promise<Polled<unknown>> {
  const { meshes, make } = start({ polls: ["success"], ...script });
  return meshes.poll(await make(), never);
}

describe("a task", () => {
  test.each<[string, MeshInput, string, Record<string, unknown>]>([
    [
      TEXT,
      { prompt: "a chair", image: PICTURE_URL, seed: 7 },
      "/generation/text-to-model",
      { model: "v3.1-20260211", prompt: "a chair", model_seed: 7 },
    ],
    [
      IMAGE,
      { prompt: "a chair", image: PICTURE_URL, seed: 0 },
      "/generation/image-to-model",
      { model: "v3.1-20260211", input: PICTURE_URL.url, model_seed: 0 },
    ],
    [
      TEXTURE,
      { prompt: "red velvet", mesh: MESH_URL, seed: 7 },
      "/models/texture",
      { model: "v3.0-20250812", input: MESH_URL.url, texture_prompt: { text: "red velvet" }, texture_seed: 7 },
    ],
    [
      TEXTURE,
      { prompt: "red velvet", image: PICTURE_URL, mesh: MESH_URL },
      "/models/texture",
      { model: "v3.0-20250812", input: MESH_URL.url, texture_prompt: { image: PICTURE_URL.url } },
    ],
    ["decimate/v2.0", { prompt: "less", mesh: MESH_URL }, "/mesh/decimate", { model: "v2.0", input: MESH_URL.url }],
    [
      "segment/v1.0-20250506",
      { prompt: "parts", mesh: MESH_URL },
      "/mesh/segment",
      { model: "v1.0-20250506", input: MESH_URL.url },
    ],
    [
      "rig/v2.5-20260210",
      { prompt: "a dog", mesh: MESH_URL },
      "/animations/rig",
      { model: "v2.5-20260210", input: MESH_URL.url },
    ],
  ])("%s is begun with what it takes of %j", async (model, input, path, body) => {
    const { server, make } = start();
    await make(model, input);
    expect(server.requests).toMatchObject([
      { method: "POST", path: `/v3${path}`, headers: { authorization: "Bearer ours" } },
    ]);
    expect(server.requests[0]?.body).toEqual(body);
    expect(server.charged).toBe(1);
  });

  test("is changed by its source, last", async () => {
    const { server, make } = start();
    await make("rig/v2.5-20260210", { mesh: MESH_URL }, overriding({ rig_type: "quadruped", spec: "mixamo" }));
    expect(server.requests[0]?.body).toEqual({
      model: "v2.5-20260210",
      input: MESH_URL.url,
      rig_type: "quadruped",
      spec: "mixamo",
    });
  });

  test("has its inputs where its source says they go", async () => {
    const { server, make } = start();
    await make(TEXT, { prompt: "a chair", seed: 7 }, { fields: { prompt: "prompt", seed: "texture_seed" } });
    expect(server.requests[0]?.body).toEqual({ model: "v3.1-20260211", prompt: "a chair", texture_seed: 7 });
  });

  test.each<[string, MeshInput, string, string]>([
    [TEXT, { image: PICTURE_URL }, "prompt", "This model needs a prompt."],
    [IMAGE, { prompt: "a chair" }, "image_url", "This model needs an image."],
    [TEXTURE, { prompt: "red" }, "mesh_url", "This model needs a mesh."],
    [TEXTURE, { mesh: MESH }, "image_url", "This model needs an image or a prompt."],
    [TEXT, { prompt: "x".repeat(1_025) }, "prompt", "This model takes prompts of at most 1024 characters."],
  ])("%s is refused before anything is sent when it is asked for with %.30j", async (model, input, param, say) => {
    const { server, make } = start();
    expect(await failureOf(make(model, input))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param,
      say,
    });
    expect(server.requests).toEqual([]);
  });

  test("is sent when its prompt is just short enough", async () => {
    const { server, make } = start();
    await make(TEXT, { prompt: "x".repeat(1_024) });
    expect(server.charged).toBe(1);
  });

  test.each(["", "text-to-model", "text-to-model/", "/v3.1", "text-to-video/x", "constructor/x", "../files/x"])(
    "that the catalogue calls %p is none of Tripo's",
    async (model) => {
      const { server, make } = start();
      expect((await failureOf(make(model))).kind).toBe("misconfigured");
      expect(server.requests).toEqual([]);
    },
  );

  test("whose source has no field for what it is made of is not sent, nor is anything uploaded", async () => {
    const { server, make } = start();
    expect((await failureOf(make(IMAGE, { image: PICTURE }, { fields: { seed: "model_seed" } }))).kind).toBe(
      "misconfigured",
    );
    expect(server.requests).toEqual([]);
  });
});

describe("an upload", () => {
  test("goes ahead of the task that names its token", async () => {
    const { server, make } = start();
    await make(TEXTURE, { image: PICTURE, mesh: MESH });
    expect(asked(server)).toEqual(["POST /v3/files", "POST /v3/files", "POST /v3/models/texture"]);
    expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual(Array(3).fill("Bearer ours"));
    expect(uploadsOf(server)).toEqual([
      { filename: "mesh.glb", contentType: "model/gltf-binary", bytes: MESH.bytes },
      { filename: "image.jpg", contentType: "image/jpeg", bytes: Buffer.from(PICTURE.bytes) },
    ]);
    expect(server.requests[2]?.body).toEqual({
      model: "v3.0-20250812",
      input: "file_1",
      texture_prompt: { image: "file_2" },
    });
  });

  test.each<[string, MeshInput, string]>([
    [IMAGE, { image: { ...PICTURE, contentType: "image/png" } }, "image.png"],
    [IMAGE, { image: { ...PICTURE, contentType: "image/webp" } }, "image.webp"],
    [IMAGE, { image: { ...PICTURE, contentType: 'image/"../x' } }, "image.jpg"],
    ["decimate/v2.0", { mesh: { ...MESH, contentType: "application/octet-stream" } }, "mesh.glb"],
    ["decimate/v2.0", { mesh: { ...MESH, contentType: "Model/OBJ; charset=utf-8" } }, "mesh.obj"],
    [
      "decimate/v2.0",
      { mesh: { bytes: Buffer.from("Kaydara FBX Binary  \0"), contentType: "application/octet-stream" } },
      "mesh.fbx",
    ],
  ])("of %s with %j has a name of ours", async (model, input, filename) => {
    const { server, make } = start();
    await make(model, input);
    expect(uploadsOf(server).map((file) => file.filename)).toEqual([filename]);
  });

  test.each<[string, Reply]>([
    ["reset", "reset"],
    ["cut", "cut"],
    ["no token", ok({ code: 0, data: {} })],
    ["an empty token", ok({ code: 0, data: { file_token: "" } })],
    ["no JSON", ok("<html>")],
    ["a fault", jsonReply(500, "oops")],
    ["an error in a 200", error(200, 2_014)],
  ])("answered with %s has cost nothing: the task was not sent, and may be begun again", async (_what, upload) => {
    const { server, make } = start({ upload });
    expect(await failureOf(make(IMAGE, { image: PICTURE }))).toMatchObject({ kind: "failed", isUnsent: true });
    expect(asked(server)).toEqual(["POST /v3/files"]);
    expect(server.charged).toBe(0);
  });

  test.each<[string, MeshInput, Reply, object]>([
    [
      IMAGE,
      { image: PICTURE },
      error(400, 2_003),
      { kind: "rejected", code: "unprocessable_input", param: "image_url" },
    ],
    [
      "decimate/v2.0",
      { mesh: MESH },
      error(400, 2_004),
      { kind: "rejected", code: "unprocessable_input", param: "mesh_url" },
    ],
    [IMAGE, { image: PICTURE }, error(200, 2_008), { kind: "refused" }],
    [IMAGE, { image: PICTURE }, error(401, 1_000), { kind: "misconfigured" }],
    [IMAGE, { image: PICTURE }, error(429, 2_000, "no", { "retry-after": "2" }), { kind: "busy", retryAfterMs: 2_000 }],
  ])("of %s with %.20j that is refused is told by its class", async (model, input, upload, expected) => {
    const { make } = start({ upload });
    expect(await failureOf(make(model, input))).toMatchObject({ ...expected, isUnsent: false });
  });
});

describe("a job", () => {
  test("is asked about by another process with only what was stored, and brings an address without credentials", async () => {
    const { server, another, make } = start();
    const job = JSON.parse(JSON.stringify(await make())) as ProviderJob;
    const other = another();
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0 });
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0.4 });
    const id = String(job["task_id"]);
    const url = `${server.filesUrl}/${id}/model.glb?sign=3`;
    expect(await other.poll(job, never)).toEqual({
      state: "done",
      output: [{ url, contentType: "model/gltf-binary" }],
      usage: {},
    });
    const path = `GET /v3/tasks/${id}`;
    expect(asked(server)).toEqual(["POST /v3/generation/text-to-model", path, path, path]);
    expect([server.charged, creditsOf(server)]).toEqual([1, 20]);
  });

  test("brings a fresh address at each poll: the last one alone is good", async () => {
    const { meshes, make } = start({ polls: ["success"] });
    const job = await make();
    const urls: string[] = [];
    for (let at = 0; at < 2; at += 1) {
      const polled = await meshes.poll(job, never);
      const [artifact] = polled.state === "done" ? polled.output : [];
      urls.push(artifact && "url" in artifact ? artifact.url : "");
    }
    expect((await fetch(urls[0]!)).status).toBe(403);
    expect(glb().equals(new Uint8Array(await (await fetch(urls[1]!)).arrayBuffer()))).toBeTrue();
  });

  const at = (file: string): string => `https://cdn.tripo3d.example/x/${file}?auth_key=1-2-3`;
  test.each<[string, Record<string, unknown>, object]>([
    ["a textured mesh alone", { pbr_model_url: at("a.glb") }, { url: at("a.glb"), contentType: "model/gltf-binary" }],
    ["a bare mesh alone", { base_model_url: at("a.GLB") }, { url: at("a.GLB"), contentType: "model/gltf-binary" }],
    ["several", { base_model_url: at("a.glb"), model_url: at("b.fbx") }, { url: at("b.fbx") }],
    ["a mesh of no known ending", { model_url: at("model") }, { url: at("model") }],
    ["an ending that every object has", { model_url: at("a.constructor") }, { url: at("a.constructor") }],
    [
      "one address that is none",
      { model_url: "x", base_model_url: at("a.stl") },
      { url: at("a.stl"), contentType: "model/stl" },
    ],
  ])("that made %s brings it", async (_what, output, artifact) => {
    expect(await outcomeOf({ task: { output } })).toEqual({ state: "done", output: [artifact], usage: {} });
  });

  test.each<[string, unknown]>([
    ["an empty list", {}],
    ["a picture alone", { rendered_image_url: at("view.webp") }],
    ["empty addresses", { model_url: "", base_model_url: null }],
  ])("that succeeded with %s has failed", async (_what, output) => {
    expect(await outcomeOf({ task: { output } })).toMatchObject({ state: "failed", error: { kind: "failed" } });
  });

  test.each<[string, unknown]>([
    ["no output", undefined],
    ["an output that is null", null],
    ["an output that is text", "model.glb"],
    ["an address that nobody fetches", { model_url: "file:///etc/passwd" }],
    ["an address that cannot be read", { model_url: "https://" }],
  ])("that succeeded with %s is left open", async (_what, output) => {
    expect(await outcomeOf({ task: { output } })).toMatchObject({ state: "unknown" });
  });

  test("goes back to waiting when its status does", async () => {
    const { meshes, make } = start({ polls: ["running", "queued", "success"] });
    const job = await make();
    const states: string[] = [];
    for (let at = 0; at < 3; at += 1) states.push((await meshes.poll(job, never)).state);
    expect(states).toEqual(["pending", "pending", "done"]);
  });

  test.each<[unknown, number]>([
    [-1, 0],
    [250, 1],
    ["40", 0],
    [99, 0.99],
  ])("at %p of a hundred is at %p", async (progress, expected) => {
    expect(await outcomeOf({ polls: ["running"], task: { progress } })).toEqual({
      state: "pending",
      progress: expected,
    });
  });

  test.each<[Script, object]>([
    [{ polls: ["banned"] }, { kind: "refused" }],
    [{ polls: ["cancelled"] }, { kind: "failed" }],
    [{ polls: ["expired"] }, { kind: "failed" }],
    [{ polls: ["failed"] }, { kind: "failed" }],
    [{ polls: ["failed"], task: { error_code: 2_008, error_message: VENDOR_MARK } }, { kind: "refused" }],
  ])("that ended as %j has failed for good, and costs nothing", async (script, expected) => {
    const { server, meshes, make } = start(script);
    const polled = await meshes.poll(await make(), never);
    expect(polled).toMatchObject({ state: "failed", error: expected });
    if (polled.state === "failed") expect(polled.error.message).not.toContain(VENDOR_MARK);
    expect(server.charged).toBe(0);
  });

  test("cannot be cancelled, so that nobody believes that it was", () => {
    expect("cancel" in start().meshes).toBeFalse();
  });
});

describe("a start", () => {
  test.each<[string, Reply]>([
    ["no data", ok({ code: 0 })],
    ["data that is none", ok({ code: 0, data: "task_1" })],
    ["no code", ok({ data: { task_id: "task_1" } })],
  ])("answered with %s may have been taken", async (_what, answer) => {
    const { make } = start({ start: answer });
    expect((await failureOf(make())).kind).toBe("unknown");
  });

  test.each([undefined, null, 7, "", "../files", "a/b", "a?b", "x".repeat(129), {}])(
    "that was taken under the id %p can be asked about by nobody",
    async (id) => {
      const { make } = start({ receipt: { task_id: id } });
      expect((await failureOf(make())).kind).toBe("unknown");
    },
  );

  test("that is refused in a 200 was not taken", async () => {
    const { server, make } = start({ start: error(200, 2_000) });
    expect((await failureOf(make())).kind).toBe("busy");
    expect(server.charged).toBe(0);
  });
});

describe("a poll that brings no verdict", () => {
  test.each<[string, Script]>([
    ["a status word nobody knows", { polls: ["lost"] }],
    ["no status", { task: { status: undefined } }],
    ["another task", { task: { task_id: "task_other" } }],
    ["no data", { polls: [ok({ code: 0 })] }],
    ["an error in a 200", { polls: [error(200, 2_001)] }],
    ["an error of the job's shape in a 200", { polls: [ok({ code: 1, data: { status: "failed" } })] }],
  ])("%s leaves the job open", async (_what, script) => {
    expect(await outcomeOf(script)).toMatchObject({ state: "unknown" });
  });

  test.each<[ProviderJob]>([
    [{}],
    [{ task: "remesh", id: "x", given: [] }],
    [{ task_id: "../files", given: [] }],
    [{ task_id: "", given: [] }],
    [{ task_id: "x" }],
    [{ task_id: "x", given: ["voice"] }],
  ])("of what is no job of Tripo's (%j) asks nobody", async (job) => {
    const { server, meshes } = start();
    expect(await meshes.poll(job, never)).toMatchObject({ state: "unknown" });
    expect(server.requests).toEqual([]);
  });
});

describe("our catalogue", () => {
  test("asks Tripo for nothing that it does not take, and pays what its prices were made of", async () => {
    const models = (await loadOurLayers()).flatMap(({ content }) => content.models ?? []);
    const ours = models.flatMap((model) =>
      (model.sources ?? []).filter(({ provider }) => provider === "tripo").map((source) => ({ model, source })),
    );
    expect(ours.length).toBeGreaterThan(4);
    for (const { model, source } of ours) {
      const { server, meshes, make } = start({ polls: ["success"] });
      const allowed = model.allowed_params ?? {};
      const input = {
        prompt: "a chair",
        seed: 7,
        ...(allowed.accepts_input_image ? { image: PICTURE } : {}),
        ...(allowed.requires_input_3d ? { mesh: MESH } : {}),
      };
      const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
      const job = await make(source.model, input, { adapt, ...(source.fields ? { fields: source.fields } : {}) });
      expect((await meshes.poll(job, never)).state, model.slug).toBe("done");
      // A credit of Tripo's is one of ours.
      expect(model.pricing?.request_price, model.slug).toBe(String(creditsOf(server)));
    }
  });
});
