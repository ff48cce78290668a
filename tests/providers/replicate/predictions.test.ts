import { expect, describe, test } from "bun:test";

import type { MediaAdapters } from "#workers/providers/media.ts";

import { jsonReply, ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued } from "../engine/calls.ts";
import { fileAt } from "../fal/clips.ts";
import { badRequest, badValue, describeQueuedJob, fault, lose } from "../queued-job.ts";
import { asks, ends, predictions, useReplicate } from "./jobs.ts";
import { invalid, TRELLIS } from "./models.ts";

const KLING = "kwaivgi/kling-v2.5-turbo-pro";
const fields = {
  prompt: "prompt",
  image: "start_image",
  duration: "duration",
  aspect_ratio: "aspect_ratio",
  negative_prompt: "negative_prompt",
};
const PROMPT = "waves in a bay";
const SEEDANCE = { sourceModel: "bytedance/seedance-1.5-pro", fields: null };
const PICTURE = { url: "https://x.example/p.png" };
const ONE = [{ url: "https://x.example/1.mp4" }];
const BARE = { input: { prompt: PROMPT } };
const refused = (status: number, detail: string, title?: string): Reply => jsonReply(status, { title, detail, status });
const wrong = (...error: Parameters<typeof invalid>): Reply => jsonReply(422, invalid(...error));
const input = (name: string, type = "enum"): Reply => wrong(type, `input.${name}`, VENDOR_MARK);
const missing = (what: string): Reply => wrong("required", "input", `${what} is required`);
const failing = (error: string) => ({ polls: ["failed"] as const, task: { error } });

describeQueuedJob("a Replicate video", {
  ...predictions(
    ({ video }) => video,
    { prompt: PROMPT },
    { sourceModel: KLING, fields },
    { input: { prompt: "fog" } },
  ),
  sends: [
    [
      "under its official model's name, with an end of its own, and without what has no field",
      { input: { duration: 10, aspectRatio: "9:16", negativePrompt: "blur", seed: 7, resolution: "720p" } },
      { input: { prompt: PROMPT, duration: 10, aspect_ratio: "9:16", negative_prompt: "blur" } },
      { headers: { "cancel-after": "60m" } },
    ],
    [
      "under the usual names where its source says nothing",
      {
        ...SEEDANCE,
        input: {
          image: PICTURE,
          video: { url: "https://x.example/v.mp4" },
          duration: 5,
          resolution: "720p",
          aspectRatio: "16:9",
          seed: 7,
          negativePrompt: "blur",
        },
      },
      {
        input: {
          prompt: PROMPT,
          image: PICTURE.url,
          video: "https://x.example/v.mp4",
          duration: 5,
          resolution: "720p",
          aspect_ratio: "16:9",
          seed: 7,
          negative_prompt: "blur",
        },
      },
      { path: `/v1/models/${SEEDANCE.sourceModel}/predictions` },
      true,
    ],
    [
      "with a bell that rings at its end alone",
      { callbackUrl: "https://ours.example/bell/1" },
      { ...BARE, webhook: "https://ours.example/bell/1", webhook_events_filter: ["completed"] },
    ],
    ["without a bell that Replicate would not ring", { callbackUrl: "http://ours.example/bell/1" }, BARE],
    ["without a bell of capital letters", { callbackUrl: "HTTP://127.0.0.1:8080/bell" }, BARE],
    [
      "with the end that its source says, which is no input of the model's",
      overriding({ cancel_after: "4m30s" }),
      BARE,
      { headers: { "cancel-after": "4m30s" } },
    ],
    [
      "with what its source adds to its input",
      overriding({ guidance_scale: 0.5 }),
      { input: { prompt: PROMPT, guidance_scale: 0.5 } },
    ],
  ],
  unsent: [
    ...["kling", "a/b/c", "a/b:latest", "../a", "a/b?x=1", "https://evil.example/a/b", ""].map(
      (sourceModel) => [`of ${JSON.stringify(sourceModel)}, which is no model's name`, { sourceModel }] as const,
    ),
    ...[300, "", "soon", "0s", "5m\r\nx: y"].map(
      (end) => [`with ${JSON.stringify(end)}, which is no end`, overriding({ cancel_after: end })] as const,
    ),
    ["of a source without a field for a picture", { input: { image: PICTURE }, fields: { prompt: "prompt" } }],
    ["of a source without a field for a prompt", { fields: { duration: "duration" } }],
  ],
  life: {
    told: ({ id }, { server }) => [
      { state: "pending" },
      { state: "pending" },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/yhqm/${String(id)}/0.mp4` }],
        usage: { seconds: 5, computeSeconds: 12.5 },
      },
    ],
    requests: asks(3),
    file: fileAt("/0.mp4")?.body as Buffer,
  },
  starts: [
    ["a token that is not taken", refused(401, VENDOR_MARK, "Unauthenticated"), fault("misconfigured")],
    ["an empty account", refused(402, VENDOR_MARK, "Insufficient credit"), fault("misconfigured")],
    ["a model that is not for us", refused(403, VENDOR_MARK), fault("misconfigured")],
    ["no such model", refused(404, VENDOR_MARK), fault("misconfigured")],
    ["no such version", refused(422, VENDOR_MARK, "Invalid version or not permitted"), fault("misconfigured")],
    ["an envelope that is wrong", wrong("required", "", "version is required"), fault("misconfigured")],
    ["a field of nobody's", input("num_inference_steps", "number_lte"), fault("misconfigured")],
    ["a field of nobody's that is missing", missing("voice_id"), fault("misconfigured")],
    ["a value", input("aspect_ratio"), badValue("aspect_ratio")],
    ["a picture", input("start_image", "invalid_type"), badValue("image_url")],
    ["a prompt that is missing", missing("prompt"), badRequest("prompt")],
    [
      "a value, in words alone",
      refused(422, "- input.duration: Must be less than or equal to 10\n"),
      badValue("duration"),
    ],
    ["words alone", refused(400, VENDOR_MARK), { kind: "rejected", code: "invalid_request" }],
    ["too large a body", jsonReply(413, "<html>"), badRequest(null)],
    ["a refused prompt", jsonReply(422, { error: "NSFW content detected in the prompt" }), fault("refused")],
    [
      "a field named like a refusal",
      wrong("enum", "input.duration", "moderation must be low"),
      { kind: "rejected", param: "duration" },
    ],
    [
      "too many at once",
      refused(429, "Request was throttled. Your rate limit resets in ~30s."),
      { kind: "busy", retryAfterMs: 30_000 },
    ],
    [
      "too many at once, with a header",
      jsonReply(429, { detail: "Your rate limit resets in ~30s." }, { "retry-after": "3" }),
      { kind: "busy", retryAfterMs: 3_000 },
    ],
    ["too many at once, without a hint", jsonReply(429, {}), { kind: "busy", retryAfterMs: undefined }],
  ],
  done: [
    ["a list", ends({ output: ["https://x.example/1.mp4"], metrics: {} }), ONE],
    [
      "an object with a preview, of a length that is none",
      ends({
        output: { thumbnail: "https://x.example/1.jpg", video: ONE[0]?.url },
        metrics: { video_output_duration_seconds: "5" },
      }),
      ONE,
    ],
    [
      "an object of other names",
      ends({ output: { preview: "https://x.example/1.gif", result: ONE[0]?.url }, metrics: {} }),
      ONE,
    ],
    ["a list with a preview", ends({ output: ["https://x.example/1.jpg", ONE[0]?.url], metrics: {} }), ONE],
  ],
  failed: [
    [
      "its words (E005)",
      failing(
        "The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)",
      ),
      fault("refused"),
    ],
    ...[
      "NSFW content detected. Try running it again, or try a different prompt.",
      "Prompt was rejected by the safety filter.",
      "Content Policy Violation",
      "Request was moderated: prohibited content",
    ].map((words) => [`the words ${words}`, failing(words), fault("refused")] as const),
    ...[
      "CUDA out of memory. Tried to allocate 20.00 GiB",
      "Could not load model.safetensors",
      "Service is temporarily unavailable. (E003)",
      "",
    ].map((words) => [`the words ${JSON.stringify(words)}`, failing(words), fault("failed")] as const),
    ["a cancel", { polls: ["canceled"] }, fault("failed")],
    ["an abort", { polls: ["aborted"] }, fault("failed")],
    ["null in its place", ends({ output: null }), fault("failed")],
    ["an empty list", ends({ output: [] }), fault("failed")],
    ["an empty text", ends({ output: "" }), fault("failed")],
    ["nothing, and says why", ends({ output: null, error: "NSFW content detected" }), fault("refused")],
  ],
  unclear: [
    ["another prediction that failed", { polls: [ok({ id: "other", status: "failed", error: "no" })] }],
    ["output that is no address", ends({ output: "all done" })],
    ["output that leads to no server", ends({ output: "file:///etc/passwd" })],
    ["numbers", ends({ output: [1, 2] })],
    ["output that was deleted", ends({ output: null, data_removed: true })],
  ],
});

describe("a Replicate prediction", () => {
  const serve = useReplicate();
  const ask = ({ video }: MediaAdapters, prompt: string, more = {}) =>
    queued(video).start(mediaCall({ prompt, ...more }, SEEDANCE));
  const losing = (image?: { readonly url: string }) => {
    const { server, adapters } = serve({ start: "lost" });
    const call = mediaCall({ prompt: "it moves", ...(image ? { image } : {}) }, SEEDANCE);
    return { server, adapters, lost: lose(queued(adapters.video), call) };
  };

  test.each([TRELLIS, TRELLIS.split(":")[1] ?? ""])("of a version (%s) starts with it", async (sourceModel) => {
    const { server, adapters } = serve();
    await queued(adapters.mesh).start(mediaCall({ image: PICTURE }, { sourceModel, fields: { image: "images[]" } }));
    expect(server.requests).toMatchObject([{ method: "POST", path: "/v1/predictions" }]);
    expect(server.requests[0]?.body).toEqual({ version: sourceModel, input: { images: [PICTURE.url] } });
  });

  test("is stored as its id only, and its answer is not awaited", async () => {
    const { server, adapters } = serve();
    expect(Object.keys(await ask(adapters, "waves")).toSorted()).toEqual(["asked", "id"]);
    expect(server.requests[0]?.headers).not.toHaveProperty("prefer");
  });

  test("whose answer points elsewhere is polled and cancelled at Replicate", async () => {
    const urls = { get: "https://evil.example/v1/predictions/x", cancel: "http://127.0.0.1:1/" };
    const { server, adapters } = serve({ receipt: { urls }, polls: ["succeeded"] });
    const job = await ask(adapters, "waves");
    await queued(adapters.video).cancel?.(job, never);
    expect((await queued(adapters.video).poll(job, never)).state).toBe("failed");
    expect(JSON.stringify(job)).not.toMatch(/evil|:1\//);
    expect(server.requests.slice(1).map(({ path }) => path)).toEqual([
      `/v1/predictions/${String(job["id"])}/cancel`,
      `/v1/predictions/${String(job["id"])}`,
    ]);
  });

  test("rejected by the model's own schema is reported by our name, and not charged", async () => {
    const { server, adapters } = serve();
    const call = mediaCall({ prompt: "waves", duration: 7 }, { sourceModel: KLING, fields });
    expect(await failureOf(queued(adapters.video).start(call))).toMatchObject({ kind: "rejected", param: "duration" });
    expect(server.charged).toBe(0);
  });

  test("whose start was lost is found on a later page, and a failed one comes last", async () => {
    const { server, adapters, lost } = losing();
    const { found } = await lost;
    for (let more = 0; more < 4; more++) await ask(adapters, more === 1 ? "it moves" : `another ${more}`);
    const [first, , second] = server.jobs;
    if (second) second.status = "failed";
    const alike = [{ name: first?.id, hasFailed: false }, { name: second?.id }];
    // It was told no address to ring at.
    expect(await found()).toMatchObject({ state: "listed", alike, mayRing: false });
  });

  test("whose media may have other addresses there is ambiguous, as is one whose data are deleted", async () => {
    const { server, lost } = losing({ url: "https://pictures.example/a.png" });
    const { found } = await lost;
    expect(await found()).toMatchObject({ alike: [{ name: server.jobs[0]?.id }], unclear: [] });
    Object.assign(server.jobs[0]?.facts.input ?? {}, { image: "https://replicate.example/files/1" });
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: server.jobs[0]?.id }] });
    const removed = { id: "x", model: SEEDANCE.sourceModel, data_removed: true, created_at: "now" };
    server.nextLists(ok({ next: null, results: [removed] }));
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: "x", createdMs: Number.NaN }] });
  });

  test("whose start was lost is not searched on pages elsewhere, which receive no key", async () => {
    const { server, lost } = losing();
    const { server: other } = serve();
    const { found } = await lost;
    for (const next of [`${other.url}/predictions?cursor=2`, "nonsense", 7]) {
      server.nextLists(ok({ next, results: [] }));
      expect(await found()).toMatchObject({ state: "unknown" });
    }
    expect(other.requests).toEqual([]);
  });
});
