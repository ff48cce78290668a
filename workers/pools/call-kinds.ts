/** Kinds of call, each with its handler; which pool runs one is decided where it is admitted. */
import type { JobMessage } from "#schemas/generated/types.ts";

import type { WorkerContext } from "../context.ts";
import type { JobHandler } from "../job.ts";

import { createChatHandler } from "./chat.ts";
import { createEmbeddingsHandler } from "./embeddings.ts";
import { COMPOSING, EDITS, GENERATIONS, MESH, SPEAKING, VIDEO } from "./media/kinds.ts";
import { createMediaHandler } from "./media/run.ts";
import { createTranscriptionHandler } from "./transcription.ts";

export function createCallHandler(context: WorkerContext): JobHandler {
  const handlers: Readonly<Record<JobMessage["kind"], JobHandler>> = {
    chat: createChatHandler(context),
    embeddings: createEmbeddingsHandler(context),
    transcription: createTranscriptionHandler(context),
    images: createMediaHandler(context, GENERATIONS),
    image_edits: createMediaHandler(context, EDITS),
    speech: createMediaHandler(context, SPEAKING),
    music: createMediaHandler(context, COMPOSING),
    video: createMediaHandler(context, VIDEO),
    mesh: createMediaHandler(context, MESH),
  };
  return {
    run: (job, control) => handlers[job.kind].run(job, control),
    lost: (job, control) => handlers[job.kind].lost(job, control),
    drop: (job, control) => handlers[job.kind].drop(job, control),
  };
}
