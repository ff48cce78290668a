/** Applies the failures and delays that are set for a test model (models.ts). All waits end immediately when the caller aborts. */
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
/** Retry delay that is too long for a retry at the same source, in milliseconds (see PROVIDER_RETRY_HINT_MS). */
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

/** Properties of a call that decide whether a model that fails only occasionally fails now. */
interface Due {
  /** Seed that the client sent. */
  readonly seed?: number | null;
  /** Number of calls of this model so far, including this call. It decides whether the flaky model fails if the client sent no seed. */
  readonly calls?: number;
  /** True if the sandbox receives this request for the first time; false for a retry. */
  readonly isFirst?: boolean;
}

/**
 * Throws the failure that is set for the model, if the model fails this call.
 * @throws ProviderError the failure of the model
 */
export function failIfDue(model: SandboxModel, due: Due = {}): void {
  const failure = model.failsWith && FAILURES[model.failsWith](due);
  if (failure !== undefined) throw failure;
}

/**
 * Checks parameters for which the model supports only certain values.
 * @throws ProviderError `rejected` that names the unsupported parameter
 */
export function rejectIfDue(model: SandboxModel, body: Readonly<Record<string, unknown>>): void {
  const temperature = body["temperature"] ?? 1;
  if (model.fixesTemperature !== true || temperature === 1) return;
  const say = "This model supports the temperature 1 only.";
  throw rejected("unsupported_value", "temperature", "the sandbox was asked to take no temperature but 1", { say });
}

/**
 * Returns the error of a rejected request.
 * @param detail error text for the log
 * @param more.say error message for the client
 */
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

/**
 * Interrupts an answer. A stalled answer waits until the caller aborts; every other interruption throws immediately.
 * @throws ProviderError `failed` for a broken connection or an error event; `aborted` when the caller aborts
 */
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

/**
 * Waits for a duration in milliseconds. Returns immediately for zero or less.
 * @throws ProviderError `aborted` when the caller aborts
 */
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

/** Returns the duration of a complete answer with this many tokens, in milliseconds, including the model's initial delay and silence. */
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
/**
 * Number of characters of the `obfuscation` member of a huge stream event. They exceed most line buffers, but not the limits of a queue
 * message or of a reader's buffer.
 */
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

/**
 * Returns a stream event of one megabyte without content, padded by the member `obfuscation`. OpenAI pads its events with the same member.
 */
export function hugeDelta(): ChatDelta {
  return { choices: [{ index: 0, delta: {}, finish_reason: null }], extra: hugeExtra() };
}

export function hugeExtra(): Readonly<Record<string, unknown>> {
  return { obfuscation: "-".repeat(PADDING_CHARACTERS) };
}
