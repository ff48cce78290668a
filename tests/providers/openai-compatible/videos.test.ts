import { expect, test } from "bun:test";

import type { VideoInput } from "#workers/providers/media.ts";
import { createProviders } from "#workers/providers/index.ts";
import { createOpenAiVideos } from "#workers/providers/openai-compatible/videos.ts";

import { ok } from "../engine/behaviour.ts";
import { overriding, queued, useServers } from "../engine/calls.ts";
import { badValue, describeQueuedJob, fault, namedErrors } from "../queued-job.ts";
import { EVERYTHING, IMAGE, mp4Of, videoCall } from "../video-calls.ts";
import { ERRORS, openAiError } from "./errors.ts";
import { type Script, startVideosServer } from "./videos.ts";

const own = useServers();

const PLAIN = { model: "sora-like", prompt: "a sea otter" };
const says = (members: Readonly<Record<string, unknown>>): Script => ({ polls: [{ members }] });
const fails = (error: unknown): Script => says({ status: "failed", error });
const blames = (more: object) => openAiError(400, "no", more);
const READ = { contentType: "video/mp4", open: expect.any(Function) };
const SIZES = overriding({ sizes: { "1024p 16:9": "1792x1024" } });
const sizeOf = (resolution?: string, aspectRatio?: string): { readonly input: Partial<VideoInput> } => ({
  input: { ...(resolution ? { resolution } : {}), ...(aspectRatio ? { aspectRatio } : {}) },
});

const inSize = (size: string, ...asked: Parameters<typeof sizeOf>) =>
  [`in ${String(asked)}, which is ${size}`, sizeOf(...asked), { ...PLAIN, size }] as const;
const lasts = (seconds: unknown, usage: object = {}) =>
  [`${JSON.stringify(seconds)} seconds`, says({ seconds }), [READ], usage] as const;

describeQueuedJob("an OpenAI-compatible video", {
  open(...scripts: readonly Script[]) {
    const server = own(startVideosServer({ apiKey: "sk-ours" }));
    server.next(...scripts);
    const another = () => createOpenAiVideos({ baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } });
    return { server, adapter: another(), another };
  },
  call: ({ input, ...changes }) => videoCall(input, { sourceModel: "sora-like", ...changes }),
  request: { method: "POST", path: "/v1/videos", headers: { authorization: "Bearer sk-ours" } },
  words: { waits: "queued", runs: "in_progress", done: "completed" },
  strange: { members: { status: "cancelled" } },
  another: { members: { id: "video_other" } },
  receipt: (id) => ({ id }),
  noNames: ["a/b"],
  strangers: [{ id: "../models" }, { id: "a/b" }, { id: 7 }, { request_id: "x", status_path: "/y" }],
  cancel: null,
  find: null,
  sends: [
    [
      "by a form of what OpenAI takes, its size reckoned from resolution and ratio",
      { input: EVERYTHING },
      {
        ...PLAIN,
        input_reference: { filename: "image.jpeg", contentType: "image/jpeg", bytes: Buffer.from(IMAGE.bytes) },
        seconds: "8",
        size: "1280x720",
      },
    ],
    ["with nothing that nobody chose", {}, PLAIN],
    [
      "with what its source adds, as JSON where it is no text",
      overriding({ extra: { quality: 2 } }),
      { ...PLAIN, extra: '{"quality":2}' },
    ],
    [
      "by the fields of its source where that names them",
      {
        input: { ...EVERYTHING, image: undefined as never },
        fields: { duration: "seconds:text", seed: "seed", negative_prompt: "negative_prompt" },
      },
      { ...PLAIN, seconds: "8", seed: "7", negative_prompt: "blur" },
    ],
    inSize("1280x720", "720p", "16:9"),
    inSize("720x1280", "720p", "9:16"),
    inSize("1920x1080", "1080p", "16:9"),
    inSize("1080x1080", "1080P", "1:1"),
    inSize("854x480", "480p", "16:9"),
    inSize("1680x720", "720p", "21:9"),
    inSize("3840x2160", "4k", "16:9"),
    inSize("1440x2560", "2K", "9:16"),
    inSize("1920x1080", "1080p"),
    inSize("720x1280", undefined, "9:16"),
    [
      "in the source's own size, while the list of them stays here",
      { ...sizeOf("1024p", "16:9"), ...SIZES },
      { ...PLAIN, size: "1792x1024" },
    ],
    [
      "in a size that the source does not list",
      { ...sizeOf("720p", "16:9"), ...SIZES },
      { ...PLAIN, size: "1280x720" },
    ],
  ],
  unsent: [
    ["of a source without a field for a picture", { input: { image: IMAGE }, fields: { duration: "seconds:text" } }],
    ["of a source without a field for a video", { input: { video: IMAGE }, fields: { duration: "seconds:text" } }],
    // A server is never told what a caller names by address.
    ["from a picture at an address", { input: { image: { url: "http://10.0.0.1/x.png" } } }],
    ["in a resolution that is none", sizeOf("huge"), badValue("resolution")],
    ["in a resolution that every object has", sizeOf("constructor"), badValue("resolution")],
    ["in a ratio that is none", sizeOf("720p", "wide"), badValue("aspect_ratio")],
    ["in a ratio of nothing", sizeOf("720p", "0:9"), badValue("aspect_ratio")],
  ],
  life: {
    asked: { input: { duration: 8 } },
    told: () => [
      { state: "pending", progress: 0 },
      { state: "pending", progress: 0.45 },
      { state: "done", output: [READ], usage: { seconds: 8 } },
    ],
    requests({ id }) {
      const asked = `GET /v1/videos/${String(id)}`;
      return [asked, asked, asked, `${asked}/content`];
    },
    file: mp4Of(8),
    isOwn: true,
  },
  starts: [
    ...namedErrors(ERRORS, {
      refused: ["content-policy"],
      rejected: ["bad-request", "too-large"],
      misconfigured: ["unauthorized", "forbidden", "quota", "model-not-found"],
      busy: ["rate-limit", "overloaded"],
      failed: ["server-error"],
      unknown: ["bad-gateway"],
    }),
    ["seconds that are none", blames({ param: "seconds" }), { kind: "rejected", param: "duration" }],
    ["a size that is none", blames({ param: "size", code: "unsupported_value" }), badValue("resolution")],
    ["a prompt that is too long", blames({ param: "prompt" }), { kind: "rejected", param: "prompt" }],
    ["a model that it does not know", blames({ param: "model" }), { kind: "rejected", param: null }],
    [
      "a picture that it cannot read",
      blames({ param: "input_reference" }),
      { code: "unprocessable_input", param: "image_url" },
    ],
    ["a picture by its code", blames({ code: "invalid_image_file" }), { code: "unprocessable_input" }],
    ["a field that it does not know", blames({ param: "extra", code: "unknown_parameter" }), fault("misconfigured")],
    ["moderation", blames({ code: "moderation_blocked" }), fault("refused")],
    ["an error inside a 200", ok({ error: { code: "moderation_blocked", message: "no" } }), fault("refused")],
  ],
  done: [
    lasts("12", { seconds: 12 }),
    lasts("7.5", { seconds: 7.5 }),
    lasts(8, { seconds: 8 }),
    ...["0", "-4", "1e9", "3601", undefined, {}].map((none) => lasts(none)),
  ],
  pending: [-1, 101, "half", null].map(
    (progress) => [`${progress} percent, which is none`, says({ status: "in_progress", progress })] as const,
  ),
  failed: [
    ["moderation", fails({ code: "moderation_blocked", message: "Your request was blocked" }), fault("refused")],
    ["policy", fails({ code: "content_policy_violation", message: "no" }), fault("refused")],
    ["a fault", fails({ code: "video_generation_failed", message: "oops" }), fault("failed")],
    ["an empty account", fails({ code: "insufficient_quota", message: "no" }), fault("misconfigured")],
    ["a value", fails({ code: "unsupported_value", message: "no" }), fault("rejected")],
    ["nothing to say", fails(null), fault("failed")],
    ["an error, though completed", says({ error: { code: "moderation_blocked", message: "no" } }), fault("refused")],
  ],
});

test("a video is offered by every OpenAI-compatible server, and cannot be cancelled there", () => {
  const provider = { id: "p", family: "openai-compatible", base_url: "http://127.0.0.1:1/v1" } as const;
  expect(queued(createProviders(() => undefined).media(provider, "video"))).not.toHaveProperty("cancel");
});
