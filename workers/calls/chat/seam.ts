/**
 * Joins a stream with its continuation by another model: text that this model repeats before it says anything new is left
 * out. As a rule such models do not repeat, so only what cannot be chance is taken for a repetition. Pure.
 */
import type { Rendering } from "./render.ts";
import { contentText } from "./stream-so-far.ts";

/** Longest repetition that is recognised; the pieces of one wait until they differ from the text. */
const REPEATED_MAX = 4_096;
/** Shorter than this the same characters may come twice in any text. */
const REPEATED_MIN = 16;

export class Seam {
  private readonly tail: string;
  private readonly isWhole: boolean;
  private held = "";
  private isPast = false;
  /** Text that the new model's answer begins with, and how much of it has come. */
  private expected: string;
  private cameCharacters = 0;

  /**
   * @param text all that the client has been sent
   * @param expected what this model is known to repeat first, whatever its length
   */
  constructor(text: string, expected = "") {
    this.expected = expected;
    this.tail = text.slice(-REPEATED_MAX);
    this.isWhole = text.length <= REPEATED_MAX;
  }

  /** Returns the new part of the new model's next piece; a piece that may repeat the text is held until that is known. */
  add(piece: string): string {
    if (this.isPast) return piece;
    this.held += this.expected === "" ? piece : this.unexpected(piece);
    if (this.held === "") return "";
    return this.tail.includes(this.held) ? "" : this.end();
  }

  /** Returns the new part of all that is still held. */
  end(): string {
    // What was expected and broke off within is no news either.
    const { held } = this;
    this.expected = "";
    this.isPast = true;
    this.held = "";
    return held.slice(this.repeated(held));
  }

  /** Returns the part of a piece beyond the expected text, which is dropped once it, or something else, has come. */
  private unexpected(piece: string): string {
    const { expected, cameCharacters: at } = this;
    const rest = expected.slice(at, at + piece.length);
    if (piece.startsWith(rest) && (rest.length === piece.length || at + rest.length === expected.length)) {
      this.cameCharacters += rest.length;
      if (this.cameCharacters === expected.length) this.expected = "";
      return piece.slice(rest.length);
    }
    this.expected = "";
    return expected.slice(0, at) + piece;
  }

  private repeated(held: string): number {
    const { tail } = this;
    for (let length = Math.min(held.length, tail.length); length >= REPEATED_MIN; length--) {
      if (tail.endsWith(held.slice(0, length))) return length;
    }
    const text = tail.trimEnd();
    // A short text that was begun anew; a lone word may well come twice.
    if (this.isWhole && /\S\s+\S/.test(text) && held.startsWith(text))
      return text.length + spaces(held, text.length, tail);
    return spaces(held, 0, tail);
  }
}

/** White space that `held` has at `from` and that the text ended in: a model is asked to go on with a text without it. */
function spaces(held: string, from: number, text: string): number {
  const end = text.slice(text.trimEnd().length);
  let count = 0;
  while (count < end.length && held[from + count] === end[count]) count += 1;
  return count;
}

/**
 * Rendering of a model that goes on with a stream: as the same message, without repeated text.
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
