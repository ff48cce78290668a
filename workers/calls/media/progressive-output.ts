/**
 * Streams a result to the waiting caller while it arrives, if its price is already known and it has the requested format: speech starts to
 * play before its last word is generated.
 */
import { storedBytes } from "#shared/database/files.ts";
import type { Fallback } from "#shared/queue/frames.ts";

import type { WorkerContext } from "../../context.ts";
import type { LiveCaller } from "../../job.ts";
import type { Artifact, MediaUsage, SpeechFormat } from "../../providers/media.ts";
import { SPEECH_TYPES } from "../../providers/speech.ts";

import { type HeldMedia, meterMedia } from "./meter.ts";
import { LIVE_ROOM_BYTES } from "./artifacts.ts";

/** Price units that are known before the last byte. */
const KNOWN_AHEAD: ReadonlySet<string> = new Set(["per_character", "per_request"]);

export interface Live {
  readonly onBytes: (bytes: Uint8Array) => void;
  /** Returns true when the caller has received the beginning. */
  readonly hasBegun: () => boolean;
}

/** Returns undefined if the result is not streamed before it is stored. */
export async function progressiveOutputOf(
  { database, config, log }: Pick<WorkerContext, "database" | "config" | "log">,
  job: { readonly job_id: string; readonly workspace_id: string },
  about: {
    readonly caller: LiveCaller | undefined;
    readonly held: HeldMedia;
    readonly usage: MediaUsage;
    readonly from: { readonly model: string; readonly fallback?: Fallback };
    readonly artifacts: readonly Artifact[];
    /** Requested format; without one nothing is streamed. */
    readonly wanted: { readonly format?: string };
  },
): Promise<Live | undefined> {
  const { caller, held, usage, from, artifacts, wanted } = about;
  const [only, ...others] = artifacts;
  if (!caller || !only || others.length > 0 || !KNOWN_AHEAD.has(held.price.unit)) return undefined;
  const asked = wanted.format === undefined ? undefined : SPEECH_TYPES[wanted.format as SpeechFormat];
  // A result at an address is checked before it is passed on.
  if (asked === undefined || "url" in only || only.contentType !== asked) return undefined;
  try {
    // A full workspace could play the result, but neither store it nor be charged for it.
    const stored = await storedBytes(database, job.workspace_id);
    if (BigInt(config.storageBytesMax) - stored < LIVE_ROOM_BYTES) return undefined;
  } catch (error) {
    log.warn({ err: error, job_id: job.job_id }, "progressive output is unavailable for a job");
    return undefined;
  }
  const { nano } = meterMedia(held, [{}], usage);
  let hasBegun = false;
  return {
    onBytes(bytes) {
      if (!hasBegun) caller.begin({ contentType: asked, ...from, nano: nano.toString() });
      hasBegun = true;
      caller.write(bytes);
    },
    hasBegun: () => hasBegun,
  };
}
