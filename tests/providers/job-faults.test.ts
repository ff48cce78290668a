/** Faults of any provider of queued or paid work, at each family: what may be paid for is never begun again. */
import { describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import { createFal } from "#workers/providers/fal/index.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";
import type { MediaAdapter, NoteStart, ProviderJob, QueuedAdapter, StartCall } from "#workers/providers/media.ts";
import { createMeshy } from "#workers/providers/meshy/index.ts";
import { createOpenAiImages } from "#workers/providers/openai-compatible/images.ts";
import { createOpenAiVideos } from "#workers/providers/openai-compatible/videos.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";
import { createTripo } from "#workers/providers/tripo/index.ts";

import { startElevenLabsServer } from "./elevenlabs/server.ts";
import { jsonReply, ok, redirect, type Reply } from "./engine/behaviour.ts";
import { direct, failureOf, mediaCall, never, overriding, queued, statesOf, useServers } from "./engine/calls.ts";
import type { Script } from "./engine/jobs.ts";
import { startFalServer } from "./fal/server.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { startGeminiVideoServer } from "./gemini/video-server.ts";
import { startGoogleCloudServer } from "./google-cloud/server.ts";
import { EDIT } from "./image-calls.ts";
import { startMeshyServer } from "./meshy/server.ts";
import { startOpenAiServer } from "./openai-compatible/server.ts";
import { startVideosServer } from "./openai-compatible/videos.ts";
import { startReplicateServer } from "./replicate/server.ts";
import { startTripoServer } from "./tripo/server.ts";
import { videoCall } from "./video-calls.ts";

const own = useServers();

/** A job's place: where it is begun and asked about. */
interface Place {
  readonly server: { readonly charged: number; readonly requests: readonly unknown[]; close(): void };
  readonly begin: (signal?: AbortSignal, noteStart?: NoteStart) => Promise<ProviderJob>;
  readonly adapter: Pick<QueuedAdapter<never, unknown>, "poll" | "cancel">;
}

interface Family {
  /** The vendor's words for a job that runs and for one that is done. */
  readonly words: readonly [running: string, done: string];
  readonly start: (...scripts: readonly Script[]) => Place;
}

const bearer = { authorization: "Bearer key" };
const apiKey = "key";

function place<Input>(
  server: Place["server"] & { readonly url: string; next(...scripts: never[]): void },
  scripts: readonly Script[],
  adapter: MediaAdapter<Input, unknown> | undefined,
  call: (signal: AbortSignal) => StartCall<Input>,
): Place {
  server.next(...(scripts as never[]));
  const queue = queued(adapter);
  const begin: Place["begin"] = (signal = never, noteStart) =>
    queue.start({ ...call(signal), ...(noteStart ? { noteStart } : {}) });
  return { server, begin, adapter: queue };
}

const gemini = (api: string): Family["start"] => {
  return (...scripts) => {
    const server = own(startGeminiVideoServer({ apiKey }));
    const { video } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": apiKey } });
    return place(server, scripts, video, (signal) => videoCall({}, { signal, ...overriding({ api }) }));
  };
};

const FAMILIES: Readonly<Record<string, Family>> = {
  "a video of fal": {
    words: ["IN_PROGRESS", "COMPLETED"],
    start(...scripts) {
      const server = own(startFalServer({ apiKey }));
      const { video } = createFal({ baseUrl: server.url, headers: { authorization: "Key key" } });
      return place(server, scripts, video, (signal) => videoCall({}, { sourceModel: "acme/filmer", signal }));
    },
  },
  "a video of Replicate": {
    words: ["processing", "succeeded"],
    start(...scripts) {
      const server = own(startReplicateServer({ token: apiKey }));
      const { video } = createReplicate({ baseUrl: server.url, headers: bearer });
      const sourceModel = "bytedance/seedance-1.5-pro";
      return place(server, scripts, video, (signal) => videoCall({}, { sourceModel, signal }));
    },
  },
  "a video of Omni": { words: ["running", "done"], start: gemini("interactions") },
  "a video of Veo with a key": { words: ["running", "done"], start: gemini("predictLongRunning") },
  "a video of Veo on Google Cloud": {
    words: ["running", "done"],
    start(...scripts) {
      const { veo, identity, url, credentials, clock } = startGoogleCloudServer();
      own(identity);
      const { video } = createGoogleCloud({ baseUrl: url, headers: {} }, credentials, () => clock.now);
      return place(own(veo), scripts, video, (signal) => videoCall({}, { signal }));
    },
  },
  "a video of OpenAI's dialect": {
    words: ["in_progress", "completed"],
    start(...scripts) {
      const server = own(startVideosServer({ apiKey }));
      const videos = createOpenAiVideos({ baseUrl: server.url, headers: bearer });
      return place(server, scripts, videos, (signal) => videoCall({}, { signal }));
    },
  },
  "a mesh of Meshy": {
    words: ["IN_PROGRESS", "SUCCEEDED"],
    start(...scripts) {
      const server = own(startMeshyServer({ apiKey }));
      const { mesh } = createMeshy({ baseUrl: server.url, headers: bearer });
      const input = { mesh: { url: "https://x.example/1.glb" } };
      return place(server, scripts, mesh, (signal) => mediaCall(input, { sourceModel: "remesh", signal }));
    },
  },
  "a mesh of Tripo": {
    words: ["running", "success"],
    start(...scripts) {
      const server = own(startTripoServer({ apiKey }));
      const { mesh } = createTripo({ baseUrl: server.url, headers: bearer });
      const sourceModel = "text-to-model/v3.1-20260211";
      return place(server, scripts, mesh, (signal) => mediaCall({ prompt: "a fox" }, { sourceModel, signal }));
    },
  },
};

describe.each(Object.entries(FAMILIES))("%s", (_what, { start, words: [running, done] }) => {
  test.each<[string, Reply]>([
    ["no JSON", ok("<html>")],
    ["nothing", ok({})],
    ["a cut", "cut"],
    ["a reset", "reset"],
  ])("whose start is answered with %s may have been begun", async (_name, reply) => {
    expect(await failureOf(start({ start: reply }).begin())).toMatchObject({ kind: "unknown", isUnsent: false });
  });

  test("is noted just before it is sent, and not sent where it cannot be noted", async () => {
    const { server, begin } = start();
    const sent = (): number => server.charged;
    const noted: unknown[] = [];
    await begin(never, async (mark) => void noted.push([sent(), mark === null || typeof mark === "object"]));
    expect([noted, sent()]).toEqual([[[0, true]], 1]);
    const away = begin(never, () => Promise.reject(new Error("the database is away")));
    expect(await away.catch((error: unknown) => String(error))).toBe("Error: the database is away");
    expect(sent()).toBe(1);
  });

  test("whose start was lost may be paid for: it is unknown, and not begun again, on a used connection either", async () => {
    const { server, begin } = start({}, { start: "lost" });
    await begin();
    const before = server.requests.length;
    expect(await failureOf(begin())).toMatchObject({ kind: "unknown", isUnsent: false, status: undefined });
    expect([server.charged, server.requests.length]).toEqual([2, before + 1]);
  });

  test("whose caller gave up once it was sent may have been begun", async () => {
    const { server, begin } = start({ start: "hang" });
    expect(await failureOf(begin(AbortSignal.timeout(50)))).toMatchObject({ kind: "unknown", isUnsent: false });
    expect(server.requests).toHaveLength(1);
  });

  test("whose start never left is said to be unsent", async () => {
    const { server, begin } = start();
    server.close();
    expect(await failureOf(begin())).toMatchObject({ kind: "failed", isUnsent: true });
  });

  test("whose start leads elsewhere has failed, and is not followed", async () => {
    expect(await failureOf(start({ start: redirect }).begin())).toMatchObject({ kind: "failed", isUnsent: false });
  });

  test.each<[string, Reply]>([
    ["no JSON", ok("<html>")],
    ["nothing", ok({})],
    ["a list", ok([])],
    ["a fault", jsonReply(500, { detail: "oops" })],
    ["a gateway's page", jsonReply(502, "<html>")],
    ["not found", jsonReply(404, { detail: "not found" })],
    ["gone", jsonReply(410, "")],
    ["a key that is no longer taken", jsonReply(401, { detail: "no" })],
    ["too many polls", jsonReply(429, {})],
    ["a redirect", redirect],
    ["a cut", "cut"],
    ["a reset", "reset"],
  ])("is left open by a poll that is answered with %s", async (_name, poll) => {
    const { begin, adapter } = start({ polls: [poll] });
    expect(await adapter.poll(await begin(), never)).toMatchObject({ state: "unknown" });
  });

  test("is left open by a poll that its caller gave up", async () => {
    const { begin, adapter } = start({ polls: ["hang"] });
    expect(await adapter.poll(await begin(), AbortSignal.timeout(20))).toMatchObject({ state: "unknown" });
  });

  test("goes on when polls fail for a while, and is paid for once", async () => {
    const polls = [running, jsonReply(502, "<html>"), "cut", running, done];
    const { server, begin, adapter } = start({ polls });
    const job = await begin();
    const states = await statesOf(() => adapter.poll(job, never), polls.length);
    expect(states).toEqual(["pending", "unknown", "unknown", "pending", "done"]);
    expect(server.charged).toBe(1);
  });

  test("that never ends is pending each time", async () => {
    const { begin, adapter } = start({ polls: [running] });
    const job = await begin();
    expect(await statesOf(() => adapter.poll(job, never), 3)).toEqual(["pending", "pending", "pending"]);
  });

  test("asks nothing about a job of another family", async () => {
    const { server, adapter } = start();
    for (const job of [{}, { request_id: "x", status_path: "https://evil.example/" }, { id: "../../account" }]) {
      expect(await adapter.poll(job, never)).toMatchObject({ state: "unknown" });
      await adapter.cancel?.(job, never);
    }
    expect(server.requests).toEqual([]);
  });
});

type Call = (reply: Reply) => Promise<unknown>;

const openAiImage =
  (kind: "images" | "imageEdits"): Call =>
  (reply) => {
    const server = own(startOpenAiServer());
    server.next(reply);
    return direct(createOpenAiImages({ baseUrl: server.url, headers: {} })[kind]).run(mediaCall(EDIT));
  };

const CALLS: readonly (readonly [string, Call])[] = [
  ...Object.entries(FAMILIES).map(
    ([name, { start }]) => [name, (reply: Reply) => start({ start: reply }).begin()] as const,
  ),
  ["an image of OpenAI's dialect", openAiImage("images")],
  ["an edit of OpenAI's dialect", openAiImage("imageEdits")],
  [
    "an image of Gemini",
    (reply) => {
      const server = own(startGeminiServer());
      server.next(reply);
      const { images } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key" } });
      return direct(images).run(mediaCall({ prompt: "a sea otter", n: 1 }));
    },
  ],
  [
    "music of ElevenLabs",
    (reply) => {
      const server = own(startElevenLabsServer("key"));
      server.next(reply);
      const { music } = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key" } });
      return direct(music).run(mediaCall({ prompt: "a waltz", format: "mp3" }, { sourceModel: "music_v2_5" }));
    },
  ],
];

describe.each(CALLS)("%s", (_what, call) => {
  test.each([408, 502, 504, 520, 522, 524])("that is answered with %i may have been begun", async (status) => {
    for (const body of ["<html>", "{}"]) {
      expect(await failureOf(call({ status, body }))).toMatchObject({ kind: "unknown", status, isUnsent: false });
    }
  });

  test.each([
    [500, "failed"],
    [501, "failed"],
    [503, "busy"],
    // Cloudflare's own: the vendor behind it took no connection.
    [521, "failed"],
    [523, "failed"],
    [429, "busy"],
    [402, "misconfigured"],
  ] as const)("that is answered with %i was not begun: it is %s", async (status, kind) => {
    expect(await failureOf(call({ status, body: "{}" }))).toMatchObject({ kind, status, isUnsent: false });
  });
});
