/** The calls of the demonstration, in order: later ones go by what earlier ones made. */
import type { Call } from "../call.ts";
import { capabilities } from "./capabilities.ts";
import { video } from "./videos.ts";
import { mesh, meshTransform } from "./meshes.ts";
import { image, imageEdit } from "./images.ts";
import { music, speech, transcription } from "./sounds.ts";
import { chat, embeddings, file, messages } from "./texts.ts";
import { workflow } from "./workflows.ts";

export const CALLS: readonly Call[] = [
  chat,
  messages,
  embeddings,
  file,
  image,
  imageEdit,
  speech,
  transcription,
  music,
  video,
  mesh,
  meshTransform,
  ...capabilities,
  workflow,
];
