/**
 * The circuit breaker of each source, shared by the workers of a pool. Decisions are made here at
 * once, from this process's calls and what the others tell; Postgres remembers which circuits are open and hands out the one probe.
 * Without NATS a worker decides from its own calls and reads the others' openings from Postgres; without Postgres a circuit
 * that is open goes on being open.
 */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import { BreakerStore } from "./breaker-store.ts";
import { openShare } from "./breaker-share.ts";
import { type Change, Sources, type SourceState } from "./breaker-state.ts";
import type { MarkOf } from "./key-marks.ts";

export interface Breaker {
  /**
   * Decides whether a source (`provider/model`) may be called now. `probe`: yes, and this call is the fleet's one trial; its
   * result decides. Answers at once for a source in rotation or open; with a promise where the trial is asked for, and while the
   * breaker starts.
   */
  admit(source: string): Promise<"closed" | "probe" | "open"> | "closed" | "open";
  /**
   * A call reached the provider and ended: well, or in a way that speaks against the source.
   * @param isProbe the call was admitted as the probe; of one whose circuit is open no other call is heard
   */
  record(source: string, result: "ok" | "failed", isProbe: boolean): void;
  /** Our key or the model is refused there: disabled at once, for longer. @param status of the provider's answer */
  down(source: string, isProbe: boolean, status?: number): void;
  /** A probe that ended without a verdict (client left, our own stop) is given back. */
  forget(source: string): void;
  /** Milliseconds until the source may be tried again; 0 only when it is in rotation. */
  retryInMs(source: string): number;
  /** True for a source that is disabled because it refuses our key, account or model name. */
  isRefused(source: string): boolean;
  close(): void;
}

/**
 * Starts listening and reads which circuits are open; the first calls wait for that, BREAKER.probeAgainMs at most.
 * @param options.markOf mark of the key that a source is asked with; absent: no key ever changes
 * @param options.now milliseconds of a clock that never goes back; performance.now unless given
 */
export function openBreaker(options: {
  pool: Pool;
  connection: NatsConnection;
  database: Database;
  log: Logger;
  metrics: Metrics;
  markOf?: MarkOf;
  now?: () => number;
}): Breaker {
  const { pool, connection, database, log, metrics, markOf = () => NO_MARK } = options;
  const now = options.now ?? (() => performance.now());
  const { random } = Math;
  const worker = newId();

  const sources = new Sources((state) => {
    if (state.isOpen) metrics.breakerOpen.add(-1, providerOf(state));
  });

  const show = (state: SourceState, change: Change | undefined): void => {
    if (change === "opened") metrics.breakerOpen.add(1, providerOf(state));
    else if (change === "closed") metrics.breakerOpen.add(-1, providerOf(state));
  };

  const store = new BreakerStore({ pool, database, log, worker, sources, now, onHeard: show, markOf });

  /** Closes the circuit of a source that refused a key which is not ours any more. */
  const current = (state: SourceState | undefined): SourceState | undefined => {
    const mark = state?.refusedMark;
    if (state === undefined || mark === undefined || mark === markOf(state.name)) return state;
    show(state, state.closeNow(now()));
    log.info({ source: state.name }, "a source is asked again: its key or address has changed");
    store.forgetRefused(state.name, mark);
    return state;
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
    void store.save(state);
  };

  const share = openShare({
    pool,
    connection,
    worker,
    log,
    heard: {
      onCounts(source, counts) {
        // Of a source that is not used here only openings matter.
        const state = sources.peek(source);
        if (state !== undefined) decided(state, state.hearCounts(counts, now(), random));
      },
      onOpening(source, remainingMs, cooldownMs, refused) {
        if (refused !== undefined && refused.mark !== markOf(source)) return;
        const state = sources.heardOf(source);
        show(state, state.hearOpening(remainingMs, cooldownMs, now(), refused));
      },
      onReset(source) {
        const state = sources.peek(source);
        if (state !== undefined) show(state, state.closeNow(now()));
      },
      onClosed(source) {
        const state = sources.peek(source);
        if (state !== undefined) show(state, state.hearClosed(now()));
      },
    },
  });

  const start = async (): Promise<void> => {
    await store.start();
    starting = undefined;
  };
  let starting: Promise<void> | undefined = start();

  const admit: Breaker["admit"] = (source) => {
    if (starting !== undefined) return starting.then(() => admit(source));
    const state = current(sources.used(source));
    if (state === undefined || state.cooldownMs === 0) return "closed";
    return state.isDue(now()) ? store.askForProbe(state) : "open";
  };

  return {
    admit,
    record(source, result, isProbe) {
      const state = sources.use(source);
      // From before the cooldown: it says nothing about the source now.
      if (state.isOpen && !isProbe) return;
      const wasProbe = state.isProbing;
      const change = state.record(result, now(), random);
      if (change !== undefined) decided(state, change);
      else if (state.cooldownMs === 0) share.counted(state);
      // The cooldown was lengthened while the probe ran, so its good end decides nothing.
      else if (wasProbe) store.giveProbeBack(source);
    },
    down(source, isProbe, status) {
      const state = sources.use(source);
      if (state.isProbing && !isProbe) return;
      decided(state, state.down(now(), random, { mark: markOf(source), status }));
    },
    forget(source) {
      if (sources.peek(source)?.forgetProbe() === true) store.giveProbeBack(source);
    },
    retryInMs: (source) => current(sources.peek(source))?.retryInMs(now()) ?? 0,
    isRefused: (source) => sources.peek(source)?.refusedMark !== undefined,
    close() {
      store.close();
      share.close();
    },
  };
}

const NO_MARK = "0".repeat(16);

/** The label of metrics. */
function providerOf(state: SourceState): string {
  return state.name.slice(0, Math.max(0, state.name.indexOf("/"))) || state.name;
}
