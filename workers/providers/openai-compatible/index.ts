/**
 * Chat over OpenAI's wire format, at any base URL: OpenAI, vLLM, Ollama, Groq and many more. Unknown request fields are
 * passed on. Source: platform.openai.com/docs/api-reference/chat.
 *
 * Traits read here: `cache_control` (takes hints of Anthropic's cache), `reasoning_back` and `reasoning_details_back` (want
 * thoughts of earlier answers back), `no_reasoning` (knows no effort), `system_first` (takes instructions at the beginning only).
 */
import { chatOverHttp, type ChatStreamReader, type ChatWire } from "../chat-wire.ts";
import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import type { Endpoint } from "../http.ts";
import { parseObject } from "../json.ts";
import { writesForAnHour } from "./cache-hints.ts";
import { ChunkChoices, wholeChoices } from "./choices.ts";
import { filteredWhole } from "./filtered.ts";
import { chatRequest } from "./request.ts";
import { readOpenAiUsage } from "./usage.ts";
import {
  type ChatCall,
  type ChatDelta,
  type ChatProvider,
  type ChatResult,
  type ChatUsage,
  ProviderError,
} from "../provider.ts";

/** Members of an answer that belong to the client beside the choices. */
const EXTRA_MEMBERS = ["system_fingerprint", "service_tier"] as const;

/**
 * @param options `inlines`: addresses of images are fetched by us and not passed on. A server inside the operator's own
 * network must never be told to fetch what a caller names.
 */
export function createOpenAiCompatible(
  endpoint: Endpoint,
  { inlines }: { readonly inlines: boolean } = { inlines: true },
): ChatProvider {
  // Chat completions take images by address, but files as bytes only (platform.openai.com/docs/guides/pdf-files).
  return chatOverHttp(endpoint, { ...OPENAI_WIRE, needsBytes: inlines ? ["image", "file"] : ["file"] });
}

const OPENAI_WIRE: Omit<ChatWire, "needsBytes"> = {
  request: chatRequest,
  result: chatResult,
  reader: createReader,
  classify: classifyAnswer,
};

/**
 * @throws ProviderError `failed` when the text is no chat completion, `refused` when it was filtered before it began; the
 * text itself is never shown to a client
 */
function chatResult(text: string, call: ChatCall): ChatResult {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw classifyErrorMember(answer["error"]);
  const usage = readOpenAiUsage(answer["usage"], writesForAnHour(call));
  return { choices: wholeChoices(answer["choices"]), usage, ...extraOf(answer) };
}

interface StreamState {
  readonly choices: ChunkChoices;
  readonly isHour: boolean;
  /** Choices asked for. */
  readonly wanted: number;
  malformed: number;
}

function createReader(call: ChatCall): ChatStreamReader {
  const wanted = call.request.n ?? 1;
  const state: StreamState = { choices: new ChunkChoices(), isHour: writesForAnHour(call), wanted, malformed: 0 };
  return {
    read: ({ data }) => (data === "[DONE]" ? "done" : readEvent(data, state)),
    // Some servers send no finish reason, only [DONE]. A plain answer without one is whole too.
    finishOpen: () => {
      // The event that could not be read may have brought the finish reason of a cut answer.
      if (state.malformed > 0) return undefined;
      const choices = state.choices.finish();
      return choices.length > 0 ? { choices } : undefined;
    },
    // A missing [DONE] behind a finish reason is common and harmless; when both are missing, the answer was cut.
    end() {
      if (!state.choices.isFinished) throw cut(state);
      if (state.choices.isFiltered()) throw filteredWhole();
    },
  };
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
  // Told at once: the end of such a stream is not shown, so that one which then stays open would be waited for.
  if (state.choices.isFiltered(state.wanted)) throw filteredWhole();
  const hasUsage = chunk["usage"] !== null && chunk["usage"] !== undefined;
  if (choices.length === 0 && !hasUsage) return undefined;
  const usage: ChatUsage = hasUsage ? readOpenAiUsage(chunk["usage"], state.isHour) : null;
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
