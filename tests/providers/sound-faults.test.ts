/** Faults of any provider of speech and transcription, at each family. */
import { describe, expect, test } from "bun:test";

import { createDeepgram } from "#workers/providers/deepgram/index.ts";
import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import { createOpenAiSpeech } from "#workers/providers/openai-compatible/speech.ts";
import { createOpenAiTranscription } from "#workers/providers/openai-compatible/transcription.ts";

import { startDeepgramServer } from "./deepgram/server.ts";
import { startElevenLabsServer } from "./elevenlabs/server.ts";
import { VENDOR_MARK } from "./engine/behaviour.ts";
import { type CallChanges, direct, failureOf, useServers } from "./engine/calls.ts";
import type { Upstream } from "./engine/upstream.ts";
import { startOpenAiServer } from "./openai-compatible/server.ts";
import { speechCall, transcriptionCall } from "./sound-calls.ts";

const own = useServers();

interface Place {
  readonly server: Upstream;
  speak(call: CallChanges): Promise<unknown>;
  transcribe(call: CallChanges): Promise<unknown>;
}

const speech = (call: CallChanges) => speechCall({ voice: "JBFqnCBsd6RMkjVDRZzb" }, call);

const FAMILIES: Readonly<Record<string, () => Place>> = {
  "OpenAI's dialect"() {
    const server = own(startOpenAiServer());
    const endpoint = { baseUrl: server.url, headers: {} };
    return {
      server,
      speak: (call) => createOpenAiSpeech(endpoint).run(speech(call)),
      transcribe: (call) => createOpenAiTranscription(endpoint).run(transcriptionCall({}, call)),
    };
  },
  ElevenLabs() {
    const server = own(startElevenLabsServer("key"));
    const adapters = createElevenLabs({ baseUrl: server.url, headers: { "xi-api-key": "key" } });
    return {
      server,
      speak: (call) => direct(adapters.speech).run(speech(call)),
      transcribe: (call) => direct(adapters.transcription).run(transcriptionCall({}, call)),
    };
  },
  Deepgram() {
    const server = own(startDeepgramServer("key"));
    const adapters = createDeepgram({ baseUrl: server.url, headers: { authorization: "Token key" } });
    return {
      server,
      speak: (call) => direct(adapters.speech).run(speech(call)),
      transcribe: (call) => direct(adapters.transcription).run(transcriptionCall({}, call)),
    };
  },
};

const CELLS = Object.entries(FAMILIES).flatMap(([name, start]) =>
  (["speak", "transcribe"] as const).map((kind) => [name, kind, start] as const),
);

describe.each(CELLS)("%s, requested to %s", (_name, kind, start) => {
  test.each([
    "html",
    "html-502",
    "redirect",
    "cut-body",
    "empty",
    "error-in-200",
    "reset",
    "reset-after-head",
    "gzip-bomb",
    "server-error",
  ])("and answering with %s has failed", async (name) => {
    const error = await failureOf(start()[kind]({ sourceModel: `mock-${name}` }));
    expect(error).toMatchObject({ kind: "failed" });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
  });

  test("and never answering is aborted with its caller, like the connection", async () => {
    const { server, ...place } = start();
    const controller = new AbortController();
    const failing = failureOf(place[kind]({ sourceModel: "mock-silent", signal: controller.signal }));
    const call = await server.received(1);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
  });
});
