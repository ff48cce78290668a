/** Decides which tools to call, and with what. */
import type { Facts } from "./facts.ts";
import { fillSchema } from "./fill-schema.ts";
import { asRecord, own } from "./json.ts";
import { isEndpoint, namesTogether, takesName } from "./match-property.ts";
import type { Random } from "./random.ts";
import type { SandboxRequest, SandboxTool } from "./request.ts";
import { isStopWord, nameWords, paddedWords, singular } from "./words.ts";

export interface ToolCall {
  readonly id: string;
  readonly type: SandboxTool["type"];
  readonly name: string;
  /** A function's arguments as JSON text, or what a custom tool is given. */
  readonly input: string;
}

/** What an answer is made from besides the request. */
export interface Material {
  readonly facts: Facts;
  readonly random: Random;
  readonly prose: () => string;
}

const CALLS_MAX = 16;
const SAME_STEM = 6;
const CALL_ORDER = /\b(?:call|use|using|invoke|run)\b[^.!?\n]+/i;
const FORBIDS_TOOLS =
  /\b(?:do\s+not|don't|without|never)\s+(?:use|using|call|calling)\s+(?:\S+\s+){0,2}(?:tools?|functions?)\b/i;

/**
 * The calls the sandbox makes in answer to a request; empty when it answers in text.
 * @param isDictated the prompt says word for word what to answer, which outweighs a tool that merely seems to fit
 */
export function planCalls(request: SandboxRequest, isDictated: boolean, material: Material): readonly ToolCall[] {
  const { toolChoice, parallelCalls, messages } = request;
  const role = messages.at(-1)?.role;
  if (toolChoice.mode === "none" || role === "tool" || role === "function") return [];
  const { names } = toolChoice;
  const tools = names === null ? request.tools : request.tools.filter((tool) => names.has(tool.name));
  const chosen = chooseTools(tools, toolChoice.mode === "required", isDictated, material.facts);
  const calls = chosen.flatMap((tool) => callTool(tool, material));
  return calls.slice(0, parallelCalls ? CALLS_MAX : 1);
}

function chooseTools(
  tools: readonly SandboxTool[],
  isRequired: boolean,
  isDictated: boolean,
  facts: Facts,
): readonly SandboxTool[] {
  const [first] = tools;
  if (first === undefined) return [];
  const named = tools.filter((tool) => isNamed(tool, facts));
  if (!isRequired && FORBIDS_TOOLS.test(facts.text)) return [];
  if (named.length > 0) return inOrderOfMention(named, facts);
  if (!isRequired && isDictated) return [];
  const fitting = chooseFitting(tools, facts);
  return fitting.length > 0 || !isRequired ? fitting : [first];
}

/** A tool called `time` is not meant by every prompt with the word in it, only after "call" or "use"; `get_time` is. */
function isNamed({ name }: SandboxTool, facts: Facts): boolean {
  if (!facts.mentions(name)) return false;
  if (nameWords(name).length > 1) return true;
  const order = CALL_ORDER.exec(facts.text);
  return order !== null && paddedWords(order[0]).includes(paddedWords(name));
}

function inOrderOfMention(tools: readonly SandboxTool[], facts: Facts): readonly SandboxTool[] {
  const text = paddedWords(facts.text);
  const place = (tool: SandboxTool): number => text.indexOf(paddedWords(tool.name));
  return tools.toSorted((a, b) => place(a) - place(b));
}

interface Fit {
  readonly tool: SandboxTool;
  /** Telling words of the tool's name that occur in the prompt. */
  readonly nameHits: readonly string[];
  readonly score: number;
}

/** Tools that share telling words with the prompt; of tools that share the same ones, the best. */
function chooseFitting(tools: readonly SandboxTool[], facts: Facts): readonly SandboxTool[] {
  const spoken = [...new Set(paddedWords(facts.text).trim().split(" "))].map(singular);
  const fits = tools
    .map((tool) => fitOf(tool, spoken, facts))
    .filter((fit) => fit.score >= 2)
    .toSorted((a, b) => b.score - a.score);
  const chosen: Fit[] = [];
  for (const fit of fits) {
    const known = new Set(chosen.flatMap((other) => other.nameHits));
    if (chosen.length === 0 || fit.nameHits.some((word) => !known.has(word))) chosen.push(fit);
  }
  return chosen.map((fit) => fit.tool).toSorted((a, b) => tools.indexOf(a) - tools.indexOf(b));
}

function fitOf(tool: SandboxTool, spoken: readonly string[], facts: Facts): Fit {
  const words = nameWords(tool.name).map(singular);
  const telling = words.some((word) => !isStopWord(word)) ? words.filter((word) => !isStopWord(word)) : words;
  const isSpoken = (word: string): boolean => spoken.some((other) => isSameStem(word, other));
  const nameHits = telling.filter(isSpoken);
  const described = new Set(nameWords(tool.description).map(singular));
  const hits = [...described].filter((word) => word.length > 3 && !isStopWord(word) && isSpoken(word));
  const isCalculator = /calculat|math|arithmetic|expression/i.test(`${tool.name} ${tool.description}`);
  const sums = isCalculator && facts.arithmetic() !== undefined ? 2 : 0;
  return { tool, nameHits, score: 3 * nameHits.length + hits.length + sums };
}

/** `calculate` and `calculator`, `translate` and `translation`. */
function isSameStem(a: string, b: string): boolean {
  return a === b || (a.length >= SAME_STEM && b.length >= SAME_STEM && a.slice(0, SAME_STEM) === b.slice(0, SAME_STEM));
}

function callTool(tool: SandboxTool, material: Material): readonly ToolCall[] {
  const { facts, random } = material;
  const together = spreadsNames(tool) ? namesTogether(facts).length : 1;
  const inputs = new Set<string>();
  for (let focus = 0; focus < Math.min(Math.max(together, 1), CALLS_MAX); focus += 1) {
    inputs.add(inputFor(tool, focus, material));
  }
  return [...inputs].map((input) => ({ id: `call_${random.characters(24)}`, type: tool.type, name: tool.name, input }));
}

function inputFor(tool: SandboxTool, focus: number, material: Material): string {
  if (tool.type === "custom") return material.facts.query();
  if (tool.parameters === undefined) return "{}";
  return JSON.stringify(fillSchema(tool.parameters, { ...material, optional: "mentioned", focus })) ?? "{}";
}

/** True when a list of names asks for a call each: one text property takes a name, and none takes the whole list. */
function spreadsNames(tool: SandboxTool): boolean {
  const parameters = asRecord(tool.parameters);
  const properties = Object.entries(asRecord(own(parameters, "properties"))).map(
    ([name, schema]) => [name, asRecord(schema)] as const,
  );
  if (properties.some(([, schema]) => own(schema, "type") === "array")) return false;
  const takers = properties.filter(
    ([name, schema]) => own(schema, "type") === "string" && own(schema, "enum") === undefined && takesName(name),
  );
  return takers.length > 0 && takers.filter(([name]) => isEndpoint(name)).length < 2;
}
