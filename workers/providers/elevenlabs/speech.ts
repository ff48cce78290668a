/** Speech adapter of ElevenLabs. Source: elevenlabs.io/docs/api-reference/text-to-speech/convert. */
import { type Endpoint, postStream, type JsonRequest } from "../http.ts";
import type { Artifact, DirectAdapter, MediaCall, SpeechFormat, SpeechInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { characters, checkSpeed, openSpoken, takeVoice } from "../speech.ts";
import { classifyAnswer } from "./errors.ts";

/** Maps our audio formats to ElevenLabs' formats. For unsupported formats, lossless WAV is returned with its own media type. */
const FORMATS: Readonly<Record<SpeechFormat, { readonly theirs: string; readonly ours: SpeechFormat }>> = {
  mp3: { theirs: "mp3_44100_128", ours: "mp3" },
  opus: { theirs: "opus_48000_128", ours: "opus" },
  aac: { theirs: "wav_24000", ours: "wav" },
  flac: { theirs: "wav_24000", ours: "wav" },
  wav: { theirs: "wav_24000", ours: "wav" },
  pcm: { theirs: "pcm_24000", ours: "pcm" },
};

/** Lowest and highest accepted `voice_settings.speed`. */
const SPEEDS = [0.7, 1.2] as const;

export function createElevenLabsSpeech(endpoint: Endpoint): DirectAdapter<SpeechInput, Artifact> {
  return {
    async run(call) {
      const { status, headers, body, text } = await postStream(endpoint, speechRequest(call), call.signal);
      if (body === null) throw classifyAnswer(status, headers, text);
      const output = await openSpoken(body, headers, FORMATS[call.input.format].ours, call.signal);
      return { output, usage: { characters: characters(call.input.text) } };
    },
  };
}

/** Builds the request. ElevenLabs does not support instructions, so they are omitted. @throws ProviderError `rejected` */
function speechRequest({ input, sourceModel, adapt }: MediaCall<SpeechInput>): JsonRequest {
  checkSpeed(input.speed, SPEEDS);
  const body: Record<string, unknown> = {
    text: input.text,
    model_id: sourceModel,
    ...(input.voice === undefined ? {} : { voice: input.voice }),
    ...(input.speed === 1 ? {} : { voice_settings: { speed: input.speed } }),
  };
  adapt(body);
  const voice = voiceId(takeVoice(body).id);
  const { theirs } = FORMATS[input.format];
  return { path: `/text-to-speech/${voice}?output_format=${theirs}`, body: JSON.stringify(body) };
}

/**
 * Returns the voice id for the URL path.
 * @throws ProviderError `rejected` unless the id consists of letters and digits
 */
function voiceId(id: string | undefined): string {
  if (id !== undefined && /^[A-Za-z0-9]{1,64}$/.test(id)) return id;
  const say =
    id === undefined
      ? "This model requires a voice."
      : "The model has no voice with this name; GET /v1/models lists its voices.";
  throw new ProviderError("rejected", say, {
    code: id === undefined ? "invalid_request" : "unsupported_value",
    param: "voice",
    say,
  });
}
