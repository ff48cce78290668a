/**
 * Buffers results between provider and file store. Bytes that are already in memory stay there. All others are written to disk, so that
 * large videos need no memory and can be inspected before they are stored.
 */
import { beforeAbort } from "#shared/base/abortable.ts";
import { openSpoolFile } from "#shared/files/spool-file.ts";
import type { MediaSource } from "#shared/media/media-probes.ts";
import { fetchPublic, OutboundError, OUTBOUND_STALL_MS } from "#shared/net/fetch.ts";

import type { Artifact } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import { startWatchdog } from "../watchdog.ts";

export interface Spooled {
  readonly size: number;
  /** Returns all bytes of the result. A file on disk is memory-mapped, not read. Invalid after `remove`. */
  view(): Uint8Array;
  /** Source from which a child process reads the result. Invalid after `remove`. */
  readonly source: MediaSource;
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  remove(): void;
}

export interface SpoolLimits {
  readonly bytesMax: number;
  /** Timeout for a result at a URL, from the DNS lookup to the last byte, in milliseconds. */
  readonly fetchMs: number;
  /** Maximum pause between chunks of a download from the provider, in milliseconds. Default: the limit for other servers. */
  readonly stallMs?: number;
  /** True if the result is still being generated while it arrives. `fetchMs` then limits only the pauses between chunks. */
  readonly isLive?: boolean;
  /** `Accept` header for downloads from URLs, such as `image/*`. */
  readonly accept: string;
}

export interface Taker {
  /** Reserves disk space; awaited before arriving bytes are written. It is not called for results in memory. */
  readonly reserveBytes?: (bytes: number) => Promise<void>;
  /** Called with each chunk of bytes as it arrives. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * Stores a result in memory or on disk.
 * @throws ProviderError `failed`, `aborted`; OutboundError of a URL, or `too_large`; disk errors; errors of `reserveBytes`
 */
export async function spool(
  artifact: Artifact,
  limits: SpoolLimits,
  signal: AbortSignal,
  { reserveBytes, onBytes }: Taker = {},
): Promise<Spooled> {
  const { bytesMax, fetchMs, accept } = limits;
  if ("bytes" in artifact) {
    const { bytes } = artifact;
    if (bytes.length > bytesMax) throw tooLarge(bytesMax);
    onBytes?.(bytes);
    return inMemory(bytes);
  }
  const file = openSpoolFile();
  let size = 0;
  const take = async (bytes: Uint8Array): Promise<void> => {
    size += bytes.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    onBytes?.(bytes);
    await reserveBytes?.(size);
    await file.write(bytes);
  };
  try {
    if ("url" in artifact)
      await fetchPublic(artifact.url, { signal, bytesMax, timeoutMs: fetchMs, accept, onBytes: take });
    else for await (const bytes of downloaded(artifact, limits, signal)) await take(bytes);
    await file.end();
    if (size === 0) throw new ProviderError("failed", "what was made is empty");
  } catch (error) {
    file.remove();
    if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
    throw error;
  }
  return {
    size,
    view: () => file.view(),
    source: { path: file.path },
    pieces: () => Bun.file(file.path).stream(),
    remove: () => file.remove(),
  };
}

/** Wraps bytes in memory as a spooled result, without a file on disk. */
function inMemory(bytes: Uint8Array): Spooled {
  return { size: bytes.length, view: () => bytes, source: { bytes }, pieces: () => [bytes], remove: () => undefined };
}

/** Returns the error for a result that is too large. It is never retried, because another download would return the same size. */
function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError("too_large", `what was made has more than ${bytesMax} bytes`);
}

// Download of a result from its provider; every wait is limited.

type Opened = Extract<Artifact, { readonly open: unknown }>;

/**
 * Yields the bytes of a download as they arrive. For a finished result, the total time and the pauses between chunks are limited. For a
 * result that is still being generated, only the pauses are limited, because the call itself limits the total time.
 * @throws ProviderError `failed` after a timeout; errors of the adapter or the signal
 */
async function* downloaded(
  { open }: Opened,
  { fetchMs, isLive = false, stallMs = isLive ? fetchMs : OUTBOUND_STALL_MS }: SpoolLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const totalMs = isLive ? Number.POSITIVE_INFINITY : fetchMs;
  const watchdog = startWatchdog({ totalMs, firstByteMs: fetchMs, stallMs }, signal);
  let reader: Awaited<ReturnType<typeof openReader>> | undefined;
  try {
    reader = await beforeAbort(openReader(open, watchdog.signal), watchdog.signal);
    for (;;) {
      watchdog.touch();
      const { done, value } = await beforeAbort(reader.read(), watchdog.signal);
      if (done) return;
      // The consumer may wait for capacity, which does not count as the provider's time.
      watchdog.pause();
      yield value;
      watchdog.touch();
    }
  } catch (error) {
    if (watchdog.expired() === undefined || signal.aborted) throw error;
    throw new ProviderError("failed", `what was made did not come within the limit: ${watchdog.expired()}`, {
      cause: error,
    });
  } finally {
    watchdog.stop();
    // Closes the connection of an incomplete download.
    reader?.cancel().catch(() => undefined);
  }
}

/** Opens a stream for reading. If it opens only after the abort, it is cancelled. */
async function openReader(open: Opened["open"], signal: AbortSignal) {
  const stream = await open(signal);
  if (signal.aborted) await stream.cancel().catch(() => undefined);
  return stream.getReader();
}
