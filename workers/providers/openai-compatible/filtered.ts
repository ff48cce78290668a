/**
 * Detects answers that a filter stopped before any content. They count as refusals, so that another model may be called. Anthropic and
 * Gemini are handled the same way.
 */
import type { Members } from "../json.ts";
import { ProviderError } from "../provider.ts";

/** All members of a message or delta that contain content, in our contract and in servers with extensions. */
const SAID = [
  "content",
  "refusal",
  "reasoning_content",
  "reasoning_details",
  "tool_calls",
  "function_call",
  "audio",
  "images",
];

/** Returns true if a message has content. @param message message or delta with unified content */
function saysAnything(message: Members): boolean {
  return SAID.some((name) => {
    const value = message[name];
    return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  });
}

/**
 * Checks whether a response was filtered.
 * @throws ProviderError `refused` when all choices of a complete response were filtered before any content
 */
export function checkFilter(choices: readonly Members[]): void {
  const isFiltered = ({ finish_reason, message }: Members): boolean =>
    finish_reason === "content_filter" && !saysAnything(message as Members);
  if (choices.every(isFiltered)) throw filteredWhole();
}

/**
 * Withholds the finish reasons of choices that were filtered before any content. Sending one would begin the client's answer. They are sent
 * once another choice has content. If no choice has content, the call counts as refused.
 */
export class FilteredEnds {
  /** True once a choice has had content or has ended without a filter. */
  hasOutput = false;
  /** Indexes of choices whose finish reason is withheld. */
  private readonly withheld = new Set<number>();

  /** Number of choices whose finish reason is withheld. */
  get count(): number {
    return this.withheld.size;
  }

  /**
   * Processes the choices of one event, in place. Removes finish reasons that must be withheld. Once there is content, appends the finish
   * reasons that were withheld so far.
   */
  sift(pieces: Members[]): void {
    this.hasOutput ||= pieces.some(isOutput);
    for (const piece of this.hasOutput ? [] : pieces) {
      if (piece["finish_reason"] !== "content_filter") continue;
      piece["finish_reason"] = null;
      this.withheld.add(piece["index"] as number);
    }
    if (!this.hasOutput) return;
    for (const index of this.withheld) pieces.push({ index, delta: {}, finish_reason: "content_filter" });
    this.withheld.clear();
  }
}

export function filteredWhole(): ProviderError {
  return new ProviderError("refused", "the answer was filtered before it began");
}

function isOutput({ finish_reason, delta }: Members): boolean {
  return (finish_reason !== null && finish_reason !== "content_filter") || saysAnything(delta as Members);
}
