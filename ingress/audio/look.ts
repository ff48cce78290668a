/** What a received recording is and how long it lasts: found out from its bytes, not from the caller's word. */
import { GIVEN_TYPES } from "#shared/admission/given-media.ts";
import type { Recording } from "#shared/admission/transcription-constraints.ts";
import { ApiError } from "#shared/errors.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { MediaError } from "#shared/media/media-error.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";

import type { ReceivedSound } from "./receive.ts";

export type RecordingFacts = Recording & { readonly contentType: string; readonly filename: string };

/**
 * Called once key, window and funds of the caller are in order: it costs processor time.
 * @throws ApiError `unprocessable_input` naming what is wrong with the bytes, `overloaded` while others are looked at
 */
export async function lookAt(probes: MediaProbes, sound: ReceivedSound, signal: AbortSignal): Promise<RecordingFacts> {
  const { bytes, param, filename, source } = sound;
  const contentType = await typeOf(sound);
  try {
    const { seconds } = await probes.audio(source, signal);
    return { bytes, seconds, param, contentType, filename };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    if (error.fault === "busy") throw new ApiError("overloaded", BUSY, { cause: error });
    if (error.fault === "failed" || error.fault === "aborted") throw error;
    throw new ApiError("unprocessable_input", error.message, { param, cause: error });
  }
}

const BUSY = "Too many recordings are being looked at; try again in a moment.";

async function typeOf(sound: ReceivedSound): Promise<string> {
  const bytes = sound.view();
  const contentType = await settleMediaType(bytes, sound.claim, sound.filename).catch((error: unknown) => {
    // Clients guess the type of a recording by its name; what the bytes are is what counts.
    if (!(error instanceof ApiError)) throw error;
    return settleMediaType(bytes, undefined, "");
  });
  return GIVEN_TYPES.audio.includes(contentType) ? contentType : "application/octet-stream";
}
