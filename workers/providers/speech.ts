/** Code shared by all speech families: formats, voices, and checks of the returned audio. */
import { sniffMediaType } from "#shared/media/sniff.ts";

import { answerStream } from "./answer-stream.ts";
import { connectionError } from "./http.ts";
import type { Artifact, SpeechFormat } from "./media.ts";
import { ProviderError } from "./provider.ts";

/** Content types of the six audio formats, as in the API specification. */
export const SPEECH_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

export function isSpeechFormat(value: unknown): value is SpeechFormat {
  return typeof value === "string" && Object.hasOwn(SPEECH_TYPES, value);
}

/** Returns the number of Unicode code points in a text, which is the billing unit of speech. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Removes `voice` from a finished body and returns it. If the source's `overrides` set `voices`, our voice name is mapped to the source's
 * name. Unlisted names are used unchanged. Without a name, the first voice of the list is used.
 */
export function takeVoice(body: Record<string, unknown>): { name?: string; id?: string; isListed: boolean } {
  const { voice, voices } = body;
  delete body["voice"];
  delete body["voices"];
  const known = new Map(typeof voices === "object" && voices !== null ? Object.entries(voices) : []);
  const name = typeof voice === "string" ? voice : [...known.keys()][0];
  if (name === undefined) return { isListed: false };
  return { name, id: String(known.get(name) ?? name), isListed: known.has(name) };
}

/**
 * Checks the requested speed against the range that a provider family supports. It is narrower than the range of our API.
 * @throws ProviderError `rejected` when the speed is outside of the range
 */
export function checkSpeed(speed: number, [least, most]: readonly [number, number]): void {
  if (speed >= least && speed <= most) return;
  const say = `Expected speed to be from ${least} to ${most} for this model, got ${speed}.`;
  throw new ProviderError("rejected", say, { code: "unsupported_value", param: "speed", say });
}

/**
 * Returns the audio of a response. The media type is detected from its bytes, so that a server that returned another format is noticed.
 * @param format requested format
 * @throws ProviderError `failed` when the bytes are no audio
 */
export async function spokenArtifact(bytes: Uint8Array, headers: Headers, format: SpeechFormat): Promise<Artifact> {
  const declared = (headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
  if (/^text\/|[/+](?:json|xml|html)$/.test(declared)) {
    throw new ProviderError("failed", `the answer is ${declared}, not audio`);
  }
  if (bytes.length === 0) throw new ProviderError("failed", "the answer has no audio in it");
  const contentType = await audioTypeOf(bytes, format);
  if (contentType === undefined) throw new ProviderError("failed", `the answer's bytes are no ${format}`);
  return { bytes, contentType };
}

/**
 * Returns the audio of a streamed response. Checks its first bytes like `spokenArtifact` and passes the remaining bytes on. The audio can
 * be read once.
 * @throws ProviderError the errors of `spokenArtifact`; `failed` or `aborted` when the connection breaks
 */
export async function openSpoken(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  format: SpeechFormat,
  signal: AbortSignal,
): Promise<Artifact> {
  const reader = body.getReader();
  let head: Buffer = Buffer.alloc(0);
  let isWhole = false;
  while (head.length < HEAD_BYTES && !isWhole) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw connectionError(error, signal);
    });
    isWhole = done;
    if (value) head = Buffer.concat([head, value]);
  }
  try {
    const artifact = await spokenArtifact(head, headers, format);
    if (isWhole) return artifact;
    return {
      contentType: artifact.contentType ?? SPEECH_TYPES[format],
      open: once(() => answerStream(reader, signal, head)),
    };
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error;
  }
}

/** Number of bytes from which the format is identified. No format needs more. */
const HEAD_BYTES = 512;

function once<T>(work: () => T): () => Promise<T> {
  let isDone = false;
  return () => {
    if (isDone) return Promise.reject(new ProviderError("failed", "the audio broke off"));
    isDone = true;
    return Promise.resolve(work());
  };
}

async function audioTypeOf(bytes: Uint8Array, format: SpeechFormat): Promise<string | undefined> {
  const found = await sniffMediaType(bytes);
  const spoken = Object.values(SPEECH_TYPES).find((type) => type === found);
  if (format !== "pcm") return spoken;
  // PCM samples may begin with any bytes, even those of an MP3 or AAC frame.
  return bytes[0] === 0xff ? SPEECH_TYPES.pcm : (spoken ?? SPEECH_TYPES.pcm);
}
