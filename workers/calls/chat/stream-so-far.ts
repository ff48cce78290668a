/** Records the part of a stream that the client has received, so that another model can continue it. */
import type { ChatDelta } from "../../providers/provider.ts";

import type { Rendering } from "./render.ts";

type Members = Readonly<Record<string, unknown>>;

export class StreamSoFar {
  text = "";
  private isPlain = true;

  /** Wraps a renderer, and records the deltas that it renders. */
  watch(rendering: Rendering): Rendering {
    return {
      ...rendering,
      chunk: (delta) => {
        this.take(delta);
        return rendering.chunk(delta);
      },
    };
  }

  /** True if only text has arrived, and the answer has not ended. */
  get canContinue(): boolean {
    return this.isPlain && this.text.trim() !== "";
  }

  private take({ choices }: ChatDelta): void {
    for (const choice of choices) {
      const delta = (choice["delta"] ?? {}) as Members;
      this.text += contentText(delta["content"]);
      const isOther = OTHER.some((name) => delta[name] !== undefined && delta[name] !== null && delta[name] !== "");
      if (isOther || typeof choice["finish_reason"] === "string") this.isPlain = false;
    }
  }
}

/** Members of a delta whose content no other model can continue. */
const OTHER = ["tool_calls", "refusal", "audio"] as const;

/** Returns the text of a message's content: a plain text, or the joined texts of its content blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as (Members | null)[])
    .map((block) => block?.["text"])
    .filter((text) => typeof text === "string")
    .join("");
}
