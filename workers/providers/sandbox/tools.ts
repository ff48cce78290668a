/** Chooses the tools that the sandbox calls, and their inputs. */
import { createFacts, type Facts, findArithmetic } from "./facts.ts";
import type { SchemaWriter } from "./fill-schema.ts";
import { asRecord, own } from "./json.ts";
import type { Random } from "./random.ts";
import type { SandboxRequest, SandboxTool } from "./request.ts";
import { headAndTail, isStopWord, mentions, nameWords, paddedWords, singular } from "./words.ts";

export interface ToolCall {
  readonly id: string;
  readonly type: SandboxTool["type"];
  readonly name: string;
  /** Arguments of a function as JSON text, or the input of a custom tool. */
  readonly input: string;
}

/** Data from which an answer is created, besides the request. */
export interface Material {
  /** Text of the user's last message. */
  readonly prompt: string;
  /** Returns a new random generator, which produces the same sequence each time. */
  readonly seed: () => Random;
  readonly prose: () => string;
  /** Schema writer, loaded only for requests with tools or a schema; otherwise undefined. */
  readonly schemas: SchemaWriter | undefined;
}

const CALLS_MAX = 16;
const SAME_STEM = 6;
const CALL_ORDER = /\b(?:call|use|using|invoke|run)\b[^.!?\n]+/i;
const CALL_THE_ONE = /\b(?:call|use|invoke|run)\s+(?:the|this|that|your)\s+(?:\p{L}+\s+)?(?:tool|function)\b/iu;
const FORBIDS_TOOLS =
  /\b(?:do\s+not|don't|without|never)\s+(?:use|using|call|calling)\s+(?:\S+\s+){0,2}(?:tools?|functions?)\b/i;

/** Prompts that imply a word without using it. The word occurs in the names of matching tools. */
const MEANT: readonly (readonly [prompt: RegExp, word: string])[] = [
  [/\d\s*(?:\+|plus)\s*-?\d/i, "add"],
  [/\d\s+(?:-|minus)\s+-?\d/i, "subtract"],
  [/\d\s*(?:\*|×|times|multiplied by)\s*-?\d/i, "multiply"],
  [/\d\s+(?:\/|÷|divided by)\s+-?\d/i, "divide"],
  [/\b(?:rain(?:y|ing)?|snow(?:y|ing)?|sunny|cloudy|windy|umbrella|forecast|temperature)\b/i, "weather"],
  [/\b(?:files|folders?)\s+(?:in|of|under)\b/i, "directory"],
];
const SPELLED_ARITHMETIC = /\d\s+(?:plus|minus|times|multiplied by|divided by)\s+-?\d/i;

/**
 * Returns the tool calls for a request; empty if the answer is a text.
 * @param isDictated true if the prompt dictates the answer, which takes precedence over tools that only seem to fit
 */
export function planCalls(request: SandboxRequest, isDictated: boolean, material: Material): readonly ToolCall[] {
  const { toolChoice, parallelCalls, messages } = request;
  const role = messages.at(-1)?.role;
  if (toolChoice.mode === "none" || role === "tool" || role === "function" || request.tools.length === 0) return [];
  const { names } = toolChoice;
  const tools = names === null ? request.tools : request.tools.filter((tool) => names.has(tool.name));
  const prompt = headAndTail(material.prompt);
  const random = material.seed();
  const inputs = chooseTools(tools, toolChoice.mode === "required", isDictated, prompt).flatMap((tool) =>
    inputsFor(tool, createFacts(prompt), material).map((input) => ({ tool, input })),
  );
  return inputs
    .slice(0, parallelCalls ? CALLS_MAX : 1)
    .map(({ tool: { type, name }, input }) => ({ id: `call_${random.characters(24)}`, type, name, input }));
}

function chooseTools(
  tools: readonly SandboxTool[],
  isRequired: boolean,
  isDictated: boolean,
  prompt: string,
): readonly SandboxTool[] {
  if (!isRequired && FORBIDS_TOOLS.test(prompt)) return [];
  const named = tools.filter((tool) => isNamed(tool, prompt));
  const place = (tool: SandboxTool): number => paddedWords(prompt).indexOf(paddedWords(tool.name));
  if (named.length > 0) return named.toSorted((a, b) => place(a) - place(b));
  if (!isRequired && isDictated) return [];
  if (tools.length === 1 && CALL_THE_ONE.test(prompt)) return tools;
  const fitting = chooseFitting(tools, prompt);
  return fitting.length > 0 || !isRequired ? fitting : tools.slice(0, 1);
}

/**
 * Returns true if the prompt names the tool. A one-word name such as `time` counts only after "call" or "use", because many prompts contain
 * the word. A name such as `get_time` always counts.
 */
function isNamed({ name }: SandboxTool, prompt: string): boolean {
  if (nameWords(name).length > 1) return mentions(prompt, name);
  return mentions(CALL_ORDER.exec(prompt)?.[0] ?? "", name);
}

interface Fit {
  readonly tool: SandboxTool;
  /** Content words of the tool's name that occur in the prompt. */
  readonly nameHits: readonly string[];
  readonly score: number;
}

/** Returns the tools whose content words occur in the prompt. Among tools with the same words, only the best is returned. */
function chooseFitting(tools: readonly SandboxTool[], prompt: string): readonly SandboxTool[] {
  const meant = MEANT.filter(([pattern]) => pattern.test(prompt)).map(([, word]) => word);
  const spoken = [...new Set([...paddedWords(prompt).trim().split(" "), ...meant])].map(singular);
  const hasArithmetic = findArithmetic(prompt) !== undefined || SPELLED_ARITHMETIC.test(prompt);
  const fits = tools.map((tool) => fitOf(tool, spoken, hasArithmetic)).filter((fit) => fit.score >= 2);
  const chosen: Fit[] = [];
  for (const fit of fits.toSorted((a, b) => b.score - a.score)) {
    const known = new Set(chosen.flatMap((other) => other.nameHits));
    if (chosen.length === 0 || fit.nameHits.some((word) => !known.has(word))) chosen.push(fit);
  }
  return chosen.map((fit) => fit.tool).toSorted((a, b) => tools.indexOf(a) - tools.indexOf(b));
}

function fitOf(tool: SandboxTool, spoken: readonly string[], hasArithmetic: boolean): Fit {
  const words = nameWords(tool.name).map(singular);
  const contentWords = words.some((word) => !isStopWord(word)) ? words.filter((word) => !isStopWord(word)) : words;
  const isSpoken = (word: string): boolean => spoken.some((other) => isSameStem(word, other));
  const nameHits = contentWords.filter(isSpoken);
  const described = new Set(nameWords(tool.description).map(singular));
  const hits = [...described].filter((word) => word.length > 3 && !isStopWord(word) && isSpoken(word));
  const isCalculator = /calculat|math|arithmetic|expression/i.test(`${tool.name} ${tool.description}`);
  return { tool, nameHits, score: 3 * nameHits.length + hits.length + (isCalculator && hasArithmetic ? 2 : 0) };
}

/** Returns true for words with the same stem, such as `calculate` and `calculator`, or `translate` and `translation`. */
function isSameStem(a: string, b: string): boolean {
  return a === b || (a.length >= SAME_STEM && b.length >= SAME_STEM && a.slice(0, SAME_STEM) === b.slice(0, SAME_STEM));
}

/**
 * Returns the inputs of all calls of a tool. The tool is called once. If it accepts a single name and the prompt has several, it is called
 * once per name.
 */
function inputsFor(tool: SandboxTool, facts: Facts, material: Material): readonly string[] {
  if (tool.type === "custom") return [facts.query];
  const lists = [...facts.names.map(({ names }) => names), facts.quoted];
  const count = takesOneName(tool) ? (lists.find((names) => names.length > 1)?.length ?? 1) : 1;
  return Array.from({ length: Math.min(count, CALLS_MAX) }, (_, at) => {
    const own: Facts = count === 1 ? facts : withOneName(facts, at);
    const value = material.schemas?.fill(tool.parameters ?? {}, { ...material, facts: own, optional: "mentioned" });
    return tool.parameters === undefined ? "{}" : (JSON.stringify(value) ?? "{}");
  });
}

/** Returns the facts with only one member of each list: the member at index `at`. */
function withOneName(facts: Facts, at: number): Facts {
  const one = (list: readonly string[]): readonly string[] => (list.length > 1 ? [list[at % list.length]!] : list);
  return {
    ...facts,
    quoted: one(facts.quoted),
    names: facts.names.map((group) => ({ ...group, names: one(group.names) })),
  };
}

/** Returns true for a tool with one free text and no list. For such a tool, each name in the prompt requires its own call. */
function takesOneName(tool: SandboxTool): boolean {
  const properties = Object.values(asRecord(own(asRecord(tool.parameters), "properties"))).map(asRecord);
  const texts = properties.filter(({ type, enum: members }) => type === "string" && members === undefined);
  return texts.length === 1 && !properties.some(({ type }) => type === "array");
}
