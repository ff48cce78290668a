import { afterEach, describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

import { direct, failureOf, FAULTS, overriding, speechCall } from "../sound-calls.ts";
import { soundOf } from "../sounds.ts";
import { jsonOf, soundReply, type VendorServer } from "../vendor-server.ts";
import { startElevenLabsServer } from "./server.ts";

const servers: VendorServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    expect(server.faults).toEqual([]);
    server.close();
  }
});

const VOICE = "JBFqnCBsd6RMkjVDRZzb";

function start() {
  const server = startElevenLabsServer("key-ours");
  servers.push(server);
  const offers = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key-ours" } });
  return { server, speech: direct(offers.speech) };
}

describe("a request for speech", () => {
  test("names voice and format in the address, and says what nobody chose in no way", async () => {
    const { server, speech } = start();
    await speech.run(speechCall({ text: "Grüße 👋", voice: VOICE }, { sourceModel: "eleven_multilingual_v2" }));
    const [call] = server.requests;
    expect([call?.method, call?.path, call?.query]).toEqual([
      "POST",
      `/v1/text-to-speech/${VOICE}`,
      { output_format: "mp3_44100_128" },
    ]);
    expect(call?.headers["xi-api-key"]).toBe("key-ours");
    expect(jsonOf(call!)).toEqual({ text: "Grüße 👋", model_id: "eleven_multilingual_v2" });
  });

  test("carries the speed among the voice's settings, and no instructions", async () => {
    const { server, speech } = start();
    await speech.run(speechCall({ voice: VOICE, speed: 1.2, instructions: "Whisper." }));
    expect(jsonOf(server.requests[0]!)).toEqual({
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
  ])("for %s asks for %s and delivers %s as %s", async (format, theirs, delivered, contentType) => {
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
    expect(server.requests[0]?.path).toBe(`/v1/text-to-speech/${id}`);
    expect(jsonOf(server.requests[0]!)).toEqual({ text: "Good morning.", model_id: "m" });
  });

  test.each(["..", "../history", "a/b", "a?b=c", "a%2Fb", "", "é", "x".repeat(65)])(
    "with the voice %p is refused before it is sent",
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

  test("without any voice is refused before it is sent", async () => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall()))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param: "voice",
      say: "This model needs a voice.",
    });
    expect(server.requests).toEqual([]);
  });

  test.each([0.25, 0.69, 1.21, 4])("at the speed %p is refused before it is sent", async (speed) => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall({ voice: VOICE, speed })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "speed",
      say: `This model speaks at 0.7 to 1.2 times its own speed; ${speed} was asked for.`,
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

  test("that is of another format than was asked for says so", async () => {
    const { server, speech } = start();
    server.next(soundReply("audio/mpeg", soundOf("wav")));
    expect((await speech.run(speechCall({ voice: VOICE }))).output).toMatchObject({ contentType: "audio/wav" });
  });

  test.each([
    ["text under the name of sound", soundReply("audio/mpeg", Buffer.from("all is well"))],
    ["a picture", soundReply("audio/mpeg", Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"))],
    ["JSON that begins as sound does", soundReply("application/json", soundOf("mp3"))],
    ["nothing", soundReply("audio/mpeg", Buffer.alloc(0))],
  ])("that is %s is a failure", async (_what, reply) => {
    const { server, speech } = start();
    server.next(reply);
    expect((await failureOf(speech.run(speechCall({ voice: VOICE })))).kind).toBe("failed");
  });

  test.each(FAULTS)("%s is %s", async (name, kind) => {
    const { speech } = start();
    const failing = speech.run(speechCall({ voice: VOICE }, { sourceModel: `mock-${name}` }));
    expect((await failureOf(failing)).kind).toBe(kind);
  });

  test("that never comes ends with its caller's signal, and so does the connection", async () => {
    const { server, speech } = start();
    const controller = new AbortController();
    const failing = failureOf(
      speech.run(speechCall({ voice: VOICE }, { sourceModel: "mock-silent", signal: controller.signal })),
    );
    const call = await server.received(1);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
    expect(await call.closed).toBe("client");
  });
});
