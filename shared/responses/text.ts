/** Extracts the text of a response. */
import type { ModelResponse } from "#schemas/generated/types.ts";

/** Returns all text written by the model, without refusals and reasoning. */
export function writtenText({ output }: ModelResponse): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}
