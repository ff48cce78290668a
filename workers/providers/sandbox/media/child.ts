/** Tasks of the sandbox's media children: one process entry for generation and transcription. */
import { serveTasks, type Task } from "#shared/children/serve-tasks.ts";

import type { ImageEditParams } from "./image/edit.ts";
import type { ImageParams } from "./image/make.ts";
import type { MeshParams } from "./mesh/document.ts";
import type { MeshTransformParams } from "./mesh/transform.ts";
import type { MusicParams } from "./music/compose.ts";
import { loadFlite, type Flite } from "./speech/flite.ts";
import { speakText, type SpeechParams } from "./speech/speak.ts";
import { transcribeAudio } from "./speech/transcribe.ts";
import type { VideoTask } from "./video/params.ts";

let flite: Promise<Flite> | undefined;
const loadVoice = (): Promise<Flite> => (flite ??= loadFlite());

/** Image tasks, which import sharp only when one runs. */
const tasks = {
  "image.make": async (input) => {
    const { makeImage } = await import("./image/make.ts");
    return { parts: [await makeImage(input as ImageParams)] };
  },
  "image.edit": async (input, [image = new Uint8Array(0), mask]) => {
    const { editImage } = await import("./image/edit.ts");
    return { parts: [await editImage(input as ImageEditParams, image, mask)] };
  },
  "speech.speak": async (input, _parts, emit) => {
    return { output: await speakText(await loadVoice(), input as SpeechParams, emit) };
  },
  "speech.transcribe": async (input, [audio = new Uint8Array(0)]) => {
    const { language } = input as { readonly language?: string };
    return { output: await transcribeAudio(audio, language) };
  },
  /** Generates a video and emits its progress as single bytes, in percent. */
  "video.make": async (input, [source = new Uint8Array(0)], emit) => {
    const { makeVideo } = await import("./video/make.ts");
    let reportedPercent = 0;
    const onProgress = (share: number): void => {
      const percent = Math.min(100, Math.floor(100 * share));
      if (percent > reportedPercent) emit(Uint8Array.of(percent));
      reportedPercent = Math.max(reportedPercent, percent);
    };
    return { parts: [await makeVideo(input as VideoTask, source, loadVoice, onProgress)] };
  },
  "music.compose": async (input) => {
    const { composeMusic } = await import("./music/compose.ts");
    return { parts: [await composeMusic(input as MusicParams, loadVoice)] };
  },
  "mesh.make": async (input, [image]) => {
    const { makeMesh } = await import("./mesh/make.ts");
    return { parts: [await makeMesh(input as MeshParams, image)] };
  },
  "mesh.transform": async (input, [mesh = new Uint8Array(0), image]) => {
    const { transformMesh } = await import("./mesh/transform.ts");
    return { parts: [await transformMesh(input as MeshTransformParams, mesh, image)] };
  },
} satisfies Record<string, Task>;

export type MediaTask = keyof typeof tasks;

if (import.meta.main) await serveTasks(tasks);
