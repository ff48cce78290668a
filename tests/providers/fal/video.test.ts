import { describe, expect, test } from "bun:test";

import type { Polled, VideoInput } from "#workers/providers/media.ts";

import { ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { type CallChanges, failureOf, mediaCall, never, queued, stored } from "../engine/calls.ts";
import { CLIP_SECONDS } from "./clips.ts";
import { pollOf, useFal } from "./jobs.ts";
import { modelReply, platformReply, type Script } from "./server.ts";
import { pngOf } from "../png.ts";

const serve = useFal();

const KLING = "fal-ai/kling-video/v2.5-turbo/pro/text-to-video";
const FROM_PICTURE = "fal-ai/kling-video/v2.5-turbo/pro/image-to-video";
const FIELDS = {
  prompt: "prompt",
  image: "image_url",
  duration: "duration:text",
  aspect_ratio: "aspect_ratio",
  negative_prompt: "negative_prompt",
};
const PICTURE = { bytes: pngOf(2, 2), contentType: "image/png" };

function start(...scripts: readonly Script[]) {
  const { server, adapters, another } = serve(...scripts);
  const video = queued(adapters.video);
  return {
    server,
    video,
    another,
    make: (input: Partial<VideoInput> = {}, changes: CallChanges = {}) =>
      video.start(mediaCall({ prompt: "waves", ...input }, { sourceModel: KLING, fields: FIELDS, ...changes })),
  };
}

/** Returns the outcome of a job of this script, once it is said to be completed. */
async function outcomeOf(script: Script): Promise<Polled<unknown>> {
  const { video, make } = start({ polls: ["COMPLETED"], ...script });
  return video.poll(await make(), never);
}

describe("a video", () => {
  test("is asked for under its source's own names, as its source writes them, and rings where it is told to", async () => {
    const { server, make } = start();
    await make(
      { duration: 10, aspectRatio: "9:16", negativePrompt: "blur", resolution: "720p", seed: 7 },
      { callbackUrl: "https://ours.example/bell/1" },
    );
    expect(server.requests).toMatchObject([
      { method: "POST", path: `/${KLING}?fal_webhook=https%3A%2F%2Fours.example%2Fbell%2F1` },
    ]);
    // Resolution and seed have no field there.
    expect(server.requests[0]?.body).toEqual({
      prompt: "waves",
      duration: "10",
      aspect_ratio: "9:16",
      negative_prompt: "blur",
    });
    expect(server.jobs.map(({ facts }) => facts.callbackUrl)).toEqual(["https://ours.example/bell/1"]);
  });

  test("goes under the usual names where its source says nothing, media as addresses or as they are", async () => {
    const { server, make } = start();
    await make(
      {
        image: PICTURE,
        video: { url: "https://ours.example/files/v.mp4" },
        duration: 5,
        resolution: "720p",
        aspectRatio: "16:9",
        seed: 7,
        negativePrompt: "blur",
        personGeneration: "allow_adult",
      },
      { sourceModel: "acme/filmer", fields: null },
    );
    expect(server.requests[0]?.body).toEqual({
      prompt: "waves",
      image_url: `data:image/png;base64,${PICTURE.bytes.toString("base64")}`,
      video_url: "https://ours.example/files/v.mp4",
      duration: 5,
      resolution: "720p",
      aspect_ratio: "16:9",
      seed: 7,
      negative_prompt: "blur",
    });
  });

  test("is changed by its source last", async () => {
    const { server, make } = start();
    await make({}, { adapt: (body) => (body["generate_audio"] = false) });
    expect(server.requests[0]?.body).toEqual({ prompt: "waves", generate_audio: false });
  });

  test.each<[string, Partial<VideoInput>, Readonly<Record<string, string>>]>([
    ["a picture", { image: PICTURE }, { prompt: "prompt" }],
    ["a video", { video: { url: "https://ours.example/v.mp4" } }, { prompt: "prompt", image: "image_url" }],
    ["anything that says what to make", {}, { duration: "duration" }],
  ])("is not asked of a source without a field for %s", async (_what, input, fields) => {
    const { server, make } = start();
    expect((await failureOf(make(input, { fields }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("is found by a process that has only what was stored, with its length and nobody's key for its address", async () => {
    const { server, another, make } = start();
    const job = stored(await make({ duration: 5 }));
    const poll = pollOf(another(), "video");
    expect([await poll(job), await poll(job)]).toEqual([{ state: "pending" }, { state: "pending" }]);
    const outcome = await poll(job);
    expect(outcome).toEqual({
      state: "done",
      output: [{ url: `${server.filesUrl}/files/${String(job["request_id"])}-0.mp4`, contentType: "video/mp4" }],
      usage: { seconds: CLIP_SECONDS },
    });
    const base = `/fal-ai/kling-video/requests/${String(job["request_id"])}`;
    expect(server.requests.slice(1).map(({ path }) => path)).toEqual([
      `${base}/status`,
      `${base}/status`,
      `${base}/status`,
      base,
    ]);
    expect(server.charged).toBe(1);
  });

  test.each<[string, Reply, object]>([
    ["one of a list", ok({ videos: [{ url: "https://x.example/1" }, { url: "https://x.example/2" }] }), {}],
    ["a bare address", ok({ video_url: "https://x.example/1" }), {}],
    ["a list in the place of one", ok({ video: [{ url: "https://x.example/1", duration: 4 }] }), { seconds: 4 }],
    [
      "a type and a length that are none",
      ok({ video: { url: "https://x.example/1", content_type: "text/html", duration: -1 } }),
      {},
    ],
    [
      "the time it took",
      ok({ video: { url: "https://x.example/1" }, timings: { inference: 31.5 } }),
      { computeSeconds: 31.5 },
    ],
  ])("may come as %s", async (_what, result, usage) => {
    expect(await outcomeOf({ result })).toEqual({ state: "done", output: [{ url: "https://x.example/1" }], usage });
  });

  test.each<[string, Reply]>([
    ["no member for it", ok({ seed: 7 })],
    ["another kind's result", ok({ images: [{ url: "https://x.example/1.png" }] })],
    ["no address", ok({ video: { file_name: "1.mp4" } })],
    ["an address that is none", ok({ video: { url: "file:///etc/passwd" } })],
    ["a data URL", ok({ video: { url: "data:video/mp4;base64,AAAA" } })],
  ])("whose result is %s stays open", async (_what, result) => {
    expect(await outcomeOf({ result })).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply, object]>([
    ["nothing in its place", ok({ video: null }), { kind: "failed" }],
    ["an empty list", ok({ videos: [] }), { kind: "failed" }],
    [
      "what the filter blackened",
      ok({ videos: [{ url: "https://x.example/1" }], has_nsfw_concepts: [true] }),
      { kind: "refused" },
    ],
    ["a refusal", modelReply("content_policy_violation", "prompt"), { kind: "refused" }],
    [
      "a length it cannot make",
      modelReply("one_of", "duration"),
      { kind: "rejected", code: "unsupported_value", param: "duration" },
    ],
    [
      "a prompt it cannot take",
      modelReply("sequence_too_long", "prompt"),
      { kind: "rejected", code: "invalid_request", param: "prompt" },
    ],
    [
      "a picture it cannot read",
      modelReply("image_load_error", "image_url"),
      { kind: "rejected", code: "unprocessable_input", param: "image_url", say: expect.stringContaining("image") },
    ],
    [
      "a file of nobody's",
      modelReply("file_download_error"),
      { kind: "rejected", code: "unprocessable_input", param: "image_url" },
    ],
    [
      "a film of another format",
      modelReply("unsupported_video_format"),
      { kind: "rejected", code: "unprocessable_input", param: "video_url", say: expect.stringContaining("video") },
    ],
    [
      "a film that is too long",
      modelReply("video_duration_too_long"),
      { kind: "rejected", code: "unprocessable_input", param: "video_url" },
    ],
    ["a field of nobody's", modelReply("missing", "audio_url"), { kind: "misconfigured" }],
    ["the model's time limit", modelReply("generation_timeout", null, 504), { kind: "timeout" }],
    ["a runner that died", platformReply("runner_disconnected", 503), { kind: "failed" }],
  ])("whose result is %s has failed, by its class", async (_what, result, error) => {
    const outcome = await outcomeOf({ result });
    expect(outcome).toMatchObject({ state: "failed", error });
    if (outcome.state === "failed") expect(JSON.stringify(outcome.error.message)).not.toContain(VENDOR_MARK);
  });

  test("is told of what the model itself refuses only when it has run", async () => {
    const { server, video, make } = start({ polls: ["COMPLETED"] });
    const job = await make({ duration: 7 });
    expect(await video.poll(job, never)).toMatchObject({
      state: "failed",
      error: { kind: "rejected", param: "duration" },
    });
    expect(server.charged).toBe(1);
  });

  test("from a picture carries it as an address that its caller gave", async () => {
    const { server, make } = start();
    await make({ image: { url: "https://x.example/p.png" } }, { sourceModel: FROM_PICTURE });
    expect(server.requests[0]?.body).toEqual({ prompt: "waves", image_url: "https://x.example/p.png" });
  });
});

describe("a job that goes on for long", () => {
  test("polls that fail for a while, a status that goes back and one that nobody knows leave it as it is", async () => {
    const fault: Reply = { status: 502, body: "<html>" };
    const polls = ["IN_PROGRESS", fault, "cut", "IN_QUEUE", "FAILED", "IN_PROGRESS", "COMPLETED"] as const;
    const { video, make, server } = start({ polls });
    const job = await make();
    const states: string[] = [];
    for (const _status of polls) states.push((await video.poll(job, never)).state);
    expect(states).toEqual(["pending", "unknown", "unknown", "pending", "unknown", "pending", "done"]);
    expect(server.charged).toBe(1);
  });

  test("one that fal has forgotten is neither failed nor done", async () => {
    const { video, make } = start();
    const job = { ...(await make()), status_path: "/fal-ai/kling-video/requests/gone/status" };
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
  });

  test.each<[string, Reply | undefined]>([
    ["is taken", undefined],
    ["comes too late", { status: 400, body: { status: "ALREADY_COMPLETED" } }],
    ["is refused", { status: 403, body: { detail: "no" } }],
  ])("a cancel that %s leaves the verdict to the next poll", async (_what, cancel) => {
    const { video, make } = start({ polls: ["COMPLETED"], ...(cancel === undefined ? {} : { cancel }) });
    const job = await make();
    await video.cancel?.(job, never);
    expect((await video.poll(job, never)).state).toBe("done");
  });
});
