/** OpenAI's chat objects as JSON text: `chat.completion` and the chunks of a stream. Checked against recorded traffic. */
import type { AnswerBehaviour, Members, MockToolCall } from "../engine/behaviour.ts";
import { bent, contentOf, countTokens, joined, pieces, words } from "../engine/content.ts";
import type { ChatMessage, ChatRequestBody } from "./check-request.ts";

const TAIL = { service_tier: "default", system_fingerprint: "fp_mock" };

/** The whole answer, one choice per requested `n`; streamed, the data of its events: role, pieces, finish, usage, end. */
export function chatTexts(behaviour: AnswerBehaviour, request: ChatRequestBody, sequence: number): string | string[] {
  const answer = answerOf(behaviour, request, sequence);
  return request.stream === true ? chunkTexts(behaviour, request, answer) : completionText(behaviour, request, answer);
}

interface Answer {
  readonly pieces: readonly string[];
  readonly calls: readonly Members[];
  readonly finishReason: string | null;
  /** Text of the `usage` member, since some reports are no JSON; null when the answer has none. */
  readonly usage: string | null;
  readonly inputTokens: number;
  readonly head: Members;
}

function answerOf(behaviour: AnswerBehaviour, request: ChatRequestBody, sequence: number): Answer {
  const { messages, tools = [] } = request;
  const content = contentOf(behaviour, {
    text: textOf(messages.findLast(({ role }) => role === "user")),
    tools: tools.map((tool) => tool.function.name),
    tokensMax: request.max_completion_tokens ?? request.max_tokens,
  });
  const spoken = content.toolCalls.map((call) => call.name + call.arguments).join("");
  const inputTokens = countTokens(messages.map(textOf).join("\n"));
  const outputTokens =
    content.pieces.length + countTokens(spoken + (behaviour.refusal ?? "") + (behaviour.thoughts ?? ""));
  const natural = content.toolCalls.length > 0 ? "tool_calls" : content.isCut ? "length" : "stop";
  return {
    pieces: content.pieces,
    calls: content.toolCalls.map(callOf),
    finishReason: behaviour.finishReason === undefined ? natural : behaviour.finishReason,
    usage: usageText(behaviour, inputTokens, outputTokens),
    inputTokens,
    head: { id: `chatcmpl-mock${sequence}`, created: 1_770_933_892 + sequence, model: request.model },
  };
}

function completionText(behaviour: AnswerBehaviour, request: ChatRequestBody, answer: Answer): string {
  const { calls, head, finishReason } = answer;
  const message = {
    role: "assistant",
    content: calls.length > 0 || behaviour.refusal !== undefined ? null : answer.pieces.join(""),
    ...(behaviour.thoughts === undefined ? {} : { reasoning_content: behaviour.thoughts }),
    refusal: behaviour.refusal ?? null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    annotations: [],
  };
  const choices = indexes(request).map((index) => ({ index, message, logprobs: null, finish_reason: finishReason }));
  return withUsage({ ...head, object: "chat.completion", choices, ...TAIL }, answer.usage);
}

function chunkTexts(behaviour: AnswerBehaviour, request: ChatRequestBody, answer: Answer): string[] {
  const { finishReason, usage, inputTokens } = answer;
  const wantsUsage = request.stream_options?.include_usage === true;
  const head = { ...answer.head, object: "chat.completion.chunk", ...TAIL };
  const chunks = (delta: Members, finish_reason: string | null, running: string): string[] =>
    indexes(request).map((index) =>
      withUsage({ ...head, choices: [{ index, delta, logprobs: null, finish_reason }] }, wantsUsage ? running : null),
    );
  // vLLM's continuous_usage_stats report with each chunk.
  const running = (at: number): string =>
    behaviour.usage === "growing" ? JSON.stringify(usageMember(inputTokens, at)) : "null";
  return [
    ...deltasOf(behaviour, answer).flatMap((delta, at) => chunks(delta, null, running(at))),
    ...(finishReason === null ? [] : chunks({}, finishReason, "null")),
    ...(wantsUsage && usage !== null ? [withUsage({ ...head, choices: [] }, usage)] : []),
    ...(behaviour.omitEnd ? [] : ["[DONE]"]),
  ];
}

function deltasOf({ refusal, thoughts, interleaved }: AnswerBehaviour, { calls, pieces: said }: Answer): Members[] {
  if (refusal !== undefined) {
    return [{ role: "assistant", content: null, refusal: "" }, ...words(refusal).map((word) => ({ refusal: word }))];
  }
  const reasoning = words(thoughts).map((reasoning_content) => ({ reasoning_content }));
  const content = calls.length > 0 ? toolDeltas(calls, interleaved) : said.map((word) => ({ content: word }));
  return [{ role: "assistant", content: calls.length > 0 ? null : "", refusal: null }, ...reasoning, ...content];
}

function toolDeltas(calls: readonly Members[], isInterleaved?: boolean): Members[] {
  const queues = calls.map((call, index) => {
    const fn = call["function"] as { name: string; arguments: string };
    return [
      { index, ...call, function: { name: fn.name, arguments: "" } },
      ...pieces(fn.arguments).map((piece) => ({ index, function: { arguments: piece } })),
    ];
  });
  return joined<Members>(queues, isInterleaved).map((delta) => ({ tool_calls: [delta] }));
}

function callOf({ id, name, arguments: text }: MockToolCall, index: number): Members {
  return { id: id ?? `call_mock${index}`, type: "function", function: { name, arguments: text } };
}

function usageText(
  { usage: report = "honest" }: AnswerBehaviour,
  inputTokens: number,
  outputTokens: number,
): string | null {
  if (report === "missing" || report === "null") return report === "null" ? "null" : null;
  if (typeof report === "object") return JSON.stringify(report);
  const { input, output } = bent(report, inputTokens, outputTokens);
  const text = JSON.stringify(usageMember(input, output));
  return report === "bare-nan" ? text.replaceAll('"NaN"', "NaN") : text;
}

function usageMember(input: number | string, output: number | string): Members {
  const total = typeof input === "number" && typeof output === "number" ? input + output : "NaN";
  return { prompt_tokens: input, completion_tokens: output, total_tokens: total };
}

function textOf(message: ChatMessage | undefined): string {
  const { content = "" } = message ?? {};
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}

function indexes({ n }: ChatRequestBody): number[] {
  return Array.from({ length: n ?? 1 }, (_, index) => index);
}

function withUsage(members: Members, usage: string | null): string {
  const json = JSON.stringify(members);
  return usage === null ? json : `${json.slice(0, -1)},"usage":${usage}}`;
}
