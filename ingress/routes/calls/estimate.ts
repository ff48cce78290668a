/** POST /v1/models/{slug}/estimate: estimates the price of a call without running it. */
import type { TranscriptionRequest } from "#schemas/generated/types.ts";
import { findStoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { EMBEDDINGS_BOUNDS } from "#shared/calls/kinds/embeddings.ts";
import type { MeasuredAudio } from "#shared/calls/kinds/transcription.ts";
import { findModel } from "#shared/calls/kinds/models.ts";
import { estimateCall } from "#shared/calls/estimate/estimate.ts";

import { json } from "../../core/answers.ts";
import { probeRecording } from "#shared/calls/audio/probe-recording.ts";
import { audioOfBody } from "#shared/calls/audio/receive.ts";
import { readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";

export function estimate(context: IngressContext): KeyRoute {
  return {
    method: "POST",
    path: "/v1/models/{slug}/estimate",
    operationId: "estimateCall",
    summary: "Estimate call",
    description:
      "Estimates the price of a call with the same body. `max_credits` is the amount that the call would hold, " +
      "`estimated_credits` its typical price. Both use this model's price, not that of a fallback or of a drawn " +
      "model. The call is validated like a real call, but holds and costs nothing. It counts in the rate limit window.",
    tags: ["Models"],
    auth: "key",
    request: { schema: "EstimateRequest" },
    responses: { 200: { description: "The estimate", schema: "Estimate" } },
    errors: errorsOf(
      ["reads_json", "resolves_model", "reads_conversation", "reads_files", "fetches_addresses"],
      "unknown_parameter",
      "edit_not_supported",
    ),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  // The limits of calls of all kinds.
  const { value, textBytes, pause, work } = await readBody(context, call, EMBEDDINGS_BOUNDS);
  const model = findModel(context.catalogue.current(), call.caller, call.params["slug"] ?? "");
  const files = await findStoredFiles(context.database, call.caller, value);
  const recording = (request: TranscriptionRequest): Promise<MeasuredAudio | undefined> =>
    measuredAudioOf(context, call, request);
  await pause();
  return json(await work((slices) => estimateCall(model, value, textBytes, { files, recording }, slices)));
}

/**
 * Measures the audio of the request in the same way as a transcription call. Undefined if the request contains no audio and no `file_id`.
 */
async function measuredAudioOf(
  context: IngressContext,
  call: RouteCall,
  request: TranscriptionRequest,
): Promise<MeasuredAudio | undefined> {
  if (request.audio_base64 === undefined && request.file_id === undefined) return undefined;
  const audio = await audioOfBody(context, { caller: call.caller, signal: call.request.signal }, request);
  try {
    return await probeRecording(context.probes, call.caller.workspaceId, audio, call.request.signal);
  } finally {
    audio.remove();
  }
}
