/**
 * Determines format and duration of untrusted audio and video, and page counts of PDFs. Probes run in child processes with limits and never
 * block the event loop.
 */
import { fileURLToPath } from "node:url";

import { createChildPool } from "#shared/children/pool.ts";

import { PROBE_LIMITS } from "./limits.ts";
import type { AudioFacts } from "./probe/facts.ts";
import type { VideoFacts } from "./probe/video.ts";

/** File to probe: a local path, or bytes in memory. An empty file must be passed as bytes, because it cannot be mapped. */
export type MediaSource = { readonly path: string } | { readonly bytes: Uint8Array };

export interface MediaProbes {
  /**
   * Runs `probeAudio` in a child process.
   * @throws the errors of `probeAudio`; MediaError busy, timeout, too_large (memory), aborted, failed
   */
  audio(source: MediaSource, signal?: AbortSignal): Promise<AudioFacts>;
  /** Runs `probeVideo` in a child process. @throws the errors of `probeVideo`, and those of the child process as in `audio` */
  video(source: MediaSource, signal?: AbortSignal): Promise<VideoFacts>;
  /** Runs `countPdfPages` in a child process. @throws the errors of `countPdfPages`, and those of the child process as in `audio` */
  pdfPages(bytes: Uint8Array, pagesMax: number, signal?: AbortSignal): Promise<number>;
  /** Ends the child processes. */
  close(): Promise<void>;
}

/**
 * Opens the pool of probes; the first child process starts with the first probe. The caller must close the pool.
 * @param queueMax maximum waiting probes; further ones fail with `busy`
 */
export function openMediaProbes(queueMax: number = PROBE_LIMITS.queueMax): MediaProbes {
  const { childrenMax, jobMs, idleMs, addressSpaceBytes, memoryBytesMax } = PROBE_LIMITS;
  const { watchMs, processorSeconds, jobsMax, residentBytesMax } = PROBE_LIMITS;
  const pool = createChildPool({
    script: fileURLToPath(new URL("probe/child.ts", import.meta.url)),
    childrenMax,
    queueMax,
    jobMs,
    idleMs,
    addressSpaceBytes,
    memoryBytesMax,
    watchMs,
    processorSeconds,
    jobsMax,
    residentBytesMax,
    environment: {},
  });
  const probe = async (task: string, source: MediaSource, signal: AbortSignal | undefined): Promise<unknown> => {
    const jobInput = "path" in source ? { input: source } : { input: null, parts: [source.bytes] };
    return (await pool.run({ task, ...jobInput, ...(signal === undefined ? {} : { signal }) })).output;
  };
  return {
    audio: async (source, signal) => (await probe("audio", source, signal)) as AudioFacts,
    video: async (source, signal) => (await probe("video", source, signal)) as VideoFacts,
    async pdfPages(bytes, pagesMax, signal) {
      const job = {
        task: "pdf pages",
        input: { pagesMax },
        parts: [bytes],
        ...(signal === undefined ? {} : { signal }),
      };
      return (await pool.run(job)).output as number;
    },
    close: () => pool.close(),
  };
}
