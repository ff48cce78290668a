import { describe, expect, test } from "bun:test";

import { openByteBudget } from "#workers/providers/byte-budget.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";
import type { Artifact, MediaCall, Polled, VideoInput } from "#workers/providers/media.ts";

import { jsonReply, ok, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, never, overriding, queued, useServers } from "../engine/calls.ts";
import { type ErrorName, ERRORS } from "../gemini/errors.ts";
import { base64Of, doneOperation, doneWith, PROJECT, type Script, startGoogleCloudServer } from "./server.ts";
import { CLIP, EVERYTHING, IMAGE, mp4Of, videoCall } from "../video-calls.ts";

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
  return {
    server,
    video,
    another,
    make: (input: Partial<VideoInput> = {}, call: Partial<MediaCall<VideoInput>> = {}) =>
      video.start(videoCall(input, { sourceModel: "veo-3.1", ...call })),
  };
}

/** Returns the outcome of a job whose polls are answered like this. */
async function outcomeOf(...polls: NonNullable<Script["polls"]>): Promise<Polled<readonly Artifact[]>> {
  const { video, make } = start({ polls });
  return video.poll(await make(), never);
}

/** Largest answer, in bytes. */
const ROOM = 192 * 1_048_576;

const PLACE = `/v1/projects/${encodeURIComponent(PROJECT)}/locations/us-central1/publishers/google`;

describe("a video of Veo", () => {
  test("is asked for in the account's project, with its token, media in the instance and all else in the parameters", async () => {
    const { server, make } = start();
    await make({ ...EVERYTHING, video: CLIP });
    expect(server.veo.requests).toMatchObject([
      {
        method: "POST",
        path: `${PLACE}/models/veo-3.1:predictLongRunning`,
        headers: { authorization: `Bearer ${server.tokens[0]}`, "content-type": "application/json" },
      },
    ]);
    expect(server.veo.requests[0]?.body).toEqual({
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
    });
  });

  test("asks for nothing that nobody chose, and has its parameters changed by its source last", async () => {
    const { server, make } = start();
    await make();
    await make({ resolution: "720p" }, { ...overriding({ generateAudio: true, resolution: "1080p" }) });
    expect(server.veo.requests.map(({ body }) => body)).toEqual([
      { instances: [{ prompt: "a sea otter" }], parameters: { sampleCount: 1 } },
      {
        instances: [{ prompt: "a sea otter" }],
        parameters: { sampleCount: 1, generateAudio: true, resolution: "1080p" },
      },
    ]);
  });

  test.each([
    [4_294_967_295, 4_294_967_295],
    [-1, 4_294_967_295],
    [4_294_967_296 + 5, 5],
  ])("with the seed %d has one of 32 bits without a sign", async (seed, sent) => {
    const { server, make } = start();
    await make({ seed });
    expect(server.veo.requests[0]?.body).toMatchObject({ parameters: { seed: sent } });
  });

  test("runs and ends with its bytes, found by a process that has only what was stored", async () => {
    const { server, make, another } = start();
    const stored = JSON.stringify(await make({ duration: 6 }));
    for (const secret of [server.tokens[0], server.account["private_key_id"]]) {
      expect(stored).not.toContain(String(secret));
    }
    const other = another();
    const job = JSON.parse(stored) as Record<string, unknown>;
    expect(await other.poll(job, never)).toEqual({ state: "pending" });
    expect(await other.poll(job, never)).toEqual({
      state: "done",
      output: [{ bytes: Uint8Array.from(mp4Of(6)), contentType: "video/mp4" }],
      usage: {},
    });
    const asked = {
      method: "POST",
      path: `${PLACE}/models/veo-3.1:fetchPredictOperation`,
      body: { operationName: job["operation"] },
    };
    expect(server.veo.requests.slice(1)).toMatchObject([asked, asked]);
    expect(server.veo.charged).toBe(1);
  });

  test("may be larger than other answers", async () => {
    const bytes = Buffer.alloc(52 * 1_048_576, 7);
    const polled = await outcomeOf({ members: doneOperation({ bytesBase64Encoded: bytes.toString("base64") }) });
    const artifact = polled.state === "done" ? polled.output[0] : undefined;
    expect(artifact && "bytes" in artifact ? bytes.equals(artifact.bytes) : polled).toBeTrue();
  });

  test("waits for room to be read in, which nobody needs for a small answer, and gives it back", async () => {
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

  test("but not without end", async () => {
    const endless: Reply = {
      kind: "custom",
      async play(_request, wire) {
        await wire.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n{");
        await wire.wait(Infinity);
      },
    };
    expect(await outcomeOf(endless)).toEqual({
      state: "unknown",
      detail: "the poll failed: failed, answer of 999999999 bytes is over the limit",
    });
  });

  test.each([
    ["video/webm", "video/webm"],
    ["text/html", "video/mp4"],
    [undefined, "video/mp4"],
  ])("of type %p is %s", async (mimeType, contentType) => {
    const members = doneOperation({ bytesBase64Encoded: base64Of(1), mimeType });
    expect(await outcomeOf({ members })).toMatchObject({ output: [{ contentType }] });
  });

  test("cannot be cancelled", () => {
    expect(start().video).not.toHaveProperty("cancel");
  });

  test("beyond the one asked for is not delivered", async () => {
    const members = doneOperation({ bytesBase64Encoded: base64Of(1) }, { bytesBase64Encoded: base64Of(2) });
    expect(await outcomeOf({ members })).toMatchObject({
      state: "done",
      output: [{ bytes: Uint8Array.from(mp4Of(1)) }],
    });
  });

  test("is delivered though another was filtered", async () => {
    const { response } = doneOperation({ bytesBase64Encoded: base64Of(1) }) as { response: object };
    const members = { done: true, response: { ...response, raiMediaFilteredCount: 1 } };
    expect((await outcomeOf({ members })).state).toBe("done");
  });
});

describe("a job that ended without a video", () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ["a filter", doneWith({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Support codes: 1523"] }), "refused"],
    ["a filter and an empty list", doneWith({ videos: [], raiMediaFilteredCount: 1 }), "refused"],
    ["a filter without a count", doneWith({ raiMediaFilteredReasons: ["no"] }), "refused"],
    ["nothing", doneWith({ videos: [] }), "failed"],
    ["nothing at all", { done: true, response: {} }, "failed"],
    ["a refused prompt", { done: true, error: { code: 3, message: "it violates our usage guidelines" } }, "refused"],
    ["a value", { done: true, error: { code: 3, message: "Unsupported output video duration 5 seconds" } }, "rejected"],
    ["no room", { done: true, error: { code: 8, message: "quota" } }, "busy"],
    ["a fault", { done: true, error: { code: 13, message: "oops" } }, "failed"],
    ["a fault over a picture", { done: true, error: { code: 13, message: "image could not be decoded" } }, "failed"],
    ["a time limit", { done: true, error: { code: 4, message: "late" } }, "timeout"],
    ["rights", { done: true, error: { code: 7, message: "no" } }, "misconfigured"],
    [
      "an error beside a video",
      { ...doneOperation({ bytesBase64Encoded: base64Of(1) }), error: { code: 13, message: "oops" } },
      "failed",
    ],
  ])("over %s is told by its class", async (_what, members, kind) => {
    expect(await outcomeOf({ members })).toMatchObject({ state: "failed", error: { kind } });
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["no response", { done: true }],
    ["another model's response", { done: true, response: { generateVideoResponse: { generatedSamples: [] } } }],
    ["no bytes", doneOperation({})],
    ["an empty text", doneOperation({ bytesBase64Encoded: "" })],
    ["base64 that is none", doneOperation({ bytesBase64Encoded: "*" })],
    ["a number for bytes", doneOperation({ bytesBase64Encoded: 7 })],
    ["no name", { name: undefined }],
    ["a word for done", { done: "yes" }],
  ])("with %s is open", async (_what, members) => {
    expect(await outcomeOf({ members })).toMatchObject({ state: "unknown" });
  });
});

describe("a bucket", () => {
  test("is nothing that a source may put videos into, since nobody here may read it", async () => {
    const { server, make } = start();
    const adapt = overriding({ storageUri: "gs://bucket/videos/" });
    expect(await failureOf(make({}, adapt))).toMatchObject({ kind: "misconfigured" });
    expect(server.veo.requests).toEqual([]);
  });

  test.each(["gs://bucket/video.mp4", "https://evil.example/video.mp4", "file:///etc/passwd"])(
    "that holds the video (%s) is not asked, with our token or without",
    async (gcsUri) => {
      expect(await outcomeOf({ members: doneOperation({ gcsUri }) })).toMatchObject({
        state: "failed",
        error: { kind: "misconfigured" },
      });
    },
  );
});

describe("a start", () => {
  test.each([
    ["invalid-argument", "rejected"],
    ["precondition", "misconfigured"],
    ["permission-denied", "misconfigured"],
    ["not-found", "misconfigured"],
    ["rate-limit", "busy"],
    ["rate-limit-bare", "busy"],
    ["cancelled", "failed"],
    ["internal", "failed"],
    ["unavailable", "busy"],
    ["deadline", "unknown"],
  ] as const satisfies readonly (readonly [ErrorName, string])[])("answered with %s is %s", async (name, kind) => {
    const { server, make } = start({ start: ERRORS[name] });
    const error = await failureOf(make());
    expect(error).toMatchObject({ kind, isUnsent: false });
    expect(error.message + (error.say ?? "")).not.toContain(VENDOR_MARK);
    expect([server.veo.requests.length, server.veo.charged]).toEqual([1, 0]);
  });

  test("that is not let in is sent once more, with another token, and then it is the account's fault", async () => {
    const { server, make } = start({ start: ERRORS.unauthenticated }, { start: ERRORS.unauthenticated });
    expect(await failureOf(make())).toMatchObject({ kind: "misconfigured", isUnsent: false });
    const sent = server.veo.requests.map(({ headers }) => headers["authorization"]);
    expect(sent).toEqual(server.tokens.map((token) => `Bearer ${token}`));
    expect([sent.length, server.veo.charged]).toEqual([2, 0]);
  });

  const said = (message: string): Reply =>
    jsonReply(400, { error: { code: 400, status: "INVALID_ARGUMENT", message } });
  test.each<[string, Reply, object]>([
    [
      "sensitive words",
      said("The prompt contains words that violate Google's Responsible AI practices."),
      { kind: "refused" },
    ],
    ["a picture", said("Unable to process input image."), { code: "unprocessable_input", param: "image_url" }],
    ["an error inside a 200", ok({ error: { code: 8, message: "quota" } }), { kind: "busy" }],
    ["a hint", ERRORS["rate-limit"], { kind: "busy", retryAfterMs: 34_400 }],
  ])("told of by %s is told by its class", async (_what, reply, expected) => {
    expect(await failureOf(start({ start: reply }).make())).toMatchObject(expected);
  });

  test.each<[string, Script]>([
    ["no name", { receipt: { name: undefined } }],
    ["a number for a name", { receipt: { name: 7 } }],
    ["a name with spaces", { receipt: { name: "projects/p operations/1" } }],
    ["a name without end", { receipt: { name: "a".repeat(501) } }],
  ])("answered with %s is an unknown outcome: the job may exist", async (_what, script) => {
    expect(await failureOf(start(script).make())).toMatchObject({ kind: "unknown" });
  });

  test("needs a source that has a field for what is given, and its bytes", async () => {
    const { server, make } = start();
    const given = [
      make({ image: IMAGE }, { fields: { duration: "durationSeconds" } }),
      make({ video: CLIP }, { fields: { image: "image" } }),
      make({ image: { url: "http://10.0.0.1/x.png" } }),
    ];
    for (const call of given) expect(await failureOf(call)).toMatchObject({ kind: "misconfigured" });
    expect([server.veo.requests.length, server.tokens.length]).toEqual([0, 0]);
  });
});

describe("a poll that brings no verdict", () => {
  test.each<[string, NonNullable<Script["polls"]>[number]]>([
    ["nothing", ok({})],
    ["an error in the place of an operation", ok({ error: { code: 3, message: "no" } })],
    ["a verdict's shape beside a fault", jsonReply(500, { name: "x", done: true, error: { code: 3, message: "no" } })],
    ["a bad request", ERRORS["invalid-argument"]],
    ["a token that is no longer taken", ERRORS.unauthenticated],
  ])("%s leaves the job open", async (_what, polled) => {
    expect(await outcomeOf(polled)).toMatchObject({ state: "unknown" });
  });

  test.each([
    [{}],
    [{ operation: "projects/p/operations/1" }],
    [{ model: "veo-3.1" }],
    [{ model: "", operation: "projects/p/operations/1" }],
    [{ model: 7, operation: "projects/p/operations/1" }],
    [{ model: "veo-3.1", operation: ["projects"] }],
    [{ model: "veo-3.1", operation: "../../x y" }],
  ])("of what is no job of this family's (%j) asks nobody", async (job) => {
    const { server, video } = start();
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    expect([server.veo.requests.length, server.tokens.length]).toEqual([0, 0]);
  });

  test("of a job whose names lead elsewhere stays in the models of the project", async () => {
    const { server, video } = start();
    const job = { model: "../../../../x?a=b#", operation: "https://evil.example/operations/1" };
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    expect(server.veo.requests.map(({ path }) => path)).toEqual([
      `${PLACE}/models/..%2F..%2F..%2F..%2Fx%3Fa%3Db%23:fetchPredictOperation`,
    ]);
  });
});
