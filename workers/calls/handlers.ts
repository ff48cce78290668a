/** Handlers for all kinds of call. The pool of each kind is chosen at admission. */
import type { JobMessage } from "#schemas/generated/types.ts";

import type { WorkerContext } from "../context.ts";
import type { JobHandler } from "../job.ts";

import { createCapabilityHandler } from "./capability/run.ts";
import { createChatHandler } from "./chat/chat.ts";
import { createEmbeddingsHandler } from "./embeddings/embeddings.ts";
import { MUSIC_JOB, IMAGE_EDITS_JOB, VIDEO_JOB, IMAGES_JOB, MESH_JOB, SPEECH_JOB } from "./media/kinds.ts";
import { createMediaHandler } from "./media/run.ts";
import { createTranscriptionHandler } from "./transcription/transcription.ts";

const CREATE: Readonly<Record<JobMessage["kind"], (context: WorkerContext) => JobHandler>> = {
  chat: createChatHandler,
  embeddings: createEmbeddingsHandler,
  transcription: createTranscriptionHandler,
  images: (context) => createMediaHandler(context, IMAGES_JOB),
  image_edits: (context) => createMediaHandler(context, IMAGE_EDITS_JOB),
  speech: (context) => createMediaHandler(context, SPEECH_JOB),
  music: (context) => createMediaHandler(context, MUSIC_JOB),
  video: (context) => createMediaHandler(context, VIDEO_JOB),
  mesh: (context) => createMediaHandler(context, MESH_JOB),
  capability: createCapabilityHandler,
};

/**
 * Returns a handler that creates the handler of each kind at its first call. A durable job has its own context and therefore its own
 * handlers.
 */
export function createCallHandler(context: WorkerContext): JobHandler {
  const handlers: Partial<Record<JobMessage["kind"], JobHandler>> = {};
  return {
    run(job, control) {
      const { kind } = job;
      return (handlers[kind] ??= CREATE[kind](context)).run(job, control);
    },
  };
}
