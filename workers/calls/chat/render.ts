/** Renders OpenAI's completion and chunk shapes for clients (platform.openai.com/docs/api-reference/chat). */
import { completionTokens, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import type { ChatDelta, ChatResult } from "../../providers/provider.ts";

const STREAM_END = "data: [DONE]\n\n";

export interface Rendering {
  completion(result: ChatResult, usage: TokenUsage): string;
  chunk(delta: ChatDelta): string;
  /** All that follows the last delta of a stream that went well. */
  end(usage: TokenUsage): string;
}

/** One per call: every chunk of a stream carries the same id, created and model. */
export function createRendering(call: {
  jobId: string;
  model: string;
  createdS: number;
  includeUsage: boolean;
}): Rendering {
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

/** Our buckets as OpenAI counts them: totals contain their details. */
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
  };
}

function members(extra: Readonly<Record<string, unknown>> | undefined): string {
  if (extra === undefined) return "";
  let text = "";
  for (const [name, value] of Object.entries(extra)) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return text;
}
