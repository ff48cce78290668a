/** Renders the words of a model that goes on with a stream: as the same message, without repeated text. */
import type { Rendering } from "./render.ts";
import { Seam } from "./seam.ts";
import { contentText } from "./stream-so-far.ts";

/**
 * @param rendering that of the model that began the stream, which gives it its id and model
 * @param text all that the client has been sent
 * @param repeated text that the new model repeats first; empty where it goes on at once
 */
export function continuedRendering(rendering: Rendering, text: string, repeated: string): Rendering {
  const seam = new Seam(text, repeated);
  return {
    ...rendering,
    chunk(delta) {
      const { delta: added, finish_reason: reason = null, ...choice } = delta.choices[0] ?? {};
      const { content, ...members } = (added ?? {}) as Record<string, unknown>;
      for (const name of LEFT_OUT) delete members[name];
      const isEnd = typeof reason === "string";
      const fresh = seam.add(contentText(content)) + (isEnd ? seam.end() : "");
      const saying = fresh === "" ? members : { ...members, content: fresh };
      const isSaid = Object.keys(saying).length > 0;
      const said = { ...delta, choices: [{ ...choice, delta: saying, finish_reason: null }] };
      const ended = { ...delta, choices: [{ ...choice, delta: {}, finish_reason: reason }] };
      const texts = [isSaid ? rendering.chunk(said) : "", isEnd ? rendering.chunk(ended) : ""];
      const text = texts.join("");
      return text === "" && texts.includes(undefined) ? undefined : text;
    },
  };
}

/** A message has one role, and its thoughts come before its text. */
const LEFT_OUT = ["role", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;
