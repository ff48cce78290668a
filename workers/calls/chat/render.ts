/**
 * Renders OpenAI's chat completions and stream chunks. It also renders streams of which only the complete answer is stored. Source:
 * platform.openai.com/docs/api-reference/chat.
 */
import { completionTokens, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import type { ChatDelta, ChatResult } from "../../providers/provider.ts";
import { CREDITS_PLACE } from "../credits-place.ts";

const STREAM_END = "data: [DONE]\n\n";

export interface Rendering {
  completion(result: ChatResult, usage: TokenUsage): string;
  /**
   * Returns the text to send for a delta. It is empty if the delta has nothing new, and undefined if the client does not receive its
   * content.
   */
  chunk(delta: ChatDelta): string | undefined;
  /** Returns the text to send after the last delta of a successful stream. */
  end(usage: TokenUsage): string;
}

/** Rendering whose clients receive every delta. */
export interface TextRendering extends Rendering {
  chunk(delta: ChatDelta): string;
}

/** Creates the renderer of one call. Every chunk of a stream has the same `id`, `created` and `model`. */
export function createRendering(call: {
  jobId: string;
  model: string;
  createdS: number;
  includeUsage: boolean;
}): TextRendering {
  const id = `chatcmpl-${call.jobId.replaceAll("-", "")}`;
  const head = (object: string): string =>
    `{"id":"${id}","object":"${object}","created":${call.createdS},"model":${JSON.stringify(call.model)},"choices":`;
  const chunkHead = `data: ${head("chat.completion.chunk")}`;
  const chunkTail = call.includeUsage ? ',"usage":null}\n\n' : "}\n\n";
  return {
    completion: (result, usage) =>
      `${head("chat.completion")}${JSON.stringify(result.choices)},"usage":${JSON.stringify(openAiUsage(usage))}${members(result.extra)}}`,
    chunk: (delta) => `${chunkHead}${JSON.stringify(delta.choices)}${members(delta.extra)}${chunkTail}`,
    end: (usage) =>
      call.includeUsage ? `${chunkHead}[],"usage":${JSON.stringify(openAiUsage(usage))}}\n\n${STREAM_END}` : STREAM_END,
  };
}

type Members = Readonly<Record<string, unknown>>;

interface GatheredChoice {
  readonly message: Record<string, unknown>;
  readonly calls: Record<string, unknown>[];
  finishReason: unknown;
}

/**
 * Wraps a renderer for a stream of which only the complete answer is stored. During the stream, readers receive the text of the first
 * choice. At the end, `rendering` renders one completion from all deltas.
 */
export function gathering(rendering: Rendering): Rendering {
  const choices = new Map<number, GatheredChoice>();
  let extra: Members = {};
  return {
    ...rendering,
    chunk(delta) {
      extra = { ...extra, ...delta.extra };
      let content = "";
      for (const one of delta.choices) {
        const index = Number(one["index"] ?? 0);
        const choice = choices.get(index) ?? { message: {}, calls: [], finishReason: null };
        choices.set(index, choice);
        if (one["finish_reason"] != null) choice.finishReason = one["finish_reason"];
        const added = (one["delta"] ?? {}) as Members;
        addDelta(choice, added);
        if (index === 0 && typeof added["content"] === "string") content += added["content"];
      }
      return content === "" ? undefined : content;
    },
    end: (usage) => rendering.completion({ choices: wholeChoices(choices), usage: null, extra }, usage),
  };
}

function wholeChoices(choices: ReadonlyMap<number, GatheredChoice>): Record<string, unknown>[] {
  const ordered = [...choices].toSorted(([one], [other]) => one - other);
  return ordered.map(([index, { message, calls, finishReason }]) => ({
    index,
    message: {
      role: "assistant",
      content: null,
      refusal: null,
      ...message,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    finish_reason: finishReason,
  }));
}

/** Merges a delta into a choice. Texts are appended; for every other member, the last value replaces earlier ones. */
function addDelta({ message, calls }: GatheredChoice, delta: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) continue;
    if (name === "tool_calls") addCalls(calls, value as readonly Members[]);
    else if (name === "role" || typeof value !== "string") message[name] = value;
    else message[name] = `${typeof message[name] === "string" ? message[name] : ""}${value}`;
  }
}

function addCalls(calls: Record<string, unknown>[], deltas: readonly Members[]): void {
  for (const { index, function: part, ...rest } of deltas) {
    const at = Number(index ?? calls.length);
    const call = (calls[at] ??= {});
    for (const [name, value] of Object.entries(rest)) if (value != null && value !== "") call[name] = value;
    const { name, arguments: text } = (part ?? {}) as Members;
    const known = (call["function"] ?? { name: "", arguments: "" }) as { name: string; arguments: string };
    call["function"] = {
      name: known.name + (typeof name === "string" ? name : ""),
      arguments: known.arguments + (typeof text === "string" ? text : ""),
    };
  }
}

/** Converts our usage to OpenAI's format, in which the totals include their details, and adds the place of the charge. */
export function openAiUsage(usage: TokenUsage): Record<string, unknown> {
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
      audio_tokens: usage.audioInput,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: usage.audioOutput },
    credits: CREDITS_PLACE,
  };
}

function members(extra: Readonly<Record<string, unknown>> | undefined): string {
  if (extra === undefined) return "";
  let text = "";
  for (const [name, value] of Object.entries(extra)) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return text;
}
