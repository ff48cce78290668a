/**
 * Exchanges messages about sources between the workers of a pool, over core NATS. State changes are sent immediately, counts of calls a few
 * times a second. A lost message costs only accuracy, because open circuits are also read from Postgres. Messages contain durations instead
 * of times, because clocks differ.
 */
import type { NatsConnection } from "nats";

import { isUuid } from "#shared/base/ids.ts";
import { BREAKER } from "./limits.ts";
import type { Logger } from "#shared/base/logger.ts";
import { breakerSubject, type Pool, sourceResetSubject } from "#shared/queue/subjects.ts";

import type { Counts, Refused, SourceState } from "./breaker-state.ts";
import { KEY_MARK } from "./key-marks.ts";

export interface ShareHandlers {
  onCounts(source: string, counts: Counts): void;
  onOpening(source: string, remainingMs: number, cooldownMs: number, refused?: Refused): void;
  onClosed(source: string): void;
  /** Called when an operator has reset the source. */
  onReset(source: string): void;
}

export interface Share {
  /** Includes the unsent call counts of a source in the next message to the other workers. */
  counted(state: SourceState): void;
  /**
   * Sends a message to the other workers immediately. Called when a cooldown of the source has begun or was extended, and when the source
   * is back in rotation.
   */
  changed(state: SourceState, now: number): void;
  close(): void;
}

interface Message {
  readonly from: string;
  readonly counts?: readonly (readonly [source: string, ok: number, failed: number, run: number])[];
  readonly openings?: readonly (readonly [source: string, remainingMs: number, cooldownMs: number])[];
  /**
   * Circuits that opened because the source refused our key. `mark` identifies the refused key; a worker with another key ignores the
   * circuit.
   */
  readonly refusals?: readonly (readonly [source: string, remainingMs: number, cooldownMs: number, mark: string])[];
  readonly closed?: readonly string[];
}

/** Maximum remaining cooldown in a message, including jitter, in milliseconds. */
const REMAINING_MS_MAX = BREAKER.cooldownMsMax * (1 + BREAKER.cooldownJitter);

/**
 * Subscribes to the messages of a pool and returns the functions that send them.
 * @param worker UUID of this process, so that it ignores its own messages
 */
export function openShare(options: {
  pool: Pool;
  connection: NatsConnection;
  worker: string;
  handlers: ShareHandlers;
  log: Logger;
}): Share {
  const { connection, worker, handlers } = options;
  const subject = breakerSubject(options.pool);
  let waiting: SourceState[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasComplained = false;

  const send = (message: Omit<Message, "from">): void => {
    if (connection.isClosed() || connection.isDraining()) return;
    connection.publish(subject, JSON.stringify({ from: worker, ...message }));
  };

  const sendCounts = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const counts: [string, number, number, number][] = [];
    for (const state of waiting) {
      const { unsent } = state;
      state.isUnsent = false;
      // A cooldown that began meanwhile has cleared the counts.
      if (unsent.ok + unsent.failed > 0) counts.push([state.name, unsent.ok, unsent.failed, unsent.run]);
      unsent.ok = 0;
      unsent.failed = 0;
      unsent.run = 0;
    }
    waiting = [];
    if (counts.length > 0) send({ counts });
  };

  const subscription = connection.subscribe(subject, {
    callback: (error, received) => {
      // The connection logs errors of the subscription, which have no message.
      if (error) return;
      const message = read(received.data);
      if (message === undefined) {
        if (!hasComplained) options.log.warn({ subject }, "ignored an invalid message about sources");
        hasComplained = true;
        return;
      }
      if (message.from === worker) return;
      for (const [source, ok, failed, run] of message.counts ?? []) handlers.onCounts(source, { ok, failed, run });
      for (const [source, remainingMs, cooldownMs] of message.openings ?? [])
        handlers.onOpening(source, remainingMs, cooldownMs);
      for (const [source, remainingMs, cooldownMs, mark] of message.refusals ?? [])
        handlers.onOpening(source, remainingMs, cooldownMs, { mark });
      for (const source of message.closed ?? []) handlers.onClosed(source);
    },
  });

  const resets = connection.subscribe(sourceResetSubject(options.pool), {
    callback(error, received) {
      if (error || received.data.length > BREAKER.sourceCharactersMax * UTF8_BYTES_MAX) return;
      const source = received.string();
      if (isSource(source)) handlers.onReset(source);
    },
  });

  return {
    counted(state) {
      if (state.isUnsent) return;
      state.isUnsent = true;
      waiting.push(state);
      if (waiting.length >= BREAKER.shareSourcesMax) sendCounts();
      else timer ??= setTimeout(sendCounts, BREAKER.shareMs);
    },
    changed(state, now) {
      if (!state.isOpen) send({ closed: [state.name] });
      else {
        const opening = [state.name, Math.max(0, Math.ceil(state.until - now)), state.cooldownMs] as const;
        const mark = state.refusedMark;
        send(mark === undefined ? { openings: [opening] } : { refusals: [[...opening, mark]] });
      }
    },
    close() {
      sendCounts();
      if (connection.isClosed()) return;
      subscription.unsubscribe();
      resets.unsubscribe();
    },
  };
}

/** Maximum number of bytes of a character in UTF-8. */
const UTF8_BYTES_MAX = 4;

/** Parses a message; undefined if any part of it is invalid. */
function read(bytes: Uint8Array): Message | undefined {
  if (bytes.length > BREAKER.shareBytesMax) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  const { from, counts, openings, refusals, closed } = value as Record<string, unknown>;
  return (
    typeof from === "string" &&
    isUuid(from) &&
    isListOf(counts, isCount) &&
    isListOf(openings, isOpening) &&
    isListOf(refusals, isRefusal) &&
    isListOf(closed, isSource)
  );
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return (
    value === undefined || (Array.isArray(value) && value.length <= BREAKER.shareSourcesMax && value.every(isItem))
  );
}

function isCount(item: unknown): boolean {
  if (!Array.isArray(item) || item.length !== 4) return false;
  const [source, ok, failed, run] = item as unknown[];
  return (
    isSource(source) &&
    isWhole(ok, 0, BREAKER.shareCallsMax) &&
    isWhole(failed, 0, BREAKER.shareCallsMax) &&
    isWhole(run, 0, Number(failed))
  );
}

function isOpening(item: unknown): boolean {
  if (!Array.isArray(item) || item.length !== 3) return false;
  const [source, remainingMs, cooldownMs] = item as unknown[];
  return isSource(source) && isWhole(remainingMs, 0, REMAINING_MS_MAX) && isWhole(cooldownMs, 1, BREAKER.cooldownMsMax);
}

function isRefusal(item: unknown): boolean {
  return Array.isArray(item) && item.length === 4 && isMark(item[3]) && isOpening(item.slice(0, 3));
}

function isMark(value: unknown): boolean {
  return typeof value === "string" && KEY_MARK.test(value);
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** Returns true for a valid name of a source. The name is used in logs, rows and labels of metrics. */
function isSource(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value.length <= BREAKER.sourceCharactersMax &&
    /^[^/\p{C}]{1,64}\/[^\p{C}]+$/u.test(value)
  );
}
