import { describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { createOpenAiSpeech } from "#workers/providers/openai-compatible/speech.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

import type { Behaviour, UsageReport } from "../engine/behaviour.ts";
import { failureOf, overriding, useServers } from "../engine/calls.ts";
import { ERRORS, openAiError } from "./errors.ts";
import { startOpenAiServer } from "./server.ts";
import { speechCall } from "../sound-calls.ts";
import { soundOf } from "../sounds.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startOpenAiServer({ apiKey: "sk-ours" }));
  server.next(...behaviours);
  return { server, speech: createOpenAiSpeech({ baseUrl: server.url, headers: { authorization: "Bearer sk-ours" } }) };
}

const reply = (body: string, type: string): Behaviour => ({ status: 200, headers: { "content-type": type }, body });

const refusal = (message: string, members: Parameters<typeof openAiError>[2] = {}, status = 400): Behaviour =>
  openAiError(status, message, members);

describe("a request for speech", () => {
  test("has the caller's settings under OpenAI's names", async () => {
    const { server, speech } = start();
    const input = { text: "Grüße 👋", voice: "nova", instructions: "Whisper.", format: "flac", speed: 1.5 } as const;
    await speech.run(speechCall(input, { sourceModel: "gpt-4o-mini-tts" }));
    expect(server.requests[0]?.path).toBe("/v1/audio/speech");
    expect(server.requests[0]?.body).toEqual({
      model: "gpt-4o-mini-tts",
      input: "Grüße 👋",
      voice: "nova",
      response_format: "flac",
      speed: 1.5,
      instructions: "Whisper.",
    });
  });

  test("omits defaults except a voice, which OpenAI requires", async () => {
    const { server, speech } = start();
    await speech.run(speechCall());
    expect(server.requests[0]?.body).toEqual({
      model: "m",
      input: "Good morning.",
      voice: "alloy",
      response_format: "mp3",
    });
  });

  test("is changed by its source last: unsupported fields are omitted, its voices are its own", async () => {
    const { server, speech } = start();
    const adapt = (body: Record<string, unknown>): void => {
      delete body["instructions"];
      Object.assign(body, { voices: { autumn: "autumn-en", troy: "troy-en" } });
    };
    await speech.run(speechCall({ instructions: "Whisper." }, { adapt }));
    await speech.run(speechCall({ voice: "troy" }, { adapt }));
    await speech.run(speechCall({ voice: "custom" }, { adapt }));
    const sent = server.requests.map(({ body }) => body as Record<string, unknown>);
    expect(sent.map(({ voice }) => voice)).toEqual(["autumn-en", "troy-en", "custom"]);
    for (const body of sent) expect(Object.keys(body)).toEqual(["model", "input", "response_format", "voice"]);
  });

  test("of the stock client is accepted by the local server", async () => {
    const { server } = start();
    const client = new OpenAI({ baseURL: server.url, apiKey: "sk-ours", maxRetries: 0 });
    const answer = await client.audio.speech.create({ model: "tts-1", input: "Hi.", voice: "alloy" });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(soundOf("mp3").equals(new Uint8Array(await answer.arrayBuffer()))).toBeTrue();
  });
});

describe("an answer with speech", () => {
  test.each<[SpeechFormat, string]>([
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["aac", "audio/aac"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
  ])("in %s is its bytes as %s, metered by code points", async (format, contentType) => {
    const { speech } = start();
    expect(await speech.run(speechCall({ format, text: "a👋é" }))).toEqual({
      output: { bytes: soundOf(format), contentType },
      usage: { characters: 3 },
    });
  });

  test("of a server with one format is in that format", async () => {
    const { server, speech } = start();
    const { output } = await speech.run(speechCall({ format: "aac" }, overriding({ response_format: "wav" })));
    expect(output).toEqual({ bytes: soundOf("wav"), contentType: "audio/wav" });
    expect(server.requests[0]?.body).toMatchObject({ response_format: "wav" });
  });

  test("in events is joined, with its tokens", async () => {
    const { speech } = start();
    expect(await speech.run(speechCall({}, overriding({ stream_format: "sse" })))).toEqual({
      output: { bytes: soundOf("mp3"), contentType: "audio/mpeg" },
      usage: { characters: 13, tokens: { ...NO_USAGE, input: 4, audioOutput: 60 } },
    });
  });

  test.each<[string, UsageReport]>([
    ["missing", "missing"],
    ["negative", { input_tokens: 4, output_tokens: -1 }],
    ["fractional", { input_tokens: 4.5, output_tokens: 1 }],
    ["beyond belief", { input_tokens: 4, output_tokens: 1e18 }],
    ["of zero", { input_tokens: 0, output_tokens: 0 }],
    ["in words", { input_tokens: "4", output_tokens: "60" }],
  ])("in events with a report that is %s has no tokens", async (_what, usage) => {
    const { speech } = start({ usage });
    expect((await speech.run(speechCall({}, overriding({ stream_format: "sse" })))).usage).toEqual({ characters: 13 });
  });

  const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
  const delta = event({ type: "speech.audio.delta", audio: soundOf("mp3").toString("base64") });
  test.each([
    ["without the last one", delta],
    ["without sound", event({ type: "speech.audio.done" })],
    [
      "with a piece that is no base64",
      event({ type: "speech.audio.delta", audio: "*" }) + event({ type: "speech.audio.done" }),
    ],
    ["with a piece that is nothing", event({ type: "speech.audio.delta" }) + event({ type: "speech.audio.done" })],
  ])("in events %s is a failure", async (_what, text) => {
    const { speech } = start(reply(text, "text/event-stream"));
    expect((await failureOf(speech.run(speechCall()))).kind).toBe("failed");
  });

  test("in events with an error is that error", async () => {
    const { speech } = start(
      reply(`${delta}data: ${(ERRORS.quota as { body: string }).body}\n\n`, "text/event-stream"),
    );
    expect((await failureOf(speech.run(speechCall()))).kind).toBe("misconfigured");
  });

  test("in unknown events, up to [DONE], is read", async () => {
    const text = `: comment\n\n${event({ type: "speech.novelty" })}${delta}${event({ type: "speech.audio.done" })}data: [DONE]\n\n`;
    const { speech } = start(reply(text, "text/event-stream"));
    expect((await speech.run(speechCall())).output).toEqual({ bytes: soundOf("mp3"), contentType: "audio/mpeg" });
  });
});

describe("an error of speech", () => {
  const enumFault =
    "[{'type': 'enum', 'loc': ('body', 'voice'), 'msg': \"Input should be 'nova' or 'alloy'\", 'input': 'bob'}]";
  test.each([
    ["an unknown voice", refusal(enumFault), { code: "unsupported_value", param: "voice" }],
    ["a voice by its parameter", refusal("no", { param: "voice" }), { code: "unsupported_value", param: "voice" }],
    ["a long text", refusal("string_too_long: at most 4096 characters"), { code: "invalid_request", param: "input" }],
    [
      "long instructions",
      refusal("string_above_max_length", { param: "instructions" }),
      { code: "invalid_request", param: "instructions" },
    ],
    [
      "a speed",
      refusal("no", { param: "speed", code: "unsupported_value" }),
      { code: "unsupported_value", param: "speed" },
    ],
  ])("for %s names it", async (_what, behaviour, expected) => {
    const { speech } = start(behaviour);
    expect(await failureOf(speech.run(speechCall()))).toMatchObject({ kind: "rejected", status: 400, ...expected });
  });

  test.each([
    ["rate-limit", "busy"],
    ["quota", "misconfigured"],
    ["unauthorized", "misconfigured"],
    ["server-error", "failed"],
    ["content-policy", "refused"],
    ["too-large", "rejected"],
  ] as const)("as %s is %s", async (name, kind) => {
    const { speech } = start(ERRORS[name]);
    expect((await failureOf(speech.run(speechCall()))).kind).toBe(kind);
  });
});
