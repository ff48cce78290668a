/**
 * Converts OpenAI's chat request to Gemini's. Omitted without loss, because Gemini does not have them: user, safety_identifier, metadata,
 * store, prompt_cache_key, parallel_tool_calls, names of speakers, `strict`, detail of images, cache_control. Parameters that would change
 * the answer are rejected by name.
 */
import type {
  AssistantMessage,
  ChatCompletionRequest,
  ChatMessage,
  UserContentBlock,
} from "#schemas/generated/types.ts";
import type { Trait } from "#shared/calls/model.ts";
import { stringifyExact } from "#shared/json/serialize.ts";

import type { JsonRequest } from "../http.ts";
import { isMembers, type Members, membersOf, parseObject, textIn } from "../json.ts";
import { placeInstructions, reminder } from "../late-instructions.ts";
import type { ChatCall } from "../provider.ts";
import { encodedPart, mediaPart } from "./media.ts";
import { invalid, unsupported } from "./rejected.ts";
import { toOpenApi } from "./schema.ts";

const CANDIDATES_MAX = 8;
const STOPS_MAX = 5;
const INT32_MAX = 2_147_483_647;
/** Values of `service_tier` that select the default tier. */
const PLAIN_TIERS: readonly unknown[] = [undefined, null, "auto", "default"];

/**
 * Builds the chat request.
 * @throws ProviderError `rejected` that names the parameter that Gemini does not support
 */
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

/** Returns true for models with a thinking budget or without thinking. Such models have no thought signatures to send back. */
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

/** Returns the checked `top_k`, our extension of OpenAI's request. */
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

/** Thinking tokens by reasoning effort, as in Google's own OpenAI-compatible endpoint. */
const BUDGETS: Readonly<Record<string, number>> = { none: 0, minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };
const LEVELS: Readonly<Record<string, string>> = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
};

/**
 * Returns the thinking settings, or undefined to keep the model's default. Thoughts are requested only from models that certainly have
 * them, because others reject the request.
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
  const thoughtOptions = effort === "none" ? {} : { includeThoughts: true };
  if (isBudgeted) return { thinkingBudget: BUDGETS[effort], ...thoughtOptions };
  // Models that always think have no level below low.
  return { thinkingLevel: isAlways && effort === "minimal" ? "low" : LEVELS[effort], ...thoughtOptions };
}

function quote(text: string): string {
  return JSON.stringify(text);
}

// Converts OpenAI's messages to `systemInstruction` and `contents`. Adjacent messages of one role become one turn. Tool results are a
// separate turn, since Gemini requires exactly the results after the calls.

/**
 * Placeholder for the signature of a tool call, used if the client lost the signature or another model made the call. Models that sign
 * their calls reject the next turn without a signature. Source: ai.google.dev/gemini-api/docs/thought-signatures.
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

interface Turn {
  readonly kind: "user" | "model" | "results";
  readonly parts: Members[];
}

interface Conversation {
  readonly systemInstruction?: { readonly parts: readonly Members[] };
  readonly contents: readonly { readonly role: "user" | "model"; readonly parts: readonly Members[] }[];
}

/**
 * Converts the messages of a conversation.
 * @param needsSignatures true if the model rejects unsigned tool calls of the current turn
 * @throws ProviderError `rejected` that names the unsupported message
 */
function readConversation(messages: readonly ChatMessage[], needsSignatures: boolean): Conversation {
  const system: Members[] = [];
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  const placed = placeInstructions(messages);
  // The current turn begins with the last user message; only its calls are checked.
  const runningFrom = placed.findLastIndex(({ message, isLate }) => isLate || message.role === "user");
  const add = (kind: Turn["kind"], parts: readonly Members[]): void => {
    if (parts.length === 0) return;
    const last = turns.at(-1);
    if (last?.kind === kind) last.parts.push(...parts);
    else turns.push({ kind, parts: [...parts] });
  };
  for (const [index, { message, at, isLate }] of placed.entries()) {
    const param = `messages[${at}]`;
    switch (message.role) {
      case "system":
      case "developer":
        if (isLate)
          add(
            "user",
            textParts(message.content).map(({ text }) => ({ text: reminder(text) })),
          );
        else system.push(...textParts(message.content));
        break;
      case "user":
        add("user", userParts(message.content, param));
        break;
      case "assistant":
        add("model", assistantParts(message, names, needsSignatures && index > runningFrom, param));
        break;
      case "tool": {
        const name = names.get(message.tool_call_id);
        if (name === undefined) throw invalid(`${param}.tool_call_id`, "No earlier tool call has this id.");
        add("results", [resultPart(name, joined(message.content), message.tool_call_id)]);
        break;
      }
      case "function":
        add("results", [resultPart(message.name, message.content ?? "")]);
        break;
      default:
        message satisfies never;
    }
  }
  const contents = turns.map(
    ({ kind, parts }) => ({ role: kind === "model" ? ("model" as const) : "user", parts }) as const,
  );
  // Gemini rejects a conversation with only instructions, so these become a user message.
  if (contents.length === 0) return { contents: [{ role: "user", parts: system }] };
  return system.length > 0 ? { systemInstruction: { parts: system }, contents } : { contents };
}

/** Returns the texts as parts. Empty texts are omitted, because Gemini rejects them. */
function textParts(content: string | readonly { readonly text: string }[]): { text: string }[] {
  const texts = typeof content === "string" ? [content] : content.map(({ text }) => text);
  return texts.filter((text) => text !== "").map((text) => ({ text }));
}

function joined(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

function userParts(content: string | readonly UserContentBlock[], param: string): Members[] {
  if (typeof content === "string") return [{ text: content }];
  return content.flatMap((block, index) => {
    const at = `${param}.content[${index}]`;
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ text: block.text }];
      case "image_url":
        return [mediaPart(block.image_url.url, "image", `${at}.image_url.url`)];
      case "input_audio":
        return [encodedPart(`audio/${block.input_audio.format}`, block.input_audio.data, `${at}.input_audio.data`)];
      case "file": {
        const { file_data, file_url } = block.file;
        const url = textIn(file_data) ?? textIn(file_url);
        if (url === undefined)
          throw unsupported(`${at}.file.file_id`, "Expected the content of the file as file_data.");
        return [mediaPart(url, "file", `${at}.file.file_data`)];
      }
      default:
        return block satisfies never;
    }
  });
}

function assistantParts(
  message: AssistantMessage,
  names: Map<string, string>,
  needsSignature: boolean,
  param: string,
): Members[] {
  const parts: Members[] = said(message);
  const calls = (message.tool_calls ?? []).map((call, index): Members => {
    const at = `${param}.tool_calls[${index}]`;
    if (call.type !== "function")
      throw unsupported(`${at}.type`, "This model supports functions only, not custom tools.");
    names.set(call.id, call.function.name);
    const functionCall = { id: call.id, name: call.function.name, args: argumentsOf(call.function.arguments, at) };
    const thoughtSignature = signatureOf(call);
    return { functionCall, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) };
  });
  const legacy = message.function_call;
  if (legacy) calls.push({ functionCall: { name: legacy.name, args: argumentsOf(legacy.arguments, param) } });
  // Only the first of parallel calls is signed.
  const [first] = calls;
  if (first && needsSignature && first["thoughtSignature"] === undefined) first["thoughtSignature"] = NO_SIGNATURE;
  return [...parts, ...calls];
}

function said({ content, refusal }: AssistantMessage): Members[] {
  const texts =
    typeof content === "string"
      ? [content]
      : (content ?? []).map((block) => (block.type === "text" ? block.text : block.refusal));
  if (typeof refusal === "string") texts.push(refusal);
  return texts.filter((text) => text !== "").map((text) => ({ text }));
}

/**
 * Reads the thought signature of a tool call. The signature is in the member that Google's OpenAI-compatible endpoint uses, because stock
 * clients return it there.
 */
function signatureOf(call: object): string | undefined {
  const extra = (call as Members)["extra_content"];
  const google = isMembers(extra) ? extra["google"] : undefined;
  return isMembers(google) ? textIn(google["thought_signature"]) : undefined;
}

function argumentsOf(text: string, param: string): Members {
  if (text.trim() === "") return {};
  const found = parseObject(text);
  if (found) return found;
  throw invalid(`${param}.function.arguments`, "Expected the arguments of a call to be a string with a JSON object.");
}

/** Returns a tool result as a part. Gemini requires an object, so any other value is wrapped. */
function resultPart(name: string, text: string, id?: string): Members {
  const response = parseObject(text) ?? { result: text };
  return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
}

// Tools and tool choice. Source: ai.google.dev/gemini-api/docs/function-calling.

type Choice = NonNullable<ChatCompletionRequest["tool_choice"]>;

/**
 * Returns `tools` and `toolConfig`, or no members for a call without tools. @throws ProviderError `rejected` for tools with free text as
 * input
 */
function toolMembers(request: ChatCompletionRequest, traits: ReadonlySet<Trait>): Members {
  const { tools = [], tool_choice: choice } = request;
  const allowed = allowedNames(choice);
  // Allowed names require a mandatory call; otherwise the disallowed tools are omitted.
  const isNarrowed = allowed !== undefined && !isRequired(choice);
  const functionDeclarations = tools
    .map((tool, index) => {
      if (tool.type === "function") return declaration(tool.function, `tools[${index}].function`, traits);
      throw unsupported(`tools[${index}].type`, "This model supports functions only, not custom tools.");
    })
    .filter(({ name }) => !isNarrowed || allowed.includes(String(name)));
  if (functionDeclarations.length === 0) return {};
  if (choice === undefined) return { tools: [{ functionDeclarations }] };
  const functionCallingConfig = {
    mode: modeOf(choice),
    ...(allowed && !isNarrowed ? { allowedFunctionNames: allowed } : {}),
  };
  return { tools: [{ functionDeclarations }], toolConfig: { functionCallingConfig } };
}

function declaration(
  fn: { readonly name: string; readonly description?: string; readonly parameters?: object },
  param: string,
  traits: ReadonlySet<Trait>,
): Members {
  const { name, description, parameters } = fn;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined || Object.keys(parameters).length === 0
      ? {}
      : traits.has("json_by_converted_schema")
        ? openApiParameters(parameters as Members, `${param}.parameters`)
        : { parametersJsonSchema: parameters }),
  };
}

/**
 * Returns the parameters of a function as OpenAPI schema. Gemini rejects an empty object, so a function with an empty object gets no
 * parameters.
 */
function openApiParameters(schema: Members, param: string): Members {
  const parameters = toOpenApi(schema, param);
  const members = parameters["properties"];
  const isEmpty = parameters["type"] === "OBJECT" && (!isMembers(members) || Object.keys(members).length === 0);
  return isEmpty ? {} : { parameters };
}

/** Returns the names of the functions to which a tool choice is limited; undefined for all functions. */
function allowedNames(choice: Choice | undefined): string[] | undefined {
  if (!isMembers(choice)) return undefined;
  if (choice["type"] === "function" && isMembers(choice["function"])) return [choice["function"]["name"]];
  if (choice["type"] !== "allowed_tools" || !isMembers(choice["allowed_tools"])) {
    throw unsupported("tool_choice", "This model supports functions only, not custom tools.");
  }
  return membersOf(choice["allowed_tools"]["tools"]).map((tool) => {
    const name = isMembers(tool["function"]) ? textIn(tool["function"]["name"]) : undefined;
    if (name !== undefined) return name;
    throw unsupported("tool_choice", "Expected functions with names in tool_choice.allowed_tools.");
  });
}

function isRequired(choice: Choice | undefined): boolean {
  return choice !== undefined && modeOf(choice) === "ANY";
}

function modeOf(choice: Choice): "AUTO" | "NONE" | "ANY" {
  if (choice === "none") return "NONE";
  if (choice === "auto") return "AUTO";
  const isOptional =
    isMembers(choice) && isMembers(choice["allowed_tools"]) && choice["allowed_tools"]["mode"] === "auto";
  return isOptional ? "AUTO" : "ANY";
}
