/**
 * Media generators of the sandbox: real images, speech, videos, music and meshes without network or key. Equal prompts and seeds produce
 * equal media. A few child processes generate them, so that heartbeats of this process are not delayed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createChildPool, type ChildJob, type ChildPool } from "#shared/children/pool.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { characterCount } from "../words.ts";
import type { MediaTask } from "./child.ts";
import type { ImageEditParams } from "./image/edit.ts";
import type { ImageParams } from "./image/make.ts";
import type { MeshParams } from "./mesh/document.ts";
import type { MeshTransformParams } from "./mesh/transform.ts";
import type { MusicParams } from "./music/compose.ts";
import type { SpeechParams as CheckedSpeech } from "./speech/speak.ts";
import type { Transcript } from "./speech/transcribe.ts";
import type { VideoParams as VideoTaskParams, VideoTask } from "./video/params.ts";

export { videoSize } from "./video/params.ts";

interface GeneratedMedia {
  readonly bytes: Uint8Array;
}

export interface ImageEdit extends Omit<ImageEditParams, "strength"> {
  readonly image: Uint8Array;
  /** Mask with the image's size, transparent where the image is repainted. Default: the whole image is repainted. */
  readonly mask?: Uint8Array | undefined;
  /**
   * Strength of the change, from 0 to 1. Default: 0.8 without a mask, 1 with a mask, because its original content must not show through.
   */
  readonly strength?: number | undefined;
}

export interface SpeechParams extends Omit<CheckedSpeech, "speed"> {
  /** Speed of the speech, from 0.25 to 4. */
  readonly speed?: number | undefined;
}

export interface VideoParams extends VideoTaskParams {
  /** Image to animate; cannot be combined with a video to transform. */
  readonly image?: Uint8Array | undefined;
  readonly video?: Uint8Array | undefined;
}

interface MeshSources {
  /** Image for the texture of the mesh. Used only by a retexture and for a new mesh. */
  readonly image?: Uint8Array | undefined;
}

export interface SandboxMedia {
  /** Generates an image of exactly the requested size. @throws MediaError invalid, busy, timeout, aborted, failed */
  makeImage(params: ImageParams, signal?: AbortSignal): Promise<GeneratedMedia>;
  /**
   * Edits an image.
   * @throws MediaError with the faults of `makeImage`; unsupported, corrupt, too_large for the image and the mask
   */
  editImage(edit: ImageEdit, signal?: AbortSignal): Promise<GeneratedMedia>;
  /** Generates speech at 24 kHz with one channel. */
  speak(params: SpeechParams, signal?: AbortSignal): Promise<GeneratedMedia & { readonly seconds: number }>;
  /**
   * Streams the same bytes as `speak` while they are generated. Audio arrives by sentence for pcm, wav and mp3, and at the end for other
   * formats.
   */
  streamSpeech(params: SpeechParams, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void>;
  /**
   * Transcribes audio.
   * @throws MediaError with the faults of `makeImage`; unsupported, corrupt, too_large for the audio
   */
  transcribe(
    audio: Uint8Array,
    options?: { readonly language?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<Transcript>;
  /**
   * Generates an MP4 video with H.264 and AAC.
   * @throws MediaError with the faults of `makeImage`; unsupported, corrupt, too_large for the input
   */
  makeVideo(params: VideoParams, signal?: AbortSignal, onProgress?: (share: number) => void): Promise<GeneratedMedia>;
  /**
   * Generates music at 48 kHz with two channels. With pcm, samples are 16-bit little-endian and interleaved.
   * @throws MediaError with the faults of `makeImage`
   */
  composeMusic(params: MusicParams, signal?: AbortSignal): Promise<GeneratedMedia>;
  /**
   * Generates a binary glTF 2.0 file.
   * @throws MediaError with the faults of `makeImage`; unsupported, corrupt, too_large for the image
   */
  makeMesh(params: MeshParams & MeshSources, signal?: AbortSignal): Promise<GeneratedMedia>;
  /**
   * Transforms a mesh.
   * @throws MediaError with the faults of `makeImage`; unsupported, corrupt, too_large for the mesh and the image; invalid for a mesh
   * without triangles
   */
  transformMesh(
    params: MeshTransformParams & MeshSources & { readonly mesh: Uint8Array },
    signal?: AbortSignal,
  ): Promise<GeneratedMedia>;
  /** Stops the child processes. */
  close(): Promise<void>;
}

/** Creates the media generators. Child processes start with the first call. The caller must close the result. */
export function createSandboxMedia(): SandboxMedia {
  const pool = createChildPool({
    script: fileURLToPath(new URL("child.ts", import.meta.url)),
    childrenMax: MEDIA_LIMITS.childrenMax,
    queueMax: MEDIA_LIMITS.queueMax,
    jobMs: MEDIA_LIMITS.jobMs,
    idleMs: MEDIA_LIMITS.idleMs,
    addressSpaceBytes: MEDIA_LIMITS.childAddressSpaceBytes,
    memoryBytesMax: MEDIA_LIMITS.childMemoryBytesMax,
    watchMs: MEDIA_LIMITS.childWatchMs,
    processorSeconds: MEDIA_LIMITS.childProcessorSeconds,
    jobsMax: MEDIA_LIMITS.childJobsMax,
    residentBytesMax: MEDIA_LIMITS.childResidentBytesMax,
    environment: {
      // Read when sharp is loaded; without it, captions on a machine without fonts would be invisible.
      FONTCONFIG_FILE: fileURLToPath(new URL("../../../children/fonts.conf", import.meta.url)),
      // Decoded images are short-lived; with few arenas, glibc returns memory sooner.
      MALLOC_ARENA_MAX: "2",
    },
  });
  const run = (task: MediaTask, job: Omit<ChildJob, "task">): ReturnType<ChildPool["run"]> =>
    pool.run({ task, ...job });

  /**
   * Runs a generation task in a child process.
   * @param sources input media of the task
   */
  async function make(
    task: MediaTask,
    input: object,
    sources: readonly (Uint8Array | undefined)[],
    job: Pick<ChildJob, "signal" | "jobMs" | "onChunk">,
  ): Promise<GeneratedMedia> {
    const parts = sources.filter((source) => source !== undefined);
    const result = await run(task, { input, parts, foreign: parts.length > 0, ...job });
    const [bytes] = result.parts;
    if (bytes === undefined) throw new MediaError("failed", "the media child answered without bytes");
    return { bytes };
  }

  return {
    makeImage: async (params, signal) => {
      checkSize(params);
      if (params.background === "transparent" && params.format === "jpeg") {
        throw new MediaError("invalid", "JPEG has no transparency; a transparent background needs png or webp.");
      }
      return make("image.make", params, [], { signal });
    },
    editImage: async ({ image, mask, ...edit }, signal) => {
      if (edit.size !== undefined) checkSize(edit.size);
      const strength = edit.strength ?? (mask === undefined ? 0.8 : 1);
      checkRange("strength", strength, 0, 1);
      return make("image.edit", { ...edit, strength }, [image, mask], { signal });
    },
    speak: async (params, signal) => {
      const chunks: Uint8Array[] = [];
      const onChunk = (chunk: Uint8Array): void => void chunks.push(chunk);
      const { output } = await run("speech.speak", { input: checkSpeech(params), onChunk, signal });
      const { seconds } = output as { readonly seconds: number };
      return { bytes: new Uint8Array(Buffer.concat(chunks)), seconds };
    },
    streamSpeech: (params, signal) => {
      const input = checkSpeech(params);
      return streamed((onChunk, stop) =>
        run("speech.speak", { input, onChunk, signal: signal === undefined ? stop : AbortSignal.any([signal, stop]) }),
      );
    },
    transcribe: async (audio, { language, signal } = {}) => {
      const { output } = await run("speech.transcribe", { input: { language }, parts: [audio], foreign: true, signal });
      return output as Transcript;
    },
    makeVideo: async ({ image, video, ...params }, signal, onProgress) => {
      checkVideo(params);
      if (image !== undefined && video !== undefined) {
        throw new MediaError("invalid", "A video is made from an image or from a video, not from both.");
      }
      const source = image !== undefined ? "image" : video !== undefined ? "video" : "none";
      return withDirectory((directory) =>
        make("video.make", { ...params, source, directory } satisfies VideoTask, [image ?? video], {
          jobMs: MEDIA_LIMITS.videoJobMs,
          onChunk: ([percent = 0]) => onProgress?.(percent / 100),
          signal,
        }),
      );
    },
    composeMusic: async (params, signal) => {
      checkRange("seconds", params.seconds, MEDIA_LIMITS.musicSecondsMin, MEDIA_LIMITS.musicSecondsMax);
      return make("music.compose", params, [], { signal });
    },
    makeMesh: ({ image, ...params }, signal) => make("mesh.make", params, [image], { signal }),
    transformMesh: ({ mesh, image, ...params }, signal) => make("mesh.transform", params, [mesh, image], { signal }),
    close: () => pool.close(),
  };
}

/** Streams the output of a running job. Closing the generator stops the job. */
async function* streamed(
  start: (onChunk: (chunk: Uint8Array) => void, stop: AbortSignal) => Promise<unknown>,
): AsyncGenerator<Uint8Array, void, void> {
  const stop = new AbortController();
  let fault: unknown;
  const pieces = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const onChunk = (chunk: Uint8Array): void => {
        if (chunk.byteLength > 0 && !stop.signal.aborted) controller.enqueue(chunk);
      };
      // Closes instead of failing the stream, because an error would discard unread chunks.
      const end = (error?: unknown): void => {
        fault = error;
        if (!stop.signal.aborted) controller.close();
      };
      void start(onChunk, stop.signal).then(() => end(), end);
    },
    cancel: () => stop.abort(),
  });
  yield* pieces;
  if (fault !== undefined) throw fault as Error;
}

function checkSpeech({ speed = 1, ...params }: SpeechParams): CheckedSpeech {
  if (params.text.trim() === "") throw new MediaError("invalid", "The text to speak is empty.");
  checkRange("the length of the text", characterCount(params.text), 1, MEDIA_LIMITS.speechCharactersMax);
  checkRange("speed", speed, MEDIA_LIMITS.speedMin, MEDIA_LIMITS.speedMax);
  return { ...params, speed };
}

function checkSize({ width, height }: { readonly width: number; readonly height: number }): void {
  for (const [name, side] of Object.entries({ width, height })) {
    if (!Number.isInteger(side)) throw new MediaError("invalid", `The ${name} must be a whole number of pixels.`);
    checkRange(name, side, 1, MEDIA_LIMITS.imageSideMaxPixels);
  }
}

function checkVideo({ seconds, width, height }: VideoTaskParams): void {
  const { videoSecondsMax, videoSideMinPixels, videoSideMaxPixels, videoPixelsMax } = MEDIA_LIMITS;
  if (!Number.isInteger(seconds)) throw new MediaError("invalid", "The seconds of a video must be a whole number.");
  checkRange("seconds", seconds, 1, videoSecondsMax);
  for (const [name, side] of Object.entries({ width, height })) {
    if (side % 2 !== 0) throw new MediaError("invalid", `The ${name} of a video must be an even number of pixels.`);
    checkRange(name, side, videoSideMinPixels, videoSideMaxPixels);
  }
  checkRange("the number of pixels", width * height, 1, videoPixelsMax);
}

function checkRange(name: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new MediaError("invalid", `Expected ${name} from ${min} to ${max}, got ${value}.`);
}

const folder = processFolder("sluice-media-");

/** Runs a job with its own directory for files. The directory is removed afterwards, even if the child was killed. */
async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(folder(), "job-"));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
