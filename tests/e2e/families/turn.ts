/** One turn of a model before a family puts it into its own words: what it says, and the facts of what it took. */

export interface Turn {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly Call[];
  /** Said aloud as well; only OpenAI's family does. */
  readonly spoken?: Spoken;
  readonly took: Took;
  /** Service tier that served it, by OpenAI's name. Default: `default`. */
  readonly tier?: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, string | boolean>>;
}

export interface Spoken {
  readonly transcript: string;
  /** Base64. */
  readonly data: string;
}

/** Tokens in kinds that do not overlap, whatever a family counts into what; what is absent is zero. */
export interface Took {
  readonly input?: number;
  readonly cached?: number;
  readonly write5m?: number;
  readonly write1h?: number;
  readonly image?: number;
  readonly audio?: number;
  /** Part of `cached` that is pictures. */
  readonly cachedImage?: number;
  /** Thoughts included. */
  readonly output?: number;
  /** Part of `output` that is thinking. */
  readonly thinking?: number;
  readonly audioOutput?: number;
}

/** Accuracy with which a turn reports its usage; every name but the first is a fault or a habit seen in the wild. */
export type Report =
  | "honest"
  | "missing"
  | "zero"
  | "negative"
  | "fractional"
  | "huge"
  | "beyond"
  | "late"
  | "growing"
  /** Cache writes without how long they last. */
  | "unsplit"
  /** Honest, while the pieces of calls made together alternate in a stream. */
  | "interleaved";

/** A turn as one family's bytes. */
export interface Told {
  readonly body: string;
  /** Events of a stream with their line ends. */
  readonly events: readonly string[];
  /** This event comes a moment after the one before it, in a packet of its own. */
  readonly silenceBefore?: number;
}

/** More than any model of the tests can write, and yet a number that somebody could mean. */
export const BEYOND_TOKENS = 5_000_000;

/** @returns zero for what is absent */
export function whole(took: Took): Required<Took> {
  return { ...NOTHING, ...took };
}

const NOTHING: Required<Took> = {
  input: 0,
  cached: 0,
  write5m: 0,
  write1h: 0,
  image: 0,
  audio: 0,
  cachedImage: 0,
  output: 0,
  thinking: 0,
  audioOutput: 0,
};

/** Words with the space before them: joined they are the text again. */
export function words(text: string | undefined): string[] {
  return text?.match(/\s*\S+|\s+$/gu) ?? [];
}

/** The lists one after the other, or an item of each in turn. */
export function joined<T>(lists: readonly (readonly T[])[], isInterleaved: boolean): T[] {
  if (!isInterleaved) return lists.flat();
  const length = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** Pieces of a few characters, never inside one. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}
