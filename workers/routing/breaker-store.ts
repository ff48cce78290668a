/**
 * A pool's open sources in Postgres: noted there, read from there in time, and the one probe asked for. Without
 * Postgres the sources of this process go on as they are.
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
import type { Logger } from "#shared/logger.ts";
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
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Called with what Postgres said of a source, and the change that this was, if it was one. */
  readonly onHeard: (state: SourceState, change: Change | undefined) => void;
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

  /** Keeps up from now on. Resolves when the open circuits have been read, after BREAKER.probeAgainMs at the latest. */
  start(): Promise<void> {
    this.clock = setInterval(() => void this.keepUp(), BREAKER.syncMs);
    const { database } = this.options;
    const read = this.ask(() => forgetOldSources(database)).then(() => this.read(true));
    return Promise.race([read, Bun.sleep(BREAKER.probeAgainMs)]);
  }

  /** Notes that a circuit is open, or that it is back. Never rejects: what could not be noted is noted later. */
  async save(state: SourceState): Promise<void> {
    const { database, pool, worker, now } = this.options;
    const { name: source, cooldownMs, until, changes, refusedMark: mark, refusedStatus: status } = state;
    const remainingMs = Math.max(0, until - now());
    const saved = await this.ask(() =>
      cooldownMs > 0
        ? noteOpenSource(database, { pool, source, cooldownMs, remainingMs, worker, mark, status })
        : wakeSource(database, { pool, source }),
    );
    // Changed once more meanwhile: that change is saved by itself.
    if (saved === undefined || state.changes !== changes) return;
    state.isUnsaved = false;
    state.isNoted = cooldownMs > 0 && state.isOpen;
  }

  /** Asks for the one probe. Calls that come meanwhile are told that the circuit is open. */
  async askForProbe(state: SourceState): Promise<"closed" | "probe" | "open"> {
    const { database, pool, worker, now, onHeard } = this.options;
    state.askAt = now() + BREAKER.probeAgainMs;
    const row = { pool, source: state.name, cooldownMs: state.cooldownMs, worker };
    const asked = this.ask(() => claimProbe(database, row));
    const answer = await Promise.race([asked, Bun.sleep(BREAKER.probeAskMs)]);
    if (answer === undefined) {
      // Too late or failed. What is granted after all must not keep the others from trying.
      void (async () => {
        if ((await asked)?.value === true && !state.isProbing) this.giveProbeBack(state.name);
      })();
      state.askAt = now() + BREAKER.probeAgainMs;
      return "open";
    }
    const at = now();
    if (answer.value !== true) {
      const { value: row } = answer;
      if (row === undefined) onHeard(state, state.closeNow(at));
      else if (row.remaining_ms > 0 && this.isOurs(row))
        onHeard(state, state.hearOpening(row.remaining_ms, row.cooldown_ms, at, refusedOf(row)));
      return state.isOpen ? "open" : "closed";
    }
    // Heard while the answer was on its way: back in rotation, or open for longer.
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

  /** Deletes what was noted of a key that is not in use any more. */
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
    // The clock ticks every syncMs and may come a little early.
    if (this.isReading || performance.now() - this.readAt < dueMs - BREAKER.syncMs / 2) return;
    this.isReading = true;
    this.readAt = performance.now();
    try {
      // Not while the probe is out: to note an opening ends it.
      const unsaved = all.filter((state) => state.isUnsaved && !state.isProbing);
      await Promise.all(unsaved.map((state) => this.save(state)));
      await this.read();
    } finally {
      this.isReading = false;
    }
  }

  /** Reads which circuits are open: openings and closings whose messages were lost, and all there is to know after a start. */
  private async read(isFirst = false): Promise<void> {
    const { database, pool, sources, now, onHeard } = this.options;
    const noted = Array.from(sources.all()).filter((state) => state.isNoted);
    const read = await this.ask(() => listOpenSources(database, pool));
    if (read === undefined) return;
    const rows = read.value;
    const at = now();
    for (const row of rows) {
      if (!this.isOurs(row)) {
        // Usually of the key before this start. A worker that still has that key asks the source once more, and notes it anew.
        if (isFirst && row.key_mark !== null) this.forgetRefused(row.source, row.key_mark);
        continue;
      }
      const known = sources.peek(row.source);
      const wasJustClosed = known !== undefined && !known.isOpen && at - known.closedAt < BREAKER.closedLagMs;
      if (row.remaining_ms <= 0 && wasJustClosed) continue;
      const state = known ?? sources.heardOf(row.source);
      onHeard(state, state.hearOpening(Math.max(0, row.remaining_ms), row.cooldown_ms, at, refusedOf(row)));
      state.isNoted = true;
    }
    // A list that was cut says nothing about what is not on it.
    if (rows.length >= BREAKER.sourcesMax) return;
    const open = new Set(rows.map((row) => row.source));
    for (const state of noted) {
      if (state.isNoted && !open.has(state.name)) onHeard(state, state.closeNow(at));
    }
  }

  /** False for a source that refused another key than ours. */
  private isOurs({ source, key_mark: mark }: OpenSource): boolean {
    return mark === null || mark === this.options.markOf(source);
  }

  /** Runs a statement; a failure is told once and leaves `undefined`. */
  private async ask<T>(statement: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    try {
      const value = await statement();
      this.isDatabaseAway = false;
      return { value };
    } catch (error) {
      if (!this.isDatabaseAway && !this.isClosed) {
        this.options.log.warn({ err: error }, "the open circuits cannot be read or noted");
      }
      this.isDatabaseAway = true;
      return undefined;
    }
  }
}

function refusedOf({ key_mark: mark, status }: OpenSource): Refused | undefined {
  return mark === null ? undefined : { mark, status: status ?? undefined };
}
