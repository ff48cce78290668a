/** OpenAI's chat objects as JSON text: `chat.completion` and the chunks of a stream. Checked against recorded traffic. */
import type { ChatBehaviour, MockToolCall } from "./behaviour.ts";
import type { ChatRequestBody } from "./check-request.ts";
import type { TokenCounts } from "./usage.ts";
import { countTokens, usageText } from "./usage.ts";

const DEFAULT_TEXT = "A local answer, word by word, with an é and a 🙂 in it.";

export interface Answer {
  /** The text as streamed, piece by piece. */
  readonly pieces: readonly string[];
  readonly toolCalls: readonly Required<MockToolCall>[];
  readonly finishReason: string | null;
  readonly counts: TokenCounts;
  readonly head: { readonly id: string; readonly created: number; readonly model: string };
}

/** Decides what is answered; how it travels is not its concern. A token limit of the request is obeyed. */
export function composeAnswer(behaviour: ChatBehaviour, request: ChatRequestBody, sequence: number): Answer {
  const toolCalls = composeToolCalls(behaviour, request);
  const all = toolCalls.length > 0 || behaviour.refusal !== undefined ? [] : splitPieces(behaviour, request);
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Infinity;
  const pieces = all.slice(0, limit);
  const natural = toolCalls.length > 0 ? "tool_calls" : pieces.length < all.length ? "length" : "stop";
  const spoken =
    toolCalls.map((call) => call.name + call.arguments).join("") +
    (behaviour.refusal ?? "") +
    (behaviour.reasoning ?? "");
  return {
    pieces,
    toolCalls,
    finishReason: behaviour.finishReason === undefined ? natural : behaviour.finishReason,
    counts: {
      prompt: countTokens(request.messages.map(messageText).join("\n")),
      completion: pieces.length + countTokens(spoken),
    },
    head: { id: `chatcmpl-mock${sequence}`, created: 1_770_933_892 + sequence, model: request.model },
  };
}

/** The plain answer, one choice per requested `n`. */
export function completionText(behaviour: ChatBehaviour, request: ChatRequestBody, answer: Answer): string {
  const message = {
    role: "assistant",
    content: answer.toolCalls.length > 0 || behaviour.refusal !== undefined ? null : answer.pieces.join(""),
    ...(behaviour.reasoning === undefined ? {} : { reasoning_content: behaviour.reasoning }),
    refusal: behaviour.refusal ?? null,
    ...(answer.toolCalls.length > 0 ? { tool_calls: answer.toolCalls.map(wholeCall) } : {}),
    annotations: [],
  };
  const choices = indexes(request).map((index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: answer.finishReason,
  }));
  const json = JSON.stringify({
    ...answer.head,
    object: "chat.completion",
    choices,
    service_tier: "default",
    system_fingerprint: "fp_mock",
  });
  return withUsage(json, usageText(behaviour.usage ?? "honest", answer.counts));
}

/** The JSON texts of a stream's frames, without `[DONE]`: role, content or tool pieces, finish, usage. */
export function chunkTexts(behaviour: ChatBehaviour, request: ChatRequestBody, answer: Answer): string[] {
  const wantsUsage = request.stream_options?.include_usage === true;
  const report = behaviour.usage ?? "honest";
  const head = {
    ...answer.head,
    object: "chat.completion.chunk",
    service_tier: "default",
    system_fingerprint: "fp_mock",
  };
  const frames: string[] = [];
  const push = (delta: Record<string, unknown>, finish_reason: string | null, running: string | null): void => {
    for (const index of indexes(request)) {
      const json = JSON.stringify({ ...head, choices: [{ index, delta, logprobs: null, finish_reason }] });
      frames.push(wantsUsage ? withUsage(json, running) : json);
    }
  };
  for (const [at, delta] of deltas(behaviour, answer).entries()) {
    const growing =
      report === "growing" ? usageText("honest", { prompt: answer.counts.prompt, completion: at }) : "null";
    push(delta, null, growing);
  }
  if (answer.finishReason !== null) push({}, answer.finishReason, "null");
  const usage = usageText(report, answer.counts);
  if (wantsUsage && usage !== null) frames.push(withUsage(JSON.stringify({ ...head, choices: [] }), usage));
  return frames;
}

/** A content chunk of the same stream, for streams that do not end. */
export function contentChunk(answer: Answer, content: string): string {
  return JSON.stringify({
    ...answer.head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
  });
}

function deltas(behaviour: ChatBehaviour, answer: Answer): Record<string, unknown>[] {
  if (behaviour.refusal !== undefined) {
    return [
      { role: "assistant", content: null, refusal: "" },
      ...words(behaviour.refusal).map((refusal) => ({ refusal })),
    ];
  }
  const reasoning = words(behaviour.reasoning ?? "").map((reasoning_content) => ({ reasoning_content }));
  if (answer.toolCalls.length > 0) {
    return [
      { role: "assistant", content: null, refusal: null },
      ...reasoning,
      ...toolDeltas(answer.toolCalls, behaviour.interleaved ?? false),
    ];
  }
  return [
    { role: "assistant", content: "", refusal: null },
    ...reasoning,
    ...answer.pieces.map((content) => ({ content })),
  ];
}

function toolDeltas(calls: readonly Required<MockToolCall>[], interleaved: boolean): Record<string, unknown>[] {
  const queues = calls.map((call, index) => [
    { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } },
    ...(call.arguments.match(/[\s\S]{1,5}/gu) ?? []).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  const ordered = interleaved
    ? Array.from({ length: Math.max(...queues.map((queue) => queue.length)) }, (_, at) =>
        queues.flatMap((queue) => queue[at] ?? []),
      ).flat()
    : queues.flat();
  return ordered.map((delta) => ({ tool_calls: [delta] }));
}

function wholeCall(call: Required<MockToolCall>): Record<string, unknown> {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function composeToolCalls(behaviour: ChatBehaviour, request: ChatRequestBody): Required<MockToolCall>[] {
  const calls =
    behaviour.toolCalls === "requested"
      ? (request.tools ?? []).map((tool) => ({ name: tool.function.name, arguments: "{}" }))
      : (behaviour.toolCalls ?? []);
  return calls.map((call, index) => ({ id: `call_mock${index}`, ...call }));
}

function splitPieces(behaviour: ChatBehaviour, request: ChatRequestBody): string[] {
  if (behaviour.tokens !== undefined)
    return Array.from({ length: behaviour.tokens }, (_, index) => (index === 0 ? "tok" : " tok"));
  const lastUser = request.messages.findLast((message) => message.role === "user");
  const said = /^say ([\s\S]*)$/i.exec(lastUser ? messageText(lastUser) : "")?.[1];
  return words(behaviour.text ?? said ?? DEFAULT_TEXT);
}

/** Words with the space before them: joined they are the text again. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}

function messageText(message: ChatRequestBody["messages"][number]): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

function indexes(request: ChatRequestBody): number[] {
  return Array.from({ length: request.n ?? 1 }, (_, index) => index);
}

/** Adds the member as text, since some reports are no JSON. */
function withUsage(json: string, usage: string | null): string {
  return usage === null ? json : `${json.slice(0, -1)},"usage":${usage}}`;
}
