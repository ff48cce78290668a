/** The sandbox's own bare samples, which tell nothing of themselves but for the marker in them. */
import { MediaError } from "#shared/media/media-error.ts";
import { facts, type AudioFacts } from "#shared/media/probe/facts.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";

import { readLowBits } from "./marker/low-bits.ts";
import { SAMPLE_RATE } from "./speech/synthesise.ts";

/** Several of the longest packets, each repeated; a packet has 8 samples a byte. */
const LOOKED_BYTES = 512 * 1_024;

/**
 * As `probeAudio`, and knows PCM that the sandbox has spoken.
 * @throws MediaError unsupported (no format known here), corrupt, too_large
 */
export function probeSandboxAudio(bytes: Uint8Array): AudioFacts {
  try {
    return probeAudio(bytes);
  } catch (error) {
    const isPcm =
      error instanceof MediaError &&
      error.fault !== "too_large" &&
      readLowBits(samplesOf(bytes.subarray(0, LOOKED_BYTES))).length > 0;
    if (!isPcm) throw error;
    return facts("pcm", bytes.byteLength / 2 / SAMPLE_RATE, SAMPLE_RATE, 1);
  }
}

/** Little-endian 16-bit samples; an odd byte at the end is left out. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int16Array.from({ length: bytes.byteLength >> 1 }, (_, index) => view.getInt16(2 * index, true));
}
