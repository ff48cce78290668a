/** Part of a stream that the client has been sent, kept so that another model can go on with it. */
import type { ChatDelta } from "../../providers/provider.ts";

import type { Rendering } from "./render.ts";

type Members = Readonly<Record<string, unknown>>;

export class StreamSoFar {
  text = "";
  private isPlain = true;

  /** Renders as `rendering` does, and keeps what it renders. */
  watch(rendering: Rendering): Rendering {
    return {
      ...rendering,
      chunk: (delta) => {
        this.take(delta);
        return rendering.chunk(delta);
      },
    };
  }

  /** Text has come and nothing but text, and its end has not. */
  get canGoOn(): boolean {
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

/** Members of a delta that no other model can go on with. */
const OTHER = ["tool_calls", "refusal", "audio"] as const;

/** A text, or the texts among blocks of texts and thoughts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as (Members | null)[])
    .map((block) => block?.["text"])
    .filter((text) => typeof text === "string")
    .join("");
}
