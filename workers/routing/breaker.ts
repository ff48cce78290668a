/**
 * The circuit breaker of each source, shared by the workers of a pool. Decisions are made here at
 * once, from this process's calls and what the others tell; Postgres remembers what rests and hands out the one probe.
 * Without NATS a worker decides from its own calls and reads the others' rests from Postgres; without Postgres a source
 * that rests goes on resting.
 */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import {
  claimProbe,
  forgetOldRests,
  releaseProbe,
  restingSources,
  restSource,
  wakeSource,
} from "#shared/database/source-breaker.ts";
import { newId } from "#shared/ids.ts";
import { BREAKER } from "#shared/limits.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import { openShare } from "./breaker-share.ts";
import { type Change, Sources, type SourceState } from "./breaker-state.ts";

export interface Breaker {
  /**
   * Decides whether a source (`provider/model`) may be called now. `probe`: yes, and this call is the fleet's one trial; its
   * result decides. Answers at once for a source in rotation or at rest; with a promise where the trial is asked for, and while the
   * breaker starts.
   */
  admit(source: string): Promise<"closed" | "probe" | "open"> | "closed" | "open";
  /**
   * A call reached the provider and ended: well, or in a way that speaks against the source.
   * @param isProbe the call was admitted as the probe; of a source that rests no other call is heard
   */
  record(source: string, result: "ok" | "failed", isProbe: boolean): void;
  /** Our key or the model is refused there: out of rotation at once, for longer. */
  down(source: string, isProbe: boolean): void;
  /** A probe that ended without a verdict (client left, our own stop) is given back. */
  forget(source: string): void;
  /** Milliseconds until the source may be tried again; 0 only when it is in rotation. */
  retryInMs(source: string): number;
  close(): void;
}

/**
 * Starts listening and reads what rests; the first calls wait for that, BREAKER.probeAgainMs at most.
 * @param options.now milliseconds of a clock that never goes back; performance.now unless given
 */
export function openBreaker(options: {
  pool: Pool;
  connection: NatsConnection;
  database: Database;
  log: Logger;
  metrics: Metrics;
  now?: () => number;
}): Breaker {
  const { pool, connection, database, log, metrics } = options;
  const now = options.now ?? (() => performance.now());
  const { random } = Math;
  const worker = newId();
  let isClosed = false;
  let isDatabaseAway = false;

  const sources = new Sources((state) => {
    if (state.isResting) metrics.breakerOpen.add(-1, providerOf(state));
  });

  /** Runs a statement; a failure is told once and leaves `undefined`. */
  const asking = async <T>(statement: () => Promise<T>): Promise<{ readonly value: T } | undefined> => {
    try {
      const value = await statement();
      isDatabaseAway = false;
      return { value };
    } catch (error) {
      if (!isDatabaseAway && !isClosed) log.warn({ err: error }, "the resting sources cannot be read or noted");
      isDatabaseAway = true;
      return undefined;
    }
  };

  const show = (state: SourceState, change: Change | undefined): void => {
    if (change === "opened") metrics.breakerOpen.add(1, providerOf(state));
    else if (change === "closed") metrics.breakerOpen.add(-1, providerOf(state));
  };

  const save = async (state: SourceState): Promise<void> => {
    const { name: source, restMs, until, changes } = state;
    const saved = await asking(() =>
      restMs > 0
        ? restSource(database, { pool, source, restMs, remainingMs: Math.max(0, until - now()), worker })
        : wakeSource(database, { pool, source }),
    );
    // Changed once more meanwhile: that change is saved by itself.
    if (saved === undefined || state.changes !== changes) return;
    state.isUnsaved = false;
    state.isNoted = restMs > 0 && state.isResting;
  };

  /** A change decided here: the others, Postgres and the operator hear of it. */
  const decided = (state: SourceState, change: Change | undefined): void => {
    if (change === undefined) return;
    const retryInMs = state.retryInMs(now());
    show(state, change);
    metrics.breakerChanges.inc(providerOf(state), change);
    if (change === "closed") log.info({ source: state.name }, "a source is back in rotation");
    else log.warn({ source: state.name, change, retry_in_ms: retryInMs }, "a source is out of rotation");
    share.changed(state, now());
    state.changes += 1;
    state.isUnsaved = true;
    state.isNoted = false;
    void save(state);
  };

  const share = openShare({
    pool,
    connection,
    worker,
    log,
    heard: {
      onCounts(source, counts) {
        // Of a source that is not used here only rests matter.
        const state = sources.peek(source);
        if (state !== undefined) decided(state, state.hearCounts(counts, now(), random));
      },
      onRest(source, remainingMs, restMs) {
        const state = sources.heardOf(source);
        show(state, state.hearRest(remainingMs, restMs, now()));
      },
      onClosed(source) {
        const state = sources.peek(source);
        if (state !== undefined) show(state, state.hearClosed(now()));
      },
    },
  });

  /** Reads what rests: openings and closings whose messages were lost, and all there is to know after a start. */
  const readRests = async (): Promise<void> => {
    const noted = Array.from(sources.all()).filter((state) => state.isNoted);
    const read = await asking(() => restingSources(database, pool));
    if (read === undefined) return;
    const rows = read.value;
    const at = now();
    for (const row of rows) {
      const known = sources.peek(row.source);
      const wasJustClosed = known !== undefined && !known.isResting && at - known.closedAt < BREAKER.closedLagMs;
      if (row.remaining_ms <= 0 && wasJustClosed) continue;
      const state = known ?? sources.heardOf(row.source);
      show(state, state.hearRest(Math.max(0, row.remaining_ms), row.rest_ms, at));
      state.isNoted = true;
    }
    // A list that was cut says nothing about what is not on it.
    if (rows.length >= BREAKER.sourcesMax) return;
    const resting = new Set(rows.map((row) => row.source));
    for (const state of noted) {
      if (state.isNoted && !resting.has(state.name)) show(state, state.readClosed(at));
    }
  };

  let readAt = performance.now();
  let isReading = false;
  const keepUp = async (): Promise<void> => {
    const all = Array.from(sources.all());
    const dueMs = all.some((state) => state.isResting) ? BREAKER.syncMs : BREAKER.idleSyncMs;
    // The clock ticks every syncMs and may come a little early.
    if (isReading || performance.now() - readAt < dueMs - BREAKER.syncMs / 2) return;
    isReading = true;
    readAt = performance.now();
    try {
      // Not while the probe is out: to note a rest ends it.
      await Promise.all(all.filter((state) => state.isUnsaved && !state.isProbing).map(save));
      await readRests();
    } finally {
      isReading = false;
    }
  };
  const clock = setInterval(() => void keepUp(), BREAKER.syncMs);

  const start = async (): Promise<void> => {
    await Promise.race([asking(() => forgetOldRests(database)).then(readRests), Bun.sleep(BREAKER.probeAgainMs)]);
    starting = undefined;
  };
  let starting: Promise<void> | undefined = start();

  const giveProbeBack = (source: string): void => {
    void asking(() => releaseProbe(database, { pool, source, worker }));
  };

  /** Asks Postgres for the one probe. Calls that come meanwhile are told that the circuit is open. */
  const askForProbe = async (state: SourceState): Promise<"closed" | "probe" | "open"> => {
    state.askAt = now() + BREAKER.probeAgainMs;
    const row = { pool, source: state.name, restMs: state.restMs, worker };
    const asked = asking(() => claimProbe(database, row));
    const answer = await Promise.race([asked, Bun.sleep(BREAKER.probeAskMs)]);
    if (answer === undefined) {
      // Too late or failed. What is granted after all must not keep the others from trying.
      void (async () => {
        if ((await asked)?.value === true && !state.isProbing) giveProbeBack(state.name);
      })();
      state.askAt = now() + BREAKER.probeAgainMs;
      return "open";
    }
    const at = now();
    if (answer.value !== true) {
      if (answer.value === undefined) show(state, state.readClosed(at));
      else if (answer.value.remaining_ms > 0)
        show(state, state.hearRest(answer.value.remaining_ms, answer.value.rest_ms, at));
      return state.isResting ? "open" : "closed";
    }
    // Heard while the answer was on its way: back in rotation, or resting for longer.
    if (!state.isResting) {
      void asking(() => wakeSource(database, row));
      return "closed";
    }
    if (state.until > at) {
      giveProbeBack(state.name);
      return "open";
    }
    state.beginProbe(at);
    return "probe";
  };

  const admit: Breaker["admit"] = (source) => {
    if (starting !== undefined) return starting.then(() => admit(source));
    const state = sources.used(source);
    if (state === undefined || state.restMs === 0) return "closed";
    return state.isDue(now()) ? askForProbe(state) : "open";
  };

  return {
    admit,
    record(source, result, isProbe) {
      const state = sources.use(source);
      // From before the rest: it says nothing about the source now.
      if (state.isResting && !isProbe) return;
      const wasProbe = state.isProbing;
      const change = state.record(result, now(), random);
      if (change !== undefined) decided(state, change);
      else if (state.restMs === 0) share.counted(state);
      // The rest was lengthened while the probe ran, so its good end decides nothing.
      else if (wasProbe) giveProbeBack(source);
    },
    down(source, isProbe) {
      const state = sources.use(source);
      if (state.isProbing && !isProbe) return;
      decided(state, state.down(now(), random));
    },
    forget(source) {
      if (sources.peek(source)?.forgetProbe() === true) giveProbeBack(source);
    },
    retryInMs: (source) => sources.peek(source)?.retryInMs(now()) ?? 0,
    close() {
      isClosed = true;
      clearInterval(clock);
      share.close();
    },
  };
}

/** The label of metrics. */
function providerOf(state: SourceState): string {
  return state.name.slice(0, Math.max(0, state.name.indexOf("/"))) || state.name;
}
