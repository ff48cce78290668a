/**
 * The sandbox's media makers: real pictures, speech, videos, music and meshes without a network or a key, the same for the same
 * prompt and seed. The work is done in child processes, a few at a time; nothing here keeps a heartbeat waiting.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createChildPool, type ChildJob, type ChildPool } from "#shared/children/pool.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import type { MediaTask } from "./child.ts";
import type { ImageEditParams } from "./image/edit.ts";
import type { ImageFormat } from "./image/encode.ts";
import type { ImageParams } from "./image/make.ts";
import type { MeshParams } from "./mesh/document.ts";
import type { MeshTransformParams } from "./mesh/transform.ts";
import type { MusicParams } from "./music/compose.ts";
import type { SpeechParams as CheckedSpeech } from "./speech/speak.ts";
import type { Transcript } from "./speech/transcribe.ts";
import type { VideoParams as VideoTaskParams, VideoTask } from "./video/params.ts";

export { probeSandboxAudio } from "./speech/transcribe.ts";
export { videoSize } from "./video/size.ts";

export interface MadeImage {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
}

export interface ImageEdit extends Omit<ImageEditParams, "strength"> {
  readonly image: Uint8Array;
  /** Of the image's size; transparent where it is to be repainted. Without one the whole image is. */
  readonly mask?: Uint8Array | undefined;
  /** 0 to 1; where it is not given 0.8 of a whole image, and 1 behind a mask: what was there must not show through. */
  readonly strength?: number | undefined;
}

export interface SpeechParams extends Omit<CheckedSpeech, "speed"> {
  /** 0.25 to 4. */
  readonly speed?: number | undefined;
}

export interface VideoParams extends VideoTaskParams {
  /** To be animated; or a video to be transformed, but not both. */
  readonly image?: Uint8Array | undefined;
  readonly video?: Uint8Array | undefined;
}

export interface MadeVideo {
  /** An MP4 of H.264 and AAC. */
  readonly bytes: Uint8Array;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

interface MeshSources {
  /** Becomes the texture; only a retexture and a new mesh look at it. */
  readonly image?: Uint8Array | undefined;
}

export interface SandboxMedia {
  /** @throws MediaError invalid, busy, timeout, aborted, failed */
  makeImage(params: ImageParams, signal?: AbortSignal): Promise<MadeImage>;
  /** @throws MediaError as above, and unsupported, corrupt, too_large for the image and the mask */
  editImage(edit: ImageEdit, signal?: AbortSignal): Promise<MadeImage>;
  /** 24 kHz, one channel. */
  speak(params: SpeechParams, signal?: AbortSignal): Promise<{ readonly bytes: Uint8Array; readonly seconds: number }>;
  /** The same bytes as they are made: by sentence for pcm, wav and mp3, at the end for the others. */
  streamSpeech(params: SpeechParams, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void>;
  /** @throws MediaError as above, and unsupported, corrupt, too_large for the audio */
  transcribe(
    audio: Uint8Array,
    options?: { readonly language?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<Transcript>;
  /** @throws MediaError as makeImage, and unsupported, corrupt, too_large for the input image or video */
  makeVideo(params: VideoParams, signal?: AbortSignal, onProgress?: (share: number) => void): Promise<MadeVideo>;
  /** 48 kHz, two channels; pcm is 16 bits, little-endian, left and right in turn. @throws MediaError as makeImage */
  composeMusic(
    params: MusicParams,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly seconds: number }>;
  /** A binary glTF 2.0 file. @throws MediaError as makeImage, and unsupported, corrupt, too_large for the image */
  makeMesh(params: MeshParams & MeshSources, signal?: AbortSignal): Promise<{ readonly bytes: Uint8Array }>;
  /** Likewise. @throws MediaError as above, for the mesh too, which is also invalid where it has no triangles */
  transformMesh(
    params: MeshTransformParams & MeshSources & { readonly mesh: Uint8Array },
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array }>;
  /** Ends the children. */
  close(): Promise<void>;
}

/** Starts nothing until the first call. Whoever creates it closes it. */
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
      // Read when sharp is loaded: without it a machine without fonts would write captions in nothing.
      FONTCONFIG_FILE: fileURLToPath(new URL("../../../children/fonts.conf", import.meta.url)),
      // Decoded pictures come and go: a few arenas of glibc give their memory back sooner.
      MALLOC_ARENA_MAX: "2",
    },
  });
  const run = (task: MediaTask, job: Omit<ChildJob, "task">): ReturnType<ChildPool["run"]> =>
    pool.run({ task, ...job });

  return {
    makeImage: async (params, signal) => {
      checkSize(params);
      if (params.background === "transparent" && params.format === "jpeg") {
        throw new MediaError("invalid", "JPEG has no transparency; a transparent background needs png or webp.");
      }
      const { parts } = await run("image.make", { input: params, ...given(signal) });
      return { bytes: only(parts), width: params.width, height: params.height, format: params.format };
    },
    editImage: async ({ image, mask, ...edit }, signal) => {
      if (edit.size !== undefined) checkSize(edit.size);
      const strength = edit.strength ?? (mask === undefined ? 0.8 : 1);
      checkRange("strength", strength, 0, 1);
      const { output, parts } = await run("image.edit", {
        input: { ...edit, strength },
        parts: mask === undefined ? [image] : [image, mask],
        foreign: true,
        ...given(signal),
      });
      const { width, height } = output as { readonly width: number; readonly height: number };
      return { bytes: only(parts), width, height, format: edit.format };
    },
    speak: async (params, signal) => {
      const chunks: Uint8Array[] = [];
      const job = { input: checkSpeech(params), onChunk: (chunk: Uint8Array) => chunks.push(chunk), ...given(signal) };
      const { output } = await run("speech.speak", job);
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
      const job = { input: { language }, parts: [audio], foreign: true, ...given(signal) };
      const { output } = await run("speech.transcribe", job);
      return output as Transcript;
    },
    makeVideo: async ({ image, video, ...params }, signal, onProgress) => {
      checkVideo(params);
      if (image !== undefined && video !== undefined) {
        throw new MediaError("invalid", "A video is made from an image or from a video, not from both.");
      }
      const source = image !== undefined ? "image" : video !== undefined ? "video" : "none";
      const bytes = image ?? video;
      const { seconds, width, height } = params;
      return withDirectory(async (directory) => {
        const { parts } = await run("video.make", {
          input: { ...params, source, directory } satisfies VideoTask,
          ...(bytes === undefined ? {} : { parts: [bytes], foreign: true }),
          jobMs: MEDIA_LIMITS.videoJobMs,
          onChunk: ([percent = 0]) => onProgress?.(percent / 100),
          ...given(signal),
        });
        return { bytes: only(parts), seconds, width, height };
      });
    },
    composeMusic: async (params, signal) => {
      checkRange("seconds", params.seconds, MEDIA_LIMITS.musicSecondsMin, MEDIA_LIMITS.musicSecondsMax);
      const { parts } = await run("music.compose", { input: params, ...given(signal) });
      return { bytes: only(parts), seconds: params.seconds };
    },
    makeMesh: async ({ image, prompt, seed }, signal) => {
      const job = { input: { prompt, seed } satisfies MeshParams, ...given(signal) };
      const { parts } = await run("mesh.make", image === undefined ? job : { ...job, parts: [image], foreign: true });
      return { bytes: only(parts) };
    },
    transformMesh: async ({ mesh, image, operation, prompt, seed }, signal) => {
      const input: MeshTransformParams = { operation, prompt, seed };
      const parts = image === undefined ? [mesh] : [mesh, image];
      const { parts: made } = await run("mesh.transform", { input, parts, foreign: true, ...given(signal) });
      return { bytes: only(made) };
    },
    close: () => pool.close(),
  };
}

/** Pieces of a running job as a generator; leaving it ends the job. */
async function* streamed(
  start: (onChunk: (chunk: Uint8Array) => void, stop: AbortSignal) => Promise<unknown>,
): AsyncGenerator<Uint8Array, void, void> {
  const stop = new AbortController();
  const chunks: Uint8Array[] = [];
  let wake: () => void = () => {};
  let isOver = false;
  const job = start((chunk) => {
    chunks.push(chunk);
    wake();
  }, stop.signal).finally(() => {
    isOver = true;
    wake();
  });
  // Awaited below; a rejection before that must not count as unhandled.
  job.catch(() => {});
  try {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        if (chunk.byteLength > 0) yield chunk;
        continue;
      }
      if (isOver) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    await job;
  } finally {
    stop.abort();
  }
}

function checkSpeech({ speed = 1, ...params }: SpeechParams): CheckedSpeech {
  if (params.text.trim() === "") throw new MediaError("invalid", "The text to speak is empty.");
  checkRange("the length of the text", codePoints(params.text), 1, MEDIA_LIMITS.speechCharactersMax);
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

/** As the endpoint counts them: an emoji is one character. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function given(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

const folder = processFolder("sluice-media-");

/** A directory for one job's files, removed with them also when the child was killed. */
async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(folder(), "job-"));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function only(parts: readonly Uint8Array[]): Uint8Array {
  const [bytes] = parts;
  if (bytes === undefined) throw new MediaError("failed", "the media child answered without bytes");
  return bytes;
}
