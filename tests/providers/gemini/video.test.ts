import { describe, expect, test } from "bun:test";

import { createGemini } from "#workers/providers/gemini/index.ts";
import type { Artifact, MediaCall, Polled, VideoInput } from "#workers/providers/media.ts";

import { jsonReply, ok, type Reply, type ReplyBehaviour, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, never, openOf, overriding, queued, useServers } from "../engine/calls.ts";
import { type Recorder, startRecorder } from "../engine/recorder.ts";
import { type ErrorName, ERRORS } from "./errors.ts";
import { doneInteraction, doneOperation, type Script, startGeminiVideoServer } from "./video-server.ts";
import { CLIP, EVERYTHING, IMAGE, mp4Of, videoCall, videoReply } from "../video-calls.ts";

const own = useServers();

const VEO = overriding({ api: "predictLongRunning" });
const JPEG = Buffer.from(IMAGE.bytes).toString("base64");

function start(...scripts: readonly Script[]) {
  const server = own(startGeminiVideoServer({ apiKey: "key-ours" }));
  server.next(...scripts);
  const endpoint = { baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } };
  const video = queued(createGemini(endpoint).video);
  return {
    server,
    endpoint,
    video,
    omni: (input: Partial<VideoInput> = {}, call: Partial<MediaCall<VideoInput>> = {}) =>
      video.start(videoCall(input, { sourceModel: "omni", ...call })),
    veo: (input: Partial<VideoInput> = {}, call: Partial<MediaCall<VideoInput>> = {}) =>
      video.start(videoCall(input, { sourceModel: "veo-3.1", ...VEO, ...call })),
  };
}

type Shape = "omni" | "veo";

/** Returns the outcome of a job of this shape whose polls are answered like this. */
async function outcomeOf(shape: Shape, ...polls: NonNullable<Script["polls"]>): Promise<Polled<readonly Artifact[]>> {
  const made = start({ polls });
  return made.video.poll(await made[shape](), never);
}

/** Another host, which must never see a key. */
function stranger(): Recorder {
  return own(startRecorder(() => videoReply(mp4Of(1))));
}

describe("a video of Omni", () => {
  test("is asked for in the background, by address, with what Omni takes and nothing else", async () => {
    const { server, omni } = start();
    await omni(EVERYTHING);
    expect(server.requests).toMatchObject([
      { method: "POST", path: "/v1beta/interactions", headers: { "x-goog-api-key": "key-ours" } },
    ]);
    expect(server.requests[0]?.body).toEqual({
      model: "omni",
      background: true,
      input: [
        { type: "image", data: JPEG, mime_type: "image/jpeg" },
        { type: "text", text: "a sea otter" },
      ],
      response_format: { type: "video", delivery: "uri", duration: "8s", resolution: "720p", aspect_ratio: "16:9" },
      generation_config: { seed: 7, video_config: { task: "image_to_video" } },
    });
  });

  test("asks for nothing that nobody chose, and is changed by its source last", async () => {
    const { server, omni } = start();
    const format = { type: "video", delivery: "uri" };
    await omni();
    await omni({}, { ...overriding({ service_tier: "flex", api: "interactions" }) });
    expect(server.requests.map(({ body }) => body)).toEqual([
      { model: "omni", background: true, input: "a sea otter", response_format: format },
      { model: "omni", background: true, input: "a sea otter", response_format: format, service_tier: "flex" },
    ]);
  });

  test("goes on from a video, whatever is to become of that", async () => {
    const { server, omni } = start();
    await omni({ video: CLIP, image: IMAGE });
    expect(server.requests[0]?.body).toMatchObject({
      input: [
        { type: "image", mime_type: "image/jpeg" },
        { type: "video", data: Buffer.from(CLIP.bytes).toString("base64"), mime_type: "video/mp4" },
        { type: "text" },
      ],
    });
    expect(server.requests[0]?.body).not.toHaveProperty("generation_config");
  });

  test.each([
    [7, 7],
    [2_147_483_648, -2_147_483_648],
    [-1, -1],
    [4_294_967_296 + 5, 5],
  ])("with the seed %d has one of 32 bits with its sign", async (seed, sent) => {
    const { server, omni } = start();
    await omni({ seed });
    expect(server.requests[0]?.body).toMatchObject({ generation_config: { seed: sent } });
  });

  test("runs and ends with a stream of its file, found by a process that has only what was stored", async () => {
    const { server, endpoint, omni } = start({ polls: [{ members: { status: "queued" } }, "running", "done"] });
    const stored = JSON.stringify(await omni({ duration: 8 }));
    const other = queued(createGemini(endpoint).video);
    const job = JSON.parse(stored) as Record<string, unknown>;
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    const done = await other.poll(job, never);
    expect(done).toMatchObject({ state: "done", output: [{ contentType: "video/mp4" }], usage: {} });
    expect(await new Response(await openOf(done)).bytes()).toEqual(Uint8Array.from(mp4Of(8)));
    const id = String(job["id"]);
    expect(server.requests.map((call) => `${call.method} ${call.path}`)).toEqual([
      "POST /v1beta/interactions",
      `GET /v1beta/interactions/${id}`,
      `GET /v1beta/interactions/${id}`,
      `GET /v1beta/interactions/${id}`,
      `GET /v1beta/files/${id}`,
      `GET /v1beta/files/${id}:download?alt=media`,
      `GET /download/v1beta/files/${id}:download?alt=media`,
    ]);
    expect(server.charged).toBe(1);
  });

  test("whose file is still on its way is waited for, and failed with it", async () => {
    const { video, omni } = start({ polls: ["done"], fileStates: ["PROCESSING", "FAILED"] });
    const job = await omni();
    expect(await video.poll(job, never)).toEqual({ state: "pending" });
    expect(await video.poll(job, never)).toMatchObject({ state: "failed", error: { kind: "failed" } });
  });

  test.each<[string, string | ReplyBehaviour]>([
    ["a word nobody knows", "STATE_UNSPECIFIED"],
    ["an error", ERRORS["permission-denied"]],
    ["no JSON", ok("<html>")],
  ])("whose file's state is %s is tried", async (_what, state) => {
    const { video, omni } = start({ polls: ["done"], fileStates: [state] });
    expect((await video.poll(await omni(), never)).state).toBe("done");
  });

  test("may come inside the answer", async () => {
    const data = mp4Of(2).toString("base64");
    const steps = [
      { type: "model_output", content: [{ type: "video", data: "AAAA" }] },
      {
        type: "model_output",
        content: [
          { type: "video", data },
          { type: "text", text: "There." },
        ],
      },
    ];
    expect(await outcomeOf("omni", { members: { status: "completed", steps } })).toEqual({
      state: "done",
      output: [{ bytes: Uint8Array.from(mp4Of(2)), contentType: "video/mp4" }],
      usage: {},
    });
  });

  test("is asked to stop by its id, and told nothing of what comes of it", async () => {
    const { server, video, omni } = start({}, { cancel: ERRORS.internal });
    const jobs = [await omni(), await omni()];
    for (const job of jobs) await video.cancel?.(job, never);
    expect(server.requests.slice(2).map((call) => `${call.method} ${call.path}`)).toEqual(
      jobs.map(({ id }) => `POST /v1beta/interactions/${String(id)}/cancel`),
    );
  });
});

describe("an interaction that ended without a video", () => {
  const output = (...content: readonly object[]) => [{ type: "model_output", content }];
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      "words in its place",
      { status: "completed", steps: output({ type: "text", text: "I can't make that." }) },
      "refused",
    ],
    ["nothing", { status: "completed", steps: [] }, "failed"],
    ["nothing at all", { status: "incomplete" }, "failed"],
    [
      "a safety code",
      { status: "failed", errors: [{ code: "https://x.example/errors#SAFETY", message: "no" }] },
      "refused",
    ],
    ["safety words", { status: "failed", error: { message: "The prompt was blocked for safety reasons" } }, "refused"],
    ["a bad request", { status: "failed", error: { code: "invalid_request", message: "no" } }, "rejected"],
    ["a quota", { status: "failed", errors: [{ code: "RESOURCE_EXHAUSTED", message: "no" }] }, "busy"],
    ["a fault", { status: "failed", errors: [{ code: "internal", message: "oops" }] }, "failed"],
    ["no reason", { status: "failed" }, "failed"],
    [
      "a step's fault",
      { status: "completed", steps: [{ type: "model_output", error: { code: 3, message: "violates our policies" } }] },
      "refused",
    ],
    ["an end by somebody", { status: "cancelled" }, "failed"],
    ["no money", { status: "budget_exceeded" }, "failed"],
    ["a question of its own", { status: "requires_action" }, "failed"],
  ])("over %s is told by its class", async (_what, members, kind) => {
    expect(await outcomeOf("omni", { members })).toMatchObject({ state: "failed", error: { kind } });
  });

  test("though it counted one is an unknown outcome: it was paid for, and is somewhere", async () => {
    const { usage } = doneInteraction("");
    const members = { status: "completed", usage, steps: output({ type: "text", text: "Done." }) };
    expect(await outcomeOf("omni", { members })).toMatchObject({ state: "unknown" });
  });

  test.each([
    ["a file of nobody's", { uri: "file:///etc/passwd" }],
    ["no address", { uri: "::" }],
    ["a bucket", { uri: "gs://bucket/video.mp4" }],
    ["base64 that is none", { data: "*" }],
    ["no bytes", { data: "" }],
    ["nothing", {}],
  ])("but with %s is an unknown outcome", async (_what, video) => {
    const members = { status: "completed", steps: output({ type: "video", ...video }) };
    expect(await outcomeOf("omni", { members })).toMatchObject({ state: "unknown" });
  });
});

describe("a video of Veo, in its old form", () => {
  test("is asked for with media in its instance and all else in its parameters", async () => {
    const { server, veo } = start();
    await veo({ ...EVERYTHING, video: CLIP });
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1beta/models/veo-3.1:predictLongRunning"]);
    expect(server.requests[0]?.body).toEqual({
      instances: [
        {
          prompt: "a sea otter",
          image: { bytesBase64Encoded: JPEG, mimeType: "image/jpeg" },
          video: { bytesBase64Encoded: Buffer.from(CLIP.bytes).toString("base64"), mimeType: "video/mp4" },
        },
      ],
      parameters: {
        sampleCount: 1,
        durationSeconds: 8,
        resolution: "720p",
        aspectRatio: "16:9",
        seed: 7,
        negativePrompt: "blur",
        personGeneration: "allow_adult",
      },
    });
  });

  test("has its parameters changed by its source, and its api said to nobody", async () => {
    const { server, veo } = start();
    await veo({ duration: 4 }, { ...overriding({ api: "predictLongRunning", generateAudio: true }) });
    expect(server.requests[0]?.body).toEqual({
      instances: [{ prompt: "a sea otter" }],
      parameters: { sampleCount: 1, durationSeconds: 4, generateAudio: true },
    });
  });

  test("runs and ends with a stream of its file, found by a process that has only what was stored", async () => {
    const { server, endpoint, veo } = start();
    const stored = JSON.stringify(await veo({ duration: 6 }));
    const other = queued(createGemini(endpoint).video);
    const job = JSON.parse(stored) as Record<string, unknown>;
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    const done = await other.poll(job, never);
    expect(done).toMatchObject({ state: "done", output: [{ contentType: "video/mp4" }], usage: {} });
    expect(await new Response(await openOf(done)).bytes()).toEqual(Uint8Array.from(mp4Of(6)));
    const operation = String(job["operation"]);
    expect(server.requests.slice(1).map((call) => `${call.method} ${call.path}`)).toEqual([
      `GET /v1beta/${operation}`,
      `GET /v1beta/${operation}`,
      `GET /v1beta/files/${operation.split("/").at(-1)}:download?alt=media`,
      `GET /download/v1beta/files/${operation.split("/").at(-1)}:download?alt=media`,
    ]);
    await other.cancel?.(job, never);
    expect([server.requests.length, server.charged]).toEqual([5, 1]);
  });

  const response = (generateVideoResponse: object) => ({ done: true, response: { generateVideoResponse } });
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      "a filter",
      response({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Support codes: 15236754"] }),
      "refused",
    ],
    ["a filter without a count", response({ raiMediaFilteredReasons: ["no"] }), "refused"],
    ["nothing", response({}), "failed"],
    ["a refused picture", { done: true, error: { code: 3, message: "it violates our usage guidelines" } }, "refused"],
    ["support codes", { done: true, error: { code: 13, message: "no. Support codes: 29310472" } }, "refused"],
    ["a value", { done: true, error: { code: 3, message: "Unsupported output video duration 5 seconds" } }, "rejected"],
    ["a number of HTTP's", { done: true, error: { code: 429, message: "slow down" } }, "busy"],
    ["no room", { done: true, error: { code: 8, message: "quota" } }, "busy"],
    ["a fault", { done: true, error: { code: 13, message: "oops" } }, "failed"],
    ["a time limit", { done: true, error: { code: 4, message: "late" } }, "timeout"],
    ["a cancel", { done: true, error: { code: 1, message: "gone" } }, "failed"],
    ["rights", { done: true, error: { code: 7, message: "no" } }, "misconfigured"],
    [
      "an error beside a video",
      { ...doneOperation("http://x.example/v"), error: { code: 13, message: "oops" } },
      "failed",
    ],
  ])("that ended over %s is told by its class", async (_what, members, kind) => {
    expect(await outcomeOf("veo", { members })).toMatchObject({ state: "failed", error: { kind } });
  });

  test("beyond the one asked for is not delivered", async () => {
    const uris = ["https://x.example/1.mp4", "https://x.example/2.mp4"];
    const members = response({ generatedSamples: uris.map((uri) => ({ video: { uri } })) });
    expect(await outcomeOf("veo", { members })).toMatchObject({
      state: "done",
      output: [{ url: uris[0], contentType: "video/mp4" }],
    });
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["no response", { done: true }],
    ["another model's response", { done: true, response: { images: [] } }],
    ["an address that is none", response({ generatedSamples: [{ video: { uri: "gs://b/o" } }] })],
    ["no address", response({ generatedSamples: [{ video: {} }] })],
    ["no name", { name: undefined }],
    ["a word for done", { done: "yes" }],
  ])("that says it ended with %s is open", async (_what, members) => {
    expect(await outcomeOf("veo", { members })).toMatchObject({ state: "unknown" });
  });
});

describe("where a video lies", () => {
  const completed = (uri: string) => ({ members: doneInteraction(uri) });
  const ended = (uri: string) => ({ members: doneOperation(uri) });
  test.each<[Shape, (uri: string) => { members: Readonly<Record<string, unknown>> }]>([
    ["omni", completed],
    ["veo", ended],
  ])("elsewhere, for %s, is told without our key and asked nothing by us", async (shape, polled) => {
    const other = stranger();
    for (const uri of [
      `${other.origin}/v1beta/files/abc:download?alt=media`,
      "https://generativelanguage.googleapis.com.evil.example/v1beta/files/abc:download",
    ]) {
      const outcome = await outcomeOf(shape, polled(uri));
      expect(outcome).toEqual({ state: "done", output: [{ url: uri, contentType: "video/mp4" }], usage: {} });
      expect(JSON.stringify(outcome)).not.toContain("key-ours");
    }
    expect(other.requests).toEqual([]);
  });

  test("on our own host by another scheme, or with a name before it, is elsewhere", async () => {
    const { server, video, veo } = start();
    for (const uri of [server.url.replace("http:", "https:"), server.url.replace("//", "//key-ours@")]) {
      server.next({ polls: [ended(`${uri}/files/abc:download`)] });
      const polled = await video.poll(await veo(), never);
      expect(polled).toMatchObject({ output: [{ url: `${uri}/files/abc:download` }] });
    }
  });

  test.each<[string, Reply]>([
    ["gone", ERRORS["not-found"]],
    ["a page", { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>" }],
    ["its description", ok({ name: "files/abc", state: "ACTIVE" })],
    ["a redirect to nowhere", jsonReply(302, "")],
  ])("is %s: that fails before its first byte", async (_what, content) => {
    const { video, omni } = start({ polls: ["done"], file: content });
    const polled = await video.poll(await omni(), never);
    expect((await failureOf(openOf(polled))).kind).toBe("failed");
  });

  test.each<Shape>(["omni", "veo"])("is at a private address, for %s: nobody goes there", async (shape) => {
    const other = stranger();
    const location = `${other.origin}/v1beta/files/abc:download`;
    const made = start({ polls: ["done"], file: { ...jsonReply(302, ""), headers: { location } } });
    const polled = await made.video.poll(await made[shape](), never);
    expect((await failureOf(openOf(polled))).kind).toBe("failed");
    expect(other.requests).toEqual([]);
  });
});

describe.each<Shape>(["omni", "veo"])("a start of %s", (shape) => {
  test.each([
    ["invalid-argument", "rejected"],
    ["key-invalid", "misconfigured"],
    ["precondition", "misconfigured"],
    ["unauthenticated", "misconfigured"],
    ["permission-denied", "misconfigured"],
    ["not-found", "misconfigured"],
    ["rate-limit", "busy"],
    ["depleted", "misconfigured"],
    ["internal", "failed"],
    ["unavailable", "busy"],
    ["deadline", "unknown"],
  ] as const satisfies readonly (readonly [ErrorName, string])[])("answered with %s is %s", async (name, kind) => {
    const made = start({ start: ERRORS[name] });
    const error = await failureOf(made[shape]());
    expect(error).toMatchObject({ kind, isUnsent: false });
    expect(error.message + (error.say ?? "")).not.toContain(VENDOR_MARK);
    expect([made.server.requests.length, made.server.charged]).toEqual([1, 0]);
  });

  const said = (message: string, code: unknown = "invalid_request"): Reply =>
    jsonReply(400, { error: { code, message } });
  test.each<[string, Reply, object]>([
    ["a word for a code", said("duration: no"), { kind: "rejected" }],
    [
      "sensitive words",
      said("The prompt contains words that violate Google's Responsible AI practices."),
      { kind: "refused" },
    ],
    ["a picture", said("Unable to process input image."), { code: "unprocessable_input", param: "image_url" }],
    [
      "too much",
      said("The input token count (9) exceeds the maximum"),
      { code: "context_length_exceeded", param: "prompt" },
    ],
    [
      "a list of errors",
      jsonReply(400, [{ error: { code: 400, status: "INVALID_ARGUMENT", message: "no" } }]),
      { kind: "rejected" },
    ],
    ["an error inside a 200", ok({ error: { code: 8, message: "quota" } }), { kind: "busy" }],
    ["a hint", ERRORS["rate-limit"], { kind: "busy", retryAfterMs: 34_400 }],
  ])("told of by %s is told by its class", async (_what, reply, expected) => {
    expect(await failureOf(start({ start: reply })[shape]())).toMatchObject(expected);
  });

  test.each<[string, Script]>([
    ["no name", { receipt: { id: undefined, name: undefined } }],
    ["a name that leads elsewhere", { receipt: { id: "../models", name: "models/../../operations/x" } }],
    ["a name with a query", { receipt: { id: "a?key=b", name: "operations/a?key=b" } }],
    ["a name of another kind", { receipt: { id: 7, name: "files/abc" } }],
  ])("answered with %s is an unknown outcome: the job may exist", async (_what, script) => {
    expect(await failureOf(start(script)[shape]())).toMatchObject({ kind: "unknown" });
  });

  test("needs a source that has a field for what is given, and its bytes", async () => {
    const made = start();
    const given = [
      made[shape]({ image: IMAGE }, { fields: { duration: "duration" } }),
      made[shape]({ video: CLIP }, { fields: { image: "image" } }),
      made[shape]({ image: { url: "http://10.0.0.1/x.png" } }),
    ];
    for (const call of given) expect(await failureOf(call)).toMatchObject({ kind: "misconfigured" });
    expect(made.server.requests).toEqual([]);
  });
});

describe.each<Shape>(["omni", "veo"])("a poll of %s that brings no verdict", (shape) => {
  test.each<[string, NonNullable<Script["polls"]>[number]]>([
    ["a status word nobody knows", { members: { status: "paused", name: undefined } }],
    ["no such job", jsonReply(400, { error: { code: "invalid_request", message: "Invalid interaction name" } })],
    [
      "a verdict's shape beside a fault",
      jsonReply(500, { id: "v1_a", name: "x", status: "failed", done: true, error: { code: 3, message: "no" } }),
    ],
  ])("%s leaves the job open", async (_what, polled) => {
    expect(await outcomeOf(shape, polled)).toMatchObject({ state: "unknown" });
  });
});

describe("the shape of a source", () => {
  test("that nobody knows is the catalogue's fault", async () => {
    const { server, omni } = start();
    for (const api of ["generateContent", "constructor", 7]) {
      expect(await failureOf(omni({}, { ...overriding({ api }) }))).toMatchObject({ kind: "misconfigured" });
    }
    expect(server.requests).toEqual([]);
  });

  test.each([
    [{}],
    [{ id: "v1_abc" }],
    [{ api: "interactions", id: "../models" }],
    [{ api: "interactions", id: "a/b" }],
    [{ api: "predictLongRunning", id: "v1_abc" }],
    [{ api: "predictLongRunning", operation: "models/../operations/x" }],
    [{ api: "predictLongRunning", operation: "https://evil.example/operations/x" }],
    [{ api: "toString", id: "v1_abc" }],
  ])("of what is no job of this family's (%j) asks nobody", async (job) => {
    const { server, video } = start();
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    await video.cancel?.(job, never);
    expect(server.requests).toEqual([]);
  });
});
