/**
 * A chat request → the body of `POST /messages`, built member by member, so that nothing of a caller's can steer where
 * or as whom we call. Left out, since the family has no such thing and the answer is none the worse: `seed`, the
 * penalties, `store`, `metadata`, `prompt_cache_key`, names of participants.
 */
import { stringifyExact } from "#shared/exact-integers.ts";
import { createHash } from "node:crypto";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";

import type { Members } from "../json.ts";
import type { JsonRequest } from "../http.ts";
import type { ChatCall } from "../provider.ts";
import { convertMessages } from "./messages.ts";
import { convertReasoning } from "./reasoning.ts";
import { unsupported } from "./rejected.ts";
import { convertSampling } from "./sampling.ts";
import { closedSchema } from "./schema.ts";
import { convertTools } from "./tools.ts";

/** @throws ProviderError `rejected` naming the parameter that a Claude model cannot be asked */
export function messagesRequest(call: ChatCall, isStream: boolean): JsonRequest {
  const { request, traits } = call;
  refuseWhatIsMissing(request);
  const conversation = convertMessages(request.messages);
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? call.outputTokensMax;
  const { members: tooling, isForced } = convertTools(call);
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
  return { path: "/messages", body: stringifyExact(body, call.exactIntegers) };
}

const MISSING: readonly (readonly [
  param: string,
  isAsked: (request: ChatCompletionRequest) => boolean,
  say: string,
])[] = [
  ["n", ({ n }) => (n ?? 1) > 1, "This model gives one answer a call; leave n out or send 1."],
  ["logprobs", ({ logprobs }) => logprobs === true, "This model reports no probabilities of its tokens."],
  ["top_logprobs", (request) => (request.top_logprobs ?? 0) > 0, "This model reports no probabilities of its tokens."],
  [
    "logit_bias",
    (request) => Object.keys(request.logit_bias ?? {}).length > 0,
    "This model cannot be biased towards tokens.",
  ],
  [
    "modalities",
    ({ modalities }) => modalities?.includes("audio") === true,
    'This model answers in text; expected ["text"].',
  ],
  ["audio", ({ audio }) => audio != null, "This model answers in text; leave audio out."],
  ["prediction", ({ prediction }) => prediction != null, "This model takes no predicted output."],
  ["web_search_options", (request) => request.web_search_options != null, "This model does not search the web here."],
  [
    "verbosity",
    ({ verbosity }) => (verbosity ?? "medium") !== "medium",
    "This model takes no verbosity; say in the messages how long the answer should be.",
  ],
  ["functions", ({ functions }) => (functions?.length ?? 0) > 0, "Expected tools: this model knows no functions."],
  [
    "function_call",
    (request) => request.function_call != null && request.function_call !== "none" && request.function_call !== "auto",
    "Expected tool_choice: this model knows no functions.",
  ],
];

function refuseWhatIsMissing(request: ChatCompletionRequest): void {
  for (const [param, isAsked, say] of MISSING) if (isAsked(request)) throw unsupported(param, say);
}

/** JSON without a schema cannot be enforced, only asked for; what comes of it is checked where it comes whole. */
function jsonInstruction({ response_format: format }: ChatCompletionRequest): Members[] {
  if (format?.type !== "json_object") return [];
  return [{ type: "text", text: "Answer with one JSON object and nothing else: no other text, no code fences." }];
}

function outputFormat({ response_format: format }: ChatCompletionRequest): Members | undefined {
  if (format?.type !== "json_schema") return undefined;
  const param = "response_format.json_schema.schema";
  if (format.json_schema.schema === undefined) throw unsupported(param, "Expected a schema for this model.");
  return { type: "json_schema", schema: closedSchema(format.json_schema.schema, param) };
}

function stopSequences({ stop }: ChatCompletionRequest): Members {
  const sequences = typeof stop === "string" ? [stop] : (stop ?? []);
  if (sequences.some((sequence) => sequence.trim() === "")) {
    throw unsupported("stop", "Expected stop texts with more in them than white space for this model.");
  }
  return sequences.length > 0 ? { stop_sequences: sequences } : {};
}

/** A pseudonym only, and another one in each workspace: what a caller uses to tell its users apart stays with us. */
function endUser({ request, workspaceId }: ChatCall): Members {
  const name = request.safety_identifier ?? request.user ?? "";
  if (name === "") return {};
  return { metadata: { user_id: createHash("sha256").update(`${workspaceId}:${name}`).digest("hex") } };
}

/** Everything but `auto` must not reach capacity of another price. */
function serviceTier({ service_tier: tier }: ChatCompletionRequest): Members {
  return tier == null ? {} : { service_tier: tier === "auto" ? "auto" : "standard_only" };
}
