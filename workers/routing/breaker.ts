/**
 * Circuit breaker of each source, shared by the workers of a pool. Each worker decides immediately, from its own calls and the messages of
 * other workers. Postgres stores the open circuits and grants the single probe. Without NATS, a worker uses its own calls and reads
 * openings from Postgres. Without Postgres, an open circuit stays open.
 */
import type { NatsConnection } from "nats";

import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import { BreakerStore } from "./breaker-store.ts";
import { openShare } from "./breaker-share.ts";
import { type Change, Sources, type SourceState } from "./breaker-state.ts";
import type { MarkOf } from "./key-marks.ts";

export interface Breaker {
  /**
   * Decides whether a source (`provider/model`) may be called now. `probe`: the call may be sent as the only trial of all workers, and its
   * result opens or closes the circuit. Returns a promise only while the right to probe is requested and while the breaker starts.
   */
  admit(source: string): Promise<"closed" | "probe" | "open"> | "closed" | "open";
  /**
   * Records the result of a call that reached the provider.
   * @param isProbe true if the call was admitted as the probe; other calls do not count while the circuit is open
   */
  record(source: string, result: "ok" | "failed", isProbe: boolean): void;
  /** Disables a source that refuses our key or the model, for a longer cooldown. @param status HTTP status of the provider */
  down(source: string, isProbe: boolean, status?: number): void;
  /**
   * Releases a probe that ended without a result, because the client disconnected or the worker stops. Another call can then be the probe.
   */
  forget(source: string): void;
  /** Returns the time until the source may be called again, in milliseconds; 0 only while it is in rotation. */
  retryInMs(source: string): number;
  /** Returns true for a source that is disabled because it refuses our key, account or model name. */
  isRefused(source: string): boolean;
  close(): void;
}

/**
 * Creates the breaker of a pool. Subscribes to messages of other workers and reads the open circuits from Postgres. The first calls wait
 * for this read, at most BREAKER.probeAgainMs.
 * @param options.markOf returns the mark of the key for a source; if absent, keys never change
 * @param options.now milliseconds of a monotonic clock; performance.now by default
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

  const store = new BreakerStore({ pool, database, log, worker, sources, now, onRead: show, markOf });

  /** Returns the state of a source. If the source refused a key other than the current one, closes its circuit first. */
  const current = (state: SourceState | undefined): SourceState | undefined => {
    const mark = state?.refusedMark;
    if (state === undefined || mark === undefined || mark === markOf(state.name)) return state;
    show(state, state.closeNow(now()));
    log.info({ source: state.name }, "a source is enabled again because its key or address changed");
    store.forgetRefused(state.name, mark);
    return state;
  };

  /** Sends a circuit change that this process decided to the other workers, writes it to Postgres and logs it. */
  const decided = (state: SourceState, change: Change | undefined): void => {
    if (change === undefined) return;
    const retryInMs = state.retryInMs(now());
    show(state, change);
    metrics.breakerChanges.inc(providerOf(state), change);
    if (change === "closed") log.info({ source: state.name }, "a source is enabled again");
    else log.warn({ source: state.name, change, retry_in_ms: retryInMs }, "a source is disabled after errors");
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
    handlers: {
      onCounts(source, counts) {
        // For a source without use here, only openings matter.
        const state = sources.peek(source);
        if (state !== undefined) decided(state, state.receiveCounts(counts, now(), random));
      },
      onOpening(source, remainingMs, cooldownMs, refused) {
        if (refused !== undefined && refused.mark !== markOf(source)) return;
        const state = sources.getOrAdd(source);
        show(state, state.receiveOpening(remainingMs, cooldownMs, now(), refused));
      },
      onReset(source) {
        const state = sources.peek(source);
        if (state !== undefined) show(state, state.closeNow(now()));
      },
      onClosed(source) {
        const state = sources.peek(source);
        if (state !== undefined) show(state, state.receiveClosed(now()));
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
      // The call began before the cooldown, so it says nothing about the current state.
      if (state.isOpen && !isProbe) return;
      const wasProbe = state.isProbing;
      const change = state.record(result, now(), random);
      if (change !== undefined) decided(state, change);
      else if (state.cooldownMs === 0) share.counted(state);
      // The cooldown was extended while the probe ran, so its success decides nothing.
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

/** Returns the provider of a source, as a label of metrics. */
function providerOf(state: SourceState): string {
  return state.name.slice(0, Math.max(0, state.name.indexOf("/"))) || state.name;
}
