/**
 * Results between provider and file store. Bytes that are in memory stay there; everything else is on the disk, so that a video of any size
 * takes no memory and can be inspected before it is stored.
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
  /** Returns all bytes; a file on the disk is mapped, not read. Invalid after `remove`. */
  view(): Uint8Array;
  /** Source from which a child process reads the result. Invalid after `remove`. */
  readonly source: MediaSource;
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  remove(): void;
}

export interface SpoolLimits {
  readonly bytesMax: number;
  /** Timeout for a result at an address, from the DNS look-up to the last byte, in milliseconds. */
  readonly fetchMs: number;
  /** Timeout of each pause in a download from the provider, in milliseconds; default: that of other servers. */
  readonly stallMs?: number;
  /** True when the result is still being generated while it arrives: `fetchMs` then limits only its pauses. */
  readonly isLive?: boolean;
  /** Accept header for servers at addresses, such as `image/*`. */
  readonly accept: string;
}

export interface Taker {
  /** Awaited before the arriving bytes take as many bytes of the disk; not called for results in memory. */
  readonly reserveBytes?: (bytes: number) => Promise<void>;
  /** Called with the bytes as they arrive. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * Spools a result. @throws ProviderError `failed`, `aborted`; OutboundError of an address, or `too_large`; Error of the disk; errors of
 * `reserveBytes`
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

/** Wraps bytes that need no file on the disk. */
function inMemory(bytes: Uint8Array): Spooled {
  return { size: bytes.length, view: () => bytes, source: { bytes }, pieces: () => [bytes], remove: () => undefined };
}

/** Never retried, since the result will not be smaller at the next download. */
function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError("too_large", `what was made has more than ${bytesMax} bytes`);
}

// Download of a result from its provider; every wait is limited.

type Opened = Extract<Artifact, { readonly open: unknown }>;

/**
 * Yields the bytes as they arrive. A finished result has a timeout in total and per pause. The call limits the total time of a result that
 * is still being generated, so only its pauses are limited.
 * @throws ProviderError `failed` when a timeout has passed; errors of the adapter or the signal
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

/** Opens a stream; one that opens after the abort is cancelled. */
async function openReader(open: Opened["open"], signal: AbortSignal) {
  const stream = await open(signal);
  if (signal.aborted) await stream.cancel().catch(() => undefined);
  return stream.getReader();
}
