/** Download of a result from its provider: every wait for it is limited. */
import { beforeAbort } from "#shared/abortable.ts";
import { LIMITS } from "#shared/limits.ts";

import type { Artifact } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import { startWatchdog } from "../watchdog.ts";

import type { SpoolLimits } from "./spool.ts";

type Opened = Extract<Artifact, { readonly open: unknown }>;

/**
 * Yields the bytes as they come. A finished result has a limit for all of it and one for each silence; one that is still being
 * made takes as long as its making, which the call bounds, so only silences are limited.
 * @throws ProviderError `failed` when one of its limits has passed; what the adapter or the signal says
 */
export async function* downloaded(
  { open }: Opened,
  { fetchMs, isLive = false, stallMs = isLive ? fetchMs : LIMITS.outboundStallMs }: SpoolLimits,
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
