import { describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

import { startElevenLabsServer } from "./server.ts";
import { bytesReply } from "../engine/behaviour.ts";
import { direct, failureOf, overriding, useServers } from "../engine/calls.ts";
import { speechCall } from "../sound-calls.ts";
import { soundOf } from "../sounds.ts";

const own = useServers();

const VOICE = "JBFqnCBsd6RMkjVDRZzb";

function start() {
  const server = own(startElevenLabsServer("key-ours"));
  const adapters = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key-ours" } });
  return { server, speech: direct(adapters.speech) };
}

describe("a request for speech", () => {
  test("has voice and format in the address, and no defaults", async () => {
    const { server, speech } = start();
    await speech.run(speechCall({ text: "Grüße 👋", voice: VOICE }, { sourceModel: "eleven_multilingual_v2" }));
    const [call] = server.requests;
    expect([call?.method, call?.pathname, call?.query]).toEqual([
      "POST",
      `/v1/text-to-speech/${VOICE}`,
      { output_format: "mp3_44100_128" },
    ]);
    expect(call?.headers["xi-api-key"]).toBe("key-ours");
    expect(call?.body).toEqual({ text: "Grüße 👋", model_id: "eleven_multilingual_v2" });
  });

  test("has the speed among the voice's settings, and no instructions", async () => {
    const { server, speech } = start();
    await speech.run(speechCall({ voice: VOICE, speed: 1.2, instructions: "Whisper." }));
    expect(server.requests[0]?.body).toEqual({
      text: "Good morning.",
      model_id: "m",
      voice_settings: { speed: 1.2 },
    });
  });

  test.each<[SpeechFormat, string, SpeechFormat, string]>([
    ["mp3", "mp3_44100_128", "mp3", "audio/mpeg"],
    ["opus", "opus_48000_128", "opus", "audio/ogg"],
    ["wav", "wav_24000", "wav", "audio/wav"],
    ["pcm", "pcm_24000", "pcm", "audio/pcm"],
    ["aac", "wav_24000", "wav", "audio/wav"],
    ["flac", "wav_24000", "wav", "audio/wav"],
  ])("for %s requests %s and delivers %s as %s", async (format, theirs, delivered, contentType) => {
    const { server, speech } = start();
    const { output } = await speech.run(speechCall({ voice: VOICE, format }));
    expect(server.requests[0]?.query).toEqual({ output_format: theirs });
    expect(output).toEqual({ bytes: soundOf(delivered), contentType });
  });

  const voices = { george: VOICE, sarah: "EXAVITQu4vr4xnSDxMaL" };
  test.each([
    ["a name of the catalogue's map becomes its id", "sarah", "EXAVITQu4vr4xnSDxMaL"],
    ["another name stands for itself", "Xb7hH8MSUJpSbSDYk0k2", "Xb7hH8MSUJpSbSDYk0k2"],
    ["the first of the map speaks where none is named", undefined, VOICE],
  ])("%s", async (_what, voice, id) => {
    const { server, speech } = start();
    await speech.run(speechCall(voice === undefined ? {} : { voice }, overriding({ voices })));
    expect(server.requests[0]?.pathname).toBe(`/v1/text-to-speech/${id}`);
    expect(server.requests[0]?.body).toEqual({ text: "Good morning.", model_id: "m" });
  });

  test.each(["..", "../history", "a/b", "a?b=c", "a%2Fb", "", "é", "x".repeat(65)])(
    "with the voice %p is rejected before it is sent",
    async (voice) => {
      const { server, speech } = start();
      expect(await failureOf(speech.run(speechCall({ voice })))).toMatchObject({
        kind: "rejected",
        code: "unsupported_value",
        param: "voice",
      });
      expect(server.requests).toEqual([]);
    },
  );

  test("without any voice is rejected before it is sent", async () => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall()))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param: "voice",
      say: "This model requires a voice.",
    });
    expect(server.requests).toEqual([]);
  });

  test.each([0.25, 0.69, 1.21, 4])("at the speed %p is rejected before it is sent", async (speed) => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall({ voice: VOICE, speed })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "speed",
      say: `Expected speed to be from 0.7 to 1.2 for this model, got ${speed}.`,
    });
    expect(server.requests).toEqual([]);
  });

  test.each([0.7, 1.2])("at the speed %p is sent", async (speed) => {
    const { speech } = start();
    expect((await speech.run(speechCall({ voice: VOICE, speed }))).output).toBeDefined();
  });
});

describe("an answer with speech", () => {
  test("is metered by code points, not by UTF-16", async () => {
    const { speech } = start();
    const { usage } = await speech.run(speechCall({ voice: VOICE, text: "a👋🏽é" }));
    expect(usage).toEqual({ characters: 4 });
  });

  test("in another format than requested reports it", async () => {
    const { server, speech } = start();
    server.next(bytesReply("audio/mpeg", soundOf("wav")));
    expect((await speech.run(speechCall({ voice: VOICE }))).output).toMatchObject({ contentType: "audio/wav" });
  });

  test.each([
    ["text under the name of sound", bytesReply("audio/mpeg", Buffer.from("all is well"))],
    ["a picture", bytesReply("audio/mpeg", Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"))],
    ["JSON that begins as sound does", bytesReply("application/json", soundOf("mp3"))],
    ["nothing", bytesReply("audio/mpeg", Buffer.alloc(0))],
  ])("that is %s is a failure", async (_what, reply) => {
    const { server, speech } = start();
    server.next(reply);
    expect((await failureOf(speech.run(speechCall({ voice: VOICE })))).kind).toBe("failed");
  });
});
