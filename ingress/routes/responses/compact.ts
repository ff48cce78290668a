/** Compacts a conversation: a model summarizes it, so that a new conversation can start from the summary. */
import type {
  ModelResponse,
  ResponseCompaction,
  ResponsesContentPart,
  ResponsesCustomCall,
  ResponsesFunctionCall,
  ResponsesItem,
} from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { openSummary, sealSummary } from "#shared/responses/sealed.ts";
import { writtenText } from "#shared/responses/text.ts";

import { servedForm, UNREADABLE_SUMMARY } from "./foreign-items.ts";
import { runOf } from "./image-items.ts";
import { foundText, type PlacedItem, textIn } from "./items.ts";

/** Instructions for the model that writes the summary. */
export const COMPACT_INSTRUCTIONS =
  "You are given the transcript of a conversation between a user and an assistant. Write a summary from which the assistant can go on " +
  "without the transcript: what the user wants, decisions and why, facts, names, numbers and results of tools that still " +
  "matter, and what is still to be done. Write the summary alone, in the language of the conversation.";

/**
 * Returns the whole conversation as one text, so that the model summarizes it instead of continuing it.
 * @throws ApiError for a conversation without items
 */
export function transcriptOf(items: readonly PlacedItem[], instructions: string | null | undefined): PlacedItem {
  const turns = items.flatMap(({ item }) => turnOf(item) ?? []);
  if (turns.length === 0) {
    throw new ApiError("invalid_request", "Expected a conversation, got no items.", { param: "input" });
  }
  const head = instructions == null || instructions === "" ? [] : [`Instructions: ${instructions}`];
  const content = [...head, ...turns].join("\n\n");
  return { item: { type: "message", role: "user", content }, from: "input" };
}

function turnOf(item: ResponsesItem): string | undefined {
  switch (item.type) {
    case "function_call":
      return `Assistant called ${titleOf(item)}: ${item.arguments}`;
    case "custom_tool_call":
      return `Assistant called ${titleOf(item)}: ${item.input}`;
    case "tool_search_call":
      return `Assistant searched for tools: ${JSON.stringify(item.arguments ?? {})}`;
    case "tool_search_output":
      return `Result: ${foundText(item)}`;
    case "function_call_output":
    case "custom_tool_call_output":
      return `Result: ${textOf(item.output)}`;
    case "sluice_call":
      return `Assistant called ${item.name}: ${item.arguments}\n\nResult: ${item.output}`;
    case "image_generation_call":
      return turnOf(runOf(item, 0));
    case "reasoning":
    case "item_reference":
    case "additional_tools":
      return undefined;
    case "compaction":
      return `Earlier: ${openSummary(item.encrypted_content) ?? UNREADABLE_SUMMARY}`;
    case undefined:
    case "message":
      return `${item.role}: ${textOf(item.content)}`;
    default: {
      const served = servedForm(item, 0);
      return served && turnOf(served);
    }
  }
}

function titleOf({ namespace, name }: ResponsesFunctionCall | ResponsesCustomCall): string {
  return namespace == null ? name : `${name} of ${namespace}`;
}

function textOf(content: string | readonly ResponsesContentPart[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (part.type === "input_image") return "[picture]";
      if (part.type === "input_file") return `[file ${part.filename ?? ""}]`;
      return textIn(part);
    })
    .join("\n");
}

/** Builds the compaction from the model's response, which contains the summary. @throws ApiError if the model has written no summary */
export function compactionOf(response: ModelResponse): ResponseCompaction {
  const summary = writtenText(response);
  if (summary.trim() === "" || !response.usage) {
    throw new ApiError("upstream_error", "The model returned no summary.", { shouldRetry: false });
  }
  const { id, created_at, usage } = response;
  const item = {
    id: id.replace(/^resp_/, "cmp_"),
    type: "compaction" as const,
    encrypted_content: sealSummary(summary),
  };
  return { id, object: "response.compaction", created_at, output: [item], usage };
}
