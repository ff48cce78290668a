import { describe, expect, test } from "bun:test";

import { openByteBudget } from "#workers/providers/byte-budget.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";
import type { Artifact, Polled } from "#workers/providers/media.ts";

import { jsonReply, type Members, ok } from "../engine/behaviour.ts";
import { failureOf, never, overriding, queued, useServers } from "../engine/calls.ts";
import { ERRORS } from "../gemini/errors.ts";
import { describeQueuedJob, endless, fault, namedErrors } from "../queued-job.ts";
import { CLIP, EVERYTHING, IMAGE, mp4Of, videoCall } from "../video-calls.ts";
import { base64Of, doneOperation, doneWith, PROJECT, type Script, startGoogleCloudServer } from "./server.ts";

const own = useServers();

function start(...scripts: readonly Script[]) {
  const server = startGoogleCloudServer();
  own(server.veo);
  own(server.identity);
  server.veo.next(...scripts);
  /** Opens the adapter that another process would have. */
  const another = () =>
    queued(createGoogleCloud({ baseUrl: server.url, headers: {} }, server.credentials, () => server.clock.now).video);
  const video = another();
  return { server, video, another, make: () => video.start(videoCall({}, { sourceModel: "veo-3.1" })) };
}

/** Returns the outcome of a job whose polls are answered like this. */
async function outcomeOf(...polls: NonNullable<Script["polls"]>): Promise<Polled<readonly Artifact[]>> {
  const { video, make } = start({ polls });
  return video.poll(await make(), never);
}

/** Largest answer, in bytes. */
const ROOM = 192 * 1_048_576;

const PLACE = `/v1/projects/${encodeURIComponent(PROJECT)}/locations/us-central1/publishers/google`;
const OPERATION = "projects/p/operations/1";
const BARE = { instances: [{ prompt: "a sea otter" }], parameters: { sampleCount: 1 } };
const says = (members: Members): Script => ({ polls: [{ members }] });
const ended = (code: number, message: string): Script => says({ done: true, error: { code, message } });
const video = (seconds: number, contentType = "video/mp4") => [{ bytes: Uint8Array.from(mp4Of(seconds)), contentType }];
const ONE = { bytesBase64Encoded: base64Of(1) };
const said = (message: string) => jsonReply(400, { error: { code: 400, status: "INVALID_ARGUMENT", message } });

const seeded = (seed: number, sent: number) =>
  [
    `with the seed ${seed} as ${sent}`,
    { input: { seed } },
    { ...BARE, parameters: { sampleCount: 1, seed: sent } },
  ] as const;

describeQueuedJob("a Veo video on Google Cloud", {
  open(...scripts: readonly Script[]) {
    const { server, video: adapter, another } = start(...scripts);
    return { server: server.veo, beside: server.identity, adapter, another };
  },
  call: ({ input, ...changes }) => videoCall(input, { sourceModel: "veo-3.1", ...changes }),
  request: {
    method: "POST",
    path: `${PLACE}/models/veo-3.1:predictLongRunning`,
    headers: { authorization: expect.stringMatching(/^Bearer ya29\./), "content-type": "application/json" },
  },
  words: { waits: "running", runs: "running", done: "done" },
  strange: { members: { name: undefined } },
  another: { members: { ...doneOperation(ONE), name: `${OPERATION}0` } },
  receipt: (name) => ({ name }),
  noNames: ["projects/p operations/1"],
  strangers: [
    { operation: OPERATION },
    { model: "veo-3.1" },
    { model: "", operation: OPERATION },
    { model: 7, operation: OPERATION },
    { model: "veo-3.1", operation: ["projects"] },
    { model: "veo-3.1", operation: "../../x y" },
  ],
  cancel: null,
  find: null,
  sends: [
    [
      "in the account's project, media in the instance and all else in the parameters",
      { input: { ...EVERYTHING, video: CLIP } },
      {
        instances: [
          {
            prompt: "a sea otter",
            image: { bytesBase64Encoded: Buffer.from(IMAGE.bytes).toString("base64"), mimeType: "image/jpeg" },
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
      },
    ],
    ["with nothing that nobody chose", {}, BARE],
    [
      "with its parameters as its source changes them",
      { input: { resolution: "720p" }, ...overriding({ generateAudio: true, resolution: "1080p" }) },
      { ...BARE, parameters: { sampleCount: 1, generateAudio: true, resolution: "1080p" } },
    ],
    seeded(4_294_967_295, 4_294_967_295),
    seeded(-1, 4_294_967_295),
    seeded(4_294_967_296 + 5, 5),
  ],
  unsent: [
    ["of a source without a field for a picture", { input: { image: IMAGE }, fields: { duration: "durationSeconds" } }],
    ["of a source without a field for a video", { input: { video: CLIP }, fields: { image: "image" } }],
    ["from a picture at an address", { input: { image: { url: "http://10.0.0.1/x.png" } } }],
    // Nobody here may read it.
    ["of a source that puts videos into a bucket", overriding({ storageUri: "gs://bucket/videos/" })],
  ],
  life: {
    asked: { input: { duration: 6 } },
    told: () => [{ state: "pending" }, { state: "done", output: video(6), usage: {} }],
    requests: () => Array.from({ length: 2 }, () => `POST ${PLACE}/models/veo-3.1:fetchPredictOperation`),
    file: mp4Of(6),
  },
  starts: [
    ...namedErrors(ERRORS, {
      rejected: ["invalid-argument"],
      misconfigured: ["precondition", "permission-denied", "not-found"],
      busy: ["rate-limit", "rate-limit-bare", "unavailable"],
      failed: ["cancelled", "internal"],
      unknown: ["deadline"],
    }),
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
    ["an error inside a 200", ok({ error: { code: 8, message: "quota" } }), fault("busy")],
    ["a hint when to come back", ERRORS["rate-limit"], { kind: "busy", retryAfterMs: 34_400 }],
  ],
  done: [
    ["a file of another type", says(doneOperation({ ...ONE, mimeType: "video/webm" })), video(1, "video/webm")],
    ["a file whose type is none", says(doneOperation({ ...ONE, mimeType: "text/html" })), video(1)],
    ["a file without a type", says(doneOperation({ ...ONE, mimeType: undefined })), video(1)],
    [
      "more than the one asked for, which are not delivered",
      says(doneOperation(ONE, { bytesBase64Encoded: base64Of(2) })),
      video(1),
    ],
    [
      "a file beside one that was filtered",
      says(doneWith({ videos: [{ mimeType: "video/mp4", ...ONE }], raiMediaFilteredCount: 1 })),
      video(1),
    ],
  ],
  failed: [
    [
      "a filter",
      says(doneWith({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Support codes: 1523"] })),
      fault("refused"),
    ],
    ["a filter and an empty list", says(doneWith({ videos: [], raiMediaFilteredCount: 1 })), fault("refused")],
    ["a filter without a count", says(doneWith({ raiMediaFilteredReasons: ["no"] })), fault("refused")],
    ["nothing", says(doneWith({ videos: [] })), fault("failed")],
    ["nothing at all", says({ done: true, response: {} }), fault("failed")],
    ["a refused prompt", ended(3, "it violates our usage guidelines"), fault("refused")],
    ["a value", ended(3, "Unsupported output video duration 5 seconds"), fault("rejected")],
    ["no room", ended(8, "quota"), fault("busy")],
    ["a fault", ended(13, "oops"), fault("failed")],
    ["a fault over a picture", ended(13, "image could not be decoded"), fault("failed")],
    ["a time limit", ended(4, "late"), fault("timeout")],
    ["rights", ended(7, "no"), fault("misconfigured")],
    ["an error beside a video", says({ ...doneOperation(ONE), error: { code: 13, message: "oops" } }), fault("failed")],
    // A bucket is not asked, with our token or without.
    ...["gs://bucket/video.mp4", "https://evil.example/video.mp4", "file:///etc/passwd"].map(
      (gcsUri) =>
        [`a bucket that holds it, ${gcsUri}`, says(doneOperation({ gcsUri })), fault("misconfigured")] as const,
    ),
  ],
  unclear: [
    ["no response", says({ done: true })],
    ["another model's response", says({ done: true, response: { generateVideoResponse: { generatedSamples: [] } } })],
    ["no bytes", says(doneOperation({}))],
    ["an empty text", says(doneOperation({ bytesBase64Encoded: "" }))],
    ["base64 that is none", says(doneOperation({ bytesBase64Encoded: "*" }))],
    ["a number for bytes", says(doneOperation({ bytesBase64Encoded: 7 }))],
    ["a word for done", says({ done: "yes" })],
    ["an error in the place of an operation", { polls: [ok({ error: { code: 3, message: "no" } })] }],
  ],
});

describe("a Veo job on Google Cloud", () => {
  test("is stored without a secret, and polled by its name", async () => {
    const { server, video: adapter, make } = start();
    const job = await make();
    for (const secret of [server.tokens[0], server.account["private_key_id"]]) {
      expect(JSON.stringify(job)).not.toContain(String(secret));
    }
    await adapter.poll(job, never);
    const [begun, asked] = server.veo.requests;
    expect(begun?.headers["authorization"]).toBe(`Bearer ${server.tokens[0]}`);
    expect(asked?.body).toEqual({ operationName: job["operation"] });
  });

  test("may be larger than other answers", async () => {
    const bytes = Buffer.alloc(52 * 1_048_576, 7);
    const polled = await outcomeOf({ members: doneOperation({ bytesBase64Encoded: bytes.toString("base64") }) });
    const artifact = polled.state === "done" ? polled.output[0] : undefined;
    expect(artifact && "bytes" in artifact ? bytes.equals(artifact.bytes) : polled).toBeTrue();
  });

  test("waits for memory to be read, unless its answer is small, and releases it", async () => {
    const bytes = Buffer.alloc(2 * 1_048_576, 7);
    const large = { members: doneOperation({ bytesBase64Encoded: bytes.toString("base64") }) };
    const server = startGoogleCloudServer();
    own(server.veo);
    own(server.identity);
    server.veo.next({ polls: [large] }, { polls: ["running"] });
    const budget = openByteBudget(ROOM);
    const { video } = createGoogleCloud(
      { baseUrl: server.url, headers: {} },
      server.credentials,
      () => server.clock.now,
      budget,
    );
    const adapter = queued(video);
    const [job, other] = [await adapter.start(videoCall()), await adapter.start(videoCall())];
    const others = await budget.take({ amount: ROOM }, never);
    const states: string[] = [];
    const waiting = adapter.poll(job, never).then(({ state }) => states.push(state));
    expect(await adapter.poll(job, AbortSignal.timeout(200))).toMatchObject({ state: "unknown" });
    expect(await adapter.poll(other, never)).toEqual({ state: "pending" });
    expect(states).toEqual([]);
    others.release();
    await waiting;
    expect(states).toEqual(["done"]);
    (await budget.take({ amount: ROOM }, never)).release();
  });

  test("whose answer is endless stays open for its size", async () => {
    expect(await outcomeOf(endless)).toEqual({
      state: "unknown",
      detail: "the poll failed: failed, answer of 999999999 bytes is over the limit",
    });
  });

  test("that is unauthorized is sent once more, with another token, and then it is the account's error", async () => {
    const { server, make } = start({ start: ERRORS.unauthenticated }, { start: ERRORS.unauthenticated });
    expect(await failureOf(make())).toMatchObject({ kind: "misconfigured", isUnsent: false });
    const sent = server.veo.requests.map(({ headers }) => headers["authorization"]);
    expect(sent).toEqual(server.tokens.map((token) => `Bearer ${token}`));
    expect([sent.length, server.veo.charged]).toEqual([2, 0]);
  });

  test("whose names point elsewhere stays in the models of the project", async () => {
    const { server, video } = start();
    const job = { model: "../../../../x?a=b#", operation: "https://evil.example/operations/1" };
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    expect(server.veo.requests.map(({ path }) => path)).toEqual([
      `${PLACE}/models/..%2F..%2F..%2F..%2Fx%3Fa%3Db%23:fetchPredictOperation`,
    ]);
  });
});
