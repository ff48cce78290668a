/** The failures and the tempo a model's row asks for. All waiting ends at once when the caller gives up. */
import { ProviderError } from "../provider.ts";
import type { SandboxModel } from "./models.ts";
import { hashText } from "./random.ts";

/** Time as the sandbox knows it: `delay` ends early, in either way, when the signal fires. */
export interface Clock {
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What a caller turned away is told to wait. */
const RETRY_AFTER_MS = 1_000;

/**
 * Throws what a failing model throws.
 * @param calls calls of this model so far, this one included: without a seed the flaky model goes by it
 */
export function failIfDue(model: SandboxModel, givenSeed: number | null, calls: number): void {
  switch (model.failsWith) {
    case undefined:
      return;
    case "refused":
      throw new ProviderError("refused", "the sandbox was asked to decline", { status: 400 });
    case "failed":
      throw new ProviderError("failed", "the sandbox was asked to fail", { status: 500 });
    case "busy":
      throw new ProviderError("busy", "the sandbox was asked to be overloaded", {
        status: 429,
        retryAfterMs: RETRY_AFTER_MS,
      });
    case "sometimes":
      return failSometimes(givenSeed, calls);
  }
}

function failSometimes(givenSeed: number | null, calls: number): void {
  const isDue = givenSeed === null ? hashText(String(calls)) % 2 === 1 : Math.abs(givenSeed) % 2 === 1;
  if (!isDue) return;
  const isBusy = hashText(String(givenSeed ?? calls), 1) % 2 === 1;
  throw isBusy
    ? new ProviderError("busy", "the sandbox is having a bad moment", { status: 503 })
    : new ProviderError("failed", "the sandbox is having a bad moment", { status: 500 });
}

/** What the caller sees of a connection that breaks in the middle of an answer. */
export function brokenOff(): ProviderError {
  return new ProviderError("failed", "the sandbox was asked to break the answer off");
}

/** @throws ProviderError aborted, when the caller has given up */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProviderError("aborted", "the caller gave up", { cause: signal.reason });
}

/** Waits; zero and less return at once. @throws ProviderError aborted */
export async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  stopIfAborted(signal);
  if (ms <= 0) return;
  try {
    await clock.delay(ms, signal);
  } catch (error) {
    stopIfAborted(signal);
    throw error;
  }
  stopIfAborted(signal);
}

/** Waits for the caller to give up. @throws ProviderError aborted, always */
export async function waitForAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  throw new ProviderError("aborted", "the caller gave up", { cause: signal.reason });
}

/** Milliseconds a whole answer of this many tokens takes, silence included. */
export function answerMs(model: SandboxModel, tokens: number): number {
  return (model.firstTokenMs ?? 0) + tokensMs(model, tokens) + (model.silenceMs ?? 0);
}

/** Milliseconds from the first token until this many have been sent. */
export function tokensMs(model: SandboxModel, tokens: number): number {
  return model.tokensPerSecond === undefined ? 0 : (tokens * 1_000) / model.tokensPerSecond;
}

/** After how many of an answer's tokens a model falls silent or breaks off: a few, and always before the finish reason. */
export function interruptedAfter(tokens: number): number {
  return Math.min(5, Math.ceil(tokens / 2));
}
