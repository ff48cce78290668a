/** Faults for which Google would refuse a body. Unknown members are refused there, so they are here. */
import type { Members } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { checkImageConfig } from "./images.ts";

export interface Part {
  readonly text?: string;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: object };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: object };
}

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
}

export interface GenerateBody {
  readonly contents: readonly Content[];
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly tools?: readonly { readonly functionDeclarations: readonly { readonly name: string }[] }[];
  readonly generationConfig?: {
    readonly candidateCount?: number;
    readonly maxOutputTokens?: number;
    readonly responseLogprobs?: boolean;
    readonly thinkingConfig?: { readonly includeThoughts?: boolean };
  };
}

export interface EmbedBody {
  readonly model: string;
  readonly content: { readonly parts: readonly Part[] };
  readonly outputDimensionality?: number;
}

const TOP = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"];
const CONFIG = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "stopSequences",
  "seed",
  "frequencyPenalty",
  "presencePenalty",
  "candidateCount",
  "responseLogprobs",
  "logprobs",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "thinkingConfig",
  "responseModalities",
  "imageConfig",
];
const THINKING = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
const DECLARATION = ["name", "description", "parameters", "parametersJsonSchema"];
const PART = ["text", "thought", "thoughtSignature", "inlineData", "functionCall", "functionResponse"];
const DATA = ["inlineData", "functionCall", "functionResponse", "text"];

/** The first fault of a generateContent body, in Google's manner, or null. */
export function checkGenerate(body: unknown): string | null {
  if (!isObject(body)) return "Invalid JSON payload received.";
  return (
    unknownName(body, TOP, "") ??
    unknownName(body["generationConfig"], CONFIG, "generation_config") ??
    unknownName((body["generationConfig"] as Members | undefined)?.["thinkingConfig"], THINKING, "thinking_config") ??
    checkThinking((body["generationConfig"] as Members | undefined)?.["thinkingConfig"]) ??
    checkImageConfig(body["generationConfig"]) ??
    checkTools(body["tools"]) ??
    checkParts(body["systemInstruction"], "system_instruction") ??
    checkContents(body["contents"])
  );
}

/** The first fault of one embedding request, or null. */
export function checkEmbed(body: unknown, model: string): string | null {
  if (!isObject(body)) return "Invalid JSON payload received.";
  const unknown = unknownName(body, ["model", "content", "outputDimensionality", "taskType", "title"], "");
  if (unknown !== null) return unknown;
  if (body["model"] !== `models/${model}`) return "model must match the model in the path";
  return checkParts(body["content"], "content");
}

/** Returns the error of Gemini 3 for calls in the running turn without a signature, or null. */
export function checkSignatures({ contents }: GenerateBody): string | null {
  const from = contents.findLastIndex(({ role, parts }) => role === "user" && parts.some((part) => "text" in part));
  for (const { role, parts } of contents.slice(from + 1)) {
    const first = role === "model" ? parts.find((part) => part.functionCall) : undefined;
    if (first && first.thoughtSignature === undefined) return "Function call is missing a thought_signature.";
  }
  return null;
}

function checkContents(contents: unknown): string | null {
  if (!Array.isArray(contents) || contents.length === 0)
    return "* GenerateContentRequest.contents: contents is not specified";
  let calls = 0;
  for (const [index, content] of (contents as Members[]).entries()) {
    if (!["user", "model"].includes(String(content["role"]))) return "Please use a valid role: user, model.";
    const fault = checkParts(content, `contents[${index}]`);
    if (fault !== null) return fault;
    const parts = content["parts"] as Members[];
    const responses = parts.filter((part) => "functionResponse" in part).length;
    if (responses !== calls) return "Please ensure that the number of function response parts is equal to the calls.";
    calls = parts.filter((part) => "functionCall" in part).length;
  }
  return null;
}

function checkParts(content: unknown, path: string): string | null {
  if (content === undefined) return null;
  const parts = isObject(content) ? content["parts"] : undefined;
  if (!Array.isArray(parts) || parts.length === 0) return `* ${path}.parts: contents.parts must not be empty.`;
  for (const part of parts as Members[]) {
    const unknown = unknownName(part, PART, path);
    if (unknown !== null) return unknown;
    if (DATA.filter((name) => name in part).length !== 1) return `${path}: required oneof field 'data' must have one`;
    const call = part["functionCall"] ?? part["functionResponse"];
    if (call !== undefined && typeof (call as Members)["name"] !== "string") return `${path}: name must not be empty`;
    const response = part["functionResponse"] as Members | undefined;
    if (response && !isObject(response["response"])) return `${path}: response must be an object`;
  }
  return null;
}

function checkTools(tools: unknown): string | null {
  for (const tool of (tools ?? []) as Members[]) {
    const unknown = unknownName(tool, ["functionDeclarations"], "tools[0]");
    if (unknown !== null) return unknown;
    for (const declaration of tool["functionDeclarations"] as Members[]) {
      const fault = unknownName(declaration, DECLARATION, "tools[0].function_declarations[0]");
      if (fault !== null) return fault;
      if ("parameters" in declaration && "parametersJsonSchema" in declaration) return "parameters: set only one";
    }
  }
  return null;
}

function checkThinking(config: unknown): string | null {
  const both = isObject(config) && "thinkingBudget" in config && "thinkingLevel" in config;
  return both ? "You can only set one of thinking budget and thinking level." : null;
}

function unknownName(value: unknown, known: readonly string[], path: string): string | null {
  if (!isObject(value)) return null;
  const name = Object.keys(value).find((key) => !known.includes(key));
  return name === undefined ? null : `Invalid JSON payload received. Unknown name "${name}" at '${path}'`;
}
