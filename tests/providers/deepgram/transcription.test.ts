import { describe, expect, test } from "bun:test";

import { createDeepgram } from "#workers/providers/deepgram/index.ts";

import { HEARD, startDeepgramServer } from "./server.ts";
import { ok } from "../engine/behaviour.ts";
import { direct, failureOf, useServers } from "../engine/calls.ts";
import { AUDIO, transcriptionCall } from "../sound-calls.ts";

const own = useServers();

function start() {
  const server = own(startDeepgramServer("key-ours"));
  const adapters = createDeepgram({ baseUrl: server.url, headers: { authorization: "Token key-ours" } });
  return { server, transcription: direct(adapters.transcription) };
}

describe("a request for a transcription", () => {
  test("is the unchanged audio with its own type, and other parameters in the address", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ prompt: "Names.", temperature: 1 }, { sourceModel: "nova-3" }));
    const [call] = server.requests;
    expect([call?.method, call?.pathname, call?.query]).toEqual([
      "POST",
      "/v1/listen",
      { model: "nova-3", smart_format: "true", utterances: "true", detect_language: "true" },
    ]);
    expect(call?.headers).toMatchObject({ "content-type": "audio/wav", authorization: "Token key-ours" });
    expect(call?.bytes).toEqual(AUDIO.bytes);
  });

  test("contains the caller's language, and then no language detection", async () => {
    const { server, transcription } = start();
    await transcription.run(transcriptionCall({ language: "pt-BR" }));
    expect(server.requests[0]?.query).toEqual({
      model: "m",
      smart_format: "true",
      utterances: "true",
      language: "pt-BR",
    });
  });

  test("is changed by its source last", async () => {
    const { server, transcription } = start();
    const adapt = (body: Record<string, unknown>): void =>
      void Object.assign(body, { smart_format: false, keyterm: "Sluice" });
    await transcription.run(transcriptionCall({}, { adapt }));
    expect(server.requests[0]?.query).toMatchObject({ smart_format: "false", keyterm: "Sluice" });
  });

  test.each(["multi", "a&b=c", "english"])("in the language %p is rejected before it is sent", async (language) => {
    const { server, transcription } = start();
    expect(await failureOf(transcription.run(transcriptionCall({ language })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "language",
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a transcription", () => {
  test("has formatted words, utterances as its segments, and is charged by the length of the audio", async () => {
    const { transcription } = start();
    expect(await transcription.run(transcriptionCall())).toEqual({
      output: {
        text: "Good morning. All of you.",
        language: "en",
        seconds: 3.744,
        words: [
          { word: "Good", start: 0.16, end: 0.4 },
          { word: "morning.", start: 0.4, end: 0.96 },
          { word: "all", start: 2.1, end: 2.4 },
          { word: "of", start: 2.4, end: 2.5 },
          { word: "you.", start: 2.5, end: 3 },
        ],
        segments: [
          { text: "Good morning.", start: 0.16, end: 0.96 },
          { text: "All of you.", start: 2.1, end: 3 },
        ],
      },
      usage: { seconds: 3.744 },
    });
  });

  test("without a detected language has the requested one", async () => {
    const { server, transcription } = start();
    const [channel] = HEARD.results.channels;
    server.next(ok({ ...HEARD, results: { channels: [{ alternatives: channel.alternatives }] } }));
    const { output } = await transcription.run(transcriptionCall({ language: "en-GB" }));
    expect(output.language).toBe("en-GB");
    expect(output.segments).toBeUndefined();
  });

  test("of silence is empty, and charged", async () => {
    const { server, transcription } = start();
    const alternatives = [{ transcript: "", confidence: 0, words: [] }];
    server.next(ok({ metadata: { duration: 12 }, results: { channels: [{ alternatives }], utterances: [] } }));
    expect(await transcription.run(transcriptionCall())).toEqual({
      output: { text: "", seconds: 12, words: [], segments: [] },
      usage: { seconds: 12 },
    });
  });

  test.each([-1, "3", null, 1e300])("with the length %p is measured by us", async (duration) => {
    const { server, transcription } = start();
    server.next(ok({ ...HEARD, metadata: { duration } }));
    expect((await transcription.run(transcriptionCall())).usage).toEqual({});
  });

  test.each([
    ["without results", { metadata: HEARD.metadata }],
    ["without a channel", { results: { channels: [] } }],
    ["with a channel that is none", { results: { channels: [null] } }],
    ["without a transcript", { results: { channels: [{ alternatives: [{}] }] } }],
    ["that is a list", []],
    ["that is no JSON", "Good morning"],
  ])("%s is a failure", async (_what, body) => {
    const { server, transcription } = start();
    server.next(ok(body));
    expect((await failureOf(transcription.run(transcriptionCall()))).kind).toBe("failed");
  });

  test("ignores invalid words and utterances", async () => {
    const { server, transcription } = start();
    const alternatives = [
      { transcript: "Hm.", words: [null, { word: "hm", start: -1, end: 1 }, { word: 5, start: 0, end: 1 }] },
    ];
    server.next(ok({ results: { channels: [{ alternatives }], utterances: [null, { start: 0, end: 1 }] } }));
    expect((await transcription.run(transcriptionCall())).output).toEqual({ text: "Hm.", words: [], segments: [] });
  });

  test.each([
    ["corrupt", undefined, { kind: "rejected", code: "unprocessable_input", param: "file" }],
    ["unknown-combination", undefined, { kind: "misconfigured" }],
    ["unknown-combination", "xx", { kind: "rejected", code: "unsupported_value", param: "language" }],
  ])("rejected as %s, in %p, is reported as such", async (name, language, expected) => {
    const { transcription } = start();
    const input = language === undefined ? {} : { language };
    const failing = transcription.run(transcriptionCall(input, { sourceModel: `mock-${name}` }));
    expect(await failureOf(failing)).toMatchObject(expected);
  });
});
