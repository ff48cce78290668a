import { describe, expect, test } from "bun:test";

import { createGemini } from "#workers/providers/gemini/index.ts";
import type { VideoInput } from "#workers/providers/media.ts";

import { jsonReply, type Members, ok, type Reply } from "../engine/behaviour.ts";
import { failureOf, never, openOf, overriding, queued, useServers } from "../engine/calls.ts";
import { startRecorder } from "../engine/recorder.ts";
import { describeQueuedJob, fault, namedErrors, type JobBase, type JobTable } from "../queued-job.ts";
import { CLIP, EVERYTHING, IMAGE, mp4Of, videoCall, videoReply } from "../video-calls.ts";
import { ERRORS } from "./errors.ts";
import { doneInteraction, doneOperation, type Script, startGeminiVideoServer } from "./video-server.ts";

const own = useServers();

const JPEG = Buffer.from(IMAGE.bytes).toString("base64");
const MP4 = Buffer.from(CLIP.bytes).toString("base64");
const says = (members: Members): Script => ({ polls: [{ members }] });
const READ = { contentType: "video/mp4", open: expect.any(Function) };
/** A place that a key of ours must never come to. */
const STRANGE = "https://generativelanguage.googleapis.com.evil.example/v1beta/files/abc:download";
const ELSEWHERE = { url: STRANGE, contentType: "video/mp4" };

function start(...scripts: readonly Script[]) {
  const server = own(startGeminiVideoServer({ apiKey: "key-ours" }));
  server.next(...scripts);
  const endpoint = { baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } };
  const another = () => queued(createGemini(endpoint).video);
  return { server, adapter: another(), another };
}

const said = (message: string, code: unknown = "invalid_request"): Reply =>
  jsonReply(400, { error: { code, message } });

/** Rows of both shapes, which a source's `api` tells apart. */
const GEMINI = {
  open: start,
  receipt: (id) => ({ id, name: id }),
  strangers: [
    { id: "v1_abc" },
    { api: "interactions", id: "../models" },
    { api: "interactions", id: "a/b" },
    { api: "predictLongRunning", id: "v1_abc" },
    { api: "predictLongRunning", operation: "models/../operations/x" },
    { api: "predictLongRunning", operation: "https://evil.example/operations/x" },
    { api: "toString", id: "v1_abc" },
  ],
  noNames: ["a/b", "models/../../operations/x", "operations/a?key=b", "files/abc"],
  unsent: [
    ["of a source without a field for a picture", { input: { image: IMAGE }, fields: { duration: "duration" } }],
    ["of a source without a field for a video", { input: { video: CLIP }, fields: { image: "image" } }],
    ["from a picture at an address", { input: { image: { url: "http://10.0.0.1/x.png" } } }],
    ...["generateContent", "constructor", 7].map(
      (api) => [`in the shape ${api}, which nobody knows`, overriding({ api })] as const,
    ),
  ],
  starts: [
    ...namedErrors(ERRORS, {
      rejected: ["invalid-argument"],
      misconfigured: ["key-invalid", "precondition", "unauthenticated", "permission-denied", "not-found", "depleted"],
      busy: ["rate-limit", "unavailable"],
      failed: ["internal"],
      unknown: ["deadline"],
    }),
    ["a word for a code", said("duration: no"), fault("rejected")],
    [
      "sensitive words",
      said("The prompt contains words that violate Google's Responsible AI practices."),
      fault("refused"),
    ],
    [
      "a picture that it cannot read",
      said("Unable to process input image."),
      { code: "unprocessable_input", param: "image_url" },
    ],
    [
      "too much",
      said("The input token count (9) exceeds the maximum"),
      { code: "context_length_exceeded", param: "prompt" },
    ],
    [
      "a list of errors",
      jsonReply(400, [{ error: { code: 400, status: "INVALID_ARGUMENT", message: "no" } }]),
      fault("rejected"),
    ],
    ["an error inside a 200", ok({ error: { code: 8, message: "quota" } }), fault("busy")],
    ["a hint when to come back", ERRORS["rate-limit"], { kind: "busy", retryAfterMs: 34_400 }],
  ],
} satisfies Partial<JobTable<VideoInput, Script>>;

const output = (...content: readonly object[]) => [{ type: "model_output", content }];
const completed = (...content: readonly object[]): Script => says({ status: "completed", steps: output(...content) });
const failing = (errors: Members): Script => says({ status: "failed", ...errors });
const OMNI: JobBase<VideoInput, Script> = {
  ...GEMINI,
  call: ({ input, ...changes }) => videoCall(input, { sourceModel: "omni", ...changes }),
  request: { method: "POST", path: "/v1beta/interactions", headers: { "x-goog-api-key": "key-ours" } },
  words: { waits: { members: { status: "queued" } }, runs: "running", done: "done" },
  strange: { members: { status: "paused" } },
  another: { members: { id: "v1_other" } },
  cancel: ({ id }) => [`POST /v1beta/interactions/${String(id)}/cancel`],
  // Google rings at HTTPS addresses alone.
  find: { rung: (id) => ({ api: "interactions", id }), unrung: [undefined, "http://sluice.example/ring"] },
};
const PLAIN = {
  model: "omni",
  background: true,
  input: "a sea otter",
  response_format: { type: "video", delivery: "uri" },
};

const seeded = (seed: number, sent: number) =>
  [`with the seed ${seed} as ${sent}`, { input: { seed } }, { ...PLAIN, generation_config: { seed: sent } }] as const;

describeQueuedJob("an Omni video", {
  ...GEMINI,
  ...OMNI,
  sends: [
    [
      "in the background, by address, with what Omni takes and nothing else",
      { input: EVERYTHING },
      {
        ...PLAIN,
        input: [
          { type: "image", data: JPEG, mime_type: "image/jpeg" },
          { type: "text", text: "a sea otter" },
        ],
        response_format: { ...PLAIN.response_format, duration: "8s", resolution: "720p", aspect_ratio: "16:9" },
        generation_config: { seed: 7, video_config: { task: "image_to_video" } },
      },
    ],
    ["with nothing that nobody chose", {}, PLAIN],
    [
      "as its source changes it, which does not say its api to anybody",
      overriding({ service_tier: "flex", api: "interactions" }),
      { ...PLAIN, service_tier: "flex" },
    ],
    [
      "from a video that goes on, whatever is to become of that",
      { input: { video: CLIP, image: IMAGE } },
      {
        ...PLAIN,
        input: [
          { type: "image", data: JPEG, mime_type: "image/jpeg" },
          { type: "video", data: MP4, mime_type: "video/mp4" },
          { type: "text", text: "a sea otter" },
        ],
      },
    ],
    [
      "with an address to ring at",
      { callbackUrl: "https://sluice.example/ring" },
      { ...PLAIN, webhook_config: { uris: ["https://sluice.example/ring"] } },
    ],
    ["without an address that Google does not ring at", { callbackUrl: "http://sluice.example/ring" }, PLAIN],
    seeded(7, 7),
    seeded(2_147_483_648, -2_147_483_648),
    seeded(-1, -1),
    seeded(4_294_967_296 + 5, 5),
  ],
  life: {
    asked: { input: { duration: 8 } },
    script: { polls: [{ members: { status: "queued" } }, "running", "done"] },
    told: () => [{ state: "pending" }, { state: "pending" }, { state: "done", output: [READ], usage: {} }],
    requests({ id }) {
      const [asked, file] = [`GET /v1beta/interactions/${String(id)}`, `/v1beta/files/${String(id)}`];
      return [
        asked,
        asked,
        asked,
        `GET ${file}`,
        ...["", "/download"].map((at) => `GET ${at}${file}:download?alt=media`),
      ];
    },
    file: mp4Of(8),
    isOwn: true,
  },
  done: [
    // A file of which nobody knows is tried.
    ["a file whose state nobody knows", { fileStates: ["STATE_UNSPECIFIED"] }, [READ]],
    ["a file whose state is an error", { fileStates: [ERRORS["permission-denied"]] }, [READ]],
    ["a file whose state is no JSON", { fileStates: [ok("<html>")] }, [READ]],
    [
      "bytes inside the answer, after a draft",
      says({
        status: "completed",
        steps: [
          ...output({ type: "video", data: "AAAA" }),
          ...output({ type: "video", data: mp4Of(2).toString("base64") }, { type: "text", text: "There." }),
        ],
      }),
      [{ bytes: Uint8Array.from(mp4Of(2)), contentType: "video/mp4" }],
    ],
    ["an address elsewhere, told without our key and asked nothing by us", says(doneInteraction(STRANGE)), [ELSEWHERE]],
  ],
  pending: [["a file that is still on its way", { fileStates: ["PROCESSING"] }]],
  failed: [
    ["a file that failed", { fileStates: ["FAILED"] }, fault("failed")],
    ["words in its place", completed({ type: "text", text: "I can't make that." }), fault("refused")],
    ["nothing", says({ status: "completed", steps: [] }), fault("failed")],
    ["nothing at all", says({ status: "incomplete" }), fault("failed")],
    [
      "a safety code",
      failing({ errors: [{ code: "https://x.example/errors#SAFETY", message: "no" }] }),
      fault("refused"),
    ],
    ["safety words", failing({ error: { message: "The prompt was blocked for safety reasons" } }), fault("refused")],
    ["a bad request", failing({ error: { code: "invalid_request", message: "no" } }), fault("rejected")],
    ["a quota", failing({ errors: [{ code: "RESOURCE_EXHAUSTED", message: "no" }] }), fault("busy")],
    ["a fault", failing({ errors: [{ code: "internal", message: "oops" }] }), fault("failed")],
    ["no reason", failing({}), fault("failed")],
    [
      "a step's fault",
      says({
        status: "completed",
        steps: [{ type: "model_output", error: { code: 3, message: "violates our policies" } }],
      }),
      fault("refused"),
    ],
    ["an end by somebody", says({ status: "cancelled" }), fault("failed")],
    ["no money", says({ status: "budget_exceeded" }), fault("failed")],
    ["a question of its own", says({ status: "requires_action" }), fault("failed")],
  ],
  unclear: [
    // It was paid for, and is somewhere.
    [
      "a video that it counted and does not show",
      says({
        status: "completed",
        usage: doneInteraction("")["usage"],
        steps: output({ type: "text", text: "Done." }),
      }),
    ],
    ["a file of nobody's", completed({ type: "video", uri: "file:///etc/passwd" })],
    ["an address that is none", completed({ type: "video", uri: "::" })],
    ["a bucket", completed({ type: "video", uri: "gs://bucket/video.mp4" })],
    ["base64 that is none", completed({ type: "video", data: "*" })],
    ["no bytes", completed({ type: "video", data: "" })],
    ["a video that is nowhere", completed({ type: "video" })],
  ],
});

const VEO = overriding({ api: "predictLongRunning" });
const response = (generateVideoResponse: object): Script => says({ done: true, response: { generateVideoResponse } });
const ended = (code: number, message: string): Script => says({ done: true, error: { code, message } });
const sample = (video: object) => response({ generatedSamples: [{ video }] });
const BARE = { instances: [{ prompt: "a sea otter" }], parameters: { sampleCount: 1 } };

describeQueuedJob("a Veo video with a key", {
  ...GEMINI,
  call: ({ input, ...changes }) => videoCall(input, { sourceModel: "veo-3.1", ...VEO, ...changes }),
  request: {
    method: "POST",
    path: "/v1beta/models/veo-3.1:predictLongRunning",
    headers: { "x-goog-api-key": "key-ours" },
  },
  words: { waits: "running", runs: "running", done: "done" },
  strange: { members: { name: undefined } },
  another: { members: { ...doneOperation(STRANGE), name: "models/veo-3.1/operations/other" } },
  // Its operations cannot be stopped.
  cancel: () => [],
  find: null,
  sends: [
    [
      "with media in its instance and all else in its parameters",
      { input: { ...EVERYTHING, video: CLIP } },
      {
        instances: [
          {
            prompt: "a sea otter",
            image: { bytesBase64Encoded: JPEG, mimeType: "image/jpeg" },
            video: { bytesBase64Encoded: MP4, mimeType: "video/mp4" },
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
      },
    ],
    [
      "with its parameters as its source changes them, which does not say its api to anybody",
      { input: { duration: 4 }, ...overriding({ api: "predictLongRunning", generateAudio: true }) },
      { ...BARE, parameters: { sampleCount: 1, durationSeconds: 4, generateAudio: true } },
    ],
    ["without an address to ring at", { callbackUrl: "https://sluice.example/ring" }, BARE],
  ],
  life: {
    asked: { input: { duration: 6 } },
    told: () => [{ state: "pending" }, { state: "done", output: [READ], usage: {} }],
    requests({ operation }) {
      const [asked, id] = [`GET /v1beta/${String(operation)}`, String(operation).split("/").at(-1)];
      return [asked, asked, ...["", "/download"].map((at) => `GET ${at}/v1beta/files/${id}:download?alt=media`)];
    },
    file: mp4Of(6),
    isOwn: true,
  },
  done: [
    ["an address elsewhere, told without our key and asked nothing by us", says(doneOperation(STRANGE)), [ELSEWHERE]],
    [
      "more than the one asked for, which are not delivered",
      response({ generatedSamples: [{ video: { uri: STRANGE } }, { video: { uri: "https://x.example/2.mp4" } }] }),
      [ELSEWHERE],
    ],
  ],
  failed: [
    [
      "a filter",
      response({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Support codes: 15236754"] }),
      fault("refused"),
    ],
    ["a filter without a count", response({ raiMediaFilteredReasons: ["no"] }), fault("refused")],
    ["nothing", response({}), fault("failed")],
    ["a refused picture", ended(3, "it violates our usage guidelines"), fault("refused")],
    ["support codes", ended(13, "no. Support codes: 29310472"), fault("refused")],
    ["a value", ended(3, "Unsupported output video duration 5 seconds"), fault("rejected")],
    ["a number of HTTP's", ended(429, "slow down"), fault("busy")],
    ["no room", ended(8, "quota"), fault("busy")],
    ["a fault", ended(13, "oops"), fault("failed")],
    ["a time limit", ended(4, "late"), fault("timeout")],
    ["a cancel", ended(1, "gone"), fault("failed")],
    ["rights", ended(7, "no"), fault("misconfigured")],
    [
      "an error beside a video",
      says({ ...doneOperation("http://x.example/v"), error: { code: 13, message: "oops" } }),
      fault("failed"),
    ],
  ],
  unclear: [
    ["no response", says({ done: true })],
    ["another model's response", says({ done: true, response: { images: [] } })],
    ["an address that is none", sample({ uri: "gs://b/o" })],
    ["no address", sample({})],
    ["a word for done", says({ done: "yes" })],
  ],
});

describe("the address of a Gemini video", () => {
  test("on our own host with another scheme, or with a user name, is foreign", async () => {
    const { server, adapter } = start();
    for (const uri of [server.url.replace("http:", "https:"), server.url.replace("//", "//key-ours@")]) {
      server.next(says(doneOperation(`${uri}/files/abc:download`)));
      const polled = await adapter.poll(await adapter.start(videoCall({}, { sourceModel: "veo", ...VEO })), never);
      expect(polled).toMatchObject({ output: [{ url: `${uri}/files/abc:download` }] });
    }
  });

  test.each([
    ["omni", {}],
    ["veo", VEO],
  ])("is private, or foreign, for %s: it receives no request with our key", async (sourceModel, shape) => {
    const other = own(startRecorder(() => videoReply(mp4Of(1))));
    const uri = `${other.origin}/v1beta/files/abc:download`;
    const { adapter } = start(
      { polls: ["done"], file: jsonReply(302, "", { location: uri }) },
      says(sourceModel === "omni" ? doneInteraction(uri) : doneOperation(uri)),
    );
    const poll = async () => adapter.poll(await adapter.start(videoCall({}, { sourceModel, ...shape })), never);
    expect((await failureOf(openOf(await poll()))).kind).toBe("failed");
    expect(JSON.stringify(await poll())).not.toContain("key-ours");
    expect(other.requests).toEqual([]);
  });
});
