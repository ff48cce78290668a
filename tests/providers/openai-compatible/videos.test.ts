import { describe, expect, test } from "bun:test";

import type { Artifact, MediaCall, Polled, VideoInput } from "#workers/providers/media.ts";
import { createProviders } from "#workers/providers/index.ts";
import { createOpenAiVideos } from "#workers/providers/openai-compatible/videos.ts";

import { jsonReply, ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, never, openOf, overriding, queued, useServers } from "../engine/calls.ts";
import { hinted } from "../engine/named.ts";
import { type ErrorName, ERRORS, openAiError } from "./errors.ts";
import { type Script, startVideosServer } from "./videos.ts";
import { EVERYTHING, IMAGE, mp4Of, videoCall, videoReply } from "../video-calls.ts";

const own = useServers();

const MODEL = { sourceModel: "sora-like" };

function start(...scripts: readonly Script[]) {
  const server = own(startVideosServer({ apiKey: "sk-ours" }));
  server.next(...scripts);
  const endpoint = { baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } };
  const videos = createOpenAiVideos(endpoint);
  return {
    server,
    videos,
    endpoint,
    make: (input: Partial<VideoInput> = {}, call: Partial<MediaCall<VideoInput>> = {}) =>
      videos.start(videoCall(input, { ...MODEL, ...call })),
  };
}

/** Returns the outcome of a job whose status is answered like this. */
async function outcomeOf(...polls: NonNullable<Script["polls"]>): Promise<Polled<readonly Artifact[]>> {
  const { videos, make } = start({ polls });
  return videos.poll(await make(), never);
}

/** The stream of a job that is done. */
async function contentOf(content: Reply): Promise<ReadableStream<Uint8Array>> {
  const { videos, make } = start({ polls: ["completed"], file: content });
  return openOf(await videos.poll(await make(), never));
}

describe("a video", () => {
  test("is asked for by a form of what OpenAI takes, its size reckoned from resolution and ratio", async () => {
    const { server, make } = start();
    await make(EVERYTHING);
    expect(server.requests).toMatchObject([
      { method: "POST", path: "/v1/videos", headers: { authorization: "Bearer sk-ours" } },
    ]);
    expect(server.requests[0]?.body).toEqual({
      model: "sora-like",
      prompt: "a sea otter",
      input_reference: { filename: "image.jpeg", contentType: "image/jpeg", bytes: Buffer.from(IMAGE.bytes) },
      seconds: "8",
      size: "1280x720",
    });
  });

  test("asks for nothing that nobody chose, and is changed by its source last", async () => {
    const { server, make } = start();
    await make();
    await make({}, { ...overriding({ extra: { quality: 2 } }) });
    expect(server.requests.map(({ body }) => body)).toEqual([
      { model: "sora-like", prompt: "a sea otter" },
      { model: "sora-like", prompt: "a sea otter", extra: '{"quality":2}' },
    ]);
  });

  test("goes by the fields of its source where that names them", async () => {
    const { server, make } = start();
    const fields = { duration: "seconds:text", seed: "seed", negative_prompt: "negative_prompt" };
    await make({ ...EVERYTHING, image: undefined as never }, { fields });
    expect(server.requests[0]?.body).toEqual({
      model: "sora-like",
      prompt: "a sea otter",
      seconds: "8",
      seed: "7",
      negative_prompt: "blur",
    });
  });

  test.each([["image"], ["video"]])("whose source has no field for a given %s is not made without it", async (name) => {
    const { server, make } = start();
    const fields = { duration: "seconds:text" };
    expect(await failureOf(make({ [name]: IMAGE }, { fields }))).toMatchObject({ kind: "misconfigured" });
    expect(server.requests).toEqual([]);
  });

  test("never tells a server what a caller names by address", async () => {
    const { server, make } = start();
    expect(await failureOf(make({ image: { url: "http://10.0.0.1/x.png" } }))).toMatchObject({ kind: "misconfigured" });
    expect(server.requests).toEqual([]);
  });

  test("is offered by every server of this dialect", () => {
    const provider = { id: "p", family: "openai-compatible", base_url: "http://127.0.0.1:1/v1" } as const;
    expect(queued(createProviders(() => undefined).media(provider, "video"))).not.toHaveProperty("cancel");
  });
});

describe("its size", () => {
  test.each<[string | undefined, string | undefined, string | undefined]>([
    ["720p", "16:9", "1280x720"],
    ["720p", "9:16", "720x1280"],
    ["1080p", "16:9", "1920x1080"],
    ["1080P", "1:1", "1080x1080"],
    ["480p", "16:9", "854x480"],
    ["720p", "21:9", "1680x720"],
    ["4k", "16:9", "3840x2160"],
    ["2K", "9:16", "1440x2560"],
    ["1080p", undefined, "1920x1080"],
    [undefined, "9:16", "720x1280"],
    [undefined, undefined, undefined],
  ])("of %s in %s is %s", async (resolution, aspectRatio, size) => {
    const { server, make } = start();
    await make({ ...(resolution ? { resolution } : {}), ...(aspectRatio ? { aspectRatio } : {}) });
    expect(server.requests[0]?.body).toEqual({ model: "sora-like", prompt: "a sea otter", ...(size ? { size } : {}) });
  });

  test("is the source's own where it lists one, and the list stays here", async () => {
    const { server, make } = start();
    const adapt = overriding({ sizes: { "1024p 16:9": "1792x1024" } });
    await make({ resolution: "1024p", aspectRatio: "16:9" }, adapt);
    await make({ resolution: "720p", aspectRatio: "16:9" }, adapt);
    expect(server.requests.map(({ body }) => body)).toEqual([
      { model: "sora-like", prompt: "a sea otter", size: "1792x1024" },
      { model: "sora-like", prompt: "a sea otter", size: "1280x720" },
    ]);
  });

  test.each([
    [{ resolution: "huge" }, "resolution"],
    [{ resolution: "constructor" }, "resolution"],
    [{ resolution: "720p", aspectRatio: "wide" }, "aspect_ratio"],
    [{ resolution: "720p", aspectRatio: "0:9" }, "aspect_ratio"],
  ])("of %j is refused by the name of what has none", async (input, param) => {
    const { server, make } = start();
    expect(await failureOf(make(input))).toMatchObject({ kind: "rejected", code: "unsupported_value", param });
    expect(server.requests).toEqual([]);
  });
});

describe("a job", () => {
  test("waits, runs and ends with a stream of its video, found by a process that has only what was stored", async () => {
    const { server, endpoint, make } = start();
    const stored = JSON.stringify(await make({ duration: 8 }));
    const other = createOpenAiVideos(endpoint);
    const job = JSON.parse(stored) as Record<string, unknown>;
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0 });
    expect(await other.poll(job, never)).toEqual({ state: "pending", progress: 0.45 });
    const done = await other.poll(job, never);
    expect(done).toMatchObject({ state: "done", output: [{ contentType: "video/mp4" }], usage: { seconds: 8 } });
    expect(await new Response(await openOf(done)).bytes()).toEqual(Uint8Array.from(mp4Of(8)));
    const path = `/v1/videos/${String(job["id"])}`;
    expect(server.requests.map((call) => `${call.method} ${call.path}`)).toEqual([
      "POST /v1/videos",
      `GET ${path}`,
      `GET ${path}`,
      `GET ${path}`,
      `GET ${path}/content`,
    ]);
    expect(new Set(server.requests.map(({ headers }) => headers["authorization"]))).toEqual(
      new Set(["Bearer sk-ours"]),
    );
    expect(server.charged).toBe(1);
  });

  test("goes back to waiting when its status goes back", async () => {
    const { videos, make } = start({ polls: ["in_progress", "queued", "completed"] });
    const job = await make();
    const states: string[] = [];
    for (let at = 0; at < 3; at += 1) states.push((await videos.poll(job, never)).state);
    expect(states).toEqual(["pending", "pending", "done"]);
  });

  test.each([[-1], [101], ["half"], [null]])("whose progress is %p tells none", async (progress) => {
    expect(await outcomeOf({ members: { status: "in_progress", progress } })).toEqual({ state: "pending" });
  });

  test.each<[unknown, object]>([
    ["12", { seconds: 12 }],
    ["7.5", { seconds: 7.5 }],
    [8, { seconds: 8 }],
    ["0", {}],
    ["-4", {}],
    ["1e9", {}],
    ["3601", {}],
    [undefined, {}],
    [{}, {}],
  ])("that says %p for its length is charged for %j", async (seconds, usage) => {
    const outcome = await outcomeOf({ members: { seconds } });
    expect(outcome.state === "done" && outcome.usage).toEqual(usage);
  });

  test.each<[string, unknown, string]>([
    ["moderation", { code: "moderation_blocked", message: "Your request was blocked" }, "refused"],
    ["policy", { code: "content_policy_violation", message: "no" }, "refused"],
    ["a fault", { code: "video_generation_failed", message: "oops" }, "failed"],
    ["an empty account", { code: "insufficient_quota", message: "no" }, "misconfigured"],
    ["a value", { code: "unsupported_value", message: "no" }, "rejected"],
    ["nothing", null, "failed"],
  ])("that failed over %s is told by its class", async (_what, error, kind) => {
    const outcome = await outcomeOf({ members: { status: "failed", error } });
    expect(outcome).toMatchObject({ state: "failed", error: { kind } });
  });

  test("that is completed with an error has failed", async () => {
    const error = { code: "moderation_blocked", message: "no" };
    expect(await outcomeOf({ members: { error } })).toMatchObject({ state: "failed", error: { kind: "refused" } });
  });
});

describe("a start", () => {
  test.each([
    ["content-policy", "refused"],
    ["bad-request", "rejected"],
    ["too-large", "rejected"],
    ["unauthorized", "misconfigured"],
    ["forbidden", "misconfigured"],
    ["quota", "misconfigured"],
    ["model-not-found", "misconfigured"],
    ["rate-limit", "busy"],
    ["overloaded", "busy"],
    ["server-error", "failed"],
    ["bad-gateway", "unknown"],
  ] as const satisfies readonly (readonly [ErrorName, string])[])("answered with %s is %s", async (name, kind) => {
    const { server, make } = start({ start: ERRORS[name] });
    const error = await failureOf(make());
    expect(error).toMatchObject({ kind, isUnsent: false });
    expect(error.message + (error.say ?? "")).not.toContain(VENDOR_MARK);
    expect([server.requests.length, server.charged]).toEqual([1, 0]);
  });

  test.each<[string, Reply, object]>([
    ["seconds", openAiError(400, "no", { param: "seconds" }), { kind: "rejected", param: "duration" }],
    [
      "a size",
      openAiError(400, "no", { param: "size", code: "unsupported_value" }),
      { param: "resolution", code: "unsupported_value" },
    ],
    ["the prompt", openAiError(400, "too long", { param: "prompt" }), { kind: "rejected", param: "prompt" }],
    ["the model's name", openAiError(400, "no", { param: "model" }), { kind: "rejected", param: null }],
    [
      "a picture",
      openAiError(400, "no", { param: "input_reference" }),
      { code: "unprocessable_input", param: "image_url" },
    ],
    ["a picture by its code", openAiError(400, "no", { code: "invalid_image_file" }), { code: "unprocessable_input" }],
    [
      "a field it does not know",
      openAiError(400, "Unknown", { param: "extra", code: "unknown_parameter" }),
      { kind: "misconfigured" },
    ],
    ["moderation", openAiError(400, "no", { code: "moderation_blocked" }), { kind: "refused" }],
    ["an error inside a 200", ok({ error: { code: "moderation_blocked", message: "no" } }), { kind: "refused" }],
  ])("that blames %s is told under our names", async (_what, reply, expected) => {
    expect(await failureOf(start({ start: reply }).make())).toMatchObject(expected);
  });

  test("says when to come back where the server does", async () => {
    const { make } = start({ start: hinted(ERRORS["rate-limit"], { "retry-after": "3" }) });
    expect(await failureOf(make())).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });

  test.each<[string, Script]>([
    ["no id", { receipt: { id: undefined } }],
    ["a number for an id", { receipt: { id: 7 } }],
    ["an id that is a path", { receipt: { id: "../files" } }],
    ["an id that is a step up", { receipt: { id: ".." } }],
    ["an id with a query", { receipt: { id: "a?b" } }],
  ])("answered with %s is an unknown outcome: the job may exist", async (_what, script) => {
    expect(await failureOf(start(script).make())).toMatchObject({ kind: "unknown" });
  });
});

describe("a poll that brings no verdict", () => {
  test.each<[string, NonNullable<Script["polls"]>[number]]>([
    ["a status word nobody knows", { members: { status: "cancelled" } }],
    ["a verdict beside a fault", jsonReply(500, { id: "video_a", status: "failed", error: { message: "no" } })],
    ["a refusal in the place of a status", openAiError(400, "no", { code: "moderation_blocked" })],
  ])("%s leaves the job open", async (_what, status) => {
    expect(await outcomeOf(status)).toMatchObject({ state: "unknown" });
  });

  test.each([[{}], [{ id: "../models" }], [{ id: "a/b" }], [{ id: 7 }], [{ request_id: "x", status_path: "/y" }]])(
    "of what is no job of this family's (%j) asks nobody",
    async (job) => {
      const { server, videos } = start();
      expect(await videos.poll(job, never)).toMatchObject({ state: "unknown" });
      expect(server.requests).toEqual([]);
    },
  );
});

describe("the video itself", () => {
  test.each<[string, Reply]>([
    ["gone", jsonReply(404, { error: { message: "expired" } })],
    ["refused", ERRORS.unauthorized],
    ["a page", { status: 200, headers: { "content-type": "text/html" }, body: "<html>" }],
    ["an error inside a 200", ok({ error: { message: "no" } })],
    ["a redirect to nowhere", jsonReply(302, "")],
    ["a redirect inside, which is not followed", { ...jsonReply(302, ""), headers: { location: "http://10.0.0.1/v" } }],
    ["a reset", "reset"],
  ])("that is %s fails before its first byte", async (_what, content) => {
    expect((await failureOf(contentOf(content))).kind).toBe("failed");
  });

  test("that ends too soon fails its stream", async () => {
    const content = videoReply(mp4Of(4), { cut: { afterBytes: 100, how: "fin" } });
    const stream = await contentOf(content);
    expect((await failureOf(new Response(stream).bytes())).kind).toBe("failed");
  });

  test("is given up with its reader", async () => {
    const { videos, make } = start({ polls: ["completed"], file: "hang" });
    const polled = await videos.poll(await make(), never);
    expect((await failureOf(openOf(polled, AbortSignal.timeout(20)))).kind).toBe("aborted");
  });
});
