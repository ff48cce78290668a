/**
 * Converts items of a client's own tools, of other agents or of other services into items that a model here can read. An item becomes a
 * call with its result or a text with its author, or is omitted. Items are never rejected, because no retry would remove them. Pure.
 */
import type { ResponsesContentPart, ResponsesForeignItem, ResponsesItem } from "#schemas/generated/types.ts";
import { toFunctionName } from "#shared/responses/tool-names.ts";

/** Text shown in place of a summary that only the service that wrote it can read. */
export const UNREADABLE_SUMMARY =
  "An earlier part of this conversation was summed up by another service. The summary cannot be read here.";

/**
 * Returns the text of a content part that a client stores for its service. Codex stores messages between agents in such parts. OpenAI
 * encrypts them (Fernet) before the client receives them, so encrypted text is replaced by a note. Models here write plain text.
 */
export function unsealedText(text: string): string {
  return /^gAAAA[\w-]*=*$/.test(text) ? "(a part that only its service can read)" : text;
}

/** Maximum length of a text in an item that is shown as JSON, in characters. Longer texts are cut, because they are files. */
const TEXT_MAX = 16_384;
/** Members of an item that only the service that created it can read. */
const SEALED: ReadonlySet<string> = new Set(["encrypted_content", "fingerprint"]);

/** Converts an item of another service; undefined if it has no content for a model. @param number distinguishes calls without an id */
export function servedForm(item: ResponsesForeignItem, number: number): ResponsesItem | undefined {
  const { id, call_id } = item;
  const ids = { id: id ?? null, call_id: call_id ?? null };
  const call = (name: string, value: unknown): ResponsesItem => ({
    type: "function_call",
    ...ids,
    name,
    arguments: textOf(value ?? {}),
  });
  const result = (output: string | ResponsesContentPart[]): ResponsesItem =>
    ({ type: "function_call_output", ...ids, output }) as ResponsesItem;
  // An item that contains both the call and its result.
  const run = (name: string, value: unknown, output: unknown): ResponsesItem => ({
    type: "sluice_call",
    call_id: named(call_id) ?? named(id) ?? `call_${number}`,
    name,
    arguments: textOf(value ?? {}),
    round: null,
    output: output == null || output === "" ? "The result is not part of this conversation." : textOf(output),
  });
  switch (item.type) {
    case "agent_message":
      return agentMessage(item);
    case "context_compaction":
      return { type: "message", role: "user", content: UNREADABLE_SUMMARY };
    case "local_shell_call":
      return call("local_shell", item["action"]);
    case "shell_call":
      return call("shell", item["action"]);
    case "apply_patch_call":
      return call("apply_patch", item["operation"]);
    case "computer_call":
      return call("computer", item["actions"] ?? item["action"]);
    case "program":
      return call("program", { code: item["code"] });
    case "local_shell_call_output":
    case "shell_call_output":
      return result(textOf(item["output"] ?? ""));
    case "apply_patch_call_output":
      return result(textOf(item["output"] ?? item["status"] ?? ""));
    case "program_output":
      return result(textOf(item["result"] ?? ""));
    case "computer_call_output":
      return result(screenOf(item["output"]));
    case "web_search_call":
      return run("web_search", item["action"], undefined);
    case "file_search_call":
      return run("file_search", { queries: item["queries"] }, item["results"]);
    case "code_interpreter_call":
      return run("code_interpreter", { code: item["code"] }, item["outputs"]);
    case "mcp_call": {
      const { server_label: namespace, name, arguments: args, output, error } = item;
      const functionName = toFunctionName({ namespace: named(namespace) ?? "mcp", name: named(name) ?? "tool" });
      return run(functionName, args, output ?? error);
    }
    default:
      return undefined;
  }
}

/** Converts an item of an unknown type into a text message. @param item without a known `type` */
export function unknownForm(item: Readonly<Record<string, unknown>>): ResponsesItem {
  const { type, id, ...members } = item;
  const content = `[${String(type)}] ${textOf(members)}`;
  return { type: "message", role: "assistant", id: named(id) ?? null, content };
}

function agentMessage({ author, recipient, content }: ResponsesForeignItem): ResponsesItem {
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  const texts = parts.flatMap((part) => {
    if (typeof part === "string") return [part];
    const { text, encrypted_content: sealed } = (part ?? {}) as { readonly text?: unknown; readonly encrypted_content?: unknown }; // prettier-ignore
    if (typeof text === "string") return [text];
    return typeof sealed === "string" ? [unsealedText(sealed)] : [];
  });
  const title = `Message from ${nameIn(author)} to ${nameIn(recipient)}:`;
  return { type: "message", role: "user", content: [title, ...texts].join("\n\n") };
}

function nameIn(value: unknown): string {
  return typeof value === "string" && value !== "" ? value : "an agent";
}

function screenOf(output: unknown): string | ResponsesContentPart[] {
  const { image_url: url, file_id: id } = (output ?? {}) as {
    readonly image_url?: unknown;
    readonly file_id?: unknown;
  };
  if (typeof url === "string" && /^(https?:|data:)/i.test(url)) return [{ type: "input_image", image_url: url }];
  const file = named(id);
  return file === undefined ? "(a screenshot that was not kept)" : [{ type: "input_image", file_id: file }];
}

function named(value: unknown): string | undefined {
  return typeof value === "string" && value.length > 0 && value.length <= 128 ? value : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const shorten = (name: string, member: unknown): unknown => {
    if (SEALED.has(name)) return undefined;
    return typeof member === "string" && member.length > TEXT_MAX ? `${member.slice(0, TEXT_MAX)}…` : member;
  };
  return JSON.stringify(value, shorten);
}
