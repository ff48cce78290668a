/**
 * Chat adapter for OpenAI's wire format, at any base URL: OpenAI, vLLM, Ollama, Groq and many others. Unknown request fields are passed on.
 * Source: platform.openai.com/docs/api-reference/chat.
 *
 * Traits of sources:
 * `cache_control`: accepts hints for Anthropic's cache. `reasoning_back`, `reasoning_details_back`: require the reasoning of earlier
 * answers. `no_reasoning`: has no reasoning effort. `system_first`: accepts instructions only at the beginning.
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

/** Top-level members of a response that the client receives besides the choices. */
const EXTRA_MEMBERS = ["system_fingerprint", "service_tier"] as const;

/**
 * Creates the chat provider.
 * @param options with `inlines`, we fetch image URLs instead of passing them on. A server inside the operator's network must never fetch a
 * caller's URL.
 */
export function createOpenAiCompatible(
  endpoint: Endpoint,
  { inlines }: { readonly inlines: boolean } = { inlines: true },
): ChatProvider {
  // Chat completions accept images by address, but files only as bytes (platform.openai.com/docs/guides/pdf-files).
  return chatOverHttp(endpoint, { ...OPENAI_WIRE, needsBytes: inlines ? ["image", "file"] : ["file"] });
}

const OPENAI_WIRE: Omit<ChatWire, "needsBytes"> = {
  request: chatRequest,
  result: chatResult,
  reader: createReader,
  classify: classifyAnswer,
};

/**
 * Parses the text of a complete response. The text itself is never returned to a client.
 * @throws ProviderError `failed` if the text is not a chat completion, `refused` if all choices were filtered before any content
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
  /** Number of requested choices. */
  readonly wanted: number;
  malformed: number;
}

function createReader(call: ChatCall): ChatStreamReader {
  const wanted = call.request.n ?? 1;
  const state: StreamState = { choices: new ChunkChoices(), isHour: writesForAnHour(call), wanted, malformed: 0 };
  return {
    read: ({ data }) => (data === "[DONE]" ? "done" : readEvent(data, state)),
    // Some servers send only [DONE] and no finish reason. A plain answer without one is complete too.
    finishOpen: () => {
      // The unreadable event may have contained the finish reason of an interrupted answer.
      if (state.malformed > 0) return undefined;
      const choices = state.choices.finish();
      return choices.length > 0 ? { choices } : undefined;
    },
    // A missing [DONE] after a finish reason is common and harmless; without both, the answer was cut.
    end() {
      if (!state.choices.isFinished) throw cut(state);
      if (state.choices.isFiltered()) throw filteredWhole();
    },
  };
}

function readEvent(data: string, state: StreamState): ChatDelta | undefined {
  const chunk = parseObject(data);
  if (!chunk) {
    // One broken event is skipped; if it was essential, the missing finish reason reveals it.
    state.malformed += 1;
    return undefined;
  }
  if (chunk["error"]) throw classifyErrorMember(chunk["error"]);
  const choices = state.choices.read(chunk["choices"]);
  // Thrown immediately: the end of such a stream is withheld, so waiting for a connection that stays open would be pointless.
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
