/**
 * Searches for a job whose start was sent but not answered: its provider may have it. The provider's list or callback shows the job, or
 * shows that the provider never accepted it. The start is not sent again.
 */
import { sleep } from "#shared/abortable.ts";
import type { Provider } from "#shared/calls/model.ts";
import { commonNow } from "#shared/clock.ts";
import { paced } from "#shared/pace.ts";

import { abortReasonOf, type ProviderJobSlot, START_CLOCKS_MS } from "../../job.ts";
import type { Found, Listed, LostStart, ProviderJob, QueuedAdapter } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";

import { type ProviderJobRecord, withJob } from "./held-price.ts";
import { POLL_JITTER, POLL_MS } from "./queued.ts";

/** Shortest and longest pause between two searches, in milliseconds; a provider's list is long. */
const START_LOOK_MS = [paced(1_000), paced(15_000)] as const;

/** Default time in which a vendor may accept a job after a gateway timeout, in milliseconds: Cloudflare waits 100 s. */
const START_TAKEN_MS = 120_000;

export interface LostStartSearch {
  readonly adapter: Pick<QueuedAdapter<never, unknown>, "find" | "nameOf">;
  readonly provider: Pick<Provider, "id" | "listed_within_seconds">;
  /** Record of the job with its open start. */
  readonly begun: ProviderJobRecord;
  readonly slot: Pick<ProviderJobSlot, "lose" | "keep" | "adopt" | "strangers">;
  readonly signal: AbortSignal;
  /** Calls the listener when the provider sends a callback for the job; returns the function that removes it. */
  readonly onProviderCallback: (listener: () => void) => () => void;
  readonly onUnknown: (detail: string) => void;
}

/** Record with its job. */
export type FoundStart = ProviderJobRecord & { readonly job: ProviderJob };

/** Start whose outcome can never be determined: the job ends, and we bear its possible cost. */
export class LostForGood extends ProviderError {
  constructor() {
    super("unknown", "the provider may have accepted the job; its outcome stays unknown");
  }
}

/**
 * Searches until the job is found and recorded in its row, or the search is not worth a slot any more. A late job is searched for once.
 * @throws ProviderError `failed` when nothing was accepted, `unknown` when a later search may succeed, `aborted` when this worker stops, so
 * that the next one searches; LostForGood
 */
export async function findStart(search: LostStartSearch, isLate: boolean): Promise<FoundStart> {
  const { signal, provider, adapter } = search;
  const [firstMs, mostMs] = START_LOOK_MS;
  // Allows two more searches after the list must be complete. Without a list only a callback helps, for which no slot is kept.
  const searchMs = isLate || !adapter.nameOf ? 0 : 1_000 * (provider.listed_within_seconds ?? 0) + 2 * mostMs;
  const giveUpAt = performance.now() + searchMs;
  for (let waitMs = firstMs; ; waitMs = Math.min(mostMs, waitMs * 1.5)) {
    const isLast = performance.now() >= giveUpAt;
    const found = await searchOnce(search, isLast);
    if (found) return found;
    if (isLast) break;
    await pause(waitMs * (1 + POLL_JITTER * (2 * Math.random() - 1)), search);
    if (signal.aborted) break;
  }
  const reason: unknown = signal.reason;
  const isStopping = abortReasonOf(reason) === "shutdown";
  throw new ProviderError(isStopping ? "aborted" : "unknown", "its provider may have taken the job", { cause: reason });
}

/** Returns undefined if a later search may succeed. @throws ProviderError `failed`, LostForGood as `findStart`; Error of our own */
async function searchOnce(search: LostStartSearch, isLast: boolean): Promise<FoundStart | undefined> {
  const { adapter, begun, slot, signal, onUnknown } = search;
  const { lost_ms: lostMs = commonNow(), mark, sent_ms: sentMs, told } = await slot.lose();
  if (!mark || !adapter.find) throw new LostForGood();
  const askedMs = commonNow();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(POLL_MS)]);
  const found = await find(adapter.find, { mark, sentMs, ...(told === undefined ? {} : { told }) }, limited);
  switch (found.state) {
    case "found": {
      const record = withJob(begun, found.job, adapter.nameOf?.(found.job));
      await slot.keep(record);
      return { ...record, job: found.job };
    }
    case "none":
      throw notTaken();
    case "listed":
      return sortOut(search, found, { sinceMs: askedMs - lostMs, lostMs, isLast });
    case "unknown":
      if (!signal.aborted) onUnknown(found.detail);
      return undefined;
    default:
      return found satisfies never;
  }
}

function notTaken(): ProviderError {
  return new ProviderError("failed", "its provider has not taken the job");
}

async function find(
  ask: NonNullable<LostStartSearch["adapter"]["find"]>,
  lost: LostStart,
  signal: AbortSignal,
): Promise<Found> {
  try {
    return await ask(lost, signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { state: "unknown", detail: `it could not be looked for: ${error.kind}, ${error.detail}` };
  }
}

interface When {
  /** Time at which the response was lost, by our clock, in Unix milliseconds. */
  readonly lostMs: number;
  /** Milliseconds between that time and the request of the list. */
  readonly sinceMs: number;
  /** True when no later search will be clearer. */
  readonly isLast: boolean;
}

/** Determines the owners of the listed jobs; one of them may become this job's own. */
async function sortOut(
  { begun, slot, provider }: LostStartSearch,
  { alike, unclear, mayRing }: Extract<Found, { readonly state: "listed" }>,
  { lostMs, sinceMs, isLast }: When,
): Promise<FoundStart | undefined> {
  const { listed_within_seconds: withinS } = provider;
  // Jobs that were created later belong to others; a job without a creation time stays a candidate.
  const untilMs = lostMs + (withinS === undefined ? START_TAKEN_MS : withinS * 1_000) + START_CLOCKS_MS;
  const mayBeIt = ({ madeMs }: Listed): boolean => !(madeMs > untilMs);
  let isContested = false;
  for (const { name, madeMs, job } of alike.filter(mayBeIt)) {
    const record = withJob(begun, job, name);
    const whose = await slot.adopt({ name, madeMs }, record);
    if (whose === "adopted") return { ...record, job };
    isContested ||= whose === "open";
  }
  const isWhole = withinS !== undefined && sinceMs >= withinS * 1_000;
  if (isContested || !isWhole) return undefined;
  const names = unclear.filter(mayBeIt).map(({ name }) => name);
  if (names.length === 0 || (await slot.strangers(provider.id, names)).length === 0) throw notTaken();
  // The unclear jobs may still turn out to belong to other starts whose responses are on their way.
  if (mayRing || !isLast) return undefined;
  throw new LostForGood();
}

/** Waits; a callback of the provider ends the pause early. */
async function pause(ms: number, { signal, onProviderCallback }: LostStartSearch): Promise<void> {
  const rung = new AbortController();
  const unlisten = onProviderCallback(() => rung.abort());
  await sleep(ms, AbortSignal.any([signal, rung.signal])).catch(() => undefined);
  unlisten();
}
