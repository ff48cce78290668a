/**
 * Stock clients that hold the conversation of conversation.ts, each in its own idiom: streamed, tools run by the client,
 * every answer sent back as the client keeps it. What they report is brought to one form here and nowhere else.
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import {
  Agent,
  type AgentInputItem,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool as agentTool,
  user,
} from "@openai/agents";
import {
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  type StepResult,
  streamText,
  tool,
  type ToolSet,
} from "ai";
import OpenAI from "openai";

import type { Target } from "#tests/faults/client.ts";

import { OPENAI_TOOLS, PNG, QUESTION, SYSTEM, THANKS, TOOL_NAMES, type ToolName, TOOLS } from "./conversation.ts";

/** One turn of the model as a client received it. */
export interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly finish: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** Holds the conversation. Returns the model's turns. */
export type Converse = (target: Target, model: string) => Promise<Heard[]>;

const PICTURE = `data:image/png;base64,${PNG}`;

function resultOf(name: string): string {
  return TOOLS[name as ToolName].result;
}

const openai: Converse = async (target, model) => {
  const client = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: SYSTEM },
    {
      role: "user",
      content: [
        { type: "text", text: QUESTION },
        { type: "image_url", image_url: { url: PICTURE } },
      ],
    },
  ];
  const heard: Heard[] = [];
  const ask = async (): Promise<OpenAI.ChatCompletionMessageFunctionToolCall[]> => {
    const stream = client.chat.completions.stream({
      model,
      messages,
      tools: OPENAI_TOOLS,
      max_completion_tokens: 2_000,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    const [choice] = choices;
    if (!choice || !usage) throw new Error("the answer has no choice or no usage");
    messages.push(choice.message);
    const calls = (choice.message.tool_calls ?? []).filter((call) => call.type === "function");
    heard.push({
      text: choice.message.content ?? "",
      calls: calls.map((call) => ({ name: call.function.name, args: JSON.parse(call.function.arguments) as unknown })),
      finish: choice.finish_reason,
      input: usage.prompt_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage.completion_tokens,
    });
    return calls;
  };
  for (const call of await ask()) {
    messages.push({ role: "tool", tool_call_id: call.id, content: resultOf(call.function.name) });
  }
  await ask();
  messages.push({ role: "user", content: THANKS });
  await ask();
  return heard;
};

/** The SDK runs the tools and goes on by itself. */
async function converseBySdk(
  model: LanguageModel,
  more: Pick<StreamOptions, "providerOptions"> = {},
): Promise<Heard[]> {
  const tools: ToolSet = Object.fromEntries(
    TOOL_NAMES.map((name) => {
      const { description, parameters, result } = TOOLS[name];
      return [
        name,
        tool({
          description,
          inputSchema: jsonSchema({ ...parameters, required: [...parameters.required] }),
          execute: () => result,
        }),
      ];
    }),
  );
  const steps: StepResult<ToolSet>[] = [];
  const ask = async (messages: ModelMessage[]): Promise<ModelMessage[]> => {
    const result = streamText({
      model,
      instructions: SYSTEM,
      messages,
      tools,
      stopWhen: isStepCount(2),
      maxOutputTokens: 2_000,
      maxRetries: 0,
      ...more,
    });
    await result.consumeStream();
    steps.push(...(await result.steps));
    return [...messages, ...(await result.responseMessages)];
  };
  const question: ModelMessage = {
    role: "user",
    content: [
      { type: "text", text: QUESTION },
      { type: "file", mediaType: "image/png", data: PICTURE },
    ],
  };
  await ask([...(await ask([question])), { role: "user", content: THANKS }]);
  return steps.map(({ text, toolCalls, finishReason, usage }) => ({
    text,
    calls: toolCalls.map(({ toolName, input }) => ({ name: toolName, args: input as unknown })),
    finish: finishReason.replace("-", "_"),
    input: usage.inputTokens ?? 0,
    cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
    output: usage.outputTokens ?? 0,
  }));
}

type StreamOptions = Parameters<typeof streamText>[0];

const vercel: Converse = (target, model) => {
  const provider = createOpenAICompatible({
    name: "sluice",
    baseURL: `${target.url}/v1`,
    apiKey: target.key,
    includeUsage: true,
  });
  return converseBySdk(provider(model));
};

/** By Responses, which is this provider's default; by its default, too, they are stored, and it refers to their items. */
const vercelResponses: Converse = (target, model) => {
  const provider = createOpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key });
  return converseBySdk(provider(model));
};

/** Not stored, so that every item comes back whole. */
const vercelStateless: Converse = (target, model) => {
  const provider = createOpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key });
  return converseBySdk(provider(model), { providerOptions: { openai: { store: false } } });
};

const vercelAnthropic: Converse = ({ url, key }, model) =>
  converseBySdk(createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model));

const openaiResponses: Converse = (target, model) => converseByResponses(target, model, false);

/** Each call names the one before and brings what is new. */
const openaiStored: Converse = (target, model) => converseByResponses(target, model, true);

async function converseByResponses(target: Target, model: string, store: boolean): Promise<Heard[]> {
  const client = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInput = [
    {
      role: "user",
      content: [
        { type: "input_text", text: QUESTION },
        { type: "input_image", image_url: PICTURE, detail: "auto" },
      ],
    },
  ];
  const tools = TOOL_NAMES.map((name): OpenAI.Responses.FunctionTool => {
    const { description, parameters } = TOOLS[name];
    return { type: "function", name, description, parameters, strict: null };
  });
  const heard: Heard[] = [];
  let previous: string | null = null;
  const ask = async (): Promise<OpenAI.Responses.ResponseFunctionToolCall[]> => {
    const stream = client.responses.stream({
      model,
      instructions: SYSTEM,
      input,
      tools,
      max_output_tokens: 2_000,
      store,
      previous_response_id: previous,
    });
    const { id, output, output_text: text, status, usage } = await stream.finalResponse();
    if (!usage || status === undefined) throw new Error("the answer has no usage or no status");
    if (store) {
      previous = id;
      input.length = 0;
    } else input.push(...output.map((item) => item as OpenAI.Responses.ResponseInputItem));
    const calls = output.filter((item) => item.type === "function_call");
    heard.push({
      text,
      calls: calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) as unknown })),
      finish: status === "completed" ? (calls.length > 0 ? "tool_calls" : "stop") : status,
      input: usage.input_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      output: usage.output_tokens,
    });
    return calls;
  };
  for (const call of await ask()) {
    input.push({ type: "function_call_output", call_id: call.call_id, output: resultOf(call.name) });
  }
  await ask();
  input.push({ role: "user", content: THANKS });
  await ask();
  return heard;
}

interface JsonObject {
  type: "object";
  properties: Record<string, Record<string, unknown>>;
  required: string[];
  additionalProperties: false;
}

/** The SDK runs the tools and goes on by itself, by Responses. */
const agents: Converse = async (target, model) => {
  setTracingDisabled(true);
  const openAIClient = new OpenAI({ baseURL: `${target.url}/v1`, apiKey: target.key, maxRetries: 0 });
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) });
  const tools = TOOL_NAMES.map((name) => {
    const { description, parameters, result } = TOOLS[name];
    const schema: JsonObject = { ...parameters, required: [...parameters.required], additionalProperties: false };
    return agentTool({ name, description, parameters: schema, strict: true, execute: () => result });
  });
  const agent = new Agent({ name: "Guide", instructions: SYSTEM, model, tools, modelSettings: { maxTokens: 2_000 } });
  const heard: Heard[] = [];
  const ask = async (input: AgentInputItem[]): Promise<AgentInputItem[]> => {
    const result = await runner.run(agent, input, { stream: true });
    await result.completed;
    for (const { output, usage } of result.rawResponses) {
      const calls = output.filter((item) => item.type === "function_call");
      const parts = output.flatMap((item) => ("role" in item && item.role === "assistant" ? item.content : []));
      heard.push({
        text: parts.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
        calls: calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) as unknown })),
        finish: calls.length > 0 ? "tool_calls" : "stop",
        input: usage.inputTokens,
        cached: usage.inputTokensDetails[0]?.["cached_tokens"] ?? 0,
        output: usage.outputTokens,
      });
    }
    return result.history;
  };
  const content = [
    { type: "input_text" as const, text: QUESTION },
    { type: "input_image" as const, image: PICTURE },
  ];
  const history = await ask([{ role: "user", content }]);
  await ask([...history, user(THANKS)]);
  return heard;
};

const langchain: Converse = (target, model) => converseByLangChain(target, model, false);

const langchainResponses: Converse = (target, model) => converseByLangChain(target, model, true);

async function converseByLangChain(target: Target, model: string, useResponsesApi: boolean): Promise<Heard[]> {
  const chat = new ChatOpenAI({
    useResponsesApi,
    model,
    apiKey: target.key,
    configuration: { baseURL: `${target.url}/v1` },
    maxTokens: 2_000,
    maxRetries: 0,
  }).bindTools(OPENAI_TOOLS);
  const messages: BaseMessage[] = [
    new SystemMessage(SYSTEM),
    new HumanMessage({
      content: [
        { type: "text", text: QUESTION },
        { type: "image_url", image_url: { url: PICTURE } },
      ],
    }),
  ];
  const heard: Heard[] = [];
  const ask = async (): Promise<AIMessageChunk> => {
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await chat.stream(messages)) chunks.push(chunk);
    const answer = chunks.reduce((sum, chunk) => sum.concat(chunk));
    const usage = answer.usage_metadata as UsageMetadata | undefined;
    if (!usage) throw new Error("the answer has no usage");
    messages.push(answer);
    const calls = answer.tool_calls ?? [];
    const { finish_reason: finish, status } = answer.response_metadata as { finish_reason?: string; status?: string };
    heard.push({
      text: answer.text,
      calls: calls.map(({ name, args }) => ({ name, args: args as unknown })),
      finish: status === "completed" ? (calls.length > 0 ? "tool_calls" : "stop") : String(finish ?? status),
      input: usage.input_tokens,
      cached: usage.input_token_details?.cache_read ?? 0,
      output: usage.output_tokens,
    });
    return answer;
  };
  for (const { id = "", name } of (await ask()).tool_calls ?? []) {
    messages.push(new ToolMessage({ tool_call_id: id, content: resultOf(name) }));
  }
  await ask();
  messages.push(new HumanMessage(THANKS));
  await ask();
  return heard;
}

/** Anthropic's own words for why an answer ended. */
const STOPS: Readonly<Record<string, string>> = { end_turn: "stop", tool_use: "tool_calls" };

const anthropic: Converse = async (target, model) => {
  const client = new Anthropic({ baseURL: target.url, apiKey: target.key, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [
    {
      role: "user",
      content: [
        { type: "text", text: QUESTION },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      ],
    },
  ];
  const tools = TOOL_NAMES.map((name): Anthropic.Tool => {
    const { description, parameters } = TOOLS[name];
    return { name, description, input_schema: { ...parameters, required: [...parameters.required] } };
  });
  const heard: Heard[] = [];
  const ask = async (): Promise<Anthropic.ToolUseBlock[]> => {
    const stream = client.messages.stream({ model, max_tokens: 2_000, system: SYSTEM, messages, tools });
    const { content, stop_reason: reason, usage } = await stream.finalMessage();
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    const cached = usage.cache_read_input_tokens ?? 0;
    heard.push({
      text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      calls: calls.map(({ name, input }) => ({ name, args: input })),
      finish: STOPS[reason ?? ""] ?? String(reason),
      input: usage.input_tokens + cached,
      cached,
      output: usage.output_tokens,
    });
    return calls;
  };
  const results = (await ask()).map(({ id, name }): Anthropic.ToolResultBlockParam => ({
    type: "tool_result",
    tool_use_id: id,
    content: resultOf(name),
  }));
  messages.push({ role: "user", content: results });
  await ask();
  messages.push({ role: "user", content: THANKS });
  await ask();
  return heard;
};

export const CLIENTS = {
  openai,
  openaiResponses,
  openaiStored,
  vercel,
  vercelResponses,
  vercelStateless,
  vercelAnthropic,
  agents,
  langchain,
  langchainResponses,
  anthropic,
} as const satisfies Readonly<Record<string, Converse>>;
export type ClientName = keyof typeof CLIENTS;
