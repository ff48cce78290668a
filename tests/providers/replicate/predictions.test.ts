import { describe, expect, test } from "bun:test";

import type { Polled, VideoInput } from "#workers/providers/media.ts";

import { ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { type CallChanges, failureOf, mediaCall, never, queued, stored } from "../engine/calls.ts";
import { useReplicate } from "./jobs.ts";
import { invalid, TRELLIS } from "./models.ts";
import type { Script } from "./server.ts";

const serve = useReplicate();

const KLING = "kwaivgi/kling-v2.5-turbo-pro";
const FIELDS = {
  prompt: "prompt",
  image: "start_image",
  duration: "duration",
  aspect_ratio: "aspect_ratio",
  negative_prompt: "negative_prompt",
};

function start(...scripts: readonly Script[]) {
  const { server, adapters, another } = serve(...scripts);
  const video = queued(adapters.video);
  return {
    server,
    video,
    adapters,
    another,
    make: (input: Partial<VideoInput> = {}, changes: CallChanges = {}) =>
      video.start(mediaCall({ prompt: "waves", ...input }, { sourceModel: KLING, fields: FIELDS, ...changes })),
  };
}

/** Returns the outcome of a prediction of this script that is polled once. */
async function outcomeOf(script: Script): Promise<Polled<unknown>> {
  const { video, make } = start({ polls: ["succeeded"], ...script });
  return video.poll(await make(), never);
}

describe("a prediction", () => {
  test("of an official model is begun under its name, with an end of its own, and is not waited for", async () => {
    const { server, make } = start();
    await make({ duration: 10, aspectRatio: "9:16", negativePrompt: "blur", seed: 7, resolution: "720p" });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: `/v1/models/${KLING}/predictions`,
        headers: { authorization: "Bearer ours", "content-type": "application/json", "cancel-after": "60m" },
      },
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty("prefer");
    // Seed and resolution have no field there, and nobody is to be rung.
    expect(server.requests[0]?.body).toEqual({
      input: { prompt: "waves", duration: 10, aspect_ratio: "9:16", negative_prompt: "blur" },
    });
  });

  test.each([TRELLIS, TRELLIS.split(":")[1] ?? ""])("of a version (%s) is begun by it", async (sourceModel) => {
    const { server, adapters } = start();
    const input = { image: { url: "https://x.example/p.png" } };
    await queued(adapters.mesh).start(mediaCall(input, { sourceModel, fields: { image: "images[]" } }));
    expect(server.requests).toMatchObject([{ method: "POST", path: "/v1/predictions" }]);
    expect(server.requests[0]?.body).toEqual({ version: sourceModel, input: { images: ["https://x.example/p.png"] } });
  });

  test.each(["kling", "a/b/c", "a/b:latest", "../a", "a/b?x=1", "https://evil.example/a/b", ""])(
    "of %p, which is no model's name, asks nobody",
    async (sourceModel) => {
      const { server, make } = start();
      expect((await failureOf(make({}, { sourceModel }))).kind).toBe("misconfigured");
      expect(server.requests).toEqual([]);
    },
  );

  test("rings only where it was given a bell, and only at its end", async () => {
    const { server, make } = start();
    await make({}, { callbackUrl: "https://ours.example/bell/1" });
    expect(server.requests[0]?.body).toEqual({
      input: { prompt: "waves" },
      webhook: "https://ours.example/bell/1",
      webhook_events_filter: ["completed"],
    });
  });

  test.each(["http://ours.example/bell/1", "HTTP://127.0.0.1:8080/bell"])(
    "polls alone where its bell (%s) is none that Replicate would ring",
    async (callbackUrl) => {
      const { server, make } = start();
      await make({}, { callbackUrl });
      expect(server.requests[0]?.body).toEqual({ input: { prompt: "waves" } });
      expect(server.charged).toBe(1);
    },
  );

  test("ends by itself when its source says so, which is no input of the model's", async () => {
    const { server, make } = start();
    await make({}, { adapt: (input) => (input["cancel_after"] = "4m30s") });
    expect(server.requests[0]).toMatchObject({ headers: { "cancel-after": "4m30s" } });
    expect(server.requests[0]?.body).toEqual({ input: { prompt: "waves" } });
  });

  test.each([300, "", "soon", "0s", "5m\r\nx: y"])("with an end that is none (%p) is not begun", async (own) => {
    const { server, make } = start();
    expect((await failureOf(make({}, { adapt: (input) => (input["cancel_after"] = own) }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("is changed by its source last, in its input", async () => {
    const { server, make } = start();
    await make({}, { adapt: (input) => (input["guidance_scale"] = 0.5) });
    expect(server.requests[0]?.body).toEqual({ input: { prompt: "waves", guidance_scale: 0.5 } });
  });

  test("is kept as its id, and found by a process that has only what was stored", async () => {
    const { server, another, make } = start();
    const job = stored(await make());
    expect(Object.keys(job).toSorted()).toEqual(["asked", "id"]);
    const other = queued(another().video);
    expect([await other.poll(job, never), await other.poll(job, never)]).toEqual([
      { state: "pending" },
      { state: "pending" },
    ]);
    expect(await other.poll(job, never)).toEqual({
      state: "done",
      output: [{ url: `${server.filesUrl}/yhqm/${String(job["id"])}/0.mp4` }],
      usage: { seconds: 5, computeSeconds: 12.5 },
    });
    const polls = server.requests.slice(1).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(polls)).toEqual(new Set([`GET /v1/predictions/${String(job["id"])}`]));
    expect(server.charged).toBe(1);
  });

  test("whose answer leads elsewhere is asked about at home", async () => {
    const urls = { get: "https://evil.example/v1/predictions/x", cancel: "http://127.0.0.1:1/" };
    const { server, video, make } = start({ receipt: { urls }, polls: ["succeeded"] });
    const job = await make();
    await video.cancel?.(job, never);
    expect((await video.poll(job, never)).state).toBe("failed");
    expect(JSON.stringify(job)).not.toMatch(/evil|:1\//);
    expect(server.requests.map(({ path }) => path)).toEqual([
      `/v1/models/${KLING}/predictions`,
      `/v1/predictions/${String(job["id"])}/cancel`,
      `/v1/predictions/${String(job["id"])}`,
    ]);
  });
});

describe("a start", () => {
  test.each<[string, Reply, object]>([
    [
      "a token that is not taken",
      { status: 401, body: { title: "Unauthenticated", detail: VENDOR_MARK } },
      { kind: "misconfigured" },
    ],
    [
      "an empty account",
      { status: 402, body: { title: "Insufficient credit", detail: VENDOR_MARK, status: 402 } },
      { kind: "misconfigured" },
    ],
    ["a model that is not for us", { status: 403, body: { detail: VENDOR_MARK } }, { kind: "misconfigured" }],
    ["no such model", { status: 404, body: { detail: VENDOR_MARK } }, { kind: "misconfigured" }],
    [
      "no such version",
      { status: 422, body: { title: "Invalid version or not permitted", detail: VENDOR_MARK, status: 422 } },
      { kind: "misconfigured" },
    ],
    [
      "an envelope that is wrong",
      { status: 422, body: invalid("required", "", "version is required") },
      { kind: "misconfigured" },
    ],
    [
      "a field of nobody's",
      { status: 422, body: invalid("number_lte", "input.num_inference_steps", VENDOR_MARK) },
      { kind: "misconfigured" },
    ],
    [
      "a field of nobody's that is missing",
      { status: 422, body: invalid("required", "input", "voice_id is required") },
      { kind: "misconfigured" },
    ],
    [
      "a value",
      { status: 422, body: invalid("enum", "input.aspect_ratio", VENDOR_MARK) },
      { kind: "rejected", code: "unsupported_value", param: "aspect_ratio" },
    ],
    [
      "a picture",
      { status: 422, body: invalid("invalid_type", "input.start_image", VENDOR_MARK) },
      { kind: "rejected", code: "unsupported_value", param: "image_url" },
    ],
    [
      "a prompt that is missing",
      { status: 422, body: invalid("required", "input", "prompt is required") },
      { kind: "rejected", code: "invalid_request", param: "prompt" },
    ],
    [
      "a value, in words alone",
      { status: 422, body: { detail: "- input.duration: Must be less than or equal to 10\n" } },
      { kind: "rejected", code: "unsupported_value", param: "duration" },
    ],
    ["words alone", { status: 400, body: { detail: VENDOR_MARK } }, { kind: "rejected", code: "invalid_request" }],
    ["too large a body", { status: 413, body: "<html>" }, { kind: "rejected", code: "invalid_request", param: null }],
    ["a refused prompt", { status: 422, body: { error: "NSFW content detected in the prompt" } }, { kind: "refused" }],
    [
      "a field named like a refusal",
      { status: 422, body: invalid("enum", "input.duration", "moderation must be low") },
      { kind: "rejected", param: "duration" },
    ],
    [
      "too many at once",
      { status: 429, body: { detail: "Request was throttled. Your rate limit resets in ~30s." } },
      { kind: "busy", retryAfterMs: 30_000 },
    ],
    [
      "too many at once, with a header",
      { status: 429, body: { detail: "Your rate limit resets in ~30s." }, headers: { "retry-after": "3" } },
      { kind: "busy", retryAfterMs: 3_000 },
    ],
    ["too many at once, without a hint", { status: 429, body: {} }, { kind: "busy", retryAfterMs: undefined }],
    ["no room", { status: 503, body: "<html>" }, { kind: "busy" }],
    ["a fault", { status: 500, body: { detail: "Internal server error" } }, { kind: "failed" }],
    ["a request that came too slowly", { status: 408, body: "" }, { kind: "unknown" }],
    ["no id", { status: 201, body: { status: "starting" } }, { kind: "unknown" }],
    ["an id that is a path", { status: 201, body: { id: "../../account" } }, { kind: "unknown" }],
    ["an id that is an address", { status: 201, body: { id: "https://evil.example/" } }, { kind: "unknown" }],
    ["an id that is a number", { status: 201, body: { id: 7 } }, { kind: "unknown" }],
  ])("answered with %s is told by its class", async (_what, answer, expected) => {
    const { make } = start({ start: answer });
    const error = await failureOf(make());
    expect(error).toMatchObject({ ...expected, isUnsent: false });
    expect(`${error.message} ${error.say ?? ""}`).not.toContain(VENDOR_MARK);
  });

  test("that the model's own description refuses is told by our name, and nothing is paid", async () => {
    const { server, make } = start();
    expect(await failureOf(make({ duration: 7 }))).toMatchObject({ kind: "rejected", param: "duration" });
    expect(server.charged).toBe(0);
  });
});

describe("a poll that brings no verdict", () => {
  test.each<[string, NonNullable<Script["polls"]>[number]]>([
    ["a status word nobody knows", "paused"],
    ["another prediction", ok({ id: "other", status: "failed", error: "no" })],
    ["an empty account", { status: 402, body: { title: "Insufficient credit" } }],
  ])("%s leaves the prediction open", async (_what, poll) => {
    expect(await outcomeOf({ polls: [poll] })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["output that is no address", { output: "all done" }],
    ["output that leads to no server", { output: "file:///etc/passwd" }],
    ["numbers", { output: [1, 2] }],
    ["output that was deleted", { output: null, data_removed: true }],
  ])("a success with %s leaves it open", async (_what, end) => {
    expect(await outcomeOf({ task: end })).toMatchObject({ state: "unknown" });
  });

  test.each([[{}], [{ id: "../../account", asked: 1 }], [{ id: "x y", asked: 1 }], [{ id: "abc" }]])(
    "of what is no prediction (%j) asks nobody",
    async (job) => {
      const { server, video } = start();
      expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
      await video.cancel?.(job, never);
      expect(server.requests).toEqual([]);
    },
  );

  test("failing for a while, going back, knowing no word: it goes on, and is paid once", async () => {
    const polls = ["processing", { status: 502, body: "" }, "cut", "starting", "paused", "succeeded"] as const;
    const { server, video, make } = start({ polls });
    const job = await make();
    const states: string[] = [];
    for (const _poll of polls) states.push((await video.poll(job, never)).state);
    expect(states).toEqual(["pending", "unknown", "unknown", "pending", "unknown", "done"]);
    expect(server.charged).toBe(1);
  });
});

describe("a prediction that failed", () => {
  test.each<[string, string]>([
    [
      "The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)",
      "refused",
    ],
    ["NSFW content detected. Try running it again, or try a different prompt.", "refused"],
    ["Prompt was rejected by the safety filter.", "refused"],
    ["Content Policy Violation", "refused"],
    ["Request was moderated: prohibited content", "refused"],
    ["CUDA out of memory. Tried to allocate 20.00 GiB", "failed"],
    ["Could not load model.safetensors", "failed"],
    ["Service is temporarily unavailable. (E003)", "failed"],
    ["", "failed"],
  ])("with the words %p is told by its class", async (error, kind) => {
    const outcome = await outcomeOf({ polls: ["failed"], task: { error } });
    expect(outcome).toMatchObject({ state: "failed", error: { kind } });
  });

  test.each(["canceled", "aborted"] as const)("or was %s is over for certain", async (status) => {
    expect(await outcomeOf({ polls: [status] })).toMatchObject({ state: "failed", error: { kind: "failed" } });
  });

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ["null", { output: null }, "failed"],
    ["an empty list", { output: [] }, "failed"],
    ["an empty text", { output: "" }, "failed"],
    ["nothing, and says why", { output: null, error: "NSFW content detected" }, "refused"],
  ])("by a success whose output is %s has failed", async (_what, end, kind) => {
    expect(await outcomeOf({ task: end })).toMatchObject({ state: "failed", error: { kind } });
  });
});

describe("a cancel", () => {
  test("is asked for by POST, and what came of it is told by the next poll", async () => {
    const { server, video, make } = start({ polls: ["processing"] });
    const job = await make();
    await video.cancel?.(job, never);
    expect(server.requests[1]).toMatchObject({ method: "POST", path: `/v1/predictions/${String(job["id"])}/cancel` });
    expect(await video.poll(job, never)).toMatchObject({ state: "failed" });
  });

  test.each<[string, Reply, "done" | "pending", Script["polls"]]>([
    ["comes too late", { status: 200, body: { status: "succeeded" } }, "done", ["succeeded"]],
    ["is refused", { status: 403, body: { detail: "no" } }, "pending", ["processing"]],
    ["finds nothing", { status: 404, body: { detail: "not found" } }, "pending", ["processing"]],
  ])("that %s changes nothing", async (_what, cancel, state, polls = []) => {
    const { video, make } = start({ cancel, polls });
    const job = await make();
    await video.cancel?.(job, never);
    expect((await video.poll(job, never)).state).toBe(state);
  });
});
