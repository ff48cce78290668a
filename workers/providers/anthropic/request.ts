/**
 * Converts a chat request to the body of `POST /messages`. Members are copied one by one, so that no caller can choose the address or the
 * account of the request. Some members are omitted without loss, because Claude models do not have them: `seed`, the penalties, `store`,
 * `metadata`, `prompt_cache_key`, and names of participants.
 */
import { createHash } from "node:crypto";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { stringifyExact } from "#shared/json/serialize.ts";

import type { JsonRequest } from "../http.ts";
import type { Members } from "../json.ts";
import type { ChatCall } from "../provider.ts";
import { type Conversation, convertMessages } from "./messages.ts";
import { unsupported } from "./rejected.ts";
import { closedSchema } from "./schema.ts";
import { convertTools } from "./tools.ts";

/**
 * Builds the provider request for a chat call.
 * @throws ProviderError `rejected` that names the parameter that Claude models do not support
 */
export function messagesRequest(call: ChatCall, isStream: boolean): JsonRequest {
  const { request, traits } = call;
  refuseWhatIsMissing(request);
  const { members: tooling, isForced, deferred } = convertTools(call);
  const conversation = convertMessages(request.messages, { isSystemFirst: traits.has("system_first"), deferred });
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? call.outputTokensMax;
  const reasoning = convertReasoning(call, maxTokens, isForced, conversation);
  const system = [...conversation.system, ...jsonInstruction(request)];
  const format = traits.has("json_by_tool") ? undefined : outputFormat(request);
  const outputConfig = {
    ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
    ...(format === undefined ? {} : { format }),
  };
  const body: Members = {
    model: call.sourceModel,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages: conversation.messages,
    ...tooling,
    ...(reasoning.thinking === undefined ? {} : { thinking: reasoning.thinking }),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...convertSampling(call, reasoning),
    ...stopSequences(request),
    ...endUser(call),
    ...serviceTier(request),
    ...(isStream ? { stream: true } : {}),
  };
  call.adapt(body);
  const headers = deferred.size > 0 ? { headers: { "anthropic-beta": DEFERRED_TOOLS } } : {};
  return { path: "/messages", body: stringifyExact(body, call.exactIntegers), ...headers };
}

/** Beta feature that Anthropic's own clients request with deferred tools, although Anthropic's documentation no longer requires it. */
const DEFERRED_TOOLS = "advanced-tool-use-2025-11-20";

const MISSING: readonly (readonly [
  param: string,
  isAsked: (request: ChatCompletionRequest) => boolean,
  say: string,
])[] = [
  ["n", ({ n }) => (n ?? 1) > 1, "This model returns one choice per call; remove n or set it to 1."],
  ["logprobs", ({ logprobs }) => logprobs === true, "This model does not support log probabilities."],
  ["top_logprobs", (request) => (request.top_logprobs ?? 0) > 0, "This model does not support log probabilities."],
  [
    "logit_bias",
    (request) => Object.keys(request.logit_bias ?? {}).length > 0,
    "This model does not support logit_bias.",
  ],
  [
    "modalities",
    ({ modalities }) => modalities?.includes("audio") === true,
    'This model returns text only; expected ["text"].',
  ],
  ["audio", ({ audio }) => audio != null, "This model returns text only; remove audio."],
  ["prediction", ({ prediction }) => prediction != null, "This model does not support predicted output."],
  [
    "web_search_options",
    (request) => request.web_search_options != null,
    "Web search is not available for this model.",
  ],
  [
    "verbosity",
    ({ verbosity }) => (verbosity ?? "medium") !== "medium",
    "This model does not support verbosity; state the length in the messages.",
  ],
  ["functions", ({ functions }) => (functions?.length ?? 0) > 0, "This model does not support functions; use tools."],
  [
    "function_call",
    (request) => request.function_call != null && request.function_call !== "none" && request.function_call !== "auto",
    "This model does not support function_call; use tool_choice.",
  ],
];

function refuseWhatIsMissing(request: ChatCompletionRequest): void {
  for (const [param, isAsked, say] of MISSING) if (isAsked(request)) throw unsupported(param, say);
}

/**
 * Returns an instruction to answer with JSON. JSON without a schema cannot be enforced by the provider, but complete responses are checked.
 */
function jsonInstruction({ response_format: format }: ChatCompletionRequest): Members[] {
  if (format?.type !== "json_object") return [];
  return [{ type: "text", text: "Answer with one JSON object and nothing else: no other text, no code fences." }];
}

function outputFormat({ response_format: format }: ChatCompletionRequest): Members | undefined {
  if (format?.type !== "json_schema") return undefined;
  const param = "response_format.json_schema.schema";
  if (format.json_schema.schema === undefined)
    throw unsupported(param, "This model requires a schema for response_format json_schema.");
  return { type: "json_schema", schema: closedSchema(format.json_schema.schema, param) };
}

function stopSequences({ stop }: ChatCompletionRequest): Members {
  const sequences = typeof stop === "string" ? [stop] : (stop ?? []);
  if (sequences.some((sequence) => sequence.trim() === "")) {
    throw unsupported("stop", "Expected stop sequences with more than white space for this model.");
  }
  return sequences.length > 0 ? { stop_sequences: sequences } : {};
}

/**
 * Returns a pseudonym for the end user that differs between workspaces. The caller's own identifier of the user is never sent to the
 * provider.
 */
function endUser({ request, workspaceId }: ChatCall): Members {
  const name = request.safety_identifier ?? request.user ?? "";
  if (name === "") return {};
  return { metadata: { user_id: createHash("sha256").update(`${workspaceId}:${name}`).digest("hex") } };
}

/**
 * Maps the requested service tier. `auto` and `priority` allow capacity at another price. Every other tier becomes `standard_only`, which
 * excludes such capacity.
 */
function serviceTier({ service_tier: tier }: ChatCompletionRequest): Members {
  if (tier == null) return {};
  return { service_tier: tier === "auto" || tier === "priority" ? "auto" : "standard_only" };
}

// Sampling parameters: the values of temperature, top_p and top_k that the model accepts.

/** Minimum `top_p` that is accepted together with thinking. */
const THINKING_TOP_P_MIN = 0.95;

/**
 * Converts the sampling parameters. A value without effect is omitted. @throws ProviderError `rejected` for a value that the model does not
 * accept
 */
function convertSampling({ request, traits }: Pick<ChatCall, "request" | "traits">, { thinking }: Reasoning): Members {
  const temperature = request.temperature ?? undefined;
  const topP = request.top_p ?? undefined;
  const topK = request["top_k"] ?? undefined;
  if (temperature !== undefined && temperature > 1) {
    throw unsupported("temperature", `Expected a temperature from 0 to 1 for this model, got ${temperature}.`);
  }
  if (topK !== undefined && !(typeof topK === "number" && Number.isInteger(topK) && topK > 0)) {
    throw unsupported("top_k", "Expected a whole number above 0.");
  }
  if (traits.has("no_sampling")) {
    const isSet = { temperature: (temperature ?? 1) !== 1, top_p: (topP ?? 1) !== 1, top_k: topK !== undefined };
    refuse(isSet, "This model does not support sampling parameters; remove this.");
    return {};
  }
  if (thinking !== undefined && thinking["type"] !== "disabled") {
    const isSet = {
      temperature: (temperature ?? 1) !== 1,
      top_p: (topP ?? 1) < THINKING_TOP_P_MIN,
      top_k: topK !== undefined,
    };
    refuse(isSet, "This model does not support this value with reasoning; remove it or reasoning_effort.");
  }
  const members: Members = {};
  if (temperature !== undefined) members["temperature"] = temperature;
  if (topP !== undefined) members["top_p"] = topP;
  if (topK !== undefined) members["top_k"] = topK;
  // Keeps the parameter that has an effect; of two, the temperature.
  if (traits.has("temperature_or_top_p") && temperature !== undefined && topP !== undefined) {
    delete members[temperature === 1 ? "temperature" : "top_p"];
  }
  return members;
}

function refuse(isSet: Readonly<Record<string, boolean>>, say: string): void {
  for (const [param, is] of Object.entries(isSet)) if (is) throw unsupported(param, say);
}

// Converts `reasoning_effort` to `thinking` and `output_config.effort`, or to a budget for models without effort. Source:
// platform.claude.com/docs/en/build-with-claude/adaptive-thinking, …/effort, …/extended-thinking.

interface Reasoning {
  readonly thinking?: Members;
  readonly effort?: string;
}

/**
 * Anthropic's effort for each of our reasoning efforts. For models with a thinking budget, `share` is the budget as a fraction of the
 * output limit.
 */
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
 * Converts the reasoning effort of a request. Our Messages API sets `effort_only` if the client gave an effort without requesting thinking.
 * Thinking then stays off.
 * @param isForced true if the model must call a tool, which excludes thinking
 * @throws ProviderError `rejected` that names `reasoning_effort`
 */
function convertReasoning(
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
 * Returns true if thinking may be enabled for the next answer. Anthropic rejects a thinking budget if the previous turn has tool calls but
 * lacks its thinking blocks. Some clients do not send these blocks back; the turn then continues without thinking.
 */
function mayThinkOn(messages: Conversation["messages"]): boolean {
  if (messages.at(-1)?.content[0]?.["type"] !== "tool_result") return true;
  const type = messages.at(-2)?.content[0]?.["type"];
  return type === "thinking" || type === "redacted_thinking";
}

function refused(say: string): Error {
  return unsupported("reasoning_effort", say);
}
