import { afterAll, describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Model, Provider } from "#shared/calls/model.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { parseDecimal } from "#shared/base/money.ts";
import { startDeepgramServer } from "#tests/providers/deepgram/server.ts";
import { startElevenLabsServer } from "#tests/providers/elevenlabs/server.ts";
import { startOpenAiServer } from "#tests/providers/openai-compatible/server.ts";
import { direct, failureOf } from "#tests/providers/engine/calls.ts";
import { speechCall, transcriptionCall } from "#tests/providers/sound-calls.ts";
import { adaptTo } from "#workers/calls/source-params.ts";
import { createDeepgram } from "#workers/providers/deepgram/index.ts";
import { createElevenLabs } from "#workers/providers/elevenlabs/index.ts";
import type { MediaAdapters, SpeechFormat } from "#workers/providers/media.ts";
import { SPEECH_TYPES } from "#workers/providers/speech.ts";
import { createOpenAiSpeech } from "#workers/providers/openai-compatible/speech.ts";
import { createOpenAiTranscription } from "#workers/providers/openai-compatible/transcription.ts";

import { EVERYTHING_ON } from "./build-catalogue.ts";

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);
const ours = [...catalogue.models.values()].filter(({ owned_by }) => owned_by !== "sandbox");
const speaking = ours.filter(({ modality }) => modality === "audio");
const transcribing = ours.filter(({ modality }) => modality === "stt");

const openai = startOpenAiServer();
const elevenlabs = startElevenLabsServer("k");
const deepgram = startDeepgramServer("k");
afterAll(() => {
  for (const server of [openai, elevenlabs, deepgram]) server.close();
});

/** The family's own adapters, at the local server that refuses what the vendor would. */
function offersOf(model: Model): MediaAdapters {
  const family: Provider["family"] | undefined = catalogue.providers.get(model.sources[0]?.provider ?? "")?.family;
  if (family === "elevenlabs") return createElevenLabs({ baseUrl: elevenlabs.url, headers: { "xi-api-key": "k" } });
  if (family === "deepgram") return createDeepgram({ baseUrl: deepgram.url, headers: { authorization: "Token k" } });
  const endpoint = { baseUrl: openai.url, headers: {} };
  return { speech: createOpenAiSpeech(endpoint), transcription: createOpenAiTranscription(endpoint) };
}

function sourceOf(model: Model) {
  const [source] = model.sources;
  if (!source) throw new Error(model.slug);
  return { sourceModel: source.model, adapt: (body: Record<string, unknown>) => adaptTo(source, body) };
}

test("speech and transcription models exist, of several families", () => {
  const providers = (models: readonly Model[]) => new Set(models.map(({ sources }) => sources[0]?.provider));
  expect(providers(speaking)).toEqual(new Set(["openai", "elevenlabs", "deepgram"]));
  expect(providers(transcribing)).toEqual(new Set(["openai", "groq", "elevenlabs", "deepgram"]));
});

describe("a speech model", () => {
  test.each(speaking)("$slug is accepted by its vendor in each declared voice and format", async (model) => {
    const speech = direct(offersOf(model).speech);
    const { voices = [], response_formats = [], default_params } = model.allowed_params;
    expect(voices).toContain(String(default_params?.["voice"]));
    expect(response_formats).toContain("mp3");
    for (const voice of voices) {
      expect((await speech.run(speechCall({ voice, instructions: "Warmly." }, sourceOf(model)))).output).toBeDefined();
    }
    for (const format of response_formats as SpeechFormat[]) {
      const { output, usage } = await speech.run(speechCall({ format }, sourceOf(model)));
      // Nobody makes another format of it: what is declared is what comes.
      expect(output.contentType).toBe(SPEECH_TYPES[format]);
      expect(model.price.unit === "per_token" ? usage.tokens : usage.characters).toBeDefined();
    }
  });

  test.each(speaking)("$slug has its own id for each voice that its source maps", (model) => {
    const mapped = model.sources[0]?.overrides?.["voices"] as Record<string, string> | undefined;
    if (mapped === undefined) return;
    expect(Object.keys(mapped)).toEqual([...(model.allowed_params.voices ?? [])]);
    expect(new Set(Object.values(mapped)).size).toBe(Object.keys(mapped).length);
    expect(model.allowed_params.default_params?.["voice"]).toBe(Object.keys(mapped)[0]);
  });
});

describe("a transcription model", () => {
  test.each(transcribing)("$slug is accepted by its vendor, with times if its formats need them", async (model) => {
    const transcription = direct(offersOf(model).transcription);
    const formats = model.allowed_params.response_formats ?? [];
    expect(formats.slice(0, 2)).toEqual(["json", "text"]);
    const { output } = await transcription.run(transcriptionCall({ language: "en" }, sourceOf(model)));
    expect(output.text).not.toBe("");
    const timed = transcription.run(transcriptionCall({ wantsWords: true, wantsSegments: true }, sourceOf(model)));
    if (formats.includes("srt")) expect((await timed).output.words).not.toBeEmpty();
    else expect(await failureOf(timed)).toMatchObject({ kind: "rejected", param: "response_format" });
  });
});

test.each([
  ["tts-1", "character_price", "0.000015"],
  ["tts-1-hd", "character_price", "0.00003"],
  ["eleven_multilingual_v2", "character_price", "0.0001"],
  ["eleven_flash_v2_5", "character_price", "0.00005"],
  ["aura-2", "character_price", "0.00003"],
  ["whisper-1", "minute_price", "0.006"],
  ["gpt-transcribe", "minute_price", "0.0045"],
  ["nova-3", "minute_price", "0.0043"],
  ["whisper-large-v3", "minute_price", "0.00185"],
] as const)("%s costs the listed price, a hundred credits to the dollar", (slug, field, dollars) => {
  expect(parseDecimal(String(catalogue.models.get(slug)?.pricing[field]), 9)).toBe(parseDecimal(dollars, 11));
});

test.each([
  ["whisper-large-v3-turbo", "4"],
  ["scribe_v2", "22"],
])("%s costs %s credits an hour, and less than a millionth more", (slug, credits) => {
  const hour = (catalogue.models.get(slug)?.price.unitRate ?? 0n) * 60n;
  const printed = parseDecimal(credits, 9);
  expect(hour >= printed && hour - printed < 1_000n).toBeTrue();
});
