import { describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import { createOpenAiTranscription } from "#workers/providers/openai-compatible/transcription.ts";

import { type Behaviour, ok } from "../engine/behaviour.ts";
import { failureOf, overriding, useServers } from "../engine/calls.ts";
import { ERRORS, openAiError } from "./errors.ts";
import { startOpenAiServer } from "./server.ts";
import { SEGMENT } from "./transcription-endpoint.ts";
import { AUDIO, transcriptionCall } from "../sound-calls.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startOpenAiServer({ apiKey: "sk-ours" }));
  server.next(...behaviours);
  const endpoint = { baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } };
  return { server, transcription: createOpenAiTranscription(endpoint) };
}

const refusal = (message: string, members: Parameters<typeof openAiError>[2] = {}, status = 400): Behaviour =>
  openAiError(status, message, members);

const FILE = { filename: "audio.wav", contentType: "audio/wav", bytes: AUDIO.bytes };

describe("a streamed transcript", () => {
  const events = (...list: readonly object[]): Behaviour => ({
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""),
  });
  const delta = (text: string) => ({ type: "transcript.text.delta", delta: text });
  const usage = { type: "tokens", input_tokens: 14, output_tokens: 3, total_tokens: 17 };
  const json = overriding({ response_format: "json" });

  async function read(behaviour: Behaviour | undefined, more: object = json) {
    const { server, transcription } = start(...(behaviour === undefined ? [] : [behaviour]));
    const pieces: string[] = [];
    const call = { ...transcriptionCall({}, more), onText: (piece: string) => void pieces.push(piece) };
    const result = await transcription.run(call).catch((error: unknown) => error);
    return { pieces, result, body: server.requests[0]?.body };
  }

  test("is delivered piece by piece, with the report at its end", async () => {
    const done = { type: "transcript.text.done", text: "Good morning.", usage };
    const { pieces, result, body } = await read(events(delta("Good"), delta(" morning."), done));
    expect(body).toMatchObject({ stream: "true", response_format: "json" });
    expect(pieces).toEqual(["Good", " morning."]);
    expect(result).toMatchObject({
      output: { text: "Good morning." },
      usage: { tokens: { audioInput: 14, output: 3 } },
    });
  });

  test("is delivered at once from a server without streams", async () => {
    const { pieces, result } = await read(ok({ text: "Good morning." }));
    expect([pieces, result]).toMatchObject([[], { output: { text: "Good morning." } }]);
  });

  test("is requested without a stream if it has times", async () => {
    const { body, pieces, result } = await read(undefined, {});
    expect(body).not.toHaveProperty("stream");
    expect([pieces, result]).toMatchObject([[], { output: { text: "Good morning." } }]);
  });

  test("that ends before its last event, or contains an error, has failed", async () => {
    expect((await read(events(delta("Good")))).result).toMatchObject({ kind: "failed" });
    expect(
      (await read(events(delta("Good"), { error: { message: "gone", type: "server_error" } }))).result,
    ).toBeInstanceOf(ProviderError);
  });
});

describe("a request for a transcription", () => {
  test("is a form with the most detailed format, and the audio under our own name", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({}, { sourceModel: "whisper-1" }));
    expect(server.requests[0]?.path).toBe("/v1/audio/transcriptions");
    expect(server.requests[0]?.body).toEqual({ model: "whisper-1", response_format: "verbose_json", file: FILE });
  });

  test("contains the caller's settings", async () => {
    const { server, transcription } = start();
    const input = { language: "en", prompt: "Naïve\r\nnames", temperature: 0.2, wantsWords: true, wantsSegments: true };
    await transcription.run(transcriptionCall(input));
    expect(server.requests[0]?.body).toEqual({
      model: "m",
      response_format: "verbose_json",
      "timestamp_granularities[]": ["word", "segment"],
      language: "en",
      prompt: "Naïve\r\nnames",
      temperature: "0.2",
      file: FILE,
    });
  });

  test.each([
    ["audio/mpeg", "talk", "audio.mp3"],
    ["audio/x-m4a", "talk.mov", "audio.m4a"],
    ["video/webm; codecs=opus", 'a"b\r\n.exe', "audio.webm"],
    ["application/octet-stream", "../Talk.MP3", "audio.mp3"],
  ])("names sound of %s, called %p, %s", async (contentType, filename, sentName) => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ audio: { ...AUDIO, contentType, filename } }));
    expect(server.requests[0]?.body).toMatchObject({ file: { filename: sentName } });
  });

  test("requests only JSON, without times, from a model that returns nothing else", async () => {
    const { server, transcription } = start();
    const json = overriding({ response_format: "json" });
    const { output } = await transcription.run(transcriptionCall({}, { ...json, sourceModel: "gpt-4o-transcribe" }));
    expect(server.requests[0]?.body).toEqual({ model: "gpt-4o-transcribe", response_format: "json", file: FILE });
    expect(output).toEqual({ text: "Good morning." });
  });

  test.each([
    { wantsWords: true, wantsSegments: false },
    { wantsWords: false, wantsSegments: true },
  ])("for times, %j, is rejected before it is sent for a model without them", async (wants) => {
    const { server, transcription } = start();
    const call = transcriptionCall(wants, overriding({ response_format: "json" }));
    expect(await failureOf(transcription.run(call))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "response_format",
      say: "This model returns no timestamps; set response_format to json or text.",
    });
    expect(server.requests).toEqual([]);
  });

  test("of the stock client is accepted by the local server", async () => {
    const { server } = start();
    const client = new OpenAI({ baseURL: server.url, apiKey: "sk-ours", maxRetries: 0 });
    const file = await toFile(AUDIO.bytes, "talk.wav");
    const heard = await client.audio.transcriptions.create({
      model: "whisper-1",
      file,
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    });
    expect([heard.text, heard.words?.length, heard.segments?.length]).toEqual(["Good morning.", 2, 1]);
  });
});

describe("a transcription", () => {
  test("has words and segments with their times, Whisper's values, and the charge", async () => {
    const { transcription } = start();
    const { tokens, seek, temperature, avg_logprob, compression_ratio, no_speech_prob } = SEGMENT;
    expect(await transcription.run(transcriptionCall({ wantsWords: true, wantsSegments: true }))).toEqual({
      output: {
        text: "Good morning.",
        language: "english",
        seconds: 1.25,
        words: [
          { word: "Good", start: 0, end: 0.6600000262260437 },
          { word: "morning", start: 0.6600000262260437, end: 0.8999999761581421 },
        ],
        segments: [
          {
            text: "Good morning.",
            start: 0,
            end: 1.25,
            details: { seek, temperature, avg_logprob, compression_ratio, no_speech_prob, tokens },
          },
        ],
      },
      usage: { seconds: 2 },
    });
  });

  test("without a report is charged by its length", async () => {
    const { transcription } = start({ usage: "missing" });
    expect((await transcription.run(transcriptionCall())).usage).toEqual({ seconds: 1.25 });
  });

  const tokens = (members: object): object => ({
    type: "tokens",
    input_tokens: 20,
    output_tokens: 5,
    total_tokens: 25,
    ...members,
  });
  test.each([
    [tokens({ input_token_details: { audio_tokens: 14, text_tokens: 6 } }), { input: 6, audioInput: 14, output: 5 }],
    [tokens({ input_token_details: null }), { input: 0, audioInput: 20, output: 5 }],
    [tokens({}), { input: 0, audioInput: 20, output: 5 }],
    [tokens({ input_token_details: { audio_tokens: 14, text_tokens: null } }), { input: 6, audioInput: 14, output: 5 }],
    [tokens({ input_token_details: { audio_tokens: null, text_tokens: 99 } }), { input: 20, audioInput: 0, output: 5 }],
    [tokens({ output_tokens: 0 }), { input: 0, audioInput: 20, output: 0 }],
    [
      { input_tokens: 20, output_tokens: 5 },
      { input: 0, audioInput: 20, output: 5 },
    ],
  ])("that reports %j costs %j", async (usage, expected) => {
    const { transcription } = start(ok({ text: "Hi.", usage }));
    expect((await transcription.run(transcriptionCall())).usage).toEqual({ tokens: { ...NO_USAGE, ...expected } });
  });

  test.each([
    null,
    { type: "tokens", input_tokens: -1, output_tokens: 5 },
    { type: "tokens", input_tokens: 1.5, output_tokens: 5 },
    { type: "tokens", input_tokens: 20 },
    { type: "tokens", input_tokens: 1e18, output_tokens: 5 },
    { type: "duration", seconds: -1 },
    { type: "duration", seconds: null },
    { type: "duration" },
    { type: "novelty" },
    "free",
  ])("that reports %j is measured by us", async (usage) => {
    const { transcription } = start(ok({ text: "Hi.", usage }));
    expect((await transcription.run(transcriptionCall())).usage).toEqual({});
  });

  test.each([
    [{ languages: [{ code: "de" }, { code: "en" }] }, "de"],
    [{ language: "german", languages: [{ code: "de" }] }, "german"],
    [{ languages: [] }, undefined],
    [{ languages: [null] }, undefined],
    [{ language: "" }, undefined],
    [{ language: 5, languages: "de" }, undefined],
  ])("with %j has the language %p", async (members, language) => {
    const { transcription } = start(ok({ text: "Hallo.", ...members }));
    expect((await transcription.run(transcriptionCall())).output.language).toBe(language as string);
  });

  test("in plain text, of a server with nothing else, is its text", async () => {
    const { transcription } = start();
    expect(await transcription.run(transcriptionCall({}, overriding({ response_format: "text" })))).toEqual({
      output: { text: "Good morning." },
      usage: {},
    });
  });

  test("ignores invalid words and segments", async () => {
    const words = [null, 5, { word: "hm" }, { word: "hm", start: 2, end: 1 }, { word: 5, start: 0, end: 1 }];
    const segments = [null, { text: "x" }, { text: "Hm. ", start: 0, end: 1, tokens: ["1"], temperature: 0.5 }];
    const { transcription } = start(ok({ text: "Hm.", words, segments }));
    expect((await transcription.run(transcriptionCall())).output).toEqual({
      text: "Hm.",
      words: [{ word: "hm", start: 2, end: 2 }],
      segments: [{ text: "Hm.", start: 0, end: 1, details: { temperature: 0.5 } }],
    });
  });

  test.each([
    ["without a text", {}],
    ["with a text that is none", { text: null }],
    ["that is no JSON", "Good morning"],
    ["that is a list", []],
  ])("%s is a failure", async (_what, body) => {
    const { transcription } = start(ok(body));
    expect((await failureOf(transcription.run(transcriptionCall()))).kind).toBe("failed");
  });
});

describe("an error of a transcription", () => {
  const unreadable = { kind: "rejected", code: "unprocessable_input", param: "file" };
  const tooLarge = { kind: "rejected", code: "invalid_request", param: "file" };
  test.each([
    ["Invalid file format. Supported formats: ['flac', 'm4a', 'mp3']", unreadable],
    ["The audio file could not be decoded or its format is not supported.", unreadable],
    ["Audio file might be corrupted or unsupported", unreadable],
    ["Audio file is too short. Minimum audio length is 0.1 seconds.", unreadable],
    ["audio duration 1500.5 seconds is longer than 1400 seconds which is the maximum for this model", tooLarge],
  ])("about the audio names it: %s", async (message, expected) => {
    const { transcription } = start(refusal(message));
    expect(await failureOf(transcription.run(transcriptionCall()))).toMatchObject({ status: 400, ...expected });
  });

  test("about the size names the audio", async () => {
    const message = "413: Maximum content size limit (26214400) exceeded (26264744 bytes read)";
    const { transcription } = start(refusal(message, { type: "server_error" }, 413));
    expect(await failureOf(transcription.run(transcriptionCall()))).toMatchObject({ status: 413, ...tooLarge });
  });

  test("about our own format is our own error, so that another source is called", async () => {
    const { server, transcription } = start();
    const failing = transcription.run(transcriptionCall({}, { sourceModel: "gpt-4o-transcribe" }));
    expect(await failureOf(failing)).toMatchObject({ kind: "misconfigured" });
    expect(server.requests).toHaveLength(1);
  });

  test("about a language stays the caller's", async () => {
    const { transcription } = start(
      refusal("Language 'xx' is not supported.", { param: "language", code: "unsupported_value" }),
    );
    expect(await failureOf(transcription.run(transcriptionCall({ language: "xx" })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "language",
    });
  });

  test.each([
    ["rate-limit", "busy"],
    ["quota", "misconfigured"],
    ["unauthorized", "misconfigured"],
    ["server-error", "failed"],
    ["content-policy", "refused"],
  ] as const)("as %s is %s", async (name, kind) => {
    const { transcription } = start(ERRORS[name]);
    expect((await failureOf(transcription.run(transcriptionCall()))).kind).toBe(kind);
  });
});
