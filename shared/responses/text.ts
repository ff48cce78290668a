/** Words of a response. */
import type { ModelResponse } from "#schemas/generated/types.ts";

/** All text that the model has written; refusals and reasoning are none. */
export function writtenText({ output }: ModelResponse): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}
