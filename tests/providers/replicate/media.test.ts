import { describe, expect, test } from "bun:test";

import type { Media, Polled, ProviderJob, QueuedAdapter } from "#workers/providers/media.ts";

import { type Reply, VENDOR_MARK } from "../engine/behaviour.ts";
import { failureOf, mediaCall, never, queued } from "../engine/calls.ts";
import { EDIT, EVERYTHING } from "../image-calls.ts";
import { useReplicate } from "./jobs.ts";
import { TRELLIS } from "./models.ts";
import type { Script } from "./server.ts";

const serve = useReplicate();

const PAINTER = { sourceModel: "acme/painter" };
const SONG = { prompt: "lofi", format: "mp3" } as const;
const SEEDANCE = { sourceModel: "bytedance/seedance-1.5-pro", fields: null };

/** Returns the outcome of a job that is polled once. */
async function endOf<Output>(
  adapter: QueuedAdapter<never, Output>,
  begun: Promise<ProviderJob>,
): Promise<Polled<Output>> {
  return adapter.poll(await begun, never);
}

describe("pictures", () => {
  const make = (script: Script, n = 1) => {
    const { adapters, server } = serve({ polls: ["succeeded"], ...script });
    const images = queued(adapters.images);
    const call = mediaCall({ prompt: "a sea otter", n }, { ...PAINTER, fields: { n: "num_outputs" } });
    return { server, outcome: endOf(images, images.start(call)) };
  };

  test("are asked for as the source says, the prompt wherever it wants it", async () => {
    const { adapters, server } = serve();
    const fields = { prompt: "text.prompt", n: "num_outputs", size: "size", steps: "options.steps" };
    const input = { prompt: "a sea otter", ...EVERYTHING, n: 2 };
    await failureOf(queued(adapters.images).start(mediaCall(input, { ...PAINTER, fields })));
    expect(server.requests).toMatchObject([{ headers: { "cancel-after": "10m" } }]);
    expect(server.requests[0]?.body).toEqual({
      input: { text: { prompt: "a sea otter" }, num_outputs: 2, size: "1536x1024", options: { steps: 12 } },
    });
  });

  test("go under the usual names where the source says nothing", async () => {
    const { adapters, server } = serve();
    await queued(adapters.images).start(mediaCall({ prompt: "a sea otter", ...EVERYTHING, n: 1 }, PAINTER));
    expect(server.requests[0]?.body).toEqual({ input: { prompt: "a sea otter", seed: 7, aspect_ratio: "16:9" } });
  });

  test("that are several are not begun as one where the source has no field for how many", async () => {
    const { adapters, server } = serve();
    const { images, imageEdits } = adapters;
    const calls = [
      queued(images).start(mediaCall({ prompt: "a sea otter", n: 2 }, PAINTER)),
      queued(imageEdits).start(mediaCall({ ...EDIT, n: 2 }, { ...PAINTER, fields: { image: "image" } })),
    ];
    for (const call of calls) expect((await failureOf(call)).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });

  test("come as a list, counted", async () => {
    const { outcome, server } = make({}, 2);
    const { output, ...rest } = (await outcome) as Polled<readonly { url: string }[]> & { state: "done" };
    expect(rest).toEqual({ state: "done", usage: { images: 2, computeSeconds: 12.5 } });
    expect(output.map(({ url }) => url.replace(/^.*\//, ""))).toEqual(["0-64x64.png", "1-64x64.png"]);
    expect((await fetch(output[0]?.url ?? "")).headers.get("content-type")).toBe("image/png");
    expect(server.charged).toBe(1);
  });

  test.each<[string, unknown]>([
    ["one address", "https://x.example/1"],
    ["an object", { image: "https://x.example/1" }],
    ["an object with others", { mask: "https://x.example/2.png", image: "https://x.example/1" }],
    ["a member that nobody knows", { result: "https://x.example/1" }],
    ["a list of objects", [{ image: "https://x.example/1", seed: 7 }]],
    ["more than were asked for", ["https://x.example/1", "https://x.example/2"]],
  ])("may come as %s", async (_what, output) => {
    expect(await make({ task: { output, metrics: {} } }).outcome).toEqual({
      state: "done",
      output: [{ url: "https://x.example/1" }],
      usage: { images: 1 },
    });
  });

  test("a time of computing that is none is not counted", async () => {
    const { outcome } = make({ task: { metrics: { predict_time: -1 } } });
    expect(await outcome).toMatchObject({ state: "done", usage: { images: 1 } });
    expect(JSON.stringify(await outcome)).not.toContain("computeSeconds");
  });
});

describe("an edit", () => {
  test("carries its picture and mask, less what an edit never forwards", async () => {
    const { adapters, server } = serve();
    const input = { ...EDIT, ...EVERYTHING };
    await queued(adapters.imageEdits).start(mediaCall(input, PAINTER));
    expect(server.requests[0]?.body).toEqual({
      input: {
        prompt: EDIT.prompt,
        seed: 7,
        aspect_ratio: "16:9",
        image: `data:image/jpeg;base64,${Buffer.from(EDIT.image.bytes).toString("base64")}`,
        mask: `data:image/png;base64,${EDIT.mask.bytes.toString("base64")}`,
      },
    });
  });

  test("needs a source that says where pictures go", async () => {
    const { adapters, server } = serve();
    const begun = queued(adapters.imageEdits).start(mediaCall(EDIT, { ...PAINTER, fields: { seed: "seed" } }));
    expect((await failureOf(begun)).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });
});

describe("a large file that comes with a call", () => {
  const large: Media = { bytes: new Uint8Array(256 * 1024 + 1).fill(7), contentType: "image/png" };

  const make = (image: Media, script: Script = {}) => {
    const { adapters, server } = serve(script);
    return { server, begun: queued(adapters.video).start(mediaCall({ prompt: "waves", image }, SEEDANCE)) };
  };

  test("is handed over before the start, which then names its address", async () => {
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

  test("goes along as it is up to the bound", async () => {
    const { server, begun } = make({ ...large, bytes: large.bytes.subarray(1) });
    await begun;
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/models/bytedance/seedance-1.5-pro/predictions"]);
  });

  test.each<[string, Reply, object]>([
    ["is too large", { status: 413, body: "" }, { kind: "rejected", code: "unprocessable_input", param: "image_url" }],
    ["cannot be taken now", { status: 429, body: { detail: "resets in ~2s" } }, { kind: "busy", retryAfterMs: 2_000 }],
    ["meets a token that is not taken", { status: 401, body: {} }, { kind: "misconfigured" }],
    ["meets a gateway that gave up", { status: 504, body: "" }, { kind: "failed" }],
    ["is answered without an address", { status: 201, body: { id: "x" } }, { kind: "failed" }],
    ["is answered with something else", { status: 201, body: { urls: { get: "file:///x" } } }, { kind: "failed" }],
    ["meets a reset", "reset", { kind: "failed" }],
  ])("and %s ends the call before anything is paid for", async (_what, upload, expected) => {
    const { server, begun } = make(large, { upload });
    const error = await failureOf(begun);
    expect(error).toMatchObject({ ...expected, isUnsent: true });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    expect([server.charged, server.requests.length]).toEqual([0, 1]);
  });
});

describe("a video", () => {
  test("goes under the usual names where the source says nothing", async () => {
    const { adapters, server } = serve();
    const input = {
      prompt: "waves",
      image: { url: "https://x.example/p.png" },
      video: { url: "https://x.example/v.mp4" },
      duration: 5,
      resolution: "720p",
      aspectRatio: "16:9",
      seed: 7,
      negativePrompt: "blur",
    };
    await failureOf(queued(adapters.video).start(mediaCall(input, SEEDANCE)));
    expect(server.requests[0]?.body).toEqual({
      input: {
        prompt: "waves",
        image: "https://x.example/p.png",
        video: "https://x.example/v.mp4",
        duration: 5,
        resolution: "720p",
        aspect_ratio: "16:9",
        seed: 7,
        negative_prompt: "blur",
      },
    });
  });

  test("is not asked of a source without a field for what comes with it", async () => {
    const { adapters, server } = serve();
    const video = queued(adapters.video);
    const image = { url: "https://x.example/p.png" };
    const lost = mediaCall({ prompt: "waves", image }, { ...SEEDANCE, fields: { prompt: "prompt" } });
    const empty = mediaCall({ prompt: "waves" }, { ...SEEDANCE, fields: { duration: "duration" } });
    expect([(await failureOf(video.start(lost))).kind, (await failureOf(video.start(empty))).kind]).toEqual([
      "misconfigured",
      "misconfigured",
    ]);
    expect(server.requests).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["a list", ["https://x.example/1.mp4"]],
    ["an object with a preview", { thumbnail: "https://x.example/1.jpg", video: "https://x.example/1.mp4" }],
    ["an object of other names", { preview: "https://x.example/1.gif", result: "https://x.example/1.mp4" }],
    ["a list with a preview", ["https://x.example/1.jpg", "https://x.example/1.mp4"]],
  ])("may come as %s", async (_what, output) => {
    const { adapters } = serve({
      polls: ["succeeded"],
      task: { output, metrics: { video_output_duration_seconds: "5" } },
    });
    const video = queued(adapters.video);
    expect(await endOf(video, video.start(mediaCall({ prompt: "waves" }, SEEDANCE)))).toEqual({
      state: "done",
      output: [{ url: "https://x.example/1.mp4" }],
      usage: {},
    });
  });

  test("whose address has expired is not there any more", async () => {
    const { adapters } = serve({ polls: ["succeeded"], file: { status: 404, body: "gone" } });
    const video = queued(adapters.video);
    const outcome = await endOf(video, video.start(mediaCall({ prompt: "waves" }, SEEDANCE)));
    const [artifact] = outcome.state === "done" ? outcome.output : [];
    expect((await fetch(artifact && "url" in artifact ? artifact.url : "")).status).toBe(404);
  });
});

describe("music", () => {
  const make = (script: Script) => {
    const { adapters, server } = serve({ polls: ["succeeded"], ...script });
    const music = queued(adapters.music);
    const input = { prompt: "lofi", lyrics: "la la", duration: 30, seed: 7, format: "wav" } as const;
    const fields = { prompt: "prompt", duration: "duration", seed: "seed" };
    const call = mediaCall(input, { sourceModel: "stability-ai/stable-audio-2.5", fields });
    return { server, outcome: endOf(music, music.start(call)) };
  };

  test("is asked for as the source says, and comes with its length", async () => {
    const { server, outcome } = make({});
    expect(await outcome).toMatchObject({ state: "done", usage: { seconds: 3, computeSeconds: 12.5 } });
    expect(server.requests).toMatchObject([{ headers: { "cancel-after": "15m" } }, {}]);
    expect(server.requests[0]?.body).toEqual({ input: { prompt: "lofi", duration: 30, seed: 7 } });
  });

  test.each<[string, unknown]>([
    ["an object", { audio: "https://x.example/1.mp3", spectrogram: "https://x.example/1.png" }],
    ["a list", ["https://x.example/1.mp3"]],
  ])("may come as %s", async (_what, output) => {
    expect(await make({ task: { output } }).outcome).toMatchObject({ output: [{ url: "https://x.example/1.mp3" }] });
  });

  test("is not asked of a source without a field for its prompt", async () => {
    const { adapters } = serve();
    const call = mediaCall(SONG, { sourceModel: "minimax/music-1.5", fields: {} });
    expect((await failureOf(queued(adapters.music).start(call))).kind).toBe("misconfigured");
  });

  test("without the lyrics that its model needs is told by our name", async () => {
    const { adapters } = serve();
    const fields = { prompt: "prompt", lyrics: "lyrics" };
    const call = mediaCall(SONG, { sourceModel: "minimax/music-1.5", fields });
    expect(await failureOf(queued(adapters.music).start(call))).toMatchObject({ kind: "rejected", param: "lyrics" });
  });
});

describe("a mesh", () => {
  const make = (
    script: Script,
    adapt = (input: Record<string, unknown>): void => void (input["generate_model"] = true),
  ) => {
    const { adapters, server } = serve({ polls: ["succeeded"], ...script });
    const mesh = queued(adapters.mesh);
    const input = { image: { url: "https://x.example/p.png" }, seed: 7 };
    const call = mediaCall(input, { sourceModel: TRELLIS, fields: { image: "images[]" }, adapt });
    return { server, outcome: endOf(mesh, mesh.start(call)) };
  };

  test("is the one file among others that is a mesh, for the seconds it took", async () => {
    const { server, outcome } = make({});
    expect(await outcome).toMatchObject({
      state: "done",
      output: [{ url: expect.stringMatching(/\/output\.glb$/) }],
      usage: { computeSeconds: 12.5 },
    });
    expect(server.requests).toMatchObject([{ headers: { "cancel-after": "30m" } }, {}]);
  });

  test("that was not made, beside a preview that was, has failed", async () => {
    const { outcome } = make({}, () => undefined);
    expect(await outcome).toMatchObject({ state: "failed", error: { kind: "failed" } });
  });

  test.each<[string, unknown]>([
    ["one address", "https://x.example/1.glb"],
    ["a list with its texture", ["https://x.example/1.png", "https://x.example/1.glb"]],
    ["a member of another name", { preview: "https://x.example/1.mp4", result: "https://x.example/1.glb" }],
    ["a member that lies deeper", { mesh: { path: "https://x.example/1.glb" } }],
  ])("may come as %s", async (_what, output) => {
    expect(await make({ task: { output } }).outcome).toMatchObject({ output: [{ url: "https://x.example/1.glb" }] });
  });

  test("of which only a preview is there stays open", async () => {
    const { outcome } = make({ task: { output: { preview: "https://x.example/1.mp4" } } });
    expect(await outcome).toMatchObject({ state: "unknown" });
  });

  test("leaves out a picture that its source has no field for, as the spec says, and no mesh", async () => {
    const { adapters, server } = serve();
    const mesh = queued(adapters.mesh);
    const source = { ...PAINTER, fields: { prompt: "prompt" } };
    const url = "https://x.example/1";
    await mesh.start(mediaCall({ prompt: "a fox", image: { url } }, source));
    expect(server.requests[0]?.body).toEqual({ input: { prompt: "a fox" } });
    const lost = mesh.start(mediaCall({ prompt: "a fox", mesh: { url } }, source));
    expect((await failureOf(lost)).kind).toBe("misconfigured");
  });
});
