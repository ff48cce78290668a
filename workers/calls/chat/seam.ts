/**
 * Joins a stream with its continuation by another model: text that this model repeats at its beginning is removed. Such models rarely
 * repeat text, so only an unambiguous repetition is removed. Pure.
 */
import type { Rendering } from "./render.ts";
import { contentText } from "./stream-so-far.ts";

/** Longest recognised repetition, in characters; pieces are buffered until they differ from the text. */
const REPEATED_MAX = 4_096;
/** Shortest recognised repetition, in characters: shorter ones occur by chance. */
const REPEATED_MIN = 16;

export class Seam {
  private readonly tail: string;
  private readonly isWhole: boolean;
  private held = "";
  private isPast = false;
  /** Text that the new model repeats first, and the number of its characters that have arrived. */
  private expected: string;
  private cameCharacters = 0;

  /**
   * @param text full text that the client has received
   * @param expected text that this model is known to repeat first, of any length
   */
  constructor(text: string, expected = "") {
    this.expected = expected;
    this.tail = text.slice(-REPEATED_MAX);
    this.isWhole = text.length <= REPEATED_MAX;
  }

  /** Returns the new part of the model's next piece; a piece that may repeat the text is buffered until that is decided. */
  add(piece: string): string {
    if (this.isPast) return piece;
    this.held += this.expected === "" ? piece : this.unexpected(piece);
    if (this.held === "") return "";
    return this.tail.includes(this.held) ? "" : this.end();
  }

  /** Returns the new part of all buffered text. */
  end(): string {
    // An expected repetition that broke off is not new text either.
    const { held } = this;
    this.expected = "";
    this.isPast = true;
    this.held = "";
    return held.slice(this.repeated(held));
  }

  /** Returns the part of a piece after the expected text, which is dropped when it, or other text, has arrived. */
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
    // A short text that the model started again; a single word may repeat by chance.
    if (this.isWhole && /\S\s+\S/.test(text) && held.startsWith(text))
      return text.length + spaces(held, text.length, tail);
    return spaces(held, 0, tail);
  }
}

/** Counts the white space of `held` at `from` that repeats the end of the text: the model received the text without it. */
function spaces(held: string, from: number, text: string): number {
  const end = text.slice(text.trimEnd().length);
  let count = 0;
  while (count < end.length && held[from + count] === end[count]) count += 1;
  return count;
}

/**
 * Returns the rendering of a continuing model: into the same message, without repeated text.
 * @param rendering rendering of the model that began the stream, with its id and model
 * @param text full text that the client has received
 * @param repeated text that the new model repeats first; empty if it continues at once
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

/** Members of a delta that are omitted: a message has one role, and its reasoning precedes its text. */
const LEFT_OUT = ["role", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;
