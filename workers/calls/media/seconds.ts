/** Length of audio and video results. Their bytes are untrusted, so a child process with limits reads them. */
import { MediaError } from "#shared/children/media-error.ts";

import type { WorkerContext } from "../../context.ts";
import { ProviderError } from "../../providers/provider.ts";

import type { Spooled } from "./spool.ts";

export type MeasureContext = Pick<WorkerContext, "probes" | "log">;

/** Most attempts: a child may also end for its own reasons, such as a machine without memory. */
const TRIES = 2;

/**
 * @returns undefined for a file that the probe cannot read, or that crashed or outlasted every child: players may still read it
 * @throws ProviderError `aborted` when the signal aborts first
 */
export async function secondsOf(
  { probes, log }: MeasureContext,
  kind: "audio" | "video",
  made: Pick<Spooled, "source">,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await probes[kind](made.source, signal)).seconds;
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (error.fault === "aborted") throw new ProviderError("aborted", "the call was aborted", { cause: error });
      if (isVerdict(error)) return undefined;
      log.warn({ err: error, kind, attempt }, "a result could not be inspected");
      if (attempt >= TRIES) return undefined;
    }
  }
}

/** True if the fault is the probe's finding about the bytes. */
function isVerdict({ fault }: MediaError): boolean {
  return fault === "unsupported" || fault === "corrupt" || fault === "too_large";
}
