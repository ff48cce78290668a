import { describe, expect, test } from "bun:test";

import { createTripo } from "#workers/providers/tripo/index.ts";
import type { MediaCall, MeshInput } from "#workers/providers/media.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { adaptTo } from "#workers/calls/source-params.ts";

import { jsonReply, ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued, useServers } from "../engine/calls.ts";
import { creditsOf } from "../engine/jobs.ts";
import { glb } from "../fal/clips.ts";
import { badInput, badRequest, describeQueuedJob, fault } from "../queued-job.ts";
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

const at = (file: string): string => `https://cdn.tripo3d.example/x/${file}?auth_key=1-2-3`;
const mesh = (file: string, contentType?: string) => [{ url: at(file), ...(contentType ? { contentType } : {}) }];
const GLTF = "model/gltf-binary";
const made = (output: unknown): Script => ({ task: { output } });
const progress = (told: unknown): Script => ({ polls: ["running"], task: { progress: told } });
const needs = (param: string, what: string) => ({ ...badRequest(param), say: `This model requires ${what}.` });
const RIG = "rig/v2.5-20260210";
const AT_TEXTURE = { path: "/v3/models/texture" };

const fromMesh = (sourceModel: string, path: string) => {
  const asked = { sourceModel, input: { prompt: "less", mesh: MESH_URL } };
  const body = { model: sourceModel.split("/")[1], input: MESH_URL.url };
  return [`as ${sourceModel}, whatever its prompt`, asked, body, { path }] as const;
};

describeQueuedJob("a Tripo mesh", {
  open(...scripts: readonly Script[]) {
    const { server, meshes, another } = start(...scripts);
    return { server, adapter: meshes, another };
  },
  call: ({ input = { prompt: "a chair" }, ...changes }) => mediaCall(input, { sourceModel: TEXT, ...changes }),
  request: { method: "POST", path: "/v3/generation/text-to-model", headers: { authorization: "Bearer ours" } },
  words: { waits: "queued", runs: "running", done: "success" },
  strange: "lost",
  another: { members: { task_id: "task_other" } },
  receipt: (id) => ({ task_id: id }),
  noNames: ["a/b", "x".repeat(129)],
  strangers: [
    { task: "remesh", id: "x", given: [] },
    { task_id: "../files", given: [] },
    { task_id: "", given: [] },
    { task_id: "x" },
    { task_id: "x", given: ["voice"] },
  ],
  cancel: null,
  find: null,
  sends: [
    [
      "from words, with a seed and without an image",
      { input: { prompt: "a chair", image: PICTURE_URL, seed: 7 } },
      { model: "v3.1-20260211", prompt: "a chair", model_seed: 7 },
    ],
    [
      "from an image, without a prompt",
      { sourceModel: IMAGE, input: { prompt: "a chair", image: PICTURE_URL, seed: 0 } },
      { model: "v3.1-20260211", input: PICTURE_URL.url, model_seed: 0 },
      { path: "/v3/generation/image-to-model" },
    ],
    [
      "with another texture, in words",
      { sourceModel: TEXTURE, input: { prompt: "red velvet", mesh: MESH_URL, seed: 7 } },
      { model: "v3.0-20250812", input: MESH_URL.url, texture_prompt: { text: "red velvet" }, texture_seed: 7 },
      AT_TEXTURE,
    ],
    [
      "with another texture, by an image before words",
      { sourceModel: TEXTURE, input: { prompt: "red velvet", image: PICTURE_URL, mesh: MESH_URL } },
      { model: "v3.0-20250812", input: MESH_URL.url, texture_prompt: { image: PICTURE_URL.url } },
      AT_TEXTURE,
    ],
    fromMesh("decimate/v2.0", "/v3/mesh/decimate"),
    fromMesh("segment/v1.0-20250506", "/v3/mesh/segment"),
    fromMesh(RIG, "/v3/animations/rig"),
    [
      "as its source changes it",
      { sourceModel: RIG, input: { mesh: MESH_URL }, ...overriding({ rig_type: "quadruped", spec: "mixamo" }) },
      { model: "v2.5-20260210", input: MESH_URL.url, rig_type: "quadruped", spec: "mixamo" },
      { path: "/v3/animations/rig" },
    ],
    [
      "with its inputs where its source says they go",
      { input: { prompt: "a chair", seed: 7 }, fields: { prompt: "prompt", seed: "texture_seed" } },
      { model: "v3.1-20260211", prompt: "a chair", texture_seed: 7 },
    ],
    [
      "by a prompt that is just short enough",
      { input: { prompt: "x".repeat(1_024) } },
      { model: "v3.1-20260211", prompt: "x".repeat(1_024) },
    ],
  ],
  unsent: [
    ["without the prompt it needs", { input: { image: PICTURE_URL } }, needs("prompt", "a prompt")],
    ["without its image", { sourceModel: IMAGE }, needs("image_url", "an image")],
    ["without the mesh to paint", { sourceModel: TEXTURE, input: { prompt: "red" } }, needs("mesh_url", "a mesh")],
    [
      "without a style, of which nothing is uploaded",
      { sourceModel: TEXTURE, input: { mesh: MESH } },
      needs("image_url", "an image or a prompt"),
    ],
    [
      "by a prompt that is too long",
      { input: { prompt: "x".repeat(1_025) } },
      { ...badRequest("prompt"), say: "This model accepts prompts of at most 1024 characters." },
    ],
    ...["", "text-to-model", "text-to-model/", "/v3.1", "text-to-video/x", "constructor/x", "../files/x"].map(
      (sourceModel) => [`of ${JSON.stringify(sourceModel)}, which is none of Tripo's`, { sourceModel }] as const,
    ),
    [
      "of a source without a field for it, to which nothing is uploaded",
      { sourceModel: IMAGE, input: { image: PICTURE }, fields: { seed: "model_seed" } },
    ],
  ],
  life: {
    told: ({ task_id: id }, { server }) => [
      { state: "pending", progress: 0 },
      { state: "pending", progress: 0.4 },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/${String(id)}/model.glb?sign=3`, contentType: "model/gltf-binary" }],
        usage: {},
      },
    ],
    requests: ({ task_id: id }) => Array.from({ length: 3 }, () => `GET /v3/tasks/${String(id)}`),
    file: glb(),
  },
  starts: [
    ["no data", ok({ code: 0 }), fault("unknown")],
    ["data that is none", ok({ code: 0, data: "task_1" }), fault("unknown")],
    ["no code", ok({ data: { task_id: "task_1" } }), fault("unknown")],
    ["a refusal in a 200", error(200, 2_000), fault("busy")],
  ],
  done: [
    ["a textured mesh alone", made({ pbr_model_url: at("a.glb") }), mesh("a.glb", GLTF)],
    ["a bare mesh alone", made({ base_model_url: at("a.GLB") }), mesh("a.GLB", GLTF)],
    ["several", made({ base_model_url: at("a.glb"), model_url: at("b.fbx") }), mesh("b.fbx")],
    ["a mesh of no known ending", made({ model_url: at("model") }), mesh("model")],
    ["an ending that every object has", made({ model_url: at("a.constructor") }), mesh("a.constructor")],
    ["an address beside none", made({ model_url: "x", base_model_url: at("a.stl") }), mesh("a.stl", "model/stl")],
  ],
  pending: [
    ["less than nothing", progress(-1), 0],
    ["more than all", progress(250), 1],
    ["progress in words", progress("40"), 0],
    ["99 of a hundred", progress(99), 0.99],
  ],
  failed: [
    ["an empty list", made({}), fault("failed")],
    ["a picture alone", made({ rendered_image_url: at("view.webp") }), fault("failed")],
    ["empty addresses", made({ model_url: "", base_model_url: null }), fault("failed")],
    ["a ban", { polls: ["banned"] }, fault("refused")],
    ["a cancel", { polls: ["cancelled"] }, fault("failed")],
    ["its expiry", { polls: ["expired"] }, fault("failed")],
    ["a fault", { polls: ["failed"] }, fault("failed")],
    ["a refusal", { polls: ["failed"], task: { error_code: 2_008, error_message: VENDOR_MARK } }, fault("refused")],
  ],
  unclear: [
    ["no output", made(undefined)],
    ["an output that is null", made(null)],
    ["an output that is text", made("model.glb")],
    ["an address that nobody fetches", made({ model_url: "file:///etc/passwd" })],
    ["an address that cannot be read", made({ model_url: "https://" })],
    ["no status", { task: { status: undefined } }],
    ["no data", { polls: [ok({ code: 0 })] }],
    ["an error in a 200", { polls: [error(200, 2_001)] }],
    ["an error of the job's shape in a 200", { polls: [ok({ code: 1, data: { status: "failed" } })] }],
  ],
});

test("a Tripo mesh has a new address at each poll: only the last one is valid", async () => {
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

describe("an upload", () => {
  test("precedes the task that names its token", async () => {
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
  ])("of %s with %j has our own file name", async (model, input, filename) => {
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
  ])("answered with %s has cost nothing: the task was not sent, and may be started again", async (_what, upload) => {
    const { server, make } = start({ upload });
    expect(await failureOf(make(IMAGE, { image: PICTURE }))).toMatchObject({ kind: "failed", isUnsent: true });
    expect(asked(server)).toEqual(["POST /v3/files"]);
    expect(server.charged).toBe(0);
  });

  test.each<[string, MeshInput, Reply, object]>([
    [IMAGE, { image: PICTURE }, error(400, 2_003), badInput("image_url")],
    ["decimate/v2.0", { mesh: MESH }, error(400, 2_004), badInput("mesh_url")],
    [IMAGE, { image: PICTURE }, error(200, 2_008), { kind: "refused" }],
    [IMAGE, { image: PICTURE }, error(401, 1_000), { kind: "misconfigured" }],
    [IMAGE, { image: PICTURE }, error(429, 2_000, "no", { "retry-after": "2" }), { kind: "busy", retryAfterMs: 2_000 }],
  ])("of %s with %.20j that is rejected has its class", async (model, input, upload, expected) => {
    const { make } = start({ upload });
    expect(await failureOf(make(model, input))).toMatchObject({ ...expected, isUnsent: false });
  });
});

describe("the catalogue", () => {
  test("sends only fields that Tripo accepts, at the prices behind its own", async () => {
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
