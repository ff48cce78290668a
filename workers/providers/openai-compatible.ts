/**
 * Chat over OpenAI's wire format, at any base URL: OpenAI, vLLM, Ollama, Groq and many more. Unknown request fields are
 * passed on. Source: platform.openai.com/docs/api-reference/chat.
 */
import { classifyAnswer, classifyErrorMember } from "./classify.ts";
import { connectionError, type Endpoint, post, postStream, type ProviderRequest } from "./http.ts";
import { parseObject } from "./json.ts";
import { ChunkChoices, wholeChoices } from "./openai-choices.ts";
import { readOpenAiUsage } from "./openai-usage.ts";
import {
  type ChatCall,
  type ChatDelta,
  type ChatProvider,
  type ChatResult,
  type ChatUsage,
  ProviderError,
} from "./provider.ts";
import { SseParser } from "./sse.ts";

/**
 * Fields that would let a caller steer where, as whom or to which model we call; they are ours to decide (lesson OUT-5).
 * `models`, `fallbacks`, `route` and `provider` make a router such as OpenRouter serve, and bill us for, another model.
 */
const STEERING_FIELDS = [
  "api_base",
  "base_url",
  "api_key",
  "api_version",
  "extra_headers",
  "custom_llm_provider",
  "models",
  "fallbacks",
  "route",
  "provider",
  "plugins",
  "transforms",
] as const;

/** Members of an answer that belong to the client beside the choices. */
const EXTRA_MEMBERS = ["system_fingerprint", "service_tier"] as const;

export function createOpenAiCompatible(endpoint: Endpoint): ChatProvider {
  return {
    async complete(call) {
      const answer = await post(endpoint, chatRequest(call, false), call.signal);
      if (answer.status < 200 || answer.status > 299) throw classifyAnswer(answer.status, answer.headers, answer.text);
      return chatResult(answer.text);
    },
    async *stream(call) {
      const answer = await postStream(endpoint, chatRequest(call, true), call.signal);
      if (!answer.body) throw classifyAnswer(answer.status, answer.headers, answer.text);
      yield* readStream(answer.body, call.signal);
    },
  };
}

/** The body we send: the client's, with our model name, and usage always asked for in a stream. */
export function chatRequest(
  call: Pick<ChatCall, "request" | "sourceModel" | "adapt">,
  isStream: boolean,
): ProviderRequest {
  const body: Record<string, unknown> = { ...call.request, model: call.sourceModel };
  for (const field of STEERING_FIELDS) delete body[field];
  if (isStream) {
    body["stream"] = true;
    body["stream_options"] = { ...call.request.stream_options, include_usage: true };
  } else {
    delete body["stream"];
    delete body["stream_options"];
  }
  call.adapt(body);
  return { path: "/chat/completions", body: JSON.stringify(body) };
}

/** @throws ProviderError `failed` when the text is no chat completion; the text itself is never shown to a client */
function chatResult(text: string): ChatResult {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw classifyErrorMember(answer["error"]);
  return { choices: wholeChoices(answer["choices"]), usage: readOpenAiUsage(answer["usage"]), ...extraOf(answer) };
}

/**
 * Deltas of an event stream, read to its end so that usage behind the finish reason is never lost.
 * @throws ProviderError `failed` when it ends without a finish reason, or brings an error
 */
async function* readStream(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<ChatDelta, void, void> {
  const parser = new SseParser();
  const state: StreamState = { choices: new ChunkChoices(), malformed: 0 };
  const reader = body.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const event of parser.push(value)) {
        if (event.data === "[DONE]") {
          if (!state.choices.isFinished) throw cut(state);
          isDone = true;
          return;
        }
        const delta = readEvent(event.data, state);
        if (delta) yield delta;
      }
    }
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, signal);
  } finally {
    if (isDone) void finishReading(reader);
    else reader.cancel().catch(() => undefined);
  }
  if (signal.aborted) throw new ProviderError("aborted", "the call was aborted");
  for (const event of parser.end()) {
    if (event.data === "[DONE]") continue;
    const delta = readEvent(event.data, state);
    if (delta) yield delta;
  }
  // A missing [DONE] behind a finish reason is common and harmless; a missing finish reason is a cut.
  if (!state.choices.isFinished) throw cut(state);
}

/** Behind [DONE] only the end of the body follows; taking it lets the connection be used again. */
const AFTER_DONE_MS = 1_000;

async function finishReading(reader: { read(): Promise<{ done: boolean }>; cancel(): Promise<void> }): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), AFTER_DONE_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is whole; how its connection ends is nobody's concern.
  } finally {
    clearTimeout(timer);
  }
}

interface StreamState {
  readonly choices: ChunkChoices;
  malformed: number;
}

function readEvent(data: string, state: StreamState): ChatDelta | undefined {
  const chunk = parseObject(data);
  if (!chunk) {
    // One broken event is skipped; if it was the one that mattered, the missing finish reason tells.
    state.malformed += 1;
    return undefined;
  }
  if (chunk["error"]) throw classifyErrorMember(chunk["error"]);
  const choices = state.choices.read(chunk["choices"]);
  const hasUsage = chunk["usage"] !== null && chunk["usage"] !== undefined;
  if (choices.length === 0 && !hasUsage) return undefined;
  const usage: ChatUsage = hasUsage ? readOpenAiUsage(chunk["usage"]) : null;
  return { choices, ...(hasUsage ? { usage } : {}), ...extraOf(chunk) };
}

function cut(state: StreamState): ProviderError {
  return new ProviderError("failed", `the stream ended without a finish reason (${state.malformed} malformed events)`);
}

function extraOf(answer: Record<string, unknown>): { extra?: Record<string, unknown> } {
  let extra: Record<string, unknown> | undefined;
  for (const member of EXTRA_MEMBERS) {
    if (answer[member] !== undefined && answer[member] !== null) (extra ??= {})[member] = answer[member];
  }
  return extra ? { extra } : {};
}
