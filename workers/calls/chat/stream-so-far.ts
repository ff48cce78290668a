/** Part of a stream that the client has received, kept so that another model can continue it. */
import type { ChatDelta } from "../../providers/provider.ts";

import type { Rendering } from "./render.ts";

type Members = Readonly<Record<string, unknown>>;

export class StreamSoFar {
  text = "";
  private isPlain = true;

  /** Renders like `rendering`, and records the rendered deltas. */
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

/** Members of a delta that no other model can continue. */
const OTHER = ["tool_calls", "refusal", "audio"] as const;

/** Returns a text, or the joined texts among blocks of texts and reasoning. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as (Members | null)[])
    .map((block) => block?.["text"])
    .filter((text) => typeof text === "string")
    .join("");
}
