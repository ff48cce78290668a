import { describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";

import { HEARD, startElevenLabsServer } from "./server.ts";
import { ok } from "../engine/behaviour.ts";
import { direct, failureOf, useServers } from "../engine/calls.ts";
import { AUDIO, transcriptionCall } from "../sound-calls.ts";

const own = useServers();

function start() {
  const server = own(startElevenLabsServer("key-ours"));
  const adapters = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key-ours" } });
  return { server, transcription: direct(adapters.transcription) };
}

describe("a request for a transcription", () => {
  test("is a form with the audio under our own name, and always requests words", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({}, { sourceModel: "scribe_v2" }));
    expect(server.requests[0]?.pathname).toBe("/v1/speech-to-text");
    expect(server.requests[0]?.body).toEqual({
      model_id: "scribe_v2",
      timestamps_granularity: "word",
      tag_audio_events: "false",
      file: { filename: "audio.wav", contentType: "audio/wav", bytes: AUDIO.bytes },
    });
  });

  test("has language without its region and temperature, and omits a prompt", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ language: "pt_BR", temperature: 0.2, prompt: "Names." }));
    const members = server.requests[0]?.body;
    expect(members).toMatchObject({ language_code: "pt", temperature: "0.2" });
    expect(members).not.toHaveProperty("prompt");
  });

  test("is changed by its source last", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ temperature: 1 }, { adapt: (body) => delete body["temperature"] }));
    expect(server.requests[0]?.body).not.toHaveProperty("temperature");
  });

  test.each(["multi", "english", "e", "en us", ""])(
    "in the language %p is rejected before it is sent",
    async (language) => {
      const { server, transcription } = start();
      expect(await failureOf(transcription.run(transcriptionCall({ language })))).toMatchObject({
        kind: "rejected",
        code: "unsupported_value",
        param: "language",
      });
      expect(server.requests).toEqual([]);
    },
  );
});

describe("a transcription", () => {
  test("has its words with their times, without spaces and noises, and no unreported length", async () => {
    const { transcription } = start();
    expect(await transcription.run(transcriptionCall())).toEqual({
      output: {
        text: "Good morning, all of you.",
        language: "eng",
        words: [
          { word: "Good", start: 0.1, end: 0.3 },
          { word: "morning,", start: 0.32, end: 0.8 },
          { word: "all", start: 0.9, end: 1 },
          { word: "of", start: 1, end: 1.1 },
          { word: "you.", start: 1.1, end: 1.4 },
        ],
      },
      usage: {},
    });
  });

  test("with a reported length is charged by it", async () => {
    const { server, transcription } = start();
    server.next(ok({ ...HEARD, audio_duration_secs: 7.25 }));
    const { output, usage } = await transcription.run(transcriptionCall());
    expect([output.seconds, usage]).toEqual([7.25, { seconds: 7.25 }]);
  });

  test.each([null, -1, "7", Number.MAX_VALUE])("with the length %p has none", async (length) => {
    const { server, transcription } = start();
    server.next(ok({ ...HEARD, audio_duration_secs: length }));
    expect((await transcription.run(transcriptionCall())).usage).toEqual({});
  });

  test("of silence is empty", async () => {
    const { server, transcription } = start();
    server.next(ok({ language_code: "eng", text: "", words: [] }));
    expect((await transcription.run(transcriptionCall())).output).toEqual({ text: "", language: "eng", words: [] });
  });

  test.each([
    ["without a text", {}],
    ["with a text that is none", { text: 5 }],
    ["that is a list", []],
    ["that is no JSON", "Good morning"],
  ])("%s is a failure", async (_what, body) => {
    const { server, transcription } = start();
    server.next(ok(body));
    expect((await failureOf(transcription.run(transcriptionCall()))).kind).toBe("failed");
  });

  test("ignores invalid words", async () => {
    const { server, transcription } = start();
    server.next(
      ok({
        text: "Hm.",
        words: [null, 5, { type: "word" }, { type: "word", text: "Hm.", start: 2, end: 1 }],
      }),
    );
    const { output } = await transcription.run(transcriptionCall());
    expect(output.words).toEqual([{ word: "Hm.", start: 2, end: 2 }]);
  });
});
