/** Creates all adapters of the sandbox. Texts are generated in this process, media in child processes. */
import { sleep as delay } from "#shared/base/abortable.ts";
import type { MediaAdapters, MeshInput, MusicInput, VideoInput, MediaCall } from "#workers/providers/media.ts";
import { bytesOf } from "#workers/providers/video-media.ts";
import { SPEECH_TYPES } from "#workers/providers/speech.ts";

import { type ProviderAdapters, ProviderError } from "../../provider.ts";
import { createSandboxEmbeddings } from "../embeddings.ts";
import { createSandbox } from "../index.ts";
import { type SandboxMedia, videoSize } from "../media/index.ts";
import { createSandboxImages } from "./images.ts";
import { createSandboxSpeech } from "./speech.ts";
import { keepsJobs } from "./own-jobs.ts";
import { type Tools, applyFaults, type Delay, explained, mediaModel, waiting } from "./faults.ts";

/**
 * Creates the adapters.
 * @param media returns the media generators, which start with the first call
 */
export function createSandboxAdapters(media: () => SandboxMedia): ProviderAdapters {
  const tools = { media, delay };
  return {
    chat: createSandbox({ now: Date.now, delay }),
    embeddings: createSandboxEmbeddings(),
    ...createSandboxImages(tools),
    ...createSandboxSpeech(tools),
    ...createSandboxTranscription(tools),
    ...createSandboxVideos(tools),
    ...createSandboxMusic(tools),
    ...createSandboxMeshes(tools),
  };
}

/** Mesh adapter of the sandbox, with jobs like a provider's queue. Meshes are generated from text or an image, or transformed. */
function createSandboxMeshes({ media, delay }: Tools): Pick<MediaAdapters, "mesh"> {
  return {
    mesh: keepsJobs<MeshInput>(
      async ({ input, sourceModel, signal }) => {
        const { prompt = "", image, mesh } = input;
        const params = { prompt, seed: input.seed ?? 0, ...(image ? { image: bytesOf(image).bytes } : {}) };
        const operation = operationOf(sourceModel);
        if (!operation) return glb(await media().makeMesh(params, signal));
        if (!mesh) throw new ProviderError("failed", "a transformation without its mesh");
        return glb(await media().transformMesh({ ...params, mesh: bytesOf(mesh).bytes, operation }, signal));
      },
      delay,
      ({ mesh }, fault) => (mesh && !/\bThe image\b/.test(fault) ? "mesh_url" : "image_url"),
    ),
  };
}

function operationOf(sourceModel: string) {
  return (["remesh", "retexture", "segment", "rig"] as const).find((one) => sourceModel === `sandbox-3d-${one}`);
}

function glb({ bytes }: { readonly bytes: Uint8Array }) {
  return [{ bytes, contentType: "model/gltf-binary" }];
}

const MUSIC_SECONDS = 20;

/** Music adapter of the sandbox, with jobs like a provider's queue. */
function createSandboxMusic({ media, delay }: Tools): Pick<MediaAdapters, "music"> {
  return {
    music: keepsJobs<MusicInput>(
      async ({ input, signal }) => {
        const { prompt, lyrics, format, duration: seconds = MUSIC_SECONDS } = input;
        const { bytes } = await media().composeMusic(
          { prompt, lyrics, seconds, seed: input.seed ?? 0, format },
          signal,
        );
        return [{ bytes, contentType: SPEECH_TYPES[format] }];
      },
      delay,
      () => "prompt",
    ),
  };
}

const VIDEO_SECONDS = 4;

/** Video adapter of the sandbox, with jobs like a provider's queue. */
function createSandboxVideos({ media, delay }: Tools): Pick<MediaAdapters, "video"> {
  return {
    video: keepsJobs<VideoInput>(
      async ({ input, signal, onProgress }) => {
        const { prompt, image, video, duration: seconds = VIDEO_SECONDS } = input;
        const params = {
          prompt,
          seconds,
          ...videoSize(input.resolution, input.aspectRatio),
          seed: input.seed ?? 0,
          ...(image && { image: bytesOf(image).bytes }),
          ...(video && { video: bytesOf(video).bytes }),
        };
        const { bytes } = await media().makeVideo(params, signal, onProgress);
        return [{ bytes, contentType: "video/mp4" }];
      },
      delay,
      ({ video }) => (video ? "video_url" : "image_url"),
    ),
  };
}

/** Transcription adapter of the sandbox. It returns the exact text of the sandbox's own speech, and a description of any other sound. */
function createSandboxTranscription({ media, delay }: Tools): Pick<MediaAdapters, "transcription"> {
  return {
    transcription: {
      run: async (call) => {
        await applyFaults(call, call.onText ? NO_DELAY : delay);
        const { audio, language, wantsWords, wantsSegments } = call.input;
        try {
          const transcript = await media().transcribe(audio.bytes, { language, signal: call.signal });
          const output = {
            text: transcript.text,
            language: transcript.language,
            seconds: transcript.facts.seconds,
            ...(wantsWords ? { words: transcript.words } : {}),
            ...(wantsSegments ? { segments: transcript.segments } : {}),
          };
          await readAlong(call, transcript.text, delay);
          return { output, usage: { seconds: transcript.facts.seconds } };
        } catch (error) {
          throw explained(error, "file");
        }
      },
    },
  };
}

const NO_DELAY: Delay = () => Promise.resolve();

/** Calls `onText` with a few words of the transcript at a time. A slow model waits between words instead of before the first word. */
async function readAlong(
  { onText, signal, sourceModel }: Pick<MediaCall<unknown>, "onText" | "signal" | "sourceModel">,
  text: string,
  delay: Delay,
): Promise<void> {
  if (onText === undefined) return;
  const groups = text.match(/(?:\s*\S+){1,4}\s*/g) ?? [];
  const pauseMs = (mediaModel(sourceModel).delayMs ?? 0) / Math.max(1, groups.length);
  for (const group of groups) {
    onText(group);
    if (pauseMs > 0) await waiting(delay(pauseMs, signal));
  }
}
