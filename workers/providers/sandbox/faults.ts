/** The failures and the tempo a model's row asks for. All waiting ends at once when the caller gives up. */
import { ProviderError, type ChatDelta } from "../provider.ts";
import type { SandboxModel } from "./models.ts";
import { hashText } from "./random.ts";

/** Time as the sandbox knows it: `delay` ends early, in either way, when the signal fires. */
export interface Clock {
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Retry delay that a caller turned away is given. */
const RETRY_AFTER_MS = 1_000;
/** More than the service waits for. */
const LONG_RETRY_AFTER_MS = 30_000;

/** Failures of models before anything is sent. */
const FAILURES: Readonly<Record<NonNullable<SandboxModel["failsWith"]>, (due: Due) => ProviderError | undefined>> = {
  refused: () => new ProviderError("refused", "the sandbox was asked to decline", { status: 400 }),
  failed: () => new ProviderError("failed", "the sandbox was asked to fail", { status: 500 }),
  busy: () => busy(RETRY_AFTER_MS),
  "busy for long": () => busy(LONG_RETRY_AFTER_MS),
  "busy at first": ({ isFirst }) => (isFirst ? busy(RETRY_AFTER_MS) : undefined),
  misconfigured: () => new ProviderError("misconfigured", "the sandbox was asked to refuse our key", { status: 401 }),
  sometimes: failSometimes,
};

/** Facts of a call from which an occasionally failing model decides whether to fail it. */
interface Due {
  /** The client's own seed. */
  readonly seed?: number | null;
  /** Calls of this model so far, this one included: without a seed the flaky model goes by it. */
  readonly calls?: number;
  /** True if this request has not been seen before. */
  readonly isFirst?: boolean;
}

/** @throws ProviderError what a failing model fails with */
export function failIfDue(model: SandboxModel, due: Due = {}): void {
  const failure = model.failsWith && FAILURES[model.failsWith](due);
  if (failure !== undefined) throw failure;
}

/** @throws ProviderError rejected, for a parameter that the model does not take */
export function rejectIfDue(model: SandboxModel, body: Readonly<Record<string, unknown>>): void {
  const temperature = body["temperature"] ?? 1;
  if (model.fixesTemperature !== true || temperature === 1) return;
  const say = "This model supports the temperature 1 only.";
  throw rejected("unsupported_value", "temperature", "the sandbox was asked to take no temperature but 1", { say });
}

/** A request that the provider does not take. @param detail for the log; `say` for the client */
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

/** Ends an answer that is not to be whole: what breaks throws, what stalls waits. @throws ProviderError */
export async function breakOff(how: NonNullable<SandboxModel["breaksOff"]>, signal: AbortSignal): Promise<never> {
  if (how === "stall") return waitForAbort(signal);
  if (how === "cut") throw new ProviderError("failed", "the sandbox was asked to break the answer off");
  throw new ProviderError("failed", "the sandbox was asked to send an error event", { status: 500 });
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
  return (model.delayMs ?? 0) + tokensMs(model, tokens) + (model.silenceMs ?? 0);
}

/** Milliseconds from the first token until this many have been sent. */
export function tokensMs(model: SandboxModel, tokens: number): number {
  return model.tokensPerSecond === undefined ? 0 : (tokens * 1_000) / model.tokensPerSecond;
}

/** After how many of an answer's tokens something happens to it: a few, and always before the finish reason. */
export function interruptedAfter(model: SandboxModel, tokens: number): number {
  return model.breaksOff === "error first" ? 0 : Math.min(5, Math.ceil(tokens / 2));
}

/** Characters of each piece, so that the limit on a stream's length is reached within moments. */
const PIECE_CHARACTERS = 1_024;
/** Between pieces, so that other calls get their turn. */
const PIECE_MS = 1;
/** More than most line buffers are made for, less than a queue message or a reader's buffer takes. */
const PADDING_CHARACTERS = 1_000_000;

/** The text again and again, without a finish reason. @throws ProviderError aborted, when the caller gives up */
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

/** A frame without content that is a megabyte long; OpenAI pads its own frames by the same member. */
export function hugeDelta(): ChatDelta {
  return { choices: [{ index: 0, delta: {}, finish_reason: null }], extra: hugeExtra() };
}

export function hugeExtra(): Readonly<Record<string, unknown>> {
  return { obfuscation: "-".repeat(PADDING_CHARACTERS) };
}
