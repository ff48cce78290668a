/** Determines the type and length of received audio from its bytes. The type and length that the caller claims are ignored. */
import { INPUT_TYPES } from "#shared/calls/kinds/input-media.ts";
import type { MeasuredAudio } from "#shared/calls/kinds/transcription.ts";
import { ApiError } from "#shared/base/errors.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { PROBE_LIMITS } from "#shared/media/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import { openRequestLimit } from "#shared/limits/request-limit.ts";

import { type ReceivedAudio, AUDIO_WAITING_MAX, AUDIO_WAIT_MS } from "./receive.ts";

export type ProbedAudio = MeasuredAudio & { readonly contentType: string; readonly filename: string };

/**
 * Determines the type and length of received audio. Call this after the key, rate-limit window and balance were checked, because it costs
 * CPU time.
 * @throws ApiError `unprocessable_input` that describes why the bytes are invalid, `overloaded` if too many probes wait
 */
export async function probeRecording(
  probes: Pick<MediaProbes, "audio">,
  workspaceId: string,
  audio: ReceivedAudio,
  signal: AbortSignal,
): Promise<ProbedAudio> {
  const { bytes, param, filename, source } = audio;
  const permit = await probing.take({ owner: workspaceId }, signal);
  try {
    const contentType = await typeOf(audio);
    const { seconds } = await probes.audio(source, signal);
    return { bytes, seconds, param, contentType, filename };
  } catch (error) {
    throw error instanceof MediaError ? toCallerError(error, param, signal) : error;
  } finally {
    permit.release();
  }
}

/** Limits running and waiting probes per process and per workspace, so that a workspace with much audio leaves capacity for others. */
const probing = openRequestLimit({
  max: PROBE_LIMITS.childrenMax,
  perWorkspaceMax: PROBE_LIMITS.childrenMax / 2,
  waitingMax: AUDIO_WAITING_MAX,
  waitMs: AUDIO_WAIT_MS,
  noun: "audio inputs",
});

/**
 * Maps an error of the probe to the error that the caller receives. Invalid bytes are the caller's fault; a slow probe or a shutdown is
 * ours.
 */
function toCallerError(error: MediaError, param: ReceivedAudio["param"], signal: AbortSignal): unknown {
  const { fault, message } = error;
  if (fault === "busy" || fault === "timeout") return new ApiError("overloaded", BUSY, { cause: error });
  if (fault === "failed" || signal.aborted) return error;
  if (fault === "aborted") {
    return new ApiError("service_unavailable", "The service is restarting; try again shortly.", { cause: error });
  }
  return new ApiError("unprocessable_input", message, { param, cause: error });
}

const BUSY = "The audio could not be inspected in time; try again shortly.";

async function typeOf(audio: ReceivedAudio): Promise<string> {
  const bytes = audio.view();
  const contentType = await settleMediaType(bytes, audio.claim, audio.filename).catch((error: unknown) => {
    // Clients guess the type of audio by its name; the bytes decide.
    if (!(error instanceof ApiError)) throw error;
    return settleMediaType(bytes, undefined, "");
  });
  return INPUT_TYPES.audio.includes(contentType) ? contentType : "application/octet-stream";
}
