/** Gemini's answers and stream events as JSON text. Checked against recorded traffic. */
import type { ChatBehaviour, MockCall } from "./behaviour.ts";
import type { Content, EmbedBody, GenerateBody } from "./check-request.ts";
import { countTokens, type TokenCounts, usageMetadata } from "./usage.ts";

const DEFAULT_TEXT = "A local answer, word by word, with an é and a 🙂 in it.";

type Members = Record<string, unknown>;

interface Answer {
  readonly thoughts: readonly string[];
  readonly pieces: readonly string[];
  readonly calls: readonly MockCall[];
  readonly finishReason: string | undefined;
  readonly counts: TokenCounts;
  readonly tail: { readonly modelVersion: string; readonly responseId: string };
}

/** The plain answer, one candidate for each that was asked for. */
export function answerText(behaviour: ChatBehaviour, body: GenerateBody, model: string, sequence: number): string {
  const answer = compose(behaviour, body, model, sequence);
  const usage = { usageMetadata: usageMetadata(behaviour.usage ?? "honest", answer.counts) };
  if (behaviour.blockReason !== undefined) {
    return JSON.stringify({ promptFeedback: { blockReason: behaviour.blockReason }, ...usage, ...answer.tail });
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
  return JSON.stringify({ candidates, ...usage, ...answer.tail });
}

/** The JSON texts of a stream's events: thoughts, text word by word, calls, and an empty text with the finish reason. */
export function eventTexts(behaviour: ChatBehaviour, body: GenerateBody, model: string, sequence: number): string[] {
  const answer = compose(behaviour, body, model, sequence);
  const report = behaviour.usage ?? "honest";
  const isLate = report === "late";
  const usageOf = (counts: TokenCounts): unknown => usageMetadata(report, counts);
  if (behaviour.blockReason !== undefined) {
    const promptFeedback = { blockReason: behaviour.blockReason };
    return [JSON.stringify({ promptFeedback, usageMetadata: usageOf(answer.counts), ...answer.tail })];
  }
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
    const running = { ...answer.counts, candidates: Math.min(at + 1, answer.counts.candidates) };
    const candidates = indexes(body).map((index) => ({
      content: { parts, role: "model" },
      ...(isLast ? { finishReason: answer.finishReason } : {}),
      index,
    }));
    const usage = isLate ? undefined : usageOf(isLast ? answer.counts : running);
    return JSON.stringify({ candidates, usageMetadata: usage, ...answer.tail });
  });
  return isLate ? [...texts, JSON.stringify({ usageMetadata: usageOf(answer.counts), ...answer.tail })] : texts;
}

/** Vectors that tell which text and length they are for; no usage unless it is asked for. */
export function embeddingsText(behaviour: ChatBehaviour, requests: readonly EmbedBody[], isBatch: boolean): string {
  const embeddings = requests.map((request) => ({ values: vector(request) }));
  const usage = behaviour.usage === undefined ? {} : { usageMetadata: behaviour.usage };
  return JSON.stringify(isBatch ? { embeddings, ...usage } : { embedding: embeddings[0], ...usage });
}

/** First number: length of the text. The rest counts down. */
function vector({ content, outputDimensionality = 4 }: EmbedBody): number[] {
  const text = content.parts.map((part) => part.text ?? "").join("");
  return Array.from({ length: outputDimensionality }, (_, at) => (at === 0 ? text.length : 1 / (at + 1)));
}

function compose(behaviour: ChatBehaviour, body: GenerateBody, model: string, sequence: number): Answer {
  const calls = behaviour.toolCalls ?? [];
  const all =
    calls.length > 0 && behaviour.text === undefined ? [] : words(behaviour.text ?? said(body) ?? DEFAULT_TEXT);
  const pieces = all.slice(0, body.generationConfig?.maxOutputTokens ?? Infinity);
  const thoughts = words(behaviour.thoughts ?? "");
  const isShown = body.generationConfig?.thinkingConfig?.includeThoughts === true;
  const natural = pieces.length < all.length ? "MAX_TOKENS" : "STOP";
  return {
    thoughts: isShown ? thoughts : [],
    pieces,
    calls,
    finishReason: behaviour.finishReason === undefined ? natural : (behaviour.finishReason ?? undefined),
    counts: {
      prompt: countTokens(body.contents.map(textOf).join("\n")),
      candidates: pieces.length + countTokens(calls.map((call) => call.name + JSON.stringify(call.args)).join("")),
      thoughts: thoughts.length,
    },
    tail: { modelVersion: model, responseId: `mock-response-${sequence}` },
  };
}

function callPart({ id, name, args, signature }: MockCall): Members {
  return {
    functionCall: { ...(id === undefined ? {} : { id }), name, ...(args === undefined ? {} : { args }) },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/** Each argument in two halves, the second without `willContinue`, as recorded. */
function partialCall({ name, args = {}, signature }: MockCall): Members[] {
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
    ...Object.entries(args).flatMap(([member, text]) => [
      piece(`$.${member}`, text.slice(0, 2), true),
      piece(`$.${member}`, text.slice(2), false),
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

function said({ contents }: GenerateBody): string | undefined {
  const last = contents.findLast(({ role, parts }) => role === "user" && parts.some((part) => part.text));
  return /^say ([\s\S]*)$/i.exec(last ? textOf(last) : "")?.[1];
}

function textOf({ parts }: Content): string {
  return parts.map((part) => part.text ?? "").join("");
}

/** Words with the space before them: joined they are the text again. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}

function indexes({ generationConfig }: GenerateBody): number[] {
  return Array.from({ length: generationConfig?.candidateCount ?? 1 }, (_, index) => index);
}
