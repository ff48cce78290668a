/** Parses a complete chat response of Gemini. */
import { textIn, isMembers, type Members, membersOf, parseObject } from "../json.ts";
import { type ChatResult, ProviderError } from "../provider.ts";

import { classifyErrorMember } from "./errors.ts";
import { checkPrompt, finishReason, refusedWhole } from "./finish.ts";
import { argumentsText, callId, logprobsOf, readParts, signatureMember } from "./parts.ts";
import { readUsage } from "./usage.ts";

/**
 * Parses the text of a complete response.
 * @throws ProviderError `failed` for an unreadable response, `refused` for a blocked prompt, or the error in the response
 */
export function readAnswer(text: string): ChatResult {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw classifyErrorMember(answer["error"]);
  checkPrompt(answer);
  const candidates = membersOf(answer["candidates"]);
  if (candidates.length === 0) throw new ProviderError("failed", "the answer has no candidates");
  const choices = candidates.map(readCandidate);
  if (choices.every(isRefused)) throw refusedWhole();
  return { choices, usage: readUsage(answer["usageMetadata"]) };
}

function readCandidate(candidate: Members, at: number): Members {
  const { content, reasoning, calls: parts } = readParts(candidate);
  const calls = parts.filter(isNamed);
  const ids = new Set<string>();
  const tool_calls = calls.map((part) => {
    const call = isMembers(part["functionCall"]) ? part["functionCall"] : {};
    return {
      id: callId(call, ids),
      type: "function",
      function: { name: call["name"], arguments: argumentsText(call) },
      ...signatureMember(part),
    };
  });
  const reason = finishReason(candidate);
  // A response without a finish reason may be truncated, like a stream.
  if (reason === undefined) throw new ProviderError("failed", "a candidate has no finish reason");
  const index = candidate["index"];
  return {
    index: typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : at,
    message: {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      refusal: null,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length > 0 ? { tool_calls } : {}),
    },
    logprobs: logprobsOf(candidate),
    finish_reason: reason === "stop" && calls.length > 0 ? "tool_calls" : reason,
  };
}

/** Returns true for a part with a named function call. A function call without a name cannot be executed. */
function isNamed(part: Members): boolean {
  return isMembers(part["functionCall"]) && textIn(part["functionCall"]["name"]) !== undefined;
}

function isRefused({ finish_reason, message }: Members): boolean {
  const { content, reasoning_content, tool_calls } = message as Members;
  return finish_reason === "content_filter" && content === "" && reasoning_content === undefined && !tool_calls;
}
