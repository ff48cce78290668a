/** Speech adapter of Deepgram. Source: developers.deepgram.com/reference/text-to-speech/speak-request. */
import { type Endpoint, type JsonRequest, postStream } from "../http.ts";
import type { Artifact, DirectAdapter, MediaCall, SpeechFormat, SpeechInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { characters, checkSpeed, openSpoken, takeVoice } from "../speech.ts";
import { classifyAnswer } from "./errors.ts";
import { queryOf } from "./query.ts";

/**
 * Query parameters of each audio format, from developers.deepgram.com/docs/tts-media-output-settings. Formats without a sample rate here
 * have a fixed rate.
 */
const FORMATS: Readonly<Record<SpeechFormat, Readonly<Record<string, string | number>>>> = {
  mp3: { encoding: "mp3" },
  opus: { encoding: "opus", container: "ogg" },
  aac: { encoding: "aac" },
  flac: { encoding: "flac", sample_rate: 48_000 },
  wav: { encoding: "linear16", container: "wav", sample_rate: 24_000 },
  pcm: { encoding: "linear16", container: "none", sample_rate: 24_000 },
};

/** Lowest and highest `speed` of Deepgram's Aura-2 model. */
const SPEEDS = [0.7, 1.5] as const;
/** Maximum text length of one request, in characters. */
const CHARACTERS_MAX = 2_000;

export function createDeepgramSpeech(endpoint: Endpoint): DirectAdapter<SpeechInput, Artifact> {
  return {
    async run(call) {
      const { status, headers, body, text } = await postStream(endpoint, speechRequest(call), call.signal);
      if (body === null) throw classifyAnswer(status, headers, text, { param: "input", hasLanguage: false });
      const output = await openSpoken(body, headers, call.input.format, call.signal);
      return { output, usage: { characters: characters(call.input.text) } };
    },
  };
}

/**
 * Builds the request. The voice selects the model. Deepgram does not support instructions, so they are omitted. @throws ProviderError
 * `rejected`
 */
function speechRequest({ input, sourceModel, adapt }: MediaCall<SpeechInput>): JsonRequest {
  checkSpeed(input.speed, SPEEDS);
  const length = characters(input.text);
  if (length > CHARACTERS_MAX) {
    const say = `This model accepts at most ${CHARACTERS_MAX} characters in one call, got ${length}.`;
    throw new ProviderError("rejected", say, { code: "invalid_request", param: "input", say });
  }
  const query: Record<string, unknown> = {
    model: sourceModel,
    ...(input.voice === undefined ? {} : { voice: input.voice }),
    ...FORMATS[input.format],
    ...(input.speed === 1 ? {} : { speed: input.speed }),
  };
  adapt(query);
  const isChosen = query["voices"] !== undefined;
  const { id, isListed } = takeVoice(query);
  if (isChosen && id !== undefined) {
    // Unlisted names are never sent, because they would select models at other prices.
    if (!isListed) throw unknownVoice();
    query["model"] = id;
  }
  return { path: `/speak?${queryOf(query)}`, body: JSON.stringify({ text: input.text }) };
}

function unknownVoice(): ProviderError {
  const say = "The model has no voice with this name; GET /v1/models lists its voices.";
  return new ProviderError("rejected", say, { code: "unsupported_value", param: "voice", say });
}
