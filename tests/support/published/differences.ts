/** Intended differences from the published descriptions, each with its reason. Every other difference is an error. */
import type { DocumentName, Schema } from "./check.ts";

/** Events of OpenAI that Open Responses lacks or names differently. */
export const ONLY_OPENAI: ReadonlySet<string> = new Set([
  "response.reasoning_text.delta",
  "response.reasoning_text.done",
  "response.custom_tool_call_input.delta",
  "response.custom_tool_call_input.done",
  "response.image_generation_call.in_progress",
  "response.image_generation_call.generating",
  "response.image_generation_call.completed",
]);

interface Difference {
  readonly document: DocumentName;
  /** Path from a schema to one of its members; names are separated by slashes. */
  readonly at: string;
  /** Schema accepted in addition to the described one. */
  readonly also: Schema;
  readonly because: string;
}

/** Types of the items of a tool search, and of the items that add tools. */
const SEARCH_ITEMS = ["tool_search_call", "tool_search_output", "additional_tools"];
const NULL: Schema = { type: "null" };
const kind = (type: string): Schema => ({
  type: "object",
  properties: { type: { enum: [type] } },
  required: ["type"],
});

const DIFFERENCES: readonly Difference[] = [
  {
    document: "openai",
    at: "Response/allOf/2/properties/usage",
    also: NULL,
    because: "Open Responses requires the member, null before the end",
  },
  {
    document: "openai",
    at: "ModelResponseProperties/properties/user",
    also: NULL,
    because: "OpenAI's own example of a response has it null, as every member that was not sent",
  },
  {
    document: "openai",
    at: "ResponseError/anyOf/0/properties/code",
    also: { type: "string" },
    because: "the codes are those of our error envelope",
  },
  {
    document: "openai",
    at: "Response/allOf/2/properties/incomplete_details/anyOf/0/properties/reason",
    also: { enum: ["max_rounds", "max_credits"] },
    because: "tools that the service runs have bounds of their own",
  },
  {
    document: "openai",
    at: "Embedding/properties/embedding",
    also: { type: "string" },
    because: "encoding_format base64, which OpenAI describes among the parameters alone",
  },
  ...["first_id", "last_id"].map((name) => ({
    document: "openai" as const,
    at: `ListBatchesResponse/properties/${name}`,
    also: NULL,
    because: "an empty page has no first and no last one, as all lists of the service say",
  })),
  ...["OutputItem", "ConversationItem", "ItemResource"].map((at) => ({
    document: "openai" as const,
    at,
    also: kind("sluice_call"),
    because: "an item of ours: a tool that the service ran",
  })),
  ...["OutputItem", "ConversationItem", "ItemResource"].flatMap((at) =>
    [...SEARCH_ITEMS, "agent_message", "local_shell_call", "web_search_call"].map((type) => ({
      document: "openai" as const,
      at,
      also: kind(type),
      because: "items that the copy leaves out",
    })),
  ),
  ...["namespace", "tool_search"].map((type) => ({
    document: "openai" as const,
    at: "Tool",
    also: kind(type),
    because: "tools that the copy leaves out",
  })),
  { document: "openai", at: "Tool", also: kind("sluice"), because: "a tool of ours" },
  ...["sluice_call", "custom_tool_call", "image_generation_call", ...SEARCH_ITEMS].map((type) => ({
    document: "open-responses" as const,
    at: "ItemField",
    also: kind(type),
    because: "an item of ours, and OpenAI's that Open Responses leaves to each service",
  })),
  ...["sluice", "custom", "image_generation", "namespace", "tool_search"].map((type) => ({
    document: "open-responses" as const,
    at: "Tool",
    also: kind(type),
    because: "the tools of those items",
  })),
  ...["ResponseResource/properties/tool_choice", "AllowedToolChoice/properties/tools/items"].flatMap((at) =>
    ["sluice", "custom", "image_generation", "tool_search"].map((type) => ({
      document: "open-responses" as const,
      at,
      also: kind(type),
      because: "a choice of those tools",
    })),
  ),
  {
    document: "open-responses",
    at: "TextField/properties/format",
    also: {
      type: "object",
      properties: { type: { enum: ["json_schema"] }, name: { type: "string" }, schema: { type: "object" } },
      required: ["type", "name", "schema"],
    },
    because:
      "Open Responses wants null for a description that there is none of, which OpenAI refuses, and describes no schema but null",
  },
];

/** Adds the intended differences to the schemas. @throws Error if a difference matches nothing */
export function amend(document: DocumentName, schemas: Record<string, Schema>): void {
  for (const { at, also } of DIFFERENCES.filter((one) => one.document === document)) {
    const names = at.split("/");
    const last = names.pop() ?? "";
    let place: Record<string, unknown> = schemas;
    for (const name of names) place = place[name] as Record<string, unknown>;
    const was = place[last] as Schema | undefined;
    if (!was) throw new Error(`${document} has no ${at}`);
    place[last] = "anyOf" in was ? { ...was, anyOf: [...(was["anyOf"] as Schema[]), also] } : { anyOf: [was, also] };
  }
}
