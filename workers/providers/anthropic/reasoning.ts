/**
 * Converts `reasoning_effort` to `thinking` and `output_config.effort`, or to a budget for models without effort. Source:
 * platform.claude.com/docs/en/build-with-claude/adaptive-thinking, …/effort, …/extended-thinking.
 */
import type { Members } from "../json.ts";
import type { ChatCall } from "../provider.ts";
import type { Conversation } from "./messages.ts";
import { unsupported } from "./rejected.ts";

export interface Reasoning {
  readonly thinking?: Members;
  readonly effort?: string;
}

/** Our effort → Anthropic's effort, and its share of the output limit for models with a budget. */
const LEVELS: Readonly<Record<string, { readonly effort: string; readonly share: number }>> = {
  minimal: { effort: "low", share: 0.1 },
  low: { effort: "low", share: 0.2 },
  medium: { effort: "medium", share: 0.5 },
  high: { effort: "high", share: 0.8 },
  xhigh: { effort: "xhigh", share: 0.9 },
  max: { effort: "max", share: 0.9 },
};

const BUDGET_TOKENS_MIN = 1_024;

/**
 * `effort_only`, set by our Messages API, means an effort without a request for thinking: thinking is disabled.
 * @param isForced true if a tool must be called, which excludes thinking
 * @throws ProviderError `rejected` with `reasoning_effort`
 */
export function convertReasoning(
  { request, traits }: Pick<ChatCall, "request" | "traits">,
  maxTokens: number,
  isForced: boolean,
  { messages }: Conversation,
): Reasoning {
  const wanted = request.reasoning_effort ?? undefined;
  if (wanted === undefined) return {};
  if (wanted === "none") {
    if (traits.has("reasoning_always")) throw refused("This model always reasons; remove this or choose an effort.");
    return traits.has("no_reasoning") ? {} : { thinking: { type: "disabled" } };
  }
  const level = Object.hasOwn(LEVELS, wanted) ? LEVELS[wanted] : undefined;
  if (!level) throw refused(`Expected one of none, ${Object.keys(LEVELS).join(", ")}.`);
  if (traits.has("no_reasoning")) throw refused("This model does not reason; remove this.");
  const isEffortOnly = request["effort_only"] === true;
  if (traits.has("reasoning_by_budget")) {
    if (isEffortOnly) return {};
    if (isForced) throw refused("This model cannot reason when tool_choice forces a tool call or a schema is set.");
    // The effort is a preference, the output limit is not: without capacity for a budget, thinking is disabled.
    if (maxTokens <= BUDGET_TOKENS_MIN || !mayThinkOn(messages)) return {};
    const budget = Math.max(BUDGET_TOKENS_MIN, Math.floor(maxTokens * level.share));
    return { thinking: { type: "enabled", budget_tokens: budget } };
  }
  const effort = level.effort === "xhigh" && traits.has("no_xhigh_effort") ? "max" : level.effort;
  if (isForced || isEffortOnly) return { effort };
  // Newer models would omit the text of their thinking.
  return { effort, thinking: { type: "adaptive", display: "summarized" } };
}

/**
 * A turn with thinking and tool calls must be returned with its thinking; otherwise a call with a budget is rejected. For clients without
 * thinking blocks, the rest of such a turn continues without thinking.
 */
function mayThinkOn(messages: Conversation["messages"]): boolean {
  if (messages.at(-1)?.content[0]?.["type"] !== "tool_result") return true;
  const type = messages.at(-2)?.content[0]?.["type"];
  return type === "thinking" || type === "redacted_thinking";
}

function refused(say: string): Error {
  return unsupported("reasoning_effort", say);
}
