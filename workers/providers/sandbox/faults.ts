/** Applies failures and delays that a model's entry sets. All waits end immediately when the caller aborts. */
import { ProviderError, type ChatDelta } from "../provider.ts";
import type { SandboxModel } from "./models.ts";
import { hashText } from "./random.ts";

/** Clock of the sandbox. `delay` must end when the signal fires, by returning or by throwing. */
export interface Clock {
  /** Returns a time in milliseconds. Only differences between two times matter. */
  readonly now: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Retry delay that a busy model requests, in milliseconds. */
const RETRY_AFTER_MS = 1_000;
/** Retry delay that exceeds the limit of the service, in milliseconds. */
const LONG_RETRY_AFTER_MS = 30_000;

/** Failures that models return before any output, by name. */
const FAILURES: Readonly<Record<NonNullable<SandboxModel["failsWith"]>, (due: Due) => ProviderError | undefined>> = {
  refused: () => new ProviderError("refused", "the sandbox was asked to decline", { status: 400 }),
  failed: () => new ProviderError("failed", "the sandbox was asked to fail", { status: 500 }),
  busy: () => busy(RETRY_AFTER_MS),
  "busy for long": () => busy(LONG_RETRY_AFTER_MS),
  "busy at first": ({ isFirst }) => (isFirst ? busy(RETRY_AFTER_MS) : undefined),
  misconfigured: () => new ProviderError("misconfigured", "the sandbox was asked to refuse our key", { status: 401 }),
  sometimes: failSometimes,
};

/** Facts of a call by which a model decides whether to fail. They matter only for models that fail occasionally. */
interface Due {
  /** Seed that the client sent. */
  readonly seed?: number | null;
  /** Number of calls of this model so far, including this call. It decides whether the flaky model fails if the client sent no seed. */
  readonly calls?: number;
  /** True if this request was not called before. */
  readonly isFirst?: boolean;
}

/**
 * Throws the failure of a model if one is due.
 * @throws ProviderError the failure of a failing model
 */
export function failIfDue(model: SandboxModel, due: Due = {}): void {
  const failure = model.failsWith && FAILURES[model.failsWith](due);
  if (failure !== undefined) throw failure;
}

/**
 * Checks the parameters that the model restricts.
 * @throws ProviderError rejected, for a parameter that the model does not support
 */
export function rejectIfDue(model: SandboxModel, body: Readonly<Record<string, unknown>>): void {
  const temperature = body["temperature"] ?? 1;
  if (model.fixesTemperature !== true || temperature === 1) return;
  const say = "This model supports the temperature 1 only.";
  throw rejected("unsupported_value", "temperature", "the sandbox was asked to take no temperature but 1", { say });
}

/** Returns the error of a rejected request. @param detail error text for the log; `say` is the message for the client */
export function rejected(
  code: "context_length_exceeded" | "unsupported_value",
  param: string,
  detail: string,
  more: { readonly say?: string; readonly cause?: unknown } = {},
): ProviderError {
  return new ProviderError("rejected", detail, { code, param, status: 400, ...more });
}

function busy(retryAfterMs: number): ProviderError {
  return new ProviderError("busy", "the sandbox was asked to be overloaded", { status: 429, retryAfterMs });
}

function failSometimes({ seed = null, calls = 0 }: Due): ProviderError | undefined {
  const isDue = seed === null ? hashText(String(calls)) % 2 === 1 : Math.abs(seed) % 2 === 1;
  if (!isDue) return undefined;
  return hashText(String(seed ?? calls), 1) % 2 === 1
    ? new ProviderError("busy", "the sandbox is having a bad moment", { status: 503 })
    : new ProviderError("failed", "the sandbox is having a bad moment", { status: 500 });
}

/** Interrupts an answer. Throws for a broken connection, and waits for a stalled one. @throws ProviderError */
export async function breakOff(how: NonNullable<SandboxModel["breaksOff"]>, signal: AbortSignal): Promise<never> {
  if (how === "stall") return waitForAbort(signal);
  if (how === "cut") throw new ProviderError("failed", "the sandbox was asked to break the answer off");
  throw new ProviderError("failed", "the sandbox was asked to send an error event", { status: 500 });
}

/**
 * Checks whether the caller has aborted.
 * @throws ProviderError aborted, when the caller has aborted
 */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProviderError("aborted", "the caller gave up", { cause: signal.reason });
}

/** Waits for a duration in milliseconds. Returns immediately for zero or less. @throws ProviderError aborted */
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

/** Waits until the caller aborts. @throws ProviderError aborted, always */
export async function waitForAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  throw new ProviderError("aborted", "the caller gave up", { cause: signal.reason });
}

/** Returns the duration of a complete answer with this many tokens, in milliseconds, including silence. */
export function answerMs(model: SandboxModel, tokens: number): number {
  return (model.delayMs ?? 0) + tokensMs(model, tokens) + (model.silenceMs ?? 0);
}

/** Returns the time from the first token until this many tokens were sent, in milliseconds. */
export function tokensMs(model: SandboxModel, tokens: number): number {
  return model.tokensPerSecond === undefined ? 0 : (tokens * 1_000) / model.tokensPerSecond;
}

/** Returns the number of tokens after which an answer is interrupted. It is small, and always before the finish reason. */
export function interruptedAfter(model: SandboxModel, tokens: number): number {
  return model.breaksOff === "error first" ? 0 : Math.min(5, Math.ceil(tokens / 2));
}

/** Number of characters per chunk, large enough that a stream reaches its size limit quickly. */
const PIECE_CHARACTERS = 1_024;
/** Pause between chunks, in milliseconds, so that other calls can continue. */
const PIECE_MS = 1;
/** Number of padding characters. The padding exceeds most line buffers, but not the limits of a queue message or of a reader's buffer. */
const PADDING_CHARACTERS = 1_000_000;

/** Repeats the text forever, without a finish reason. @throws ProviderError aborted, when the caller aborts */
export async function* streamWithoutEnd(
  text: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ChatDelta, never, void> {
  const line = text === "" ? "and so on\n" : `${text}\n`;
  const content = line.repeat(Math.ceil(PIECE_CHARACTERS / line.length));
  yield { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
  for (;;) {
    yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    await pause(PIECE_MS, clock, signal);
  }
}

/** Returns a delta of one megabyte without content. OpenAI pads its events with the same member. */
export function hugeDelta(): ChatDelta {
  return { choices: [{ index: 0, delta: {}, finish_reason: null }], extra: hugeExtra() };
}

export function hugeExtra(): Readonly<Record<string, unknown>> {
  return { obfuscation: "-".repeat(PADDING_CHARACTERS) };
}
