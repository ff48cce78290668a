/** What is paid for, at every family: a gateway that lost its vendor leaves it open, a vendor's own fault does not. */
import { afterEach, describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import { createFal } from "#workers/providers/fal/index.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";
import { createMeshy } from "#workers/providers/meshy/index.ts";
import { createOpenAiImages } from "#workers/providers/openai-compatible/images.ts";
import { createOpenAiVideos } from "#workers/providers/openai-compatible/videos.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";
import { createTripo } from "#workers/providers/tripo/index.ts";

import { startElevenLabsServer } from "./elevenlabs/server.ts";
import { startFalServer } from "./fal/server.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { startGeminiVideoServer } from "./gemini/video-server.ts";
import { startGoogleCloudServer } from "./google-cloud/server.ts";
import { callOf, EDIT, failureOf, runOf } from "./image-calls.ts";
import { startMeshyServer } from "./meshy/server.ts";
import { startOpenAiServer } from "./openai-compatible/server.ts";
import { startVideosServer } from "./openai-compatible/videos.ts";
import { overriding, queued, videoCall } from "./openai-compatible/videos-recorder.ts";
import { startReplicateServer } from "./replicate/server.ts";
import { startTripoServer } from "./tripo/server.ts";
import { jsonReply } from "./vendor-server.ts";

const closing: { close(): void }[] = [];

afterEach(() => {
  for (const server of closing.splice(0)) server.close();
});

function own<Server extends { close(): void }>(server: Server): Server {
  closing.push(server);
  return server;
}

/** As much as every server may be told to answer. */
interface Page {
  readonly status: number;
  readonly body: string;
}

type Call = (page: Page) => Promise<unknown>;

const bearer = { authorization: "Bearer key" };
const MESH = { prompt: "a fox" };

const falVideo: Call = (page) => {
  const server = own(startFalServer({ apiKey: "key" }));
  server.next({ submit: page });
  const { video } = createFal({ baseUrl: server.url, headers: { authorization: "Key key" } });
  return queued(video).start(videoCall({}, { sourceModel: "fal-ai/any/video" }));
};

const replicateVideo: Call = (page) => {
  const server = own(startReplicateServer({ token: "key" }));
  server.next({ start: page });
  const { video } = createReplicate({ baseUrl: server.url, headers: bearer });
  return queued(video).start(videoCall({}, { sourceModel: "acme/painter" }));
};

const geminiVideo =
  (api: string): Call =>
  ({ status, body }) => {
    const server = own(startGeminiVideoServer({ apiKey: "key" }));
    server.next({ start: jsonReply(status, body) });
    const { video } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key" } });
    return queued(video).start(videoCall({}, { adapt: overriding({ api }) }));
  };

const cloudVideo: Call = ({ status, body }) => {
  const server = startGoogleCloudServer();
  own(server.veo);
  own(server.identity);
  server.next({ start: jsonReply(status, body) });
  const { video } = createGoogleCloud({ baseUrl: server.url, headers: {} }, server.credentials, () => server.clock.now);
  return queued(video).start(videoCall());
};

const openAiVideo: Call = ({ status, body }) => {
  const server = own(startVideosServer({ apiKey: "key" }));
  server.next({ start: jsonReply(status, body) });
  return createOpenAiVideos({ baseUrl: server.url, headers: bearer }).start(videoCall());
};

const meshyMesh: Call = (page) => {
  const server = own(startMeshyServer({ apiKey: "key" }));
  server.next({ create: page });
  const { mesh } = createMeshy({ baseUrl: server.url, headers: bearer });
  return queued(mesh).start(callOf(MESH, { sourceModel: "text-to-3d/meshy-6" }));
};

const tripoMesh: Call = (page) => {
  const server = own(startTripoServer({ apiKey: "key" }));
  server.next({ start: page });
  const { mesh } = createTripo({ baseUrl: server.url, headers: bearer });
  return queued(mesh).start(callOf(MESH, { sourceModel: "text-to-model/v3.1" }));
};

const openAiPicture =
  (kind: "images" | "imageEdits"): Call =>
  async ({ status, body }) => {
    const server = own(await startOpenAiServer());
    server.next(jsonReply(status, body));
    return runOf(createOpenAiImages({ baseUrl: server.url, headers: {} })[kind])(callOf(EDIT));
  };

const geminiPicture: Call = async ({ status, body }) => {
  const server = own(await startGeminiServer());
  server.next(jsonReply(status, body));
  const { images } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key" } });
  return runOf(images)(callOf({ prompt: "a sea otter", n: 1 }));
};

const elevenLabsMusic: Call = ({ status, body }) => {
  const server = own(startElevenLabsServer("key"));
  server.next(jsonReply(status, body));
  const { music } = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key" } });
  return runOf(music)(callOf({ prompt: "a waltz", format: "mp3" }, { sourceModel: "music_v2_5" }));
};

const CALLS: readonly (readonly [string, Call])[] = [
  ["a video of fal", falVideo],
  ["a video of Replicate", replicateVideo],
  ["a video of Omni", geminiVideo("interactions")],
  ["a video of Veo with a key", geminiVideo("predictLongRunning")],
  ["a video of Veo on Google Cloud", cloudVideo],
  ["a video of OpenAI's dialect", openAiVideo],
  ["a mesh of Meshy", meshyMesh],
  ["a mesh of Tripo", tripoMesh],
  ["a picture of OpenAI's dialect", openAiPicture("images")],
  ["an edit of OpenAI's dialect", openAiPicture("imageEdits")],
  ["a picture of Gemini", geminiPicture],
  ["music of ElevenLabs", elevenLabsMusic],
];

describe.each(CALLS)("%s", (_what, call) => {
  test.each([408, 502, 504, 520, 521, 522, 523, 524])(
    "that is answered with %i may have been begun",
    async (status) => {
      for (const body of ["<html>", "{}"]) {
        expect(await failureOf(call({ status, body }))).toMatchObject({ kind: "unknown", status, isUnsent: false });
      }
    },
  );

  test.each([
    [500, "failed"],
    [501, "failed"],
    [503, "busy"],
    [429, "busy"],
    [402, "misconfigured"],
  ] as const)("that is answered with %i was not begun: it is %s", async (status, kind) => {
    expect(await failureOf(call({ status, body: "{}" }))).toMatchObject({ kind, status, isUnsent: false });
  });
});
