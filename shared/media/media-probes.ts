/**
 * What untrusted recordings and documents are, how long they last and how many pages they have, found out in child processes
 * with limits: the event loop goes on meanwhile.
 */
import { fileURLToPath } from "node:url";

import { createChildPool } from "#shared/children/pool.ts";

import { PROBE_LIMITS } from "./limits.ts";
import type { AudioFacts } from "./probe/facts.ts";

/** A file on this machine, or bytes in memory. An empty file is given as bytes: it cannot be mapped. */
export type MediaSource = { readonly path: string } | { readonly bytes: Uint8Array };

export interface MediaProbes {
  /** As probeAudio tells it. @throws MediaError likewise, and busy, timeout, too_large (memory), aborted, failed */
  audio(source: MediaSource, signal?: AbortSignal): Promise<AudioFacts>;
  /** As countPdfPages tells it. @throws MediaError as `audio` */
  pdfPages(bytes: Uint8Array, pagesMax: number, signal?: AbortSignal): Promise<number>;
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
  return {
    async audio(source, signal) {
      const given = "path" in source ? { input: source } : { input: null, parts: [source.bytes] };
      const job = { task: "audio", ...given, ...(signal === undefined ? {} : { signal }) };
      return (await pool.run(job)).output as AudioFacts;
    },
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
