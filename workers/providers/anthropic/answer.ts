/**
 * Converts a complete response to a chat answer with one choice. JSON without a schema (`json_object`) is requested only by prompt. A
 * complete response is therefore checked to be a single JSON object. Streamed text cannot be checked, because it has already been sent.
 * Source: platform.claude.com/docs/en/api/messages.
 */
import { type Members, membersOf, parseObject, textOf } from "../json.ts";
import { type ChatCall, type ChatResult, ProviderError } from "../provider.ts";
import { classifyErrorMember } from "./errors.ts";
import { finishReason, serviceTierOf, stopSequenceOf } from "./finish.ts";
import { afterMembers } from "./order.ts";
import { answerToolOf } from "./tools.ts";
import { readAnthropicUsage } from "./usage.ts";

/**
 * Converts a response body. @throws ProviderError `failed` for an unreadable response or invalid JSON, `refused` for a refusal without
 * content
 */
export function messageResult(text: string, call: ChatCall): ChatResult {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw classifyErrorMember(answer["error"]);
  const stopReason = textOf(answer["stop_reason"]);
  if (!Array.isArray(answer["content"]) || stopReason === "") {
    throw new ProviderError("failed", "the answer has no content or no stop reason");
  }
  const read = readBlocks(membersOf(answer["content"]), answerToolOf(call)?.["name"]);
  const { calls } = read;
  if (stopReason === "refusal" && read.said === "" && calls.length === 0) throw declined(answer["stop_details"]);
  const finish = finishReason(stopReason, calls.length > 0);
  const said = stopReason === "end_turn" && finish === "stop" ? asAsked(read.said, call) : read.said;
  const message: Members = {
    role: "assistant",
    content: said === "" && calls.length > 0 ? null : said,
    refusal: null,
    ...(read.reasoning === "" ? {} : { reasoning_content: read.reasoning }),
    ...(read.thinking.length > 0 ? { thinking_blocks: read.thinking } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish, ...stopSequenceOf(answer) }],
    usage: readAnthropicUsage(answer["usage"]),
    ...serviceTierOf(answer["usage"]),
  };
}

/**
 * Returns the final text of an answer. If the client requested JSON without a schema, the text is checked and returned as one JSON object
 * without a code fence.
 */
function asAsked(text: string, { request }: ChatCall): string {
  // An answer that the caller began is JSON only together with its beginning.
  if (request.response_format?.type !== "json_object" || request.messages.at(-1)?.role === "assistant") return text;
  const bare = withoutFence(text);
  if (!parseObject(bare)) throw new ProviderError("failed", "the answer is not the JSON object that was asked for");
  return bare;
}

const FENCE = "```";

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const open = trimmed.indexOf("\n");
  if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || open < 0) return trimmed;
  return trimmed.slice(open + 1, -FENCE.length).trim();
}

/** Returns the error for a refusal by the model. The provider's reason is logged, and never sent to the client. */
export function declined(details: unknown): ProviderError {
  const { category, explanation } = (details ?? {}) as { category?: unknown; explanation?: unknown };
  return new ProviderError("refused", `refusal ${textOf(category)} ${textOf(explanation)}`.trim());
}

interface Blocks {
  readonly said: string;
  readonly reasoning: string;
  readonly thinking: readonly Members[];
  readonly calls: readonly Members[];
}

/** Reads the content blocks that the client receives. Results of the provider's own tools are omitted. */
function readBlocks(blocks: readonly Members[], answerTool: unknown): Blocks {
  let said = "";
  let answer: string | undefined;
  let reasoning = "";
  const thinking: Members[] = [];
  const calls: Members[] = [];
  // If a tool contains the answer, the surrounding text is omitted, and so are positions within that text.
  const after = (): Members => (answerTool === undefined ? afterMembers(said.length, calls.length) : {});
  for (const block of blocks) {
    switch (block["type"]) {
      case "text":
        said += textOf(block["text"]);
        break;
      case "thinking":
        reasoning += textOf(block["thinking"]);
        thinking.push(...signedBlock(block, after()));
        break;
      case "redacted_thinking":
        thinking.push(...signedBlock(block, after()));
        break;
      case "tool_use": {
        const text = JSON.stringify(block["input"] ?? {});
        if (block["name"] === answerTool) answer ??= text;
        else {
          const fn = { name: textOf(block["name"]), arguments: text };
          calls.push({ id: textOf(block["id"]), type: "function", function: fn });
        }
        break;
      }
    }
  }
  // If a tool contains the answer, the surrounding text would not be JSON.
  return { said: answer ?? said, reasoning, thinking, calls };
}

/**
 * Converts a thinking block of a response to the form in which later requests must contain it. Returns an empty list for a block without a
 * signature, which Anthropic would reject.
 * @param more further members for our own use
 */
export function signedBlock(block: Members, more: Members): Members[] {
  const { type, thinking, signature, data } = block;
  if (type === "redacted_thinking") return typeof data === "string" && data !== "" ? [{ type, data, ...more }] : [];
  return textOf(signature) === "" ? [] : [{ type, thinking: textOf(thinking), signature, ...more }];
}
