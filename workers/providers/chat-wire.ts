/**
 * Creates a chat provider from the functions of one provider's dialect, and performs its HTTP calls. A dialect only builds requests and
 * parses responses, so that all providers are called in the same way.
 */

import { INLINE_BYTES_MAX } from "#shared/calls/kinds/chat/files.ts";

import { openByteBudget } from "./byte-budget.ts";
import { connectionError, type Endpoint, type JsonRequest, post, postStream } from "./http.ts";
import { inlinedLength, inlineMedia, type Kind, namesMedia } from "./inline-media.ts";
import { type ChatCall, type ChatDelta, type ChatProvider, type ChatResult, ProviderError } from "./provider.ts";
import { type SseEvent, SseParser } from "./sse.ts";

/** Maximum wait for the usage report after the finish reason, in milliseconds. After it, the stream counts as complete. */
export const AFTER_FINISH_MS = 2_000;

/** Memory limit for the media that all calls of a worker fetch, in bytes. A call waits for free capacity before it fetches its media. */
const INLINE_PROCESS_BYTES_MAX = 512 * 1_048_576;

export interface ChatWire {
  /**
   * Kinds of media that this dialect accepts only as bytes. Media of these kinds are fetched from their URLs before `request` is called.
   */
  readonly needsBytes: readonly Kind[];
  /**
   * Builds the HTTP request of a call.
   * @throws ProviderError `rejected` that names the parameter that this dialect does not support
   */
  request(call: ChatCall, isStream: boolean): JsonRequest;
  /** Parses the text of a 2xx response. @throws ProviderError `failed` for an unreadable response, or the error in the response */
  result(text: string, call: ChatCall): ChatResult;
  /** Creates the reader of one stream. */
  reader(call: ChatCall): ChatStreamReader;
  /** Returns the error of a response that is not 2xx. The response text is only logged. */
  classify(status: number, headers: Headers, text: string): ProviderError;
}

export interface ChatStreamReader {
  /**
   * Parses one event of a stream. Returns the delta for the client, "done" for the end marker of the dialect, and undefined for all other
   * events.
   * @throws ProviderError for an error event
   */
  read(event: SseEvent): ChatDelta | "done" | undefined;
  /**
   * Creates the finish reasons that the provider did not send. Called once, at the end marker, before `end`. Absent if the dialect always
   * sends finish reasons.
   */
  finishOpen?(): ChatDelta | undefined;
  /**
   * Checks that the stream was complete. Called at the end of the response.
   * @throws ProviderError `failed` if no finish reason was received
   */
  end(): void;
}

/** Returns a chat provider that calls this endpoint in this dialect. */
export function chatOverHttp(endpoint: Endpoint, wire: ChatWire): ChatProvider {
  return {
    async complete(originalCall) {
      const { call, request, release } = await prepare(wire, originalCall, false);
      try {
        const answer = await post(endpoint, request, call.signal);
        if (answer.status < 200 || answer.status > 299) throw wire.classify(answer.status, answer.headers, answer.text);
        return wire.result(answer.text, call);
      } finally {
        release();
      }
    },
    async *stream(originalCall) {
      const { call, request, release } = await prepare(wire, originalCall, true);
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
  /** Called when the call has ended, to free its fetched media. */
  readonly release: () => void;
}

const MEDIA = openByteBudget(INLINE_PROCESS_BYTES_MAX);

/**
 * Fetches the media of a call and builds its request. A failure does not count against the provider, because nothing was sent to the
 * provider yet.
 */
async function prepare(wire: ChatWire, originalCall: ChatCall, isStream: boolean): Promise<Prepared> {
  const isFetching = namesMedia(originalCall.request, wire.needsBytes);
  // Takes the largest share of a call at once: calls that wait for more while they hold a part could deadlock.
  const lease = isFetching ? await MEDIA.take({ amount: INLINE_BYTES_MAX }, originalCall.signal) : undefined;
  try {
    const request = isFetching ? await inlineMedia(originalCall, wire.needsBytes) : originalCall.request;
    lease?.shrink(inlinedLength(request));
    if (isFetching) await originalCall.checkFetched?.(request);
    const call = { ...originalCall, request };
    return { call, request: wire.request(call, isStream), release: () => lease?.release() };
  } catch (error) {
    lease?.release();
    throw error instanceof ProviderError ? error.unsent() : error;
  }
}

/**
 * Yields the deltas of an event stream. The stream is read to its end, because the usage report can follow the finish reason. Once the
 * answer is complete, a connection that stays open or breaks does not fail the call.
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
      // Pings and comments have no content, but show that the provider is working.
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

/** Returns the result of a read, or undefined if the read does not finish within `AFTER_FINISH_MS`. */
async function withinGrace<T>(read: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), AFTER_FINISH_MS);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
    // The read is cancelled then, so its result is ignored.
    read.catch(() => undefined);
  }
}

/**
 * Maximum wait for the end of the body after the end marker, in milliseconds. A body that was read to its end allows reuse of the
 * connection.
 */
const AFTER_DONE_MS = 1_000;

async function finishReading(reader: { read(): Promise<{ done: boolean }>; cancel(): Promise<void> }): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), AFTER_DONE_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is complete; the end of its connection does not matter.
  } finally {
    clearTimeout(timer);
  }
}
