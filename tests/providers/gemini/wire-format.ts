/** Gemini's answers and stream events as JSON text. Checked against recorded traffic. */
import type { AnswerBehaviour, Members, MockToolCall } from "../engine/behaviour.ts";
import { bent, contentOf, countTokens, words } from "../engine/content.ts";
import type { Content, EmbedBody, GenerateBody } from "./check-request.ts";

interface Answer {
  readonly thoughts: readonly string[];
  readonly pieces: readonly string[];
  readonly calls: readonly MockToolCall[];
  readonly finishReason: string | undefined;
  readonly outputTokens: number;
  /** `usageMetadata` once so many tokens were written; undefined when there is none. */
  usageOf(outputTokens: number): unknown;
  readonly tail: Members;
}

/** The whole answer, one candidate for each that was asked for. */
export function answerText(behaviour: AnswerBehaviour, body: GenerateBody, model: string, sequence: number): string {
  const answer = compose(behaviour, body, model, sequence);
  const usageMetadata = answer.usageOf(answer.outputTokens);
  if (behaviour.blockReason !== undefined) {
    return JSON.stringify({ promptFeedback: { blockReason: behaviour.blockReason }, usageMetadata, ...answer.tail });
  }
  const parts = [
    ...(answer.thoughts.length > 0 ? [{ text: answer.thoughts.join(""), thought: true }] : []),
    ...(answer.pieces.length > 0 ? [{ text: answer.pieces.join("") }] : []),
    ...answer.calls.map(callPart),
  ];
  const candidates = indexes(body).map((index) => ({
    content: { parts, role: "model" },
    finishReason: answer.finishReason,
    index,
    ...(body.generationConfig?.responseLogprobs ? { logprobsResult: logprobs(answer.pieces) } : {}),
  }));
  return JSON.stringify({ candidates, usageMetadata, ...answer.tail });
}

/** The JSON texts of a stream's events: thoughts, text word by word, calls, and an empty text with the finish reason. */
export function eventTexts(behaviour: AnswerBehaviour, body: GenerateBody, model: string, sequence: number): string[] {
  const answer = compose(behaviour, body, model, sequence);
  if (behaviour.blockReason !== undefined) return [answerText(behaviour, body, model, sequence)];
  const isLate = behaviour.usage === "late";
  const steps: Members[][] = [
    ...answer.thoughts.map((text) => [{ text, thought: true }]),
    ...answer.pieces.map((text) => [{ text }]),
    ...(behaviour.partialArguments
      ? answer.calls.flatMap(partialCall).map((part) => [part])
      : answer.calls.map((call) => [callPart(call)])),
    [{ text: "" }],
  ];
  const texts = steps.map((parts, at) => {
    const isLast = at === steps.length - 1;
    const candidates = indexes(body).map((index) => ({
      content: { parts, role: "model" },
      ...(isLast ? { finishReason: answer.finishReason } : {}),
      index,
    }));
    const written = isLast ? answer.outputTokens : Math.min(at + 1, answer.outputTokens);
    return JSON.stringify({ candidates, usageMetadata: isLate ? undefined : answer.usageOf(written), ...answer.tail });
  });
  const late = JSON.stringify({ usageMetadata: answer.usageOf(answer.outputTokens), ...answer.tail });
  return isLate ? [...texts, late] : texts;
}

/** Vectors that tell which text and length they are for; no usage unless it is asked for. */
export function embeddingsText(behaviour: AnswerBehaviour, requests: readonly EmbedBody[], isBatch: boolean): string {
  const embeddings = requests.map((request) => ({ values: vector(request) }));
  const usage = behaviour.usage === undefined ? {} : { usageMetadata: behaviour.usage };
  return JSON.stringify(isBatch ? { embeddings, ...usage } : { embedding: embeddings[0], ...usage });
}

/** First number: length of the text. The rest counts down. */
function vector({ content, outputDimensionality = 4 }: EmbedBody): number[] {
  const text = content.parts.map((part) => part.text ?? "").join("");
  return Array.from({ length: outputDimensionality }, (_, at) => (at === 0 ? text.length : 1 / (at + 1)));
}

function compose(behaviour: AnswerBehaviour, body: GenerateBody, model: string, sequence: number): Answer {
  const { contents, generationConfig = {}, tools = [] } = body;
  const asked = contents.findLast(({ role, parts }) => role === "user" && parts.some((part) => part.text));
  const { pieces, toolCalls, isCut } = contentOf(behaviour, {
    text: asked ? textOf(asked) : "",
    tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
    tokensMax: generationConfig.maxOutputTokens,
  });
  const thoughts = words(behaviour.thoughts);
  const prompt = countTokens(contents.map(textOf).join("\n"));
  const spoken = toolCalls.map((call) => call.name + call.arguments).join("");
  return {
    thoughts: generationConfig.thinkingConfig?.includeThoughts === true ? thoughts : [],
    pieces,
    calls: toolCalls,
    finishReason:
      behaviour.finishReason === undefined ? (isCut ? "MAX_TOKENS" : "STOP") : (behaviour.finishReason ?? undefined),
    outputTokens: pieces.length + countTokens(spoken),
    usageOf: (written) => usageMetadata(behaviour, prompt, written, thoughts.length),
    tail: { modelVersion: model, responseId: `mock-response-${sequence}` },
  };
}

function usageMetadata(
  { usage: report = "honest" }: AnswerBehaviour,
  prompt: number,
  written: number,
  thoughts: number,
): unknown {
  if (typeof report === "object") return report;
  if (report === "missing") return undefined;
  // Seen of provisioned throughput: until the last event nothing but this.
  if (report === "empty") return { trafficType: "ON_DEMAND" };
  const { input, output } = bent(report, prompt, written);
  return {
    promptTokenCount: input,
    ...(output === 0 ? {} : { candidatesTokenCount: output }),
    totalTokenCount: typeof output === "number" ? Number(input) + output + (report === "zero" ? 0 : thoughts) : output,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  };
}

function callPart({ id, name, arguments: text, signature }: MockToolCall): Members {
  return {
    functionCall: { ...(id === undefined ? {} : { id }), name, ...(text === "" ? {} : { args: argumentsOf(text) }) },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/** Gemini sends no text: arguments that are no JSON are none. */
function argumentsOf(text: string): Members {
  try {
    return JSON.parse(text) as Members;
  } catch {
    return {};
  }
}

/** Each argument in two halves, the second without `willContinue`, as recorded. */
function partialCall({ name, arguments: text, signature }: MockToolCall): Members[] {
  const piece = (jsonPath: string, stringValue: string, willContinue: boolean): Members => ({
    functionCall: {
      partialArgs: [{ jsonPath, stringValue, ...(willContinue ? { willContinue } : {}) }],
      willContinue: true,
    },
  });
  return [
    {
      functionCall: { name, willContinue: true },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
    ...Object.entries(argumentsOf(text) as Record<string, string>).flatMap(([member, value]) => [
      piece(`$.${member}`, value.slice(0, 2), true),
      piece(`$.${member}`, value.slice(2), false),
    ]),
    { functionCall: {} },
  ];
}

function logprobs(tokens: readonly string[]): Members {
  const entries = tokens.map((token, at) => ({ token, tokenId: at, logProbability: -0.5 * (at + 1) }));
  return {
    chosenCandidates: entries,
    topCandidates: entries.map((entry) => ({ candidates: [entry, { ...entry, token: "other", logProbability: -9 }] })),
  };
}

function textOf({ parts }: Content): string {
  return parts.map((part) => part.text ?? "").join("");
}

function indexes({ generationConfig }: GenerateBody): number[] {
  return Array.from({ length: generationConfig?.candidateCount ?? 1 }, (_, index) => index);
}
