/** Converts items of a response into the format in which they are stored and listed. Pure. */
import type { ResponsesContentPart, ResponsesInputPart, ResponsesItem } from "#schemas/generated/types.ts";

/** Prefixes of generated item ids, by item type. */
const PREFIXES: Readonly<Record<NonNullable<ResponsesItem["type"]>, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  item_reference: "ref",
  compaction: "cmp",
  sluice_call: "sc",
  image_generation_call: "ig",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  additional_tools: "at",
  agent_message: "am",
  agent_reasoning: "rs",
  apply_patch_call: "apc",
  apply_patch_call_output: "apco",
  code_interpreter_call: "ci",
  compaction_trigger: "item",
  computer_call: "cu",
  computer_call_output: "cuo",
  configuration_update: "item",
  context_compaction: "cmp",
  file_search_call: "fs",
  ghost_snapshot: "item",
  local_shell_call: "lsh",
  local_shell_call_output: "lsho",
  mcp_approval_request: "mcpr",
  mcp_approval_response: "mcpr",
  mcp_call: "mcp",
  mcp_list_tools: "mcpl",
  other: "item",
  program: "prog",
  program_output: "prog",
  shell_call: "sh",
  shell_call_output: "sho",
  web_search_call: "ws",
};

/** True if the item type is known. */
export function isKnownType(type: string): boolean {
  return Object.hasOwn(PREFIXES, type);
}

/**
 * Returns items in the stored format. Each item has an id, messages have content parts, and all members that OpenAI's lists contain are
 * present.
 */
export function storedItems(items: readonly ResponsesItem[], requestId: string): ResponsesItem[] {
  const call = requestId.replaceAll("-", "");
  return items.map((item, at) => storedItem(item, item.id ?? `${PREFIXES[item.type ?? "message"]}_${call}_i${at}`));
}

function storedItem(item: ResponsesItem, id: string): ResponsesItem {
  switch (item.type) {
    case undefined:
    case "message": {
      const { role, content, status } = item;
      const type = role === "assistant" ? "output_text" : "input_text";
      const parts = typeof content === "string" ? [{ type, text: content } as const] : content;
      const message = { type: "message", id, status: status ?? "completed", content: parts.map(storedPart) } as const;
      return { ...withoutNulls(item), ...message };
    }
    case "function_call":
    case "custom_tool_call":
      return { ...withoutNulls(item), id, status: item.status ?? "completed" };
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = typeof item.output === "string" ? item.output : item.output.map(storedInput);
      return { ...withoutNulls(item), id, status: item.status ?? "completed", output };
    }
    case "reasoning":
      return { ...withoutNulls(item), id };
    default:
      return { ...item, id };
  }
}

function storedPart(part: ResponsesContentPart): ResponsesContentPart {
  switch (part.type) {
    case "output_text":
      return { annotations: [], logprobs: [], ...withoutNulls(part) };
    case "refusal":
      return part;
    default:
      return storedInput(part);
  }
}

function storedInput(part: ResponsesInputPart): ResponsesInputPart {
  return part.type === "input_image" ? { detail: "auto", ...withoutNulls(part) } : withoutNulls(part);
}

/** Removes null members, which mean the same as absent members and are allowed by few schemas. */
function withoutNulls<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as T;
}
