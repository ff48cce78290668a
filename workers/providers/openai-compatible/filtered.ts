/**
 * Answers that a filter stopped before they began. Nothing was said in them, so that they are refusals, and another model
 * may be asked (as with Anthropic and Gemini).
 */
import type { Members } from "../json.ts";
import { ProviderError } from "../provider.ts";

/** Everything a message or delta can say, by the names of our contract and of the servers that add to it. */
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

/** @param message a message or delta whose content is unified already */
function saysAnything(message: Members): boolean {
  return SAID.some((name) => {
    const value = message[name];
    return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  });
}

/** @throws ProviderError `refused` when all choices of a whole answer were filtered before they began */
export function checkFilter(choices: readonly Members[]): void {
  const isFiltered = ({ finish_reason, message }: Members): boolean =>
    finish_reason === "content_filter" && !saysAnything(message as Members);
  if (choices.every(isFiltered)) throw filteredWhole();
}

/**
 * The ends of a stream's choices that were filtered before anything was said. A finish reason would begin the client's
 * answer, so these wait until another choice has something to tell; when none has, the stream is a refusal.
 */
export class FilteredEnds {
  /** True once a choice has said something or ended without a filter. */
  hasOutput = false;
  /** Indexes of the choices whose end waits. */
  private readonly withheld = new Set<number>();

  /** Number of choices whose end is held back. */
  get count(): number {
    return this.withheld.size;
  }

  /** Takes the finish reasons out of an event's pieces that have to wait, and puts back those that waited. */
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
