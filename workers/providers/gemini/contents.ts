/**
 * Converts OpenAI's messages to `systemInstruction` and `contents`. Adjacent messages of one role become one turn. Tool results are a
 * separate turn, since Gemini requires exactly the results after the calls.
 */
import type { AssistantMessage, ChatMessage, UserContentBlock } from "#schemas/generated/types.ts";

import { textIn, isMembers, type Members, parseObject } from "../json.ts";
import { placeInstructions, reminder } from "../late-instructions.ts";

import { encodedPart, mediaPart } from "./media.ts";
import { invalid, unsupported } from "./rejected.ts";

/**
 * Replaces the signature of a call that the client lost, or that another model made. Without a signature, models that sign their calls
 * reject the next turn. Source: ai.google.dev/gemini-api/docs/thought-signatures.
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

interface Turn {
  readonly kind: "user" | "model" | "results";
  readonly parts: Members[];
}

export interface Conversation {
  readonly systemInstruction?: { readonly parts: readonly Members[] };
  readonly contents: readonly { readonly role: "user" | "model"; readonly parts: readonly Members[] }[];
}

/**
 * @param needsSignatures true if the model rejects unsigned calls of the current turn
 * @throws ProviderError `rejected` with the message
 */
export function readConversation(messages: readonly ChatMessage[], needsSignatures: boolean): Conversation {
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

/** Returns the non-empty texts, because Gemini rejects an empty one. */
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

/** Reads the signature from where Google's OpenAI-compatible endpoint puts it, and where stock clients therefore return it. */
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

/** Returns a tool result as an object, which Gemini requires; other values are wrapped. */
function resultPart(name: string, text: string, id?: string): Members {
  const response = parseObject(text) ?? { result: text };
  return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
}
