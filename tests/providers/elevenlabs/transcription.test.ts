import { afterEach, describe, expect, test } from "bun:test";

import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";

import { parseForm } from "../multipart.ts";
import { AUDIO, direct, failureOf, FAULTS, transcriptionCall } from "../sound-calls.ts";
import { jsonReply, type RecordedVendorCall, type VendorServer } from "../vendor-server.ts";
import { HEARD, startElevenLabsServer } from "./server.ts";

const servers: VendorServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    expect(server.faults).toEqual([]);
    server.close();
  }
});

function start() {
  const server = startElevenLabsServer("key-ours");
  servers.push(server);
  const offers = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key-ours" } });
  return { server, transcription: direct(offers.transcription) };
}

function sent(call: RecordedVendorCall | undefined): Record<string, unknown> {
  return parseForm(call?.headers["content-type"], call!.bytes) ?? {};
}

describe("a request for a transcription", () => {
  test("is a form with the sound under a name of ours, and always asks for words", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({}, { sourceModel: "scribe_v2" }));
    expect(server.requests[0]?.path).toBe("/v1/speech-to-text");
    expect(sent(server.requests[0])).toEqual({
      model_id: "scribe_v2",
      timestamps_granularity: "word",
      tag_audio_events: "false",
      file: { filename: "audio.wav", contentType: "audio/wav", bytes: AUDIO.bytes },
    });
  });

  test("carries language without its region and temperature, and leaves a prompt out", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ language: "pt_BR", temperature: 0.2, prompt: "Names." }));
    const members = sent(server.requests[0]);
    expect(members).toMatchObject({ language_code: "pt", temperature: "0.2" });
    expect(members).not.toHaveProperty("prompt");
  });

  test("is changed by its source last", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ temperature: 1 }, { adapt: (body) => delete body["temperature"] }));
    expect(sent(server.requests[0])).not.toHaveProperty("temperature");
  });

  test.each(["multi", "english", "e", "en us", ""])(
    "in the language %p is refused before it is sent",
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
  test("has its words with their times, spaces and noises left out, and no length that nobody reported", async () => {
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

  test("with a reported length is billed by it", async () => {
    const { server, transcription } = start();
    server.next(jsonReply(200, { ...HEARD, audio_duration_secs: 7.25 }));
    const { output, usage } = await transcription.run(transcriptionCall());
    expect([output.seconds, usage]).toEqual([7.25, { seconds: 7.25 }]);
  });

  test.each([null, -1, "7", Number.MAX_VALUE])("with the length %p has none", async (length) => {
    const { server, transcription } = start();
    server.next(jsonReply(200, { ...HEARD, audio_duration_secs: length }));
    expect((await transcription.run(transcriptionCall())).usage).toEqual({});
  });

  test("of silence is empty", async () => {
    const { server, transcription } = start();
    server.next(jsonReply(200, { language_code: "eng", text: "", words: [] }));
    expect((await transcription.run(transcriptionCall())).output).toEqual({ text: "", language: "eng", words: [] });
  });

  test.each([
    ["without a text", {}],
    ["with a text that is none", { text: 5 }],
    ["that is a list", []],
    ["that is no JSON", "Good morning"],
  ])("%s is a failure", async (_what, body) => {
    const { server, transcription } = start();
    server.next(jsonReply(200, body));
    expect((await failureOf(transcription.run(transcriptionCall()))).kind).toBe("failed");
  });

  test("survives words that are none", async () => {
    const { server, transcription } = start();
    server.next(
      jsonReply(200, {
        text: "Hm.",
        words: [null, 5, { type: "word" }, { type: "word", text: "Hm.", start: 2, end: 1 }],
      }),
    );
    const { output } = await transcription.run(transcriptionCall());
    expect(output.words).toEqual([{ word: "Hm.", start: 2, end: 2 }]);
  });

  test.each(FAULTS)("%s is %s", async (name, kind) => {
    const { transcription } = start();
    const failing = transcription.run(transcriptionCall({}, { sourceModel: `mock-${name}` }));
    expect((await failureOf(failing)).kind).toBe(kind);
  });

  test("that never comes ends with its caller's signal", async () => {
    const { server, transcription } = start();
    const controller = new AbortController();
    const call = transcriptionCall({}, { sourceModel: "mock-silent", signal: controller.signal });
    const failing = failureOf(transcription.run(call));
    await server.received(1);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
    expect(await server.requests[0]?.closed).toBe("client");
  });
});
