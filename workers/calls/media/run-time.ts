/** How long a media job is followed. */
import type { Config } from "#shared/config.ts";

import type { ProviderJobSlot } from "../../job.ts";

import type { OutputSpec } from "./artifacts.ts";
import type { ProviderJobRecord } from "./held-price.ts";

/** For what a late job's one question and the copying of what it made may take. */
const LATE_MS = 900_000;

/**
 * What is left of its time. It counts from its start, whenever that was: the row's deadline says until when a job may be begun. A
 * late one is asked about once, which has its own limit.
 */
export function runMsOf(
  { totalMs }: Pick<OutputSpec, "totalMs">,
  { mediaTotalMs }: Pick<Config, "mediaTotalMs">,
  { isLate }: Pick<ProviderJobSlot, "isLate">,
  begun: ProviderJobRecord | null,
): number {
  if (isLate) return LATE_MS;
  const mostMs = Math.min(totalMs, mediaTotalMs);
  return begun === null ? Math.max(1, mostMs) : Math.max(1, begun.started_ms + mostMs - Date.now());
}
