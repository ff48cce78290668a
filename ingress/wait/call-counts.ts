/**
 * Messages between ingresses about their queued calls. Each message contains a limited number of changes. If a hundred ingresses sent each
 * other the counts of all workspaces twice a second, the traffic would be a gigabyte a second.
 */
import { type Pool, POOLS } from "#shared/queue/subjects.ts";

import type { Elsewhere } from "./live-shares.ts";

/**
 * Number of calls on the queue, by pool and workspace. 0 means that all calls of the workspace still wait for a permit. Null means that the
 * workspace has no more calls.
 */
export type Counts = Partial<Record<Pool, Readonly<Record<string, number | null>>>>;
export type CallsByPool = ReadonlyMap<Pool, ReadonlyMap<string, number>>;

/** Maximum number of workspaces reported per pool. The workspaces with the most calls are reported. */
const REPORTED_WORKSPACES_MAX = 1_000;
/** Maximum number of changes in one message. A thousand constantly changing counts are thus sent within 2.5 s. */
export const CHANGES_MAX = 200;

/**
 * Number of messages among which one is complete. The first message and every message at this interval contain all counts, so that errors
 * do not persist. After a lost message, a complete message is requested immediately.
 */
const MESSAGES_PER_SNAPSHOT = 100;

interface Change {
  readonly pool: Pool;
  readonly workspaceId: string;
  readonly count: number | null;
  readonly weight: number;
}

/** Calls of this ingress as reported to the others. */
export class OwnCalls {
  private readonly sender: IngressProcess;
  private readonly reported = new Map<Pool, Map<string, number>>();
  /** Number of messages for which each change has been postponed, by pool and workspace. */
  private waited = new Map<string, number>();
  /** Sequence number of the last message. */
  private n = 0;

  /** @param sender process that reports the calls */
  constructor(sender: IngressProcess) {
    this.sender = sender;
  }

  /** Records the changed counts as reported and returns them for the next message. Changes above CHANGES_MAX follow in later messages. */
  takeChanges(inFlight: CallsByPool): Counts {
    const changes = POOLS.flatMap((pool) => this.changesOf(pool, inFlight.get(pool)));
    if (changes.length > CHANGES_MAX) changes.sort((a, b) => b.weight - a.weight);
    const waited = new Map<string, number>();
    for (const { pool, workspaceId } of changes.slice(CHANGES_MAX)) {
      const name = `${pool} ${workspaceId}`;
      waited.set(name, (this.waited.get(name) ?? 0) + 1);
    }
    this.waited = waited;
    const taken: Partial<Record<Pool, Record<string, number | null>>> = {};
    for (const { pool, workspaceId, count } of changes.slice(0, CHANGES_MAX)) {
      const reported = this.reported.get(pool) ?? new Map<string, number>();
      this.reported.set(pool, reported);
      if (count === null) reported.delete(workspaceId);
      else reported.set(workspaceId, count);
      (taken[pool] ??= {})[workspaceId] = count;
    }
    return taken;
  }

  /** Builds the next message. It contains the given changes, or all counts if a complete message is due. */
  nextMessage(changes: Counts): CallCountsMessage {
    this.n += 1;
    return this.n % MESSAGES_PER_SNAPSHOT === 1 ? this.whole() : { n: this.n, calls: changes };
  }

  /** Returns a message with all counts as last reported, for an ingress that has missed a message. */
  whole(): CallCountsMessage {
    const calls = Array.from(this.reported, ([pool, counts]) => [pool, Object.fromEntries(counts)] as const);
    return { n: this.n, calls: Object.fromEntries(calls), isWhole: true, sender: this.sender };
  }

  private changesOf(pool: Pool, inFlight: ReadonlyMap<string, number> = new Map()): Change[] {
    const reported: ReadonlyMap<string, number> = this.reported.get(pool) ?? new Map<string, number>();
    const now =
      inFlight.size > REPORTED_WORKSPACES_MAX
        ? new Map([...inFlight].toSorted(([, a], [, b]) => b - a).slice(0, REPORTED_WORKSPACES_MAX))
        : inFlight;
    const changes: Change[] = [];
    const note = (workspaceId: string, count: number | null): void => {
      // Large changes first. A waiting change gains weight with every message.
      const size = Math.max(1, Math.abs((count ?? 0) - (reported.get(workspaceId) ?? 0)));
      const weight = size * (1 + (this.waited.get(`${pool} ${workspaceId}`) ?? 0));
      changes.push({ pool, workspaceId, count, weight });
    };
    for (const [workspaceId, count] of now) if (reported.get(workspaceId) !== count) note(workspaceId, count);
    for (const workspaceId of reported.keys()) if (!now.has(workspaceId)) note(workspaceId, null);
    return changes;
  }
}

/** Release and start of an ingress. */
export interface IngressProcess {
  /** Version of Sluice; null if the ingress does not report it. */
  readonly version: string | null;
  /** Start of the process as Unix time in milliseconds, by the clock of Postgres; null if the ingress does not report it. */
  readonly startedAt: number | null;
}

/** Message in which an ingress reports its calls. */
export interface CallCountsMessage {
  /** Sequence number of the message. A gap shows that a message was lost. */
  readonly n: number;
  /** All counts if `isWhole`, otherwise the counts that have changed since the previous message. */
  readonly calls: Counts;
  readonly isWhole?: boolean;
  /** Process that sends the message. Present in whole messages, which every ingress receives from every other. */
  readonly sender?: IngressProcess;
}

interface ReceivedCounts {
  sender: IngressProcess;
  readonly calls: Map<Pool, Map<string, number>>;
  n: number;
  at: number;
  /** True if a message from that ingress was missed, so that its counts may be wrong. */
  hasHole: boolean;
}

const UNKNOWN_PROCESS: IngressProcess = { version: null, startedAt: null };

/** Maximum number of other ingresses whose counts are stored. */
const INGRESSES_MAX = 1_000;

/** Calls of the other ingresses, as received from them. */
export class OthersCalls {
  private readonly others = new Map<string, ReceivedCounts>();

  /** Number of other running ingresses. */
  get ingresses(): number {
    return this.others.size;
  }

  /** Returns release and start of the other running ingresses. */
  processes(): IngressProcess[] {
    return Array.from(this.others.values(), ({ sender }) => sender);
  }

  receive(from: string, { n, calls, isWhole, sender }: CallCountsMessage): void {
    const received = this.others.get(from) ?? {
      sender: UNKNOWN_PROCESS,
      calls: new Map<Pool, Map<string, number>>(),
      n: 0,
      at: 0,
      hasHole: true,
    };
    if (!this.others.has(from) && this.others.size >= INGRESSES_MAX) return;
    this.others.set(from, received);
    received.at = performance.now();
    if (sender !== undefined) received.sender = sender;
    if (isWhole === true) received.calls.clear();
    else if (n <= received.n) return;
    received.hasHole = isWhole !== true && (received.hasHole || n !== received.n + 1);
    received.n = n;
    for (const pool of POOLS) {
      const counts = received.calls.get(pool) ?? new Map<string, number>();
      received.calls.set(pool, counts);
      for (const [workspaceId, count] of Object.entries(calls[pool] ?? {})) note(counts, workspaceId, count);
    }
  }

  forget(from: string): void {
    this.others.delete(from);
  }

  forgetSilent(silentMs: number): void {
    const now = performance.now();
    for (const [from, { at }] of this.others) if (now - at > silentMs) this.others.delete(from);
  }

  /** Returns the ids of ingresses from which a message was missed. */
  withHoles(): string[] {
    return Array.from(this.others, ([from, { hasHole }]) => (hasHole ? from : "")).filter((from) => from !== "");
  }

  sum(): Map<Pool, Map<string, Elsewhere>> {
    const sums = new Map<Pool, Map<string, Elsewhere>>();
    for (const { calls: byPool } of this.others.values()) {
      for (const [pool, counts] of byPool) {
        const sum = sums.get(pool) ?? new Map<string, Elsewhere>();
        for (const [workspaceId, count] of counts) {
          const { calls, ingresses } = sum.get(workspaceId) ?? { calls: 0, ingresses: 0 };
          sum.set(workspaceId, { calls: calls + count, ingresses: ingresses + 1 });
        }
        if (sum.size > 0) sums.set(pool, sum);
      }
    }
    return sums;
  }
}

function note(counts: Map<string, number>, workspaceId: string, count: number | null): void {
  if (count === null) {
    counts.delete(workspaceId);
    return;
  }
  // The message may be of another version. The maximum is doubled because known workspaces may be removed by a later message.
  const isCount = Number.isSafeInteger(count) && count >= 0;
  if (isCount && (counts.has(workspaceId) || counts.size < 2 * REPORTED_WORKSPACES_MAX)) counts.set(workspaceId, count);
}
