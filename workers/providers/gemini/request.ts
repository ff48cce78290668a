/**
 * Converts OpenAI's chat request to Gemini's. Omitted without loss, because Gemini does not have them: user, safety_identifier, metadata,
 * store, prompt_cache_key, parallel_tool_calls, names of speakers, `strict`, detail of images, cache_control. Parameters that would change
 * the answer are rejected by name.
 */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { Trait } from "#shared/calls/model.ts";
import { stringifyExact } from "#shared/json/serialize.ts";

import type { JsonRequest } from "../http.ts";
import type { Members } from "../json.ts";
import type { ChatCall } from "../provider.ts";

import { readConversation } from "./contents.ts";
import { unsupported } from "./rejected.ts";
import { toOpenApi } from "./schema.ts";
import { toolMembers } from "./tools.ts";

const CANDIDATES_MAX = 8;
const STOPS_MAX = 5;
const INT32_MAX = 2_147_483_647;
/** Values of `service_tier` that select the default tier. */
const PLAIN_TIERS: readonly unknown[] = [undefined, null, "auto", "default"];

/** @throws ProviderError `rejected` with the parameter that Gemini does not support */
export function chatRequest(call: ChatCall, isStream: boolean): JsonRequest {
  const { request, traits } = call;
  refuseUnsupported(request);
  const tools = toolMembers(request, traits);
  const wantsJson = request.response_format != null && request.response_format.type !== "text";
  if (traits.has("no_json_with_tools") && wantsJson && "tools" in tools) {
    throw unsupported("response_format", "This model supports JSON output only without tools; expected text.");
  }
  const body: Members = {
    ...readConversation(request.messages, !isBudgeted(traits)),
    ...tools,
    generationConfig: generationConfig(request, traits),
  };
  call.adapt(body);
  const method = isStream ? "streamGenerateContent?alt=sse" : "generateContent";
  return {
    path: `/models/${encodeURIComponent(call.sourceModel)}:${method}`,
    body: stringifyExact(body, call.exactIntegers),
  };
}

/** Returns true for models with a thinking budget or without thinking, which have no signatures to send back. */
function isBudgeted(traits: ReadonlySet<Trait>): boolean {
  return traits.has("reasoning_by_budget") || traits.has("no_reasoning");
}

function refuseUnsupported(request: ChatCompletionRequest): void {
  if (request.logit_bias && Object.keys(request.logit_bias).length > 0) {
    throw unsupported("logit_bias", "This model does not support logit_bias; remove it.");
  }
  if (request.prediction) throw unsupported("prediction", "This model does not support predicted output.");
  if (request.modalities?.includes("audio")) {
    throw unsupported("modalities", "This model returns text only; remove audio.");
  }
  if (request.audio) throw unsupported("audio", "This model returns text only; remove audio.");
  if (request.web_search_options)
    throw unsupported("web_search_options", "Web search is not available for this model.");
  if (request.verbosity && request.verbosity !== "medium") {
    throw unsupported("verbosity", `This model supports the verbosity medium only, got ${request.verbosity}.`);
  }
  if (!PLAIN_TIERS.includes(request.service_tier)) {
    throw unsupported("service_tier", "Expected the service tier auto or default for this model.");
  }
  if (request.functions?.length) throw unsupported("functions", "This model does not support functions; use tools.");
  if (request.function_call)
    throw unsupported("function_call", "This model does not support function_call; use tool_choice.");
}

function generationConfig(request: ChatCompletionRequest, traits: ReadonlySet<Trait>): Members {
  const config: Members = {
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    topP: request.top_p,
    topK: topK(request["top_k"]),
    stopSequences: stopSequences(request.stop),
    seed: seed(request.seed),
    frequencyPenalty: request.frequency_penalty,
    presencePenalty: request.presence_penalty,
    candidateCount: candidateCount(request.n),
    ...logprobs(request),
    ...responseFormat(request, traits),
    thinkingConfig: thinkingConfig(request.reasoning_effort ?? undefined, traits),
  };
  for (const [name, value] of Object.entries(config)) if (value === undefined || value === null) delete config[name];
  return config;
}

function stopSequences(stop: ChatCompletionRequest["stop"]): string[] | undefined {
  const stops = typeof stop === "string" ? [stop] : (stop ?? []);
  if (stops.length > STOPS_MAX) {
    throw unsupported("stop", `Expected at most ${STOPS_MAX} stop sequences for this model, got ${stops.length}.`);
  }
  return stops.length > 0 ? stops : undefined;
}

/** Returns `top_k`, an extension of ours. */
function topK(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= INT32_MAX) return value;
  throw unsupported("top_k", "Expected a whole number above 0.");
}

function seed(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value > INT32_MAX || value < -INT32_MAX - 1) {
    throw unsupported("seed", `Expected a seed of 32 bits for this model, got ${value}.`);
  }
  return value;
}

function candidateCount(n: number | null | undefined): number | undefined {
  if (n === undefined || n === null || n === 1) return undefined;
  if (n > CANDIDATES_MAX) throw unsupported("n", `Expected n of at most ${CANDIDATES_MAX} for this model, got ${n}.`);
  return n;
}

function logprobs({ logprobs: isAsked, top_logprobs: top }: ChatCompletionRequest): Members {
  if (isAsked !== true) return {};
  return { responseLogprobs: true, ...(top ? { logprobs: top } : {}) };
}

function responseFormat({ response_format: format }: ChatCompletionRequest, traits: ReadonlySet<Trait>): Members {
  if (!format || format.type === "text") return {};
  const json = { responseMimeType: "application/json" };
  const schema = format.type === "json_schema" ? format.json_schema.schema : undefined;
  if (schema === undefined) return json;
  return traits.has("json_by_converted_schema")
    ? { ...json, responseSchema: toOpenApi(schema, "response_format") }
    : { ...json, responseJsonSchema: schema };
}

// Converts `reasoning_effort` to thinkingConfig. Source: ai.google.dev/gemini-api/docs/thinking, …/docs/openai.

/** Thinking tokens per effort, as in Google's own OpenAI-compatible endpoint. */
const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };
const LEVELS: Readonly<Record<string, string>> = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
};

/**
 * Returns undefined to keep the model's default. Thoughts are requested only where the model certainly has some; otherwise the request
 * fails.
 * @throws ProviderError `rejected` for an effort that the model does not support
 */
function thinkingConfig(effort: string | undefined, traits: ReadonlySet<Trait>): Members | undefined {
  if (traits.has("no_reasoning")) {
    if (effort === undefined || effort === "none") return undefined;
    throw unsupported("reasoning_effort", `This model does not reason; expected none, got ${quote(effort)}.`);
  }
  const isBudgeted = traits.has("reasoning_by_budget");
  const isAlways = traits.has("reasoning_always");
  if (effort === undefined) return isBudgeted && !isAlways ? undefined : { includeThoughts: true };
  if (!Object.hasOwn(BUDGETS, effort) || (effort === "none" && isAlways)) {
    const known = Object.keys(BUDGETS).filter((name) => name !== "none" || !isAlways);
    throw unsupported("reasoning_effort", `Expected one of ${known.join(", ")} for this model, got ${quote(effort)}.`);
  }
  const shown = effort === "none" ? {} : { includeThoughts: true };
  if (isBudgeted) return { thinkingBudget: BUDGETS[effort], ...shown };
  // Models that always think have no level below low.
  return { thinkingLevel: isAlways && effort === "minimal" ? "low" : LEVELS[effort], ...shown };
}

function quote(text: string): string {
  return JSON.stringify(text);
}
