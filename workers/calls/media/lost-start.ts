/**
 * A job whose start was sent and not answered: its provider may have it. It is found there by what the provider lists or rings, or
 * found never to have been taken; it is not sent again.
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

/** First and longest pause between two looks for a job whose start was not answered; a provider's list is long. */
const START_LOOK_MS = [paced(1_000), paced(15_000)] as const;

/** A vendor may take a job for this long after its gateway gave up, where the catalogue says nothing of it: Cloudflare waits 100 s. */
const START_TAKEN_MS = 120_000;

export interface LostStartSearch {
  readonly adapter: Pick<QueuedAdapter<never, unknown>, "find" | "nameOf">;
  readonly provider: Pick<Provider, "id" | "listed_within_seconds">;
  /** With its open start. */
  readonly begun: ProviderJobRecord;
  readonly slot: Pick<ProviderJobSlot, "lose" | "keep" | "adopt" | "strangers">;
  readonly signal: AbortSignal;
  /** Runs the listener when the provider rings for the job; returns what ends that. */
  readonly onProviderCallback: (listener: () => void) => () => void;
  readonly onUnknown: (detail: string) => void;
}

/** A record that has its job. */
export type FoundStart = ProviderJobRecord & { readonly job: ProviderJob };

/** A start of which it can never be told what became: its job ends, and what it may have cost is ours. */
export class LostForGood extends ProviderError {
  constructor() {
    super("unknown", "whether its provider took the job can never be told");
  }
}

/**
 * Looks until it is found, and in the row by then, or is not worth a slot any more; a late job's is looked for once.
 * @throws ProviderError `failed` when nothing was taken, `unknown` when that may be told later, `aborted` when this worker stops, so
 * that the next one looks; LostForGood
 */
export async function findStart(search: LostStartSearch, isLate: boolean): Promise<FoundStart> {
  const { signal, provider, adapter } = search;
  const [firstMs, mostMs] = START_LOOK_MS;
  // Twice more behind the time by which the list is whole; where nothing is listed only a ring helps, for which no slot is kept.
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

/** Undefined: that may be told yet. @throws ProviderError `failed`, LostForGood as `findStart`; Error of our own trouble */
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
  /** The answer was lost, by our clock. */
  readonly lostMs: number;
  /** Milliseconds from then until the list was asked for. */
  readonly sinceMs: number;
  /** No later look will be clearer. */
  readonly isLast: boolean;
}

/** The owners of the jobs that a provider lists: one may become this job's own. */
async function sortOut(
  { begun, slot, provider }: LostStartSearch,
  { alike, unclear, mayRing }: Extract<Found, { readonly state: "listed" }>,
  { lostMs, sinceMs, isLast }: When,
): Promise<FoundStart | undefined> {
  const { listed_within_seconds: withinS } = provider;
  // What was made later is others'; of those that it does not say of it is not clear.
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
  // They may yet turn out to be of others whose answers are under way.
  if (mayRing || !isLast) return undefined;
  throw new LostForGood();
}

/** A ring ends it early. */
async function pause(ms: number, { signal, onProviderCallback }: LostStartSearch): Promise<void> {
  const rung = new AbortController();
  const unlisten = onProviderCallback(() => rung.abort());
  await sleep(ms, AbortSignal.any([signal, rung.signal])).catch(() => undefined);
  unlisten();
}
