import { describe, expect, test } from "bun:test";

import { createMeshy } from "#workers/providers/meshy/index.ts";
import type { MediaCall, MeshInput, Polled, ProviderJob } from "#workers/providers/media.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { adaptTo } from "#workers/calls/source-params.ts";

import { jsonReply, type Reply } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued, statesOf, stored, useServers } from "../engine/calls.ts";
import { creditsOf } from "../engine/jobs.ts";
import { glb } from "../fal/clips.ts";
import { badRequest, describeFinding, describeQueuedJob, fault, type JobBase, lose } from "../queued-job.ts";
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

const dataUrl = (bytes: Uint8Array, type: string): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
const at = (file: string): string => `https://assets.meshy.example/model.${file}?Signature=s`;
const mesh = (file: string, contentType?: string) => [{ url: at(file), ...(contentType ? { contentType } : {}) }];
const files = (model_urls: unknown): Script => ({ task: { model_urls } });
const progress = (told: unknown): Script => ({ polls: ["IN_PROGRESS"], task: { progress: told } });
const GLTF = "model/gltf-binary";
const TEXT = "text-to-3d/meshy-6";
const IMAGE = "image-to-3d/meshy-6";
const RETEXTURE = "retexture/meshy-6";
const LONG = "x".repeat(601);
const needs = (param: string, what: string) => ({ ...badRequest(param), say: `This model requires ${what}.` });
const short = { ...badRequest("prompt"), say: "This model accepts prompts of at most 600 characters." };

const MESHY: JobBase<MeshInput, Script> = {
  open(...scripts) {
    const { server, meshes, another } = start(...scripts);
    return { server, adapter: meshes, another };
  },
  call: ({ input = { mesh: MESH_URL }, ...changes }) => mediaCall(input, { sourceModel: "remesh", ...changes }),
  request: { method: "POST", path: "/openapi/v1/remesh", headers: { authorization: "Bearer ours" } },
  words: { waits: "PENDING", runs: "IN_PROGRESS", done: "SUCCEEDED" },
  strange: "LOST",
  another: { members: { id: "018a210d-8ba4-705c-b111-1f1776f7f578" } },
  receipt: (id) => ({ result: id }),
  noNames: ["a/b", "x".repeat(129)],
  strangers: [
    { task: "remesh", id: "../../v1/me", given: [] },
    { task: "remesh", id: "", given: [] },
    { task: "toString", id: "x", given: [] },
    { task: "remesh", id: "x" },
    { task: "remesh", id: "x", given: ["voice"] },
    { task: "text-to-3d", id: "x", given: [], refine: "yes" },
    { task: "text-to-3d", id: "x", given: [], preview: "a/b" },
  ],
  cancel: ({ id }) => [`GET /openapi/v1/remesh/${String(id)}`, `DELETE /openapi/v1/remesh/${String(id)}`],
  // A list shows no mesh, so what is found is asked of words, below.
  find: {},
};

describeQueuedJob("a Meshy mesh", {
  ...MESHY,
  sends: [
    [
      "from words, whatever else there is",
      { sourceModel: TEXT, input: { prompt: "a chair", image: PICTURE_URL, seed: 7 } },
      { mode: "preview", ai_model: "meshy-6", prompt: "a chair" },
      { path: "/openapi/v2/text-to-3d" },
    ],
    [
      "from an image at an address, without a prompt",
      { sourceModel: IMAGE, input: { prompt: "a chair", image: PICTURE_URL } },
      { ai_model: "meshy-6", image_url: PICTURE_URL.url },
      { path: "/openapi/v1/image-to-3d" },
    ],
    [
      "from the bytes of an image",
      { sourceModel: IMAGE, input: { image: PICTURE } },
      { ai_model: "meshy-6", image_url: dataUrl(PICTURE.bytes, "image/jpeg") },
      { path: "/openapi/v1/image-to-3d" },
    ],
    [
      "with another texture, in words",
      { sourceModel: RETEXTURE, input: { prompt: "red velvet", mesh: MESH_URL } },
      { ai_model: "meshy-6", model_url: MESH_URL.url, text_style_prompt: "red velvet" },
      { path: "/openapi/v1/retexture" },
    ],
    [
      "with another texture, by an image before words, of a mesh as bytes without a type",
      { sourceModel: RETEXTURE, input: { prompt: "red velvet", image: PICTURE_URL, mesh: MESH } },
      {
        ai_model: "meshy-6",
        model_url: dataUrl(MESH.bytes, "application/octet-stream"),
        image_style_url: PICTURE_URL.url,
      },
      { path: "/openapi/v1/retexture" },
    ],
    [
      "anew, whatever its prompt",
      { input: { prompt: "x".repeat(5_000), mesh: MESH_URL } },
      { model_url: MESH_URL.url },
    ],
    [
      "with bones",
      { sourceModel: "rigging", input: { prompt: "a knight", mesh: MESH_URL } },
      { model_url: MESH_URL.url },
      { path: "/openapi/v1/rigging" },
    ],
    [
      "as its source changes it",
      overriding({ topology: "quad", target_polycount: 5_000, target_formats: ["glb"] }),
      { model_url: MESH_URL.url, topology: "quad", target_polycount: 5_000, target_formats: ["glb"] },
    ],
    [
      "with its inputs where its source says they go",
      {
        sourceModel: RETEXTURE,
        input: { prompt: "red", image: PICTURE_URL, mesh: MESH_URL },
        fields: { mesh: "model_url", prompt: "text_style_prompt" },
      },
      { ai_model: "meshy-6", model_url: MESH_URL.url, text_style_prompt: "red" },
      { path: "/openapi/v1/retexture" },
    ],
    ...["🪑".repeat(300), "x".repeat(600)].map(
      (prompt) =>
        [
          `by a prompt that is just short enough (${prompt[0]})`,
          { sourceModel: TEXT, input: { prompt } },
          { mode: "preview", ai_model: "meshy-6", prompt },
          { path: "/openapi/v2/text-to-3d" },
        ] as const,
    ),
  ],
  unsent: [
    ["without the prompt it needs", { sourceModel: TEXT, input: { image: PICTURE_URL } }, needs("prompt", "a prompt")],
    ["without its image", { sourceModel: IMAGE, input: { prompt: "a chair" } }, needs("image_url", "an image")],
    ["without the mesh to paint", { sourceModel: RETEXTURE, input: { prompt: "red" } }, needs("mesh_url", "a mesh")],
    ["without a style", { sourceModel: RETEXTURE }, needs("image_url", "an image or a prompt")],
    ["without the mesh to make anew", { input: { prompt: "finer" } }, needs("mesh_url", "a mesh")],
    ["by a prompt that is too long", { sourceModel: TEXT, input: { prompt: LONG } }, short],
    ["with a style that is too long", { sourceModel: RETEXTURE, input: { prompt: LONG, mesh: MESH_URL } }, short],
    ...["", "text-to-3d", "text-to-3d/", "remesh/meshy-6", "text-to-video/x", "constructor/x", "../v1/remesh"].map(
      (sourceModel) =>
        [
          `of ${JSON.stringify(sourceModel)}, which is none of Meshy's`,
          { sourceModel, input: { prompt: "a chair", mesh: MESH_URL } },
        ] as const,
    ),
    ["of a source without a field for it", { sourceModel: IMAGE, input: { image: PICTURE }, fields: { seed: "seed" } }],
  ],
  life: {
    told: ({ id }, { server }) => [
      { state: "pending", progress: 0 },
      { state: "pending", progress: 0.4 },
      {
        state: "done",
        output: [
          {
            url: `${server.filesUrl}/tasks/${String(id)}/output/model.glb?Signature=s`,
            contentType: "model/gltf-binary",
          },
        ],
        usage: {},
      },
    ],
    requests: ({ id }) => Array.from({ length: 3 }, () => `GET /openapi/v1/remesh/${String(id)}`),
    file: glb(),
  },
  done: [
    ["usdz", files({ usdz: at("usdz"), fbx: at("fbx") }), mesh("usdz", "model/vnd.usdz+zip")],
    ["fbx beside an empty glb", files({ glb: "", fbx: at("fbx"), obj: at("obj") }), mesh("fbx")],
    ["obj beside a glb that is null", files({ glb: null, obj: at("obj") }), mesh("obj", "model/obj")],
    ["stl beside a glb of no address", files({ glb: "model.glb", stl: at("stl") }), mesh("stl", "model/stl")],
    ["a glb that is listed last", files({ fbx: at("fbx"), glb: at("glb") }), mesh("glb", GLTF)],
    [
      "a rigged character",
      { task: { result: { rigged_character_glb_url: at("glb"), rigged_character_fbx_url: at("fbx") } } },
      mesh("glb", GLTF),
      {},
      { sourceModel: "rigging" },
    ],
  ],
  pending: [
    ["less than nothing", progress(-5), 0],
    ["more than all", progress(250), 1],
    ["progress in words", progress("40"), 0],
    ["no progress", progress(null), 0],
    ["99 of a hundred", progress(99), 0.99],
  ],
  failed: [
    ["no files", files({}), fault("failed")],
    ["nothing that is a mesh", files({ mtl: at("mtl"), pre_remeshed_glb: at("glb") }), fault("failed")],
    ["empty addresses", files({ glb: "", fbx: null }), fault("failed")],
    ["a cancel by Meshy itself", { polls: ["CANCELED"] }, fault("failed")],
  ],
  unclear: [
    ["no list of files", files(undefined)],
    ["a list that is none", files("model.glb")],
    ["an address of a scheme that nobody fetches", files({ glb: "file:///etc/passwd" })],
    ["an address that cannot be read", files({ glb: "https://" })],
    ["an address that is a number", files({ glb: 7 })],
  ],
});

describeFinding("a Meshy mesh from a text", {
  ...MESHY,
  call: ({ input = { prompt: "a red chair" }, ...changes }) => mediaCall(input, { sourceModel: TEXT, ...changes }),
  find: { listedWith: { input: { prompt: "a fox" } } },
});

describe("a Meshy task whose start was lost", () => {
  const words = (prompt: string) => mediaCall({ prompt }, { sourceModel: TEXT });
  const image = () => mediaCall({ image: { url: "https://x.example/1.png" } }, { sourceModel: IMAGE });

  test("continues with its second phase when it is found", async () => {
    const { server, meshes } = start({ start: "lost" });
    const { found } = await lose(meshes, words("a red chair"));
    const asked = await found();
    const [taken] = server.jobs;
    if (taken) Object.assign(taken, { script: { polls: ["SUCCEEDED"] } });
    const job = asked.state === "listed" ? (asked.alike[0]?.job ?? {}) : {};
    expect((await meshes.poll(job, never)).state).toBe("next");
  });

  test("from an image is never found, since a list contains no image: only its absence can be detected", async () => {
    const { server, meshes } = start({ start: "lost" });
    const { found } = await lose(meshes, image());
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: server.jobs[0]?.id }] });
    const untaken = await lose(start({ start: "reset" }).meshes, image());
    expect(await untaken.found()).toMatchObject({ state: "listed", alike: [], unclear: [], mayRing: false });
  });

  test("of a second phase is distinguished from first phases, not from other second phases", async () => {
    const { server, meshes } = start({ polls: ["SUCCEEDED"] }, { start: "lost" });
    const first = await meshes.start(words("a fox"));
    const polled = await meshes.poll(first, never);
    const second = {
      start: (call: Parameters<typeof meshes.start>[0]) =>
        polled.state === "next" ? polled.start(call) : Promise.resolve({}),
      find: (...lost: Parameters<NonNullable<typeof meshes.find>>) =>
        meshes.find?.(...lost) ?? Promise.reject(new Error("it cannot be looked for")),
    };
    const { found } = await lose(second, words(""));
    const [, refine] = server.jobs;
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: refine?.id }] });
    // Where Meshy says what it refines.
    const known = { id: refine?.id, type: "text-to-3d-refine", created_at: Date.now(), preview_task_id: first["id"] };
    server.nextLists(jsonReply(200, [known]));
    expect(await found()).toMatchObject({ alike: [{ name: refine?.id, job: { preview: first["id"] } }], unclear: [] });
  });

  test("of an unlisted kind cannot be searched", async () => {
    const marks: unknown[] = [];
    const noteStart = async (mark: unknown): Promise<void> => void marks.push(mark);
    await start().meshes.start(mediaCall({ mesh: MESH_URL }, { sourceModel: "rigging", noteStart }));
    expect(marks).toEqual([null]);
  });

  test("does not match a task created long before, by our clock and Meshy's", async () => {
    const { server, meshes } = start({ start: "reset" });
    const { found } = await lose(meshes, words("a fox"));
    const old = { id: "old", type: "text-to-3d-preview", prompt: "a fox", created_at: Date.now() - 3_600_000 };
    server.nextLists(jsonReply(200, [old]));
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [] });
    server.nextLists(jsonReply(200, [{ ...old, created_at: undefined }]));
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [{ name: "old" }] });
  });
});

describe("a job of two phases", () => {
  test("generates a preview, and from it the mesh: two tasks, each charged once", async () => {
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

  test("is continued by another process between the phases, from the stored record only", async () => {
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

  test("starts its second phase only on request, for any number of polls", async () => {
    const { server, meshes, make } = start({ polls: ["SUCCEEDED"] });
    const preview = await make("text-to-3d/meshy-6");
    for (let at = 0; at < 3; at += 1) expect((await meshes.poll(preview, never)).state).toBe("next");
    expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
  });

  test("keeps its second phase against edits of its source", async () => {
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
  ])("whose second start failed with %s continues: its preview is charged once", async (_what, create) => {
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

  test("whose preview cannot be polled for a while, or hangs, continues to wait", async () => {
    const polls = ["IN_PROGRESS", "cut", message(502, "<html>"), "LOST", "IN_PROGRESS", "SUCCEEDED"] as const;
    const { server, meshes, make } = start({ polls });
    const preview = await make("text-to-3d/meshy-6");
    const states = await statesOf(() => meshes.poll(preview, never), polls.length);
    expect(states).toEqual(["pending", "unknown", "unknown", "unknown", "pending", "next"]);
    expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
  });

  test.each(["IN_PROGRESS", "SUCCEEDED"] as const)(
    "that is cancelled while its preview is %s leaves that unchanged, and starts no second phase",
    async (status) => {
      const { server, meshes, make } = start({ polls: [status] });
      const preview = await make("text-to-3d/meshy-6");
      await meshes.cancel?.(preview, never);
      expect((await meshes.poll(preview, never)).state).toBe(status === "SUCCEEDED" ? "next" : "pending");
      expect(server.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
      expect(charged(server)).toEqual({ previews: 1, refines: 0, others: 0 });
    },
  );

  test("whose preview fails starts no second phase", async () => {
    const { server, meshes, make } = start({ polls: ["FAILED"] });
    expect((await meshes.poll(await make("text-to-3d/meshy-6"), never)).state).toBe("failed");
    expect(charged(server)).toEqual({ previews: 0, refines: 0, others: 0 });
  });

  test("whose second start was lost has an unknown outcome and may be charged twice", async () => {
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
  ])("whose second start is answered with %s has its class", async (_what, create, kind) => {
    const { meshes, make } = start({ polls: ["SUCCEEDED"] }, { start: create });
    const begin = nextOf(await meshes.poll(await make("text-to-3d/meshy-6"), never));
    expect((await failureOf(begin(never))).kind).toBe(kind as "busy");
  });
});

describe("a cancel at Meshy", () => {
  test("cancels a waiting task, and the job has then failed without a cost", async () => {
    const { server, meshes, make } = start({ polls: ["PENDING"] });
    const job = await make(TEXT);
    await meshes.cancel?.(job, never);
    expect(await meshes.poll(job, never)).toMatchObject({ state: "failed", error: { kind: "failed" } });
    expect(charged(server)).toEqual({ previews: 0, refines: 0, others: 0 });
  });

  test.each<[string, Script]>([
    ["runs", { polls: ["IN_PROGRESS", "SUCCEEDED"] }],
    ["is ready, so that it is not destroyed", { polls: ["SUCCEEDED"] }],
    ["has a status that nobody knows", { polls: ["LOST", "SUCCEEDED"] }],
    ["cannot be asked about", { polls: [message(500, "oops"), "SUCCEEDED"] }],
  ])("does not touch a task that %s", async (_what, script) => {
    const { server, meshes, make } = start(script);
    const job = await make("remesh", { mesh: MESH_URL });
    await meshes.cancel?.(job, never);
    expect((await meshes.poll(job, never)).state).toBe("done");
    expect(server.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
  });
});

describe("the catalogue", () => {
  test("sends only fields that Meshy accepts, at the prices behind its own", async () => {
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
