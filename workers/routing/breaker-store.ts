/**
 * Stores the open circuits of a pool in Postgres. Writes them, reads them periodically, and requests the right to probe a source, which
 * only one worker has at a time. Without Postgres, the circuits of this process keep their state.
 */
import type { Database } from "#shared/database/client.ts";
import {
  claimProbe,
  forgetOldSources,
  forgetRefusedKey,
  releaseProbe,
  listOpenSources,
  noteOpenSource,
  type OpenSource,
  wakeSource,
} from "#shared/database/source-breaker.ts";
import { BREAKER } from "./limits.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import type { Change, Refused, Sources, SourceState } from "./breaker-state.ts";
import type { MarkOf } from "./key-marks.ts";

interface StoreOptions {
  readonly pool: Pool;
  readonly database: Database;
  readonly log: Logger;
  /** UUID of this process. */
  readonly worker: string;
  readonly sources: Sources;
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Called after a read with the state of a source. `change` is undefined if the read changed nothing. */
  readonly onRead: (state: SourceState, change: Change | undefined) => void;
  readonly markOf: MarkOf;
}

export class BreakerStore {
  private readonly options: StoreOptions;
  private clock: ReturnType<typeof setInterval> | undefined;
  private readAt = performance.now();
  private isReading = false;
  private isDatabaseAway = false;
  private isClosed = false;

  constructor(options: StoreOptions) {
    this.options = options;
  }

  /** Starts periodic reads. Resolves after the first read, or after BREAKER.probeAgainMs. */
  start(): Promise<void> {
    this.clock = setInterval(() => void this.keepUp(), BREAKER.syncMs);
    const { database } = this.options;
    const read = this.ask(() => forgetOldSources(database)).then(() => this.read(true));
    return Promise.race([read, Bun.sleep(BREAKER.probeAgainMs)]);
  }

  /** Writes the state of a circuit. Never rejects, because a failed write is repeated later. */
  async save(state: SourceState): Promise<void> {
    const { database, pool, worker, now } = this.options;
    const { name: source, cooldownMs, until, changes, refusedMark: mark, refusedStatus: status } = state;
    const remainingMs = Math.max(0, until - now());
    const saved = await this.ask(() =>
      cooldownMs > 0
        ? noteOpenSource(database, { pool, source, cooldownMs, remainingMs, worker, mark, status })
        : wakeSource(database, { pool, source }),
    );
    // Another change happened meanwhile, and is saved separately.
    if (saved === undefined || state.changes !== changes) return;
    state.isUnsaved = false;
    state.isNoted = cooldownMs > 0 && state.isOpen;
  }

  /**
   * Requests the right to probe a source, which only one worker has at a time. `probe`: this worker may send one call. `closed`: the source
   * is back in rotation. `open`: another worker is probing, or the request failed. Other calls see an open circuit meanwhile.
   */
  async askForProbe(state: SourceState): Promise<"closed" | "probe" | "open"> {
    const { database, pool, worker, now, onRead } = this.options;
    state.askAt = now() + BREAKER.probeAgainMs;
    const row = { pool, source: state.name, cooldownMs: state.cooldownMs, worker };
    const asked = this.ask(() => claimProbe(database, row));
    const answer = await Promise.race([asked, Bun.sleep(BREAKER.probeAskMs)]);
    if (answer === undefined) {
      // The request timed out or failed. A probe that is granted late must not block other workers.
      void (async () => {
        if ((await asked)?.value === true && !state.isProbing) this.giveProbeBack(state.name);
      })();
      state.askAt = now() + BREAKER.probeAgainMs;
      return "open";
    }
    const at = now();
    if (answer.value !== true) {
      const { value: row } = answer;
      if (row === undefined) onRead(state, state.closeNow(at));
      else if (row.remaining_ms > 0 && this.isOurs(row))
        onRead(state, state.receiveOpening(row.remaining_ms, row.cooldown_ms, at, refusedOf(row)));
      return state.isOpen ? "open" : "closed";
    }
    // A message arrived meanwhile: the circuit is closed, or open for longer.
    if (!state.isOpen) {
      void this.ask(() => wakeSource(database, row));
      return "closed";
    }
    if (state.until > at) {
      this.giveProbeBack(state.name);
      return "open";
    }
    state.beginProbe(at);
    return "probe";
  }

  /** Deletes the stored circuit of a source that refused a key which is no longer in use. */
  forgetRefused(source: string, mark: string): void {
    const { database, pool } = this.options;
    void this.ask(() => forgetRefusedKey(database, { pool, source, mark }));
  }

  giveProbeBack(source: string): void {
    const { database, pool, worker } = this.options;
    void this.ask(() => releaseProbe(database, { pool, source, worker }));
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.clock);
  }

  private async keepUp(): Promise<void> {
    const all = Array.from(this.options.sources.all());
    const dueMs = all.some((state) => state.isOpen) ? BREAKER.syncMs : BREAKER.idleSyncMs;
    // The timer fires every syncMs and may fire slightly early.
    if (this.isReading || performance.now() - this.readAt < dueMs - BREAKER.syncMs / 2) return;
    this.isReading = true;
    this.readAt = performance.now();
    try {
      // Not during a probe, because writing an opening ends the probe.
      const unsaved = all.filter((state) => state.isUnsaved && !state.isProbing);
      await Promise.all(unsaved.map((state) => this.save(state)));
      await this.read();
    } finally {
      this.isReading = false;
    }
  }

  /** Reads open circuits from Postgres. The first read after a start returns all; later reads find circuits whose messages were lost. */
  private async read(isFirst = false): Promise<void> {
    const { database, pool, sources, now, onRead } = this.options;
    const noted = Array.from(sources.all()).filter((state) => state.isNoted);
    const read = await this.ask(() => listOpenSources(database, pool));
    if (read === undefined) return;
    const rows = read.value;
    const at = now();
    for (const row of rows) {
      if (!this.isOurs(row)) {
        // Usually the key before this start. A worker with that key calls the source once more, and writes the row again.
        if (isFirst && row.key_mark !== null) this.forgetRefused(row.source, row.key_mark);
        continue;
      }
      const known = sources.peek(row.source);
      const wasJustClosed = known !== undefined && !known.isOpen && at - known.closedAt < BREAKER.closedLagMs;
      if (row.remaining_ms <= 0 && wasJustClosed) continue;
      const state = known ?? sources.getOrAdd(row.source);
      onRead(state, state.receiveOpening(Math.max(0, row.remaining_ms), row.cooldown_ms, at, refusedOf(row)));
      state.isNoted = true;
    }
    // A truncated list says nothing about missing sources.
    if (rows.length >= BREAKER.sourcesMax) return;
    const open = new Set(rows.map((row) => row.source));
    for (const state of noted) {
      if (state.isNoted && !open.has(state.name)) onRead(state, state.closeNow(at));
    }
  }

  /** Returns false for a source that refused a key other than the key of this worker. */
  private isOurs({ source, key_mark: mark }: OpenSource): boolean {
    return mark === null || mark === this.options.markOf(source);
  }

  /** Runs a database statement. Returns undefined if it fails; of several failures in a row, only the first is logged. */
  private async ask<T>(statement: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    try {
      const value = await statement();
      this.isDatabaseAway = false;
      return { value };
    } catch (error) {
      if (!this.isDatabaseAway && !this.isClosed) {
        this.options.log.warn({ err: error }, "open circuits could not be read or saved");
      }
      this.isDatabaseAway = true;
      return undefined;
    }
  }
}

function refusedOf({ key_mark: mark, status }: OpenSource): Refused | undefined {
  return mark === null ? undefined : { mark, status: status ?? undefined };
}
