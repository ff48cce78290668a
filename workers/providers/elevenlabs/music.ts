/** Music adapter of ElevenLabs. Source: elevenlabs.io/docs/api-reference/music/compose. */

import { type Fields, place, setField } from "../fields.ts";
import { type Endpoint, fetchBytes, type JsonRequest } from "../http.ts";
import { musicValues } from "../media-fields.ts";
import {
  type Artifact,
  type DirectAdapter,
  type MediaCall,
  type MediaUsage,
  type MusicInput,
  type SpeechFormat,
  MEDIA_JOBS,
} from "../media.ts";
import { ProviderError } from "../provider.ts";
import { characters, SPEECH_TYPES, spokenArtifact } from "../speech.ts";
import { exchanged } from "../start.ts";

import { classifyAnswer } from "./errors.ts";

/**
 * Sample rate of requested PCM audio, in hertz. ElevenLabs has no lossless file format. Formats that it does not support are therefore
 * delivered as WAV, made from PCM samples.
 */
const RATE = 44_100;
const LOSSLESS = { theirs: `pcm_${RATE}`, ours: "pcm" } as const;

const FORMATS: Readonly<Record<SpeechFormat, { readonly theirs: string; readonly ours: SpeechFormat }>> = {
  mp3: { theirs: "mp3_44100_128", ours: "mp3" },
  opus: { theirs: "opus_48000_128", ours: "opus" },
  aac: LOSSLESS,
  flac: LOSSLESS,
  wav: LOSSLESS,
  pcm: LOSSLESS,
};

/** Default fields for inputs. The seed is missing, because ElevenLabs rejects a seed together with a prompt. */
const USUAL: Fields = { prompt: "prompt", duration: "music_length_ms:ms" };

/** Shortest and longest duration that `music_length_ms` accepts, in seconds. */
const LENGTHS = [3, 600] as const;

/** Maximum length of the prompt including lyrics, in characters. */
const CHARACTERS_MAX = 4_100;

export function createElevenLabsMusic(endpoint: Endpoint): DirectAdapter<MusicInput, readonly Artifact[]> {
  return {
    async run(call) {
      const request = musicRequest(call);
      return exchanged(
        () => fetchBytes(endpoint, request, call.signal, MEDIA_JOBS.music.bytesMax, call.reserveBytes),
        async ({ status, headers, bytes }) => {
          if (status < 200 || status > 299) throw classifyAnswer(status, headers, new TextDecoder().decode(bytes));
          const audio = await audioOf(bytes, headers, FORMATS[call.input.format].ours);
          const isBare = "contentType" in audio && audio.contentType === SPEECH_TYPES.pcm;
          return isBare ? waveResult(bytes, call.input.duration) : { output: [audio], usage: {} };
        },
      );
    },
  };
}

function musicRequest({ input, sourceModel, fields = USUAL, adapt }: MediaCall<MusicInput>): JsonRequest {
  checkLength(input.duration, fields);
  const values = { ...musicValues(input), prompt: promptOf(input, fields) };
  const body: Record<string, unknown> = { model_id: sourceModel };
  for (const { theirs, value } of place(values, fields)) setField(body, theirs, value);
  adapt(body);
  return { path: `/music?output_format=${FORMATS[input.format].theirs}`, body: JSON.stringify(body) };
}

/**
 * Returns the prompt, with the lyrics appended unless the source has a field for lyrics. Source:
 * elevenlabs.io/docs/overview/capabilities/music.
 * @throws ProviderError `rejected` when prompt and lyrics together are too long
 */
function promptOf({ prompt, lyrics }: MusicInput, fields: Fields): string {
  const whole = lyrics === undefined || fields["lyrics"] !== undefined ? prompt : `${prompt}\n\nLyrics:\n${lyrics}`;
  if (characters(whole) <= CHARACTERS_MAX) return whole;
  const isPrompt = characters(prompt) > CHARACTERS_MAX;
  const say = `This model accepts at most ${CHARACTERS_MAX} characters of prompt and lyrics in total.`;
  throw new ProviderError("rejected", say, {
    code: "invalid_request",
    param: isPrompt ? "prompt" : "lyrics",
    say,
  });
}

/**
 * Checks that the requested duration is within `LENGTHS`.
 * @throws ProviderError `rejected`
 */
function checkLength(duration: number | undefined, fields: Fields): void {
  const [least, most] = LENGTHS;
  if (duration === undefined || fields["duration"] === undefined || (duration >= least && duration <= most)) return;
  const say = `Expected duration to be ${least} to ${most} seconds for this model, got ${duration}.`;
  throw new ProviderError("rejected", say, { code: "unsupported_value", param: "duration", say });
}

/**
 * Returns the audio of a response. ElevenLabs charges for music once generation has begun. An unreadable response therefore has an unknown
 * outcome.
 * @throws ProviderError `unknown`
 */
async function audioOf(bytes: Uint8Array, headers: Headers, format: SpeechFormat): Promise<Artifact> {
  try {
    return await spokenArtifact(bytes, headers, format);
  } catch (error) {
    throw error instanceof ProviderError ? new ProviderError("unknown", error.detail, { cause: error }) : error;
  }
}

/**
 * Returns the samples as a WAV file. The response does not state the number of channels. Two channels are assumed, unless the audio would
 * then last much less than requested.
 */
function waveResult(
  bytes: Uint8Array,
  asked: number | undefined,
): { readonly output: readonly Artifact[]; readonly usage: MediaUsage } {
  const perChannel = bytes.length / 2 / RATE;
  const channels = asked !== undefined && perChannel < 1.5 * asked ? 1 : 2;
  const wave = waveOf(bytes, { rate: RATE, channels });
  return {
    output: [{ bytes: wave, contentType: SPEECH_TYPES.wav }],
    usage: { seconds: perChannel / channels },
  };
}

// RIFF WAVE header for raw samples. Source: Microsoft's "Multimedia Programming Interface", 1991.

const HEAD_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

/**
 * Adds a WAV header to samples.
 * @param samples 16-bit little-endian samples; an incomplete frame is omitted
 */
function waveOf(
  samples: Uint8Array,
  { rate, channels }: { readonly rate: number; readonly channels: number },
): Uint8Array {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  const size = samples.length - (samples.length % frameBytes);
  const wave = Buffer.allocUnsafe(HEAD_BYTES + size);
  wave.write("RIFF", 0, "latin1");
  wave.writeUInt32LE(HEAD_BYTES - 8 + size, 4);
  wave.write("WAVEfmt ", 8, "latin1");
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20); // PCM
  wave.writeUInt16LE(channels, 22);
  wave.writeUInt32LE(rate, 24);
  wave.writeUInt32LE(rate * frameBytes, 28);
  wave.writeUInt16LE(frameBytes, 32);
  wave.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  wave.write("data", 36, "latin1");
  wave.writeUInt32LE(size, 40);
  wave.set(samples.subarray(0, size), HEAD_BYTES);
  return wave;
}
