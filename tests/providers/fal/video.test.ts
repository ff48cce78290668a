import { expect } from "bun:test";

import { pngOf } from "#tests/support/png.ts";
import { badInput, badRequest, badValue, describeQueuedJob, fault } from "../queued-job.ts";
import { CLIP_SECONDS, fileAt } from "./clips.ts";
import { asks, falJobs, gives } from "./jobs.ts";
import { modelReply, platformReply } from "./server.ts";

const fields = {
  prompt: "prompt",
  image: "image_url",
  duration: "duration:text",
  aspect_ratio: "aspect_ratio",
  negative_prompt: "negative_prompt",
};
const PICTURE = { bytes: pngOf(2, 2), contentType: "image/png" };
const VIDEO = { url: "https://ours.example/files/v.mp4" };
const EVERYTHING = { resolution: "720p", aspectRatio: "16:9", seed: 7, negativePrompt: "blur" };
const APP = "/fal-ai/kling-video";
const KLING = `${APP}/v2.5-turbo/pro/text-to-video`;
const FROM_PICTURE = "fal-ai/kling-video/v2.5-turbo/pro/image-to-video";
const ONE = [{ url: "https://x.example/1" }];
const fails = (...reply: Parameters<typeof modelReply>) => ({ result: modelReply(...reply) });

describeQueuedJob("a fal video", {
  ...falJobs(({ video }) => video, { prompt: "waves in a bay" }, { sourceModel: KLING.slice(1), fields }),
  sends: [
    [
      "under its source's own names, as its source writes them, and rings where it is told to",
      { input: { ...EVERYTHING, duration: 10 }, callbackUrl: "https://ours.example/bell/1?a=b c" },
      { prompt: "waves in a bay", duration: "10", aspect_ratio: "16:9", negative_prompt: "blur" },
      { path: `${KLING}?fal_webhook=https%3A%2F%2Fours.example%2Fbell%2F1%3Fa%3Db%20c` },
    ],
    [
      "under the usual names where its source says nothing, media as addresses or as they are",
      {
        input: { ...EVERYTHING, image: PICTURE, video: VIDEO, duration: 5, personGeneration: "allow_adult" },
        sourceModel: "acme/filmer",
        fields: null,
      },
      {
        prompt: "waves in a bay",
        image_url: `data:image/png;base64,${PICTURE.bytes.toString("base64")}`,
        video_url: VIDEO.url,
        duration: 5,
        resolution: "720p",
        aspect_ratio: "16:9",
        seed: 7,
        negative_prompt: "blur",
      },
      { path: "/acme/filmer" },
    ],
    [
      "from a picture at an address that its caller gave",
      { input: { image: { url: "https://x.example/p.png" } }, sourceModel: FROM_PICTURE },
      { prompt: "waves in a bay", image_url: "https://x.example/p.png" },
      { path: `/${FROM_PICTURE}` },
    ],
  ],
  unsent: [
    ["of a source without a field for a picture", { input: { image: PICTURE }, fields: { prompt: "prompt" } }],
    ["of a source without a field for a video", { input: { video: VIDEO }, fields: { prompt: "p", image: "i" } }],
    ["of a source without a field that says what to make", { fields: { duration: "duration" } }],
  ],
  life: {
    asked: { input: { duration: 5 } },
    told: ({ request_id: id }, { server }) => [
      { state: "pending" },
      { state: "pending" },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/files/${String(id)}-0.mp4`, contentType: "video/mp4" }],
        usage: { seconds: CLIP_SECONDS },
      },
    ],
    requests: asks(APP, 3),
    file: fileAt("/0.mp4")?.body as Buffer,
  },
  done: [
    ["one of a list", gives({ videos: [ONE[0], { url: "https://x.example/2" }] }), ONE],
    ["a bare address", gives({ video_url: "https://x.example/1" }), ONE],
    ["a list in the place of one", gives({ video: [{ ...ONE[0], duration: 4 }] }), ONE, { seconds: 4 }],
    [
      "a type and a length that are none",
      gives({ video: { ...ONE[0], content_type: "text/html", duration: -1 } }),
      ONE,
    ],
    ["the time it took", gives({ video: ONE[0], timings: { inference: 31.5 } }), ONE, { computeSeconds: 31.5 }],
  ],
  failed: [
    ["nothing in its place", gives({ video: null }), fault("failed")],
    ["an empty list", gives({ videos: [] }), fault("failed")],
    ["what the filter blackened", gives({ videos: ONE, has_nsfw_concepts: [true] }), fault("refused")],
    ["a refusal", fails("content_policy_violation", "prompt"), fault("refused")],
    ["a length it cannot make", fails("one_of", "duration"), badValue("duration")],
    ["a length that the model refuses when it has run", {}, badValue("duration"), { input: { duration: 7 } }],
    ["a prompt it cannot take", fails("sequence_too_long", "prompt"), badRequest("prompt")],
    [
      "a picture it cannot read",
      fails("image_load_error", "image_url"),
      { ...badInput("image_url"), say: expect.stringContaining("image") },
    ],
    ["a file of nobody's", fails("file_download_error"), badInput("image_url")],
    [
      "a film of another format",
      fails("unsupported_video_format"),
      { ...badInput("video_url"), say: expect.stringContaining("video") },
    ],
    ["a film that is too long", fails("video_duration_too_long"), badInput("video_url")],
    ["a field of nobody's", fails("missing", "audio_url"), fault("misconfigured")],
    ["the model's time limit", fails("generation_timeout", null, 504), fault("timeout")],
    ["a runner that died", { result: platformReply("runner_disconnected", 503) }, fault("failed")],
  ],
  unclear: [
    ["no member for it", gives({ seed: 7 })],
    ["another kind's result", gives({ images: [{ url: "https://x.example/1.png" }] })],
    ["no address", gives({ video: { file_name: "1.mp4" } })],
    ["an address that is none", gives({ video: { url: "file:///etc/passwd" } })],
    ["a data URL", gives({ video: { url: "data:video/mp4;base64,AAAA" } })],
  ],
});
