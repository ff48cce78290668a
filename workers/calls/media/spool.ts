/**
 * Results on their way from a provider into the file store: bytes that are in memory stay there, everything else lies on
 * the disk meanwhile, so that a video of any size costs no memory and can be inspected before it is kept.
 */
import { beforeAbort } from "#shared/abortable.ts";
import { openSpoolFile } from "#shared/files/spool-file.ts";
import type { MediaSource } from "#shared/media/media-probes.ts";
import { fetchPublic, OutboundError, OUTBOUND_STALL_MS } from "#shared/outbound/fetch.ts";

import type { Artifact } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import { startWatchdog } from "../watchdog.ts";

export interface Spooled {
  readonly size: number;
  /** All of it, mapped rather than read where it lies on the disk. Not after `remove`. */
  view(): Uint8Array;
  /** Source from which a child process reads it. Not after `remove`. */
  readonly source: MediaSource;
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  remove(): void;
}

export interface SpoolLimits {
  readonly bytesMax: number;
  /** Timeout for a result that lies elsewhere, from the look-up to the last byte, in milliseconds. */
  readonly fetchMs: number;
  /** Timeout of each silence while its provider hands it over, in milliseconds; as for other servers when absent. */
  readonly stallMs?: number;
  /** It is still being made while it comes: `fetchMs` is for its silences only. */
  readonly isLive?: boolean;
  /** Told to servers at addresses, such as `image/*`. */
  readonly accept: string;
}

export interface Taker {
  /** Waited for before what comes takes so many bytes of the disk; what is in memory takes none. */
  readonly reserveBytes?: (bytes: number) => Promise<void>;
  /** Hears the bytes as they come. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * @throws ProviderError `failed`, `aborted`; OutboundError of an address, or `too_large`; Error of the disk; what `reserveBytes`
 * throws
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

/** Wraps bytes that need no place on the disk. */
function inMemory(bytes: Uint8Array): Spooled {
  return { size: bytes.length, view: () => bytes, source: { bytes }, pieces: () => [bytes], remove: () => undefined };
}

/** Wherever it lies: it will not be smaller when it is asked for again. */
function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError("too_large", `what was made has more than ${bytesMax} bytes`);
}

// Download of a result from its provider: every wait for it is limited.

type Opened = Extract<Artifact, { readonly open: unknown }>;

/**
 * Yields the bytes as they come. A finished result has a limit for all of it and one for each silence; one that is still being
 * made takes as long as its making, which the call bounds, so only silences are limited.
 * @throws ProviderError `failed` when one of its limits has passed; what the adapter or the signal says
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
      // The taker's time is not the provider's: it may wait for room.
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
    // Closes the connection of what was not read to its end.
    reader?.cancel().catch(() => undefined);
  }
}

/** One that comes after its caller stopped waiting is let go. */
async function openReader(open: Opened["open"], signal: AbortSignal) {
  const stream = await open(signal);
  if (signal.aborted) await stream.cancel().catch(() => undefined);
  return stream.getReader();
}
