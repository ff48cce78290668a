import { describe, expect, test } from "bun:test";

import { createDeepgram } from "#workers/providers/deepgram/index.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";

import { startDeepgramServer } from "./server.ts";
import { bytesReply } from "../engine/behaviour.ts";
import { direct, failureOf, overriding, useServers } from "../engine/calls.ts";
import { speechCall } from "../sound-calls.ts";
import { soundOf } from "../sounds.ts";

const own = useServers();

function start() {
  const server = own(startDeepgramServer("key-ours"));
  const adapters = createDeepgram({ baseUrl: server.url, headers: { authorization: "Token key-ours" } });
  return { server, speech: direct(adapters.speech) };
}

const voices = { thalia: "aura-2-thalia-en", apollo: "aura-2-apollo-en" };

describe("a request for speech", () => {
  test("has the text in its body and other parameters in its address", async () => {
    const { server, speech } = start();
    const call = speechCall(
      { text: "Grüße 👋", speed: 0.9, instructions: "Whisper." },
      { sourceModel: "aura-2-luna-en" },
    );
    await speech.run(call);
    const [sent] = server.requests;
    expect([sent?.method, sent?.pathname, sent?.query]).toEqual([
      "POST",
      "/v1/speak",
      { model: "aura-2-luna-en", encoding: "mp3", speed: "0.9" },
    ]);
    expect(sent?.body).toEqual({ text: "Grüße 👋" });
  });

  test.each<[SpeechFormat, object, string]>([
    ["mp3", { encoding: "mp3" }, "audio/mpeg"],
    ["opus", { encoding: "opus", container: "ogg" }, "audio/ogg"],
    ["aac", { encoding: "aac" }, "audio/aac"],
    ["flac", { encoding: "flac", sample_rate: "48000" }, "audio/flac"],
    ["wav", { encoding: "linear16", container: "wav", sample_rate: "24000" }, "audio/wav"],
    ["pcm", { encoding: "linear16", container: "none", sample_rate: "24000" }, "audio/pcm"],
  ])("for %s requests %j and delivers %s", async (format, query, contentType) => {
    const { server, speech } = start();
    const { output } = await speech.run(speechCall({ format }));
    expect(server.requests[0]?.query).toEqual({ model: "m", ...query });
    expect(output).toEqual({ bytes: soundOf(format), contentType });
  });

  test.each([
    ["a voice of the catalogue's map is a model", "apollo", "aura-2-apollo-en"],
    ["the first of the map speaks where none is named", undefined, "aura-2-thalia-en"],
  ])("%s", async (_what, voice, model) => {
    const { server, speech } = start();
    await speech.run(speechCall(voice === undefined ? {} : { voice }, overriding({ voices })));
    expect(server.requests[0]?.query).toEqual({ model, encoding: "mp3" });
  });

  test("with an unmapped voice is rejected before it is sent: it would be a model of another price", async () => {
    const { server, speech } = start();
    const call = speechCall({ voice: "aura-2-zeus-en" }, overriding({ voices }));
    expect(await failureOf(speech.run(call))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "voice",
      say: "The model has no voice with this name; GET /v1/models lists its voices.",
    });
    expect(server.requests).toEqual([]);
  });

  test("omits a voice if its source has none", async () => {
    const { server, speech } = start();
    await speech.run(speechCall({ voice: "nova" }));
    expect(server.requests[0]?.query).toEqual({ model: "m", encoding: "mp3" });
  });

  test.each([0.25, 0.69, 1.51, 4])("at the speed %p is rejected before it is sent", async (speed) => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall({ speed })))).toMatchObject({
      kind: "rejected",
      code: "unsupported_value",
      param: "speed",
    });
    expect(server.requests).toEqual([]);
  });

  test("of more than 2000 characters is rejected before it is sent, of 2000 accepted", async () => {
    const { server, speech } = start();
    expect(await failureOf(speech.run(speechCall({ text: "é".repeat(2_001) })))).toMatchObject({
      kind: "rejected",
      code: "invalid_request",
      param: "input",
      say: "This model accepts at most 2000 characters in one call, got 2001.",
    });
    expect(server.requests).toEqual([]);
    expect((await speech.run(speechCall({ text: "é".repeat(2_000) }))).usage).toEqual({ characters: 2_000 });
  });
});

describe("an answer with speech", () => {
  test("in another format than requested reports it", async () => {
    const { server, speech } = start();
    server.next(bytesReply("audio/mpeg", soundOf("wav")));
    expect((await speech.run(speechCall())).output).toMatchObject({ contentType: "audio/wav" });
  });

  test("of samples keeps them unchanged, for any first bytes", async () => {
    const { server, speech } = start();
    const samples = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(32, 1)]);
    server.next(bytesReply("audio/l16", samples));
    const { output } = await speech.run(speechCall({ format: "pcm" }));
    expect(output).toEqual({ bytes: samples, contentType: "audio/pcm" });
  });

  test("of samples that contain a file is that file", async () => {
    const { server, speech } = start();
    server.next(bytesReply("audio/wav", soundOf("wav")));
    expect((await speech.run(speechCall({ format: "pcm" }))).output).toMatchObject({ contentType: "audio/wav" });
  });
});
