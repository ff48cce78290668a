/** Kinds of call, each with its handler; which pool runs one is decided where it is admitted. */
import type { JobMessage } from "#schemas/generated/types.ts";

import type { WorkerContext } from "../context.ts";
import type { JobHandler } from "../job.ts";

import { createCapabilityHandler } from "./capability/run.ts";
import { createChatHandler } from "./chat/chat.ts";
import { createEmbeddingsHandler } from "./embeddings/embeddings.ts";
import { COMPOSING, EDITS, FILMING, GENERATIONS, MODELLING, SPEAKING } from "./media/kinds.ts";
import { createMediaHandler } from "./media/run.ts";
import { createTranscriptionHandler } from "./transcription/transcription.ts";

export function createCallHandler(context: WorkerContext): JobHandler {
  const handlers: Readonly<Record<JobMessage["kind"], JobHandler>> = {
    chat: createChatHandler(context),
    embeddings: createEmbeddingsHandler(context),
    transcription: createTranscriptionHandler(context),
    images: createMediaHandler(context, GENERATIONS),
    image_edits: createMediaHandler(context, EDITS),
    speech: createMediaHandler(context, SPEAKING),
    music: createMediaHandler(context, COMPOSING),
    video: createMediaHandler(context, FILMING),
    mesh: createMediaHandler(context, MODELLING),
    capability: createCapabilityHandler(context),
  };
  return { run: (job, control) => handlers[job.kind].run(job, control) };
}
