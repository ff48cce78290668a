import { describe, expect, test } from "bun:test";

import type { Artifact, ImageEditInput, Media, MeshInput, Polled, ProviderJob } from "#workers/providers/media.ts";

import { jsonReply, type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued } from "../engine/calls.ts";
import { fileAt, glb } from "../fal/clips.ts";
import { EDIT, EVERYTHING, MASK } from "../image-calls.ts";
import { pngOf } from "#tests/support/png.ts";
import { badInput, describeQueuedJob, fault, type JobPlace } from "../queued-job.ts";
import { asks, ends, predictions, useReplicate } from "./jobs.ts";
import { TRELLIS } from "./models.ts";

const PAINTER = { sourceModel: "acme/painter", fields: null };
const SEEDANCE = { sourceModel: "bytedance/seedance-1.5-pro", fields: null };
const MINIMAX = { sourceModel: "minimax/music-1.5" };
const PNG = pngOf(64, 64);
const ANOTHER = { input: { prompt: "another one" } };
const n2 = { n: 2 };

/** Outcomes of a prediction that is asked about twice. */
const twice = (file: string, usage: object) => ({
  script: { polls: ["processing", "succeeded"] as const },
  told({ id }: ProviderJob, { server }: Pick<JobPlace<never>, "server">): readonly Polled<readonly Artifact[]>[] {
    const url = `${server.filesUrl}/yhqm/${String(id)}/${file}`;
    return [{ state: "pending" }, { state: "done", output: [{ url }], usage }];
  },
  requests: asks(2),
});

const PICTURES = [{ url: "https://x.example/1" }];
describeQueuedJob("Replicate images", {
  ...predictions(
    ({ images }) => images,
    { prompt: "a sea otter", n: 1 },
    { ...PAINTER, fields: { n: "num_outputs" } },
    ANOTHER,
  ),
  sends: [
    [
      "as the source says, the prompt wherever it wants it",
      {
        input: { ...EVERYTHING, ...n2 },
        fields: { prompt: "text.prompt", n: "num_outputs", size: "size", steps: "options.steps" },
      },
      { input: { text: { prompt: "a sea otter" }, num_outputs: 2, size: "1536x1024", options: { steps: 12 } } },
      { headers: { "cancel-after": "10m" } },
      true,
    ],
    [
      "under the usual names where the source says nothing",
      { input: EVERYTHING, fields: null },
      { input: { prompt: "a sea otter", seed: 7, aspect_ratio: "16:9" } },
    ],
  ],
  unsent: [["as several of a source without a field for how many", { input: n2, fields: null }]],
  life: {
    asked: { input: n2 },
    ...twice("0-64x64.png", {}),
    told: ({ id }, { server }) => [
      { state: "pending" },
      {
        state: "done",
        output: [0, 1].map((at) => ({ url: `${server.filesUrl}/yhqm/${String(id)}/${at}-64x64.png` })),
        usage: { images: 2, computeSeconds: 12.5 },
      },
    ],
    file: PNG,
  },
  done: [
    ...(
      [
        ["one address", "https://x.example/1"],
        ["an object", { image: "https://x.example/1" }],
        ["an object with others", { mask: "https://x.example/2.png", image: "https://x.example/1" }],
        ["a member that nobody knows", { result: "https://x.example/1" }],
        ["a list of objects", [{ image: "https://x.example/1", seed: 7 }]],
        ["more than were asked for", ["https://x.example/1", "https://x.example/2"]],
      ] as const
    ).map(([what, output]) => [what, ends({ output, metrics: {} }), PICTURES, { images: 1 }] as const),
    [
      "one whose time of computing is none, and not counted",
      ends({ output: "https://x.example/1", metrics: { predict_time: -1 } }),
      PICTURES,
      { images: 1 },
    ],
  ],
});

describeQueuedJob("a Replicate edit", {
  ...predictions<ImageEditInput>(({ imageEdits }) => imageEdits, EDIT, PAINTER, ANOTHER),
  sends: [
    [
      "with its picture and mask, less what an edit never forwards",
      { input: { ...EVERYTHING, mask: MASK } },
      {
        input: {
          prompt: EDIT.prompt,
          seed: 7,
          aspect_ratio: "16:9",
          image: `data:image/jpeg;base64,${Buffer.from(EDIT.image.bytes).toString("base64")}`,
          mask: `data:image/png;base64,${MASK.bytes.toString("base64")}`,
        },
      },
    ],
  ],
  unsent: [
    ["of a source that does not say where pictures go", { fields: { seed: "seed" } }],
    ["as several of a source without a field for how many", { input: n2, fields: { image: "image" } }],
  ],
  life: { ...twice("0-64x64.png", { images: 1, computeSeconds: 12.5 }), file: PNG },
});

const serve = useReplicate();

describe("a large file in a call", () => {
  const large: Media = { bytes: new Uint8Array(256 * 1024 + 1).fill(7), contentType: "image/png" };

  const make = (image: Media, upload?: Reply) => {
    const { adapters, server } = serve(upload === undefined ? {} : { upload });
    return { server, begun: queued(adapters.video).start(mediaCall({ prompt: "waves", image }, SEEDANCE)) };
  };

  test("is uploaded before the start, which then names its address", async () => {
    const { server, begun } = make(large);
    await begun;
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/v1/files",
      "/v1/models/bytedance/seedance-1.5-pro/predictions",
    ]);
    expect(server.requests[0]).toMatchObject({
      headers: { authorization: "Bearer ours" },
      body: { content: { filename: "input.png", contentType: "image/png", bytes: Buffer.from(large.bytes) } },
    });
    expect(server.requests[1]?.body).toMatchObject({
      input: { image: expect.stringMatching(/\/v1\/files\/[0-9a-f-]+$/) },
    });
    expect(server.charged).toBe(1);
  });

  test("is sent inline up to the bound", async () => {
    const { server, begun } = make({ ...large, bytes: large.bytes.subarray(1) });
    await begun;
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/models/bytedance/seedance-1.5-pro/predictions"]);
  });

  test.each<[string, Reply, object]>([
    ["is too large", jsonReply(413, ""), badInput("image_url")],
    ["cannot be taken now", jsonReply(429, { detail: "resets in ~2s" }), { kind: "busy", retryAfterMs: 2_000 }],
    ["meets a token that is not taken", jsonReply(401, {}), fault("misconfigured")],
    ["meets a gateway that gave up", jsonReply(504, ""), fault("failed")],
    ["is answered without an address", jsonReply(201, { id: "x" }), fault("failed")],
    ["is answered with something else", jsonReply(201, { urls: { get: "file:///x" } }), fault("failed")],
    ["meets a reset", "reset", fault("failed")],
  ])("that %s ends the call before any charge", async (_what, upload, expected) => {
    const { server, begun } = make(large, upload);
    const error = await failureOf(begun);
    expect(error).toMatchObject({ ...expected, isUnsent: true });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    expect([server.charged, server.requests.length]).toEqual([0, 1]);
  });
});

test("a Replicate video whose address has expired no longer exists", async () => {
  const { adapters } = serve({ polls: ["succeeded"], file: jsonReply(404, "gone") });
  const video = queued(adapters.video);
  const outcome = await video.poll(await video.start(mediaCall({ prompt: "waves" }, SEEDANCE)), never);
  const [artifact] = outcome.state === "done" ? outcome.output : [];
  expect((await fetch(artifact && "url" in artifact ? artifact.url : "")).status).toBe(404);
});

const SONG = [{ url: "https://x.example/1.mp3" }];
describeQueuedJob("Replicate music", {
  ...predictions(
    ({ music }) => music,
    { prompt: "lofi beats", format: "wav" },
    {
      sourceModel: "stability-ai/stable-audio-2.5",
      fields: { prompt: "prompt", duration: "duration", seed: "seed" },
    },
    ANOTHER,
  ),
  sends: [
    [
      "as the source says",
      { input: { lyrics: "la la", duration: 30, seed: 7 } },
      { input: { prompt: "lofi beats", duration: 30, seed: 7 } },
      { headers: { "cancel-after": "15m" } },
    ],
  ],
  unsent: [["of a source without a field for its prompt", { ...MINIMAX, fields: {} }]],
  life: { ...twice("0-3s.wav", { seconds: 3, computeSeconds: 12.5 }), file: fileAt("/0-3s.wav")?.body as Buffer },
  done: [
    ["an object", ends({ output: { audio: SONG[0]?.url, spectrogram: "https://x.example/1.png" }, metrics: {} }), SONG],
    ["a list", ends({ output: [SONG[0]?.url], metrics: {} }), SONG],
  ],
});

test("Replicate music without the lyrics that its model needs is reported by our name", async () => {
  const { adapters } = serve();
  const fields = { prompt: "prompt", lyrics: "lyrics" };
  const call = mediaCall({ prompt: "lofi", format: "mp3" } as const, { ...MINIMAX, fields });
  expect(await failureOf(queued(adapters.music).start(call))).toMatchObject({ kind: "rejected", param: "lyrics" });
});

const INPUT: MeshInput = { image: { url: "https://x.example/p.png" }, seed: 7 };
const GLB = [{ url: "https://x.example/1.glb" }];
const withoutField = { ...PAINTER, fields: { prompt: "prompt" } };
describeQueuedJob("a Replicate mesh", {
  ...predictions(
    ({ mesh }) => mesh,
    INPUT,
    { sourceModel: TRELLIS, fields: { image: "images[]", seed: "seed" }, ...overriding({ generate_model: true }) },
    { input: { seed: 8 } },
  ),
  sends: [
    [
      "with an end of its own",
      {},
      { version: TRELLIS, input: { images: ["https://x.example/p.png"], seed: 7, generate_model: true } },
      { headers: { "cancel-after": "30m" } },
    ],
    [
      "without a picture that its source has no field for, as the spec says",
      { ...withoutField, input: { prompt: "a fox" }, ...overriding({}) },
      { input: { prompt: "a fox" } },
      { path: "/v1/models/acme/painter/predictions" },
    ],
  ],
  unsent: [
    [
      "of a source without a field for a mesh",
      { ...withoutField, input: { prompt: "a fox", mesh: { url: "https://x.example/1" } } },
    ],
  ],
  // The one file among others that is a mesh, for the seconds it took.
  life: { ...twice("output.glb", { computeSeconds: 12.5 }), file: glb() },
  done: (
    [
      ["one address", "https://x.example/1.glb"],
      ["a list with its texture", ["https://x.example/1.png", "https://x.example/1.glb"]],
      ["a member of another name", { preview: "https://x.example/1.mp4", result: "https://x.example/1.glb" }],
      ["a member that lies deeper", { mesh: { path: "https://x.example/1.glb" } }],
    ] as const
  ).map(([what, output]) => [what, ends({ output, metrics: {} }), GLB] as const),
  failed: [["a preview alone, since none was asked for", {}, fault("failed"), overriding({})]],
  unclear: [["a preview alone", ends({ output: { preview: "https://x.example/1.mp4" } })]],
});
