import { describe, expect, test } from "bun:test";

import { createMeshy } from "#workers/providers/meshy/index.ts";
import type { MediaCall, MeshInput, Polled, ProviderJob } from "#workers/providers/media.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { adaptTo } from "#workers/calls/source-params.ts";

import type { Reply } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued, stored, useServers } from "../engine/calls.ts";
import { creditsOf } from "../engine/jobs.ts";
import { glb } from "../fal/clips.ts";
import { charged, type MeshyServer, message, type Script, startMeshyServer } from "./server.ts";

const own = useServers();

const PICTURE = { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3), contentType: "image/jpeg" };
const MESH = { bytes: glb(), contentType: "model/gltf-binary" };
const PICTURE_URL = { url: "https://files.example/chair.png" };
const MESH_URL = { url: "https://files.example/chair.glb" };

function start(...scripts: readonly Script[]) {
  const server = own(startMeshyServer({ apiKey: "ours" }));
  server.next(...scripts);
  const adapter = () => queued(createMeshy({ baseUrl: server.url, headers: { authorization: "Bearer ours" } }).mesh);
  const meshes = adapter();
  return {
    server,
    meshes,
    /** Opens the adapter that another process would have. */
    another: adapter,
    make: (sourceModel: string, input: MeshInput = { prompt: "a chair" }, call: Partial<MediaCall<MeshInput>> = {}) =>
      meshes.start(mediaCall(input, { sourceModel, ...call })),
  };
}

const sent = ({ requests }: MeshyServer): unknown[] =>
  requests.filter(({ method }) => method === "POST").map(({ body }) => body);
const asked = ({ requests }: MeshyServer): string[] => requests.map(({ method, path }) => `${method} ${path}`);

/** @throws Error when the first half is not done */
function nextOf(polled: Polled<unknown>): (signal: AbortSignal) => Promise<ProviderJob> {
  if (polled.state === "next") return (signal) => polled.start(mediaCall({}, { signal }));
  throw new Error(`expected the next phase, got ${polled.state}`);
}

/** Returns the outcome of a job of one phase with these answers. */
async function outcomeOf(script: Script): Promise<Polled<unknown>> {
  const { meshes, make } = start({ polls: ["SUCCEEDED"], ...script });
  return meshes.poll(await make("remesh", { mesh: MESH_URL }), never);
}

const dataUrl = (bytes: Uint8Array, type: string): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

describe("a task", () => {
  test.each<[string, MeshInput, string, Record<string, unknown>]>([
    [
      "text-to-3d/meshy-6",
      { prompt: "a chair", image: PICTURE_URL, seed: 7 },
      "/openapi/v2/text-to-3d",
      { mode: "preview", ai_model: "meshy-6", prompt: "a chair" },
    ],
    [
      "image-to-3d/meshy-6",
      { prompt: "a chair", image: PICTURE_URL },
      "/openapi/v1/image-to-3d",
      { ai_model: "meshy-6", image_url: PICTURE_URL.url },
    ],
    [
      "image-to-3d/meshy-6",
      { image: PICTURE },
      "/openapi/v1/image-to-3d",
      { ai_model: "meshy-6", image_url: dataUrl(PICTURE.bytes, "image/jpeg") },
    ],
    [
      "retexture/meshy-6",
      { prompt: "red velvet", mesh: MESH_URL },
      "/openapi/v1/retexture",
      { ai_model: "meshy-6", model_url: MESH_URL.url, text_style_prompt: "red velvet" },
    ],
    [
      "retexture/meshy-6",
      { prompt: "red velvet", image: PICTURE_URL, mesh: MESH },
      "/openapi/v1/retexture",
      {
        ai_model: "meshy-6",
        model_url: dataUrl(MESH.bytes, "application/octet-stream"),
        image_style_url: PICTURE_URL.url,
      },
    ],
    ["remesh", { prompt: "finer", mesh: MESH_URL }, "/openapi/v1/remesh", { model_url: MESH_URL.url }],
    ["rigging", { prompt: "a knight", mesh: MESH_URL }, "/openapi/v1/rigging", { model_url: MESH_URL.url }],
  ])("%s is created with what it takes of %j", async (model, input, path, body) => {
    const { server, make } = start();
    await make(model, input);
    expect(server.requests).toMatchObject([{ method: "POST", path, headers: { authorization: "Bearer ours" } }]);
    expect(sent(server)).toEqual([body]);
  });

  test("is changed by its source, last", async () => {
    const { server, make } = start();
    await make(
      "remesh",
      { mesh: MESH_URL },
      overriding({ topology: "quad", target_polycount: 5_000, target_formats: ["glb"] }),
    );
    expect(sent(server)).toEqual([
      { model_url: MESH_URL.url, topology: "quad", target_polycount: 5_000, target_formats: ["glb"] },
    ]);
  });

  test("has its inputs where its source says they go", async () => {
    const { server, make } = start();
    await make(
      "retexture/meshy-6",
      { prompt: "red", image: PICTURE_URL, mesh: MESH_URL },
      { fields: { mesh: "model_url", prompt: "text_style_prompt" } },
    );
    expect(sent(server)).toEqual([{ ai_model: "meshy-6", model_url: MESH_URL.url, text_style_prompt: "red" }]);
  });

  test.each<[string, MeshInput, string, string]>([
    ["text-to-3d/meshy-6", { image: PICTURE_URL }, "prompt", "This model needs a prompt."],
    ["image-to-3d/meshy-6", { prompt: "a chair" }, "image_url", "This model needs an image."],
    ["retexture/meshy-6", { prompt: "red" }, "mesh_url", "This model needs a mesh."],
    ["retexture/meshy-6", { mesh: MESH_URL }, "image_url", "This model needs an image or a prompt."],
    ["remesh", { prompt: "finer" }, "mesh_url", "This model needs a mesh."],
    [
      "text-to-3d/meshy-6",
      { prompt: "x".repeat(601) },
      "prompt",
      "This model takes prompts of at most 600 characters.",
    ],
    [
      "retexture/meshy-6",
      { prompt: "x".repeat(601), mesh: MESH_URL },
      "prompt",
      "This model takes prompts of at most 600 characters.",
    ],
  ])("%s is refused before it is sent when it is asked for with %.30j", async (model, input, param, say) => {
    const { server, make } = start();
    expect(await failureOf(make(model, input))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param,
      say,
    });
    expect(server.requests).toEqual([]);
  });

  test.each<[string, MeshInput]>([
    ["text-to-3d/meshy-6", { prompt: "🪑".repeat(300) }],
    ["text-to-3d/meshy-6", { prompt: "x".repeat(600) }],
    ["remesh", { prompt: "x".repeat(5_000), mesh: MESH_URL }],
  ])("%s is sent when its prompt is just short enough, or does not go there", async (model, input) => {
    const { server, make } = start();
    await make(model, input);
    expect(creditsOf(server, ["FAILED"])).toBeGreaterThan(0);
  });

  test.each(["", "text-to-3d", "text-to-3d/", "remesh/meshy-6", "text-to-video/x", "constructor/x", "../v1/remesh"])(
    "that the catalogue calls %p is none of Meshy's",
    async (model) => {
      const { server, make } = start();
      const error = await failureOf(make(model, { prompt: "a chair", mesh: MESH_URL }));
      expect(error.kind).toBe("misconfigured");
      expect(server.requests).toEqual([]);
    },
  );

  test("whose source has no field for what it is made of is not sent", async () => {
    const { server, make } = start();
    const error = await failureOf(make("image-to-3d/meshy-6", { image: PICTURE_URL }, { fields: { seed: "seed" } }));
    expect(error.kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });
});

describe("a job of one phase", () => {
  test("is asked about by another process with only what was stored, and brings an address without credentials", async () => {
    const { server, another, make } = start();
    const job = stored(await make("image-to-3d/meshy-6", { image: PICTURE_URL }));
    const other = another();
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0 });
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0.4 });
    const done = await other.poll(job, never);
    const id = String(job["id"]);
    const url = `${server.filesUrl}/tasks/${id}/output/model.glb?Signature=s`;
    expect(done).toEqual({ state: "done", output: [{ url, contentType: "model/gltf-binary" }], usage: {} });
    expect(glb().equals(new Uint8Array(await (await fetch(url)).arrayBuffer()))).toBeTrue();
    const path = `/openapi/v1/image-to-3d/${id}`;
    expect(asked(server)).toEqual(["POST /openapi/v1/image-to-3d", `GET ${path}`, `GET ${path}`, `GET ${path}`]);
    expect(charged(server)).toEqual({ previews: 0, refines: 0, others: 1 });
  });

  test("of rigging brings the rigged character", async () => {
    const { server, meshes, make } = start({ polls: ["SUCCEEDED"] });
    const job = await make("rigging", { mesh: MESH_URL });
    const url = `${server.filesUrl}/tasks/${String(job["id"])}/output/model.glb?Signature=s`;
    expect(await meshes.poll(job, never)).toMatchObject({ state: "done", output: [{ url }] });
  });

  const at = (file: string): string => `https://assets.meshy.example/model.${file}?Signature=s`;
  test.each<[string, Record<string, unknown>, object]>([
    ["no glb", { usdz: at("usdz"), fbx: at("fbx") }, { url: at("usdz"), contentType: "model/vnd.usdz+zip" }],
    ["an empty glb", { glb: "", fbx: at("fbx"), obj: at("obj") }, { url: at("fbx") }],
    ["a glb that is null", { glb: null, obj: at("obj") }, { url: at("obj"), contentType: "model/obj" }],
    ["a glb that is no address", { glb: "model.glb", stl: at("stl") }, { url: at("stl"), contentType: "model/stl" }],
    ["the glb last", { fbx: at("fbx"), glb: at("glb") }, { url: at("glb"), contentType: "model/gltf-binary" }],
  ])("with %s among its files brings the best of them", async (_what, files, artifact) => {
    expect(await outcomeOf({ task: { model_urls: files } })).toEqual({ state: "done", output: [artifact], usage: {} });
  });

  test.each<[string, Record<string, unknown>]>([
    ["no files", {}],
    ["nothing that is a mesh", { mtl: at("mtl"), pre_remeshed_glb: at("glb") }],
    ["empty addresses", { glb: "", fbx: null }],
  ])("that succeeded with %s has failed", async (_what, files) => {
    expect(await outcomeOf({ task: { model_urls: files } })).toMatchObject({
      state: "failed",
      error: { kind: "failed" },
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ["no list of files", { model_urls: undefined }],
    ["a list that is none", { model_urls: "model.glb" }],
    ["an address of a scheme that nobody fetches", { model_urls: { glb: "file:///etc/passwd" } }],
    ["an address that cannot be read", { model_urls: { glb: "https://" } }],
    ["an address that is a number", { model_urls: { glb: 7 } }],
  ])("that succeeded with %s is left open", async (_what, task) => {
    expect(await outcomeOf({ task })).toMatchObject({ state: "unknown" });
  });

  test("goes back to waiting when its status does", async () => {
    const { meshes, make } = start({ polls: ["IN_PROGRESS", "PENDING", "SUCCEEDED"] });
    const job = await make("remesh", { mesh: MESH_URL });
    const states: string[] = [];
    for (let at = 0; at < 3; at += 1) states.push((await meshes.poll(job, never)).state);
    expect(states).toEqual(["pending", "pending", "done"]);
  });

  test.each<[unknown, number]>([
    [-5, 0],
    [250, 1],
    ["40", 0],
    [null, 0],
    [99, 0.99],
  ])("at %p of a hundred is at %p", async (progress, expected) => {
    const outcome = await outcomeOf({ polls: ["IN_PROGRESS"], task: { progress } });
    expect(outcome).toEqual({ state: "pending", progress: expected });
  });
});

describe("a job of two phases", () => {
  test("makes a preview, and of it the mesh: two tasks, each paid for once", async () => {
    const { server, meshes, make } = start();
    const preview = await make(
      "text-to-3d/meshy-6",
      { prompt: "a chair" },
      overriding({ refine: { enable_pbr: true } }),
    );
    expect(await meshes.poll(preview, never)).toEqual({ state: "pending", progress: 0 });
    expect(await meshes.poll(preview, never)).toEqual({ state: "pending", progress: 0.2 });
    const refine = await nextOf(await meshes.poll(preview, never))(never);
    expect(await meshes.poll(refine, never)).toEqual({ state: "pending", progress: 0.5 });
    expect(await meshes.poll(refine, never)).toEqual({ state: "pending", progress: 0.7 });
    const url = `${server.filesUrl}/tasks/${String(refine["id"])}/output/model.glb?Signature=s`;
    expect(await meshes.poll(refine, never)).toMatchObject({ state: "done", output: [{ url }] });
    expect(sent(server)).toEqual([
      { mode: "preview", ai_model: "meshy-6", prompt: "a chair" },
      { mode: "refine", preview_task_id: preview["id"], ai_model: "meshy-6", enable_pbr: true },
    ]);
    expect(charged(server)).toEqual({ previews: 1, refines: 1, others: 0 });
    expect(creditsOf(server, ["FAILED"])).toBe(30);
  });

  test("is gone on with by another process between the phases, with only what was stored", async () => {
    const { server, another, make } = start({ polls: ["SUCCEEDED"] }, { polls: ["SUCCEEDED"] });
    const preview = stored(await make("text-to-3d/meshy-7"));
    const refine = stored(await nextOf(await another().poll(preview, never))(never));
    expect((await another().poll(refine, never)).state).toBe("done");
    expect(sent(server)[1]).toEqual({ mode: "refine", preview_task_id: preview["id"], ai_model: "meshy-7" });
    expect(asked(server)).toEqual([
      "POST /openapi/v2/text-to-3d",
      `GET /openapi/v2/text-to-3d/${String(preview["id"])}`,
      "POST /openapi/v2/text-to-3d",
      `GET /openapi/v2/text-to-3d/${String(refine["id"])}`,
    ]);
  });

  test("begins its second phase only when it is told to, however often it is asked", async () => {
    const { server, meshes, make } = start({ polls: ["SUCCEEDED"] });
    const preview = await make("text-to-3d/meshy-6");
    for (let at = 0; at < 3; at += 1) expect((await meshes.poll(preview, never)).state).toBe("next");
    expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
  });

  test("cannot have its second phase turned into another by its source", async () => {
    const { server, meshes, make } = start({ polls: ["SUCCEEDED"] });
    const hostile = overriding({ refine: { mode: "preview", preview_task_id: "x", ai_model: "latest" } });
    const preview = await make("text-to-3d/meshy-6", { prompt: "a chair" }, hostile);
    await nextOf(await meshes.poll(preview, never))(never);
    expect(sent(server)[1]).toEqual({ mode: "refine", preview_task_id: preview["id"], ai_model: "latest" });
  });

  test.each<[string, Reply]>([
    ["too many tasks", message(429, "NoMoreConcurrentTasks", { "retry-after": "1" })],
    ["no room", message(503, "Service Unavailable")],
    ["a fault", message(500, "oops")],
  ])("whose second start met %s is gone on with: its preview is paid for once", async (_what, create) => {
    const { server, meshes, another, make } = start(
      { polls: ["SUCCEEDED"] },
      { start: create },
      { polls: ["SUCCEEDED"] },
    );
    const preview = stored(await make("text-to-3d/meshy-6"));
    const begin = nextOf(await meshes.poll(preview, never));
    expect((await failureOf(begin(never))).kind).not.toBe("unknown");
    const again = nextOf(await another().poll(preview, never));
    const refine = stored(await again(never));
    expect((await meshes.poll(refine, never)).state).toBe("done");
    expect(charged(server)).toEqual({ previews: 1, refines: 1, others: 0 });
    expect(sent(server).slice(1)).toEqual(
      Array.from({ length: 2 }, () => ({ mode: "refine", preview_task_id: preview["id"], ai_model: "meshy-6" })),
    );
  });

  test("whose preview cannot be asked about for a while, or hangs, is waited for", async () => {
    const polls = ["IN_PROGRESS", "cut", message(502, "<html>"), "LOST", "IN_PROGRESS", "SUCCEEDED"] as const;
    const { server, meshes, make } = start({ polls });
    const preview = await make("text-to-3d/meshy-6");
    const states: string[] = [];
    for (let at = 0; at < polls.length; at += 1) states.push((await meshes.poll(preview, never)).state);
    expect(states).toEqual(["pending", "unknown", "unknown", "unknown", "pending", "next"]);
    expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
  });

  test.each(["IN_PROGRESS", "SUCCEEDED"] as const)(
    "that is ended while its preview is %s has that left alone, and no second one",
    async (status) => {
      const { server, meshes, make } = start({ polls: [status] });
      const preview = await make("text-to-3d/meshy-6");
      await meshes.cancel?.(preview, never);
      expect((await meshes.poll(preview, never)).state).toBe(status === "SUCCEEDED" ? "next" : "pending");
      expect(server.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
      expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
    },
  );

  test("whose preview fails begins no second phase", async () => {
    const { server, meshes, make } = start({ polls: ["FAILED"] });
    expect((await meshes.poll(await make("text-to-3d/meshy-6"), never)).state).toBe("failed");
    expect(charged(server)).toEqual({ previews: 0, refines: 0, others: 0 });
  });

  test("whose second start was lost may be paid for twice over: nobody knows", async () => {
    const { server, meshes, make } = start({ polls: ["SUCCEEDED"] }, { start: "lost" });
    const begin = nextOf(await meshes.poll(await make("text-to-3d/meshy-6"), never));
    expect((await failureOf(begin(never))).kind).toBe("unknown");
    expect(charged(server)).toEqual({ previews: 1, refines: 1, others: 0 });
  });

  test.each<[string, Reply, string]>([
    ["no money", message(402, "Insufficient credits"), "misconfigured"],
    ["too many tasks", message(429, "NoMoreConcurrentTasks"), "busy"],
    ["a preview that is not ready", message(409, "Preview task is not succeeded"), "failed"],
    ["a preview that is gone", message(404, "Preview task not found"), "misconfigured"],
    ["a body of ours that is no good", message(400, "prompt: bad"), "misconfigured"],
    ["a refusal", message(400, "moderation_blocked"), "refused"],
    ["a fault", message(500, "oops"), "failed"],
    ["a gateway that lost Meshy", message(502, "Bad Gateway"), "unknown"],
  ])("whose second start is answered with %s is told by its class", async (_what, create, kind) => {
    const { meshes, make } = start({ polls: ["SUCCEEDED"] }, { start: create });
    const begin = nextOf(await meshes.poll(await make("text-to-3d/meshy-6"), never));
    expect((await failureOf(begin(never))).kind).toBe(kind as "busy");
  });
});

describe("a start", () => {
  test.each([undefined, null, 7, "", "../../v1/me", "a/b", "a?b", "x".repeat(129), {}])(
    "that was taken under the id %p can be asked about by nobody",
    async (id) => {
      const { make } = start({ receipt: { result: id } });
      expect((await failureOf(make("text-to-3d/meshy-6"))).kind).toBe("unknown");
    },
  );
});

describe("a poll that brings no verdict", () => {
  test.each<[string, Script]>([
    ["a status word nobody knows", { polls: ["LOST"] }],
    ["another task", { task: { id: "018a210d-8ba4-705c-b111-1f1776f7f578" } }],
  ])("%s leaves the job open", async (_what, script) => {
    expect(await outcomeOf(script)).toMatchObject({ state: "unknown" });
  });

  test.each<[ProviderJob]>([
    [{}],
    [{ request_id: "x", status_path: "/" }],
    [{ task: "remesh", id: "../../v1/me", given: [] }],
    [{ task: "remesh", id: "", given: [] }],
    [{ task: "toString", id: "x", given: [] }],
    [{ task: "remesh", id: "x" }],
    [{ task: "remesh", id: "x", given: ["voice"] }],
    [{ task: "text-to-3d", id: "x", given: [], refine: "yes" }],
    [{ task: "text-to-3d", id: "x", given: [], preview: "a/b" }],
  ])("of what is no job of Meshy's (%j) asks nobody", async (job) => {
    const { server, meshes } = start();
    expect(await meshes.poll(job, never)).toMatchObject({ state: "unknown" });
    await meshes.cancel?.(job, never);
    expect(server.requests).toEqual([]);
  });
});

describe("a cancel", () => {
  test("takes back what waits, and the job has then failed without a cost", async () => {
    const { server, meshes, make } = start({ polls: ["PENDING"] });
    const job = await make("text-to-3d/meshy-6");
    await meshes.cancel?.(job, never);
    expect(await meshes.poll(job, never)).toMatchObject({ state: "failed", error: { kind: "failed" } });
    const path = `/openapi/v2/text-to-3d/${String(job["id"])}`;
    expect(asked(server)).toEqual(["POST /openapi/v2/text-to-3d", `GET ${path}`, `DELETE ${path}`]);
    expect(charged(server)).toEqual({ previews: 0, refines: 0, others: 0 });
  });

  test.each<[string, Script]>([
    ["runs", { polls: ["IN_PROGRESS", "SUCCEEDED"] }],
    ["is ready, so that it is not destroyed", { polls: ["SUCCEEDED"] }],
    ["has a status that nobody knows", { polls: ["LOST", "SUCCEEDED"] }],
    ["cannot be asked about", { polls: [message(500, "oops"), "SUCCEEDED"] }],
  ])("leaves alone what %s", async (_what, script) => {
    const { server, meshes, make } = start(script);
    const job = await make("remesh", { mesh: MESH_URL });
    await meshes.cancel?.(job, never);
    expect((await meshes.poll(job, never)).state).toBe("done");
    expect(server.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
  });

  test.each<[string, Reply]>([
    ["refused", message(409, "Task is in progress")],
    ["answered with a fault", message(500, "oops")],
  ])("that is %s tells nothing of what comes of the job", async (_what, remove) => {
    const { meshes, make } = start({ polls: ["PENDING", "SUCCEEDED"], cancel: remove });
    const job = await make("remesh", { mesh: MESH_URL });
    await meshes.cancel?.(job, never);
    expect((await meshes.poll(job, never)).state).toBe("done");
  });

  test("of a task that Meshy cancelled by itself is told as a failure", async () => {
    expect(await outcomeOf({ polls: ["CANCELED"] })).toMatchObject({ state: "failed", error: { kind: "failed" } });
  });
});

describe("our catalogue", () => {
  test("asks Meshy for nothing that it does not take, and pays what its prices were made of", async () => {
    const models = (await loadOurLayers()).flatMap(({ content }) => content.models ?? []);
    const ours = models.flatMap((model) =>
      (model.sources ?? []).filter(({ provider }) => provider === "meshy").map((source) => ({ model, source })),
    );
    expect(ours.length).toBeGreaterThan(4);
    for (const { model, source } of ours) {
      const { server, meshes, make } = start({ polls: ["SUCCEEDED"] }, { polls: ["SUCCEEDED"] });
      const allowed = model.allowed_params ?? {};
      const input = {
        prompt: "a chair",
        seed: 7,
        ...(allowed.accepts_input_image ? { image: PICTURE } : {}),
        ...(allowed.requires_input_3d ? { mesh: MESH } : {}),
      };
      const adapt = (body: Record<string, unknown>): void => adaptTo(source, body);
      let job = await make(source.model, input, { adapt, ...(source.fields ? { fields: source.fields } : {}) });
      let polled = await meshes.poll(job, never);
      if (polled.state === "next") {
        job = await polled.start(mediaCall({}));
        polled = await meshes.poll(job, never);
      }
      expect(polled.state, model.slug).toBe("done");
      // A credit of Meshy's is two of ours.
      expect(model.pricing?.request_price, model.slug).toBe(String(2 * creditsOf(server, ["FAILED"])));
    }
  });
});
