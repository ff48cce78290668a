/**
 * What is made is shown to who waits for it while it still comes, where its price is known by then and it is what was asked
 * for: speech begins to sound before its last word is spoken.
 */
import type { SpeechFormat } from "../../providers/media.ts";
import type { Artifact, MediaUsage } from "../../providers/media.ts";
import type { LiveCaller } from "../../job.ts";
import { SPEECH_TYPES } from "../../providers/speech.ts";
import type { Fallback } from "#shared/queue/frames.ts";

import { type MediaTerms, meterMedia } from "./meter.ts";

/** Prices that are known before the last byte. */
const KNOWN_AHEAD: ReadonlySet<string> = new Set(["per_character", "per_request"]);

/** Takes the bytes as they come; undefined: they are not shown. */
export function showsAsItComes(about: {
  readonly caller: LiveCaller | undefined;
  readonly terms: MediaTerms;
  readonly usage: MediaUsage;
  readonly from: { readonly model: string; readonly fallback?: Fallback };
  readonly artifacts: readonly Artifact[];
  /** What was asked for; without a format nothing is shown. */
  readonly wanted: { readonly format?: string };
}): ((bytes: Uint8Array) => void) | undefined {
  const { caller, terms, usage, from, artifacts, wanted } = about;
  const [only, ...others] = artifacts;
  if (!caller || !only || others.length > 0 || !KNOWN_AHEAD.has(terms.price.unit)) return undefined;
  const asked = wanted.format === undefined ? undefined : SPEECH_TYPES[wanted.format as SpeechFormat];
  // Of another format it is made anew before it is handed out.
  if (asked === undefined || only.contentType !== asked) return undefined;
  const { nano } = meterMedia(terms, [{}], usage);
  let hasBegun = false;
  return (bytes) => {
    if (!hasBegun) caller.begin({ contentType: asked, ...from, nano: nano.toString() });
    hasBegun = true;
    caller.write(bytes);
  };
}
