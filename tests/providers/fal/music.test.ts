import { fileAt } from "./clips.ts";
import { badRequest, badValue, describeQueuedJob, fault } from "../queued-job.ts";
import { asks, falJobs, gives } from "./jobs.ts";
import { modelReply } from "./server.ts";

const fields = { prompt: "tags", lyrics: "lyrics", duration: "duration", seed: "seed" };
const INPUT = { lyrics: "la la", duration: 30, seed: 7 };
const ONE = [{ url: "https://x.example/1" }];
const fails = (...reply: Parameters<typeof modelReply>) => ({ result: modelReply(...reply) });

describeQueuedJob("fal music", {
  ...falJobs(({ music }) => music, { prompt: "lofi beats", format: "mp3" }, { sourceModel: "fal-ai/ace-step", fields }),
  sends: [
    [
      "under its source's own names; formats are ours to make",
      { input: { ...INPUT, format: "opus" } },
      { ...INPUT, tags: "lofi beats" },
    ],
    [
      "under the usual names where its source says nothing",
      { input: INPUT, sourceModel: "acme/band", fields: null },
      { ...INPUT, prompt: "lofi beats" },
      { path: "/acme/band" },
    ],
    [
      "in other units",
      { input: { duration: 30 }, fields: { prompt: "prompt", duration: "music_length_ms:ms" } },
      { prompt: "lofi beats", music_length_ms: 30_000 },
    ],
  ],
  unsent: [["of a source without a field for its prompt", { input: { lyrics: "la" }, fields: { lyrics: "lyrics" } }]],
  life: {
    script: { polls: ["IN_QUEUE", "COMPLETED"] },
    // Nobody said how long it is: that is measured.
    told: ({ request_id: id }, { server }) => [
      { state: "pending" },
      {
        state: "done",
        output: [{ url: `${server.filesUrl}/files/${String(id)}-0-3s.wav`, contentType: "audio/wav" }],
        usage: {},
      },
    ],
    requests: asks("/fal-ai/ace-step", 2),
    file: fileAt("/0-3s.wav")?.body as Buffer,
  },
  done: [
    ["audio_file", gives({ audio_file: { ...ONE[0], content_type: "application/octet-stream" } }), ONE],
    ["audio_url, a bare address", gives({ audio_url: "https://x.example/1" }), ONE],
    ["audio_url, a file", gives({ audio_url: { ...ONE[0], duration: 12.5 } }), ONE, { seconds: 12.5 }],
    ["one of audios", gives({ audios: [{ ...ONE[0], duration: 9 }] }), ONE, { seconds: 9 }],
    ["audio, with the time it took", gives({ audio: ONE[0], timings: { inference: 2 } }), ONE, { computeSeconds: 2 }],
  ],
  failed: [
    ["nothing in its place", gives({ audio: null }), fault("failed")],
    ["a refusal", fails("content_policy_violation"), fault("refused")],
    ["styles it cannot take", fails("string_too_short", "tags"), badRequest("prompt")],
    ["lyrics it cannot take", fails("missing", "lyrics"), badValue("lyrics")],
    ["a field of nobody's", fails("missing", "scheduler"), fault("misconfigured")],
    ["a length that the model cannot make", {}, { kind: "rejected", param: "duration" }, { input: { duration: 241 } }],
  ],
  unclear: [
    ["a video", gives({ video: { url: "https://x.example/1.mp4" } })],
    ["an address that is none", gives({ audio: { url: "javascript:alert(1)" } })],
    ["a number", gives({ audio: 7 })],
  ],
});
