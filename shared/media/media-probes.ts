/** What untrusted media is and how long it lasts, found out in child processes with limits: the event loop goes on meanwhile. */
import { fileURLToPath } from "node:url";

import { createChildPool } from "#shared/children/pool.ts";

import { PROBE_LIMITS } from "./limits.ts";
import type { AudioFacts } from "./probe/facts.ts";
import type { VideoFacts } from "./probe/video.ts";

/** A file on this machine, or bytes in memory. An empty file is given as bytes: it cannot be mapped. */
export type MediaSource = { readonly path: string } | { readonly bytes: Uint8Array };

export interface MediaProbes {
  /** As probeAudio tells it. @throws MediaError likewise, and busy, timeout, too_large (memory), aborted, failed */
  audio(source: MediaSource, signal?: AbortSignal): Promise<AudioFacts>;
  /** As probeVideo tells it. @throws MediaError likewise */
  video(source: MediaSource, signal?: AbortSignal): Promise<VideoFacts>;
  /** Ends the children. */
  close(): Promise<void>;
}

/** Starts nothing until the first look. Its opener closes it. */
export function openMediaProbes(): MediaProbes {
  const { childrenMax, queueMax, jobMs, idleMs, addressSpaceBytes, memoryBytesMax } = PROBE_LIMITS;
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
  const look = async (task: "audio" | "video", source: MediaSource, signal?: AbortSignal): Promise<unknown> => {
    const given = "path" in source ? { input: source } : { input: null, parts: [source.bytes] };
    const { output } = await pool.run({ task, ...given, ...(signal === undefined ? {} : { signal }) });
    return output;
  };
  return {
    audio: async (source, signal) => (await look("audio", source, signal)) as AudioFacts,
    video: async (source, signal) => (await look("video", source, signal)) as VideoFacts,
    close: () => pool.close(),
  };
}
