/**
 * One chat dialect as pure functions, and what makes a provider of it: every family differs in what it sends and reads,
 * none in how it is called.
 */

import { INLINE_BYTES_MAX } from "#shared/calls/kinds/chat/files.ts";

import { openByteBudget } from "./byte-budget.ts";
import { connectionError, type Endpoint, type JsonRequest, post, postStream } from "./http.ts";
import { inlinedLength, inlineMedia, type Kind, namesMedia } from "./inline-media.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, type ChatResult, ProviderError } from "./provider.ts";
import { type SseEvent, SseParser } from "./sse.ts";

/** Usage may follow the finish reason this long; then the stream is taken for whole as it is. */
export const AFTER_FINISH_MS = 2_000;

/** Fetched media that all calls of a worker hold together; a call that fetches waits until its share is free. */
const INLINE_PROCESS_BYTES_MAX = 512 * 1_048_576;

export interface ChatWire {
  /** Kinds of media that this dialect takes as bytes only: their addresses are fetched before `request` is called. */
  readonly needsBytes: readonly Kind[];
  /** @throws ProviderError `rejected` naming the parameter that this dialect cannot say */
  request(call: ChatCall, isStream: boolean): JsonRequest;
  /** The text of a 2xx answer. @throws ProviderError `failed` when it is no answer, or what it says went wrong */
  result(text: string, call: ChatCall): ChatResult;
  /** One per stream. */
  reader(call: ChatCall): ChatStreamReader;
  /** An answer that is not 2xx. The text goes to the log only. */
  classify(status: number, headers: Headers, text: string): ProviderError;
}

export interface ChatStreamReader {
  /**
   * Returns what an event means for the client: nothing, a delta, or that the dialect's end marker has come.
   * @throws ProviderError for an error event
   */
  read(event: SseEvent): ChatDelta | "done" | undefined;
  /** Returns the finish reasons that are missing at the end marker; called once, before `end`. Absent: the dialect always sends them. */
  finishOpen?(): ChatDelta | undefined;
  /** The upstream is read to its end. @throws ProviderError `failed` when no finish reason had come */
  end(): void;
}

/** A provider at this address that speaks this dialect. */
export function chatOverHttp(endpoint: Endpoint, wire: ChatWire): ChatProvider {
  return {
    async complete(given) {
      const { call, request, release } = await prepare(wire, given, false);
      try {
        const answer = await post(endpoint, request, call.signal);
        if (answer.status < 200 || answer.status > 299) throw wire.classify(answer.status, answer.headers, answer.text);
        return wire.result(answer.text, call);
      } finally {
        release();
      }
    },
    async *stream(given) {
      const { call, request, release } = await prepare(wire, given, true);
      try {
        const answer = await postStream(endpoint, request, call.signal);
        if (!answer.body) throw wire.classify(answer.status, answer.headers, answer.text);
        yield* readStream(answer.body, wire.reader(call), call);
      } finally {
        release();
      }
    },
  };
}

interface Prepared {
  readonly call: ChatCall;
  readonly request: JsonRequest;
  /** The call is over, and what was fetched for it may go. */
  readonly release: () => void;
}

const MEDIA = openByteBudget(INLINE_PROCESS_BYTES_MAX);

/** Fetches media and builds the request. A failure here never reached the provider and says nothing about it. */
async function prepare(wire: ChatWire, given: ChatCall, isStream: boolean): Promise<Prepared> {
  const isFetching = namesMedia(given.request, wire.needsBytes);
  // All a call may fetch, at once: one that held some while it waits for more could wait for ever.
  const lease = isFetching ? await MEDIA.take({ amount: INLINE_BYTES_MAX }, given.signal) : undefined;
  try {
    const request = isFetching ? await inlineMedia(given, wire.needsBytes) : given.request;
    lease?.shrink(inlinedLength(request));
    if (isFetching) await given.checkFetched?.(request);
    const call = { ...given, request };
    return { call, request: wire.request(call, isStream), release: () => lease?.release() };
  } catch (error) {
    lease?.release();
    throw error instanceof ProviderError ? error.unsent() : error;
  }
}

/**
 * Deltas of an event stream, read to its end so that usage behind the finish reason is never lost. A
 * connection that stays open, or breaks, when everything has been said costs nobody the answer.
 */
async function* readStream(
  body: ReadableStream<Uint8Array>,
  stream: ChatStreamReader,
  { signal, request }: Pick<ChatCall, "signal" | "request">,
): AsyncGenerator<ChatDelta, void, void> {
  const ended = new Set<unknown>();
  const parser = new SseParser();
  const reader = body.getReader();
  let isWhole = false;
  let isDone = false;
  try {
    for (;;) {
      const next = await (isWhole ? withinGrace(reader.read()) : reader.read());
      if (next === undefined || next.done) break;
      let isSilent = true;
      for (const event of parser.push(next.value)) {
        const delta = stream.read(event);
        if (delta === "done") {
          const last = stream.finishOpen?.();
          if (last) yield last;
          stream.end();
          isDone = true;
          return;
        }
        if (!delta) continue;
        isSilent = false;
        for (const choice of delta.choices) if (hasEnded(choice)) ended.add(choice["index"]);
        isWhole ||= ended.size >= (request.n ?? 1) && canEnd(stream);
        yield delta;
      }
      // Pings, comments and the like carry nothing but say that the provider is at it.
      if (isSilent && next.value.includes(LINE_FEED)) yield ALIVE;
    }
  } catch (error) {
    if (!isWhole || signal.aborted) throw error instanceof ProviderError ? error : connectionError(error, signal);
  } finally {
    if (isDone) void finishReading(reader);
    else reader.cancel().catch(() => undefined);
  }
  if (signal.aborted) throw new ProviderError("aborted", "the call was aborted");
  for (const event of parser.end()) {
    const delta = stream.read(event);
    if (delta !== undefined && delta !== "done") yield delta;
  }
  stream.end();
}

const ALIVE: ChatDelta = { choices: [] };
const LINE_FEED = 10;

function hasEnded(choice: Readonly<Record<string, unknown>>): boolean {
  return typeof choice["finish_reason"] === "string";
}

function canEnd(stream: ChatStreamReader): boolean {
  try {
    stream.end();
    return true;
  } catch {
    return false;
  }
}

/** undefined when nothing came in time. */
async function withinGrace<T>(read: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), AFTER_FINISH_MS);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
    // It is cancelled then, and its end does not matter.
    read.catch(() => undefined);
  }
}

/** Behind the end marker only the end of the body follows; taking it lets the connection be used again. */
const AFTER_DONE_MS = 1_000;

async function finishReading(reader: { read(): Promise<{ done: boolean }>; cancel(): Promise<void> }): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), AFTER_DONE_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is whole; how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}
