/**
 * Byte-pair tokenizer for o200k_base. The vocabulary file and the splitting pattern are from `gpt-tokenizer`; the merging is ours. That
 * package's entry point takes 1.0 s and 66 MB to load (ours: 0.1 s and 30 MB). It throws on texts that spell a special token and takes
 * quadratic time on long unbroken words. It also shares one stateful decoder between calls. tests/shared/tokens.test.ts compares both.
 */

import { runWhole } from "#shared/base/time-slices.ts";

import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** A section of a text with whole characters, and the number of tokens that end in it. */
export interface TokenPiece {
  readonly text: string;
  readonly tokens: number;
}

export interface Tokenizer {
  /** Counts the tokens of a text. Spellings of special tokens, such as `<|endoftext|>`, count as ordinary text. */
  count(text: string): number;
  /** Counts like `count`, but yields after fractions of a millisecond so that other calls on the thread can run. */
  counting(text: string): Generator<void, number>;
  /** Splits the first `tokensMax` tokens of a text into sections. Sections end between tokens and never split a character. */
  pieces(text: string, tokensMax?: number): TokenPiece[];
}

/**
 * Maximum bytes of a word that is merged at once. A longer word is split first, because merging takes quadratic time. A split can change
 * the count by one.
 */
const WORD_BYTES_MAX = 256;

/**
 * Maximum bytes that one count merges exactly, about 0.3 s of CPU time. Further words outside the vocabulary count at the average of the
 * earlier ones. Prose of 1 MB stays below; 1 MB of random letters does not.
 */
const MERGED_BYTES_MAX = 262_144;

/** Characters of the longest token in the vocabulary: 128 blanks. It limits the text that must be read per requested token. */
const TOKEN_CHARACTERS_MAX = 128;

/** Maximum number of characters that are counted. Further characters count with the average tokens per character of the counted ones. */
const COUNTED_CHARACTERS_MAX = 1_048_576;

/**
 * Number of counting steps between two yields (STEPS_PER_STOP). Looking up a word is one step; merging a part of a word counts as
 * PART_STEPS steps.
 */
const STEPS_PER_STOP = 2_048;
const PART_STEPS = 256;

const ASCII_ONLY = /^[\0-\x7f]*$/;

let loading: Promise<Tokenizer> | undefined;

/** Returns the tokenizer of this process. The first call loads it; later calls share it. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<Tokenizer> {
  const { O200K_TOKEN_SPLIT_REGEX } = await import("gpt-tokenizer/encodingParams/constants");
  const file = await Bun.file(new URL(import.meta.resolve("gpt-tokenizer/data/o200k_base.tiktoken"))).bytes();
  return createTokenizer(readVocabulary(file), new RegExp(O200K_TOKEN_SPLIT_REGEX));
}

function createTokenizer(vocabulary: Vocabulary, wordPattern: RegExp): Tokenizer {
  const mergePart = createMerge(vocabulary);
  const merge = (bytes: string): number[] => {
    const ends: number[] = [];
    let offset = 0;
    for (const part of partsOf(bytes)) {
      mergePart(part, offset, ends);
      offset += part.length;
    }
    return ends;
  };

  function* counting(text: string): Generator<void, number> {
    if (text.length <= COUNTED_CHARACTERS_MAX) return yield* countingWhole(text);
    const beginning = yield* countingWhole(text.slice(0, COUNTED_CHARACTERS_MAX));
    return Math.ceil((beginning * text.length) / COUNTED_CHARACTERS_MAX);
  }

  function* countingWhole(text: string): Generator<void, number> {
    const isAscii = ASCII_ONLY.test(text);
    let whole = 0;
    let merged = 0;
    let mergedBytes = 0;
    let averagedBytes = 0;
    let steps = 0;
    for (let from = 0; ;) {
      // Another text may have been counted since the last yield.
      wordPattern.lastIndex = from;
      if (!wordPattern.test(text)) break;
      const word = text.slice(from, wordPattern.lastIndex);
      from = wordPattern.lastIndex;
      steps += 1;
      const bytes = isAscii ? word : toBytes(word);
      if (vocabulary.rankOf(bytes) >= 0) whole += 1;
      else {
        const part = bytes.slice(0, Math.max(0, MERGED_BYTES_MAX - mergedBytes));
        for (const piece of partsOf(part)) {
          merged += mergePart(piece, 0, []).length;
          steps += PART_STEPS;
          if (steps < STEPS_PER_STOP) continue;
          steps = 0;
          yield;
        }
        mergedBytes += part.length;
        averagedBytes += bytes.length - part.length;
      }
      if (steps < STEPS_PER_STOP) continue;
      steps = 0;
      yield;
    }
    return whole + merged + (averagedBytes === 0 ? 0 : Math.ceil((averagedBytes * merged) / mergedBytes));
  }

  function pieces(text: string, tokensMax = Infinity): TokenPiece[] {
    const start = text.slice(0, (tokensMax + 1) * TOKEN_CHARACTERS_MAX);
    const isAscii = ASCII_ONLY.test(start);
    const found: TokenPiece[] = [];
    let remainingTokens = tokensMax;
    for (const word of start.match(wordPattern) ?? []) {
      if (remainingTokens <= 0) break;
      const bytes = isAscii ? word : toBytes(word);
      if (vocabulary.rankOf(bytes) >= 0) {
        found.push({ text: word, tokens: 1 });
        remainingTokens -= 1;
      } else remainingTokens -= cutAtCharacters(word, merge(bytes), remainingTokens, found);
    }
    return found;
  }

  return { count: (text) => runWhole(counting(text)), counting, pieces };
}

/** Converts a word to one character per UTF-8 byte, as in the vocabulary's keys. */
function toBytes(word: string): string {
  return ASCII_ONLY.test(word) ? word : Buffer.from(word, "utf8").toString("latin1");
}

/** Yields parts of a word's bytes that are short enough for merging, split between characters. */
function* partsOf(bytes: string): Generator<string> {
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(bytes.length, from + WORD_BYTES_MAX);
    while (to < bytes.length && isContinuation(bytes.charCodeAt(to))) to -= 1;
    yield bytes.slice(from, to);
    from = to;
  }
}

/** Returns a function that appends the end offsets of a word part's tokens, plus `offset`, to `ends`. */
function createMerge(vocabulary: Vocabulary): (part: string, offset: number, ends: number[]) => number[] {
  const starts = new Int32Array(WORD_BYTES_MAX + 1);
  const pairRanks = new Float64Array(WORD_BYTES_MAX + 1);

  return (part, offset, ends) => {
    let parts = part.length;
    for (let i = 0; i <= parts; i += 1) starts[i] = i;
    const rankAt = (i: number): number => {
      const rank = i + 2 > parts ? -1 : vocabulary.rankOf(part, starts[i], starts[i + 2]);
      return rank < 0 ? Infinity : rank;
    };
    for (let i = 0; i < parts; i += 1) {
      pairRanks[i] =
        i + 1 < parts ? vocabulary.pairRanks[(part.charCodeAt(i) << 8) | part.charCodeAt(i + 1)]! : Infinity;
    }
    while (parts > 1) {
      let best = 0;
      let bestRank = Infinity;
      for (let i = 0; i < parts - 1; i += 1) {
        const rank = pairRanks[i]!;
        if (rank < bestRank) {
          bestRank = rank;
          best = i;
        }
      }
      if (bestRank === Infinity) break;
      parts -= 1;
      for (let i = best + 1; i <= parts; i += 1) {
        starts[i] = starts[i + 1]!;
        pairRanks[i] = pairRanks[i + 1]!;
      }
      pairRanks[best] = rankAt(best);
      if (best > 0) pairRanks[best - 1] = rankAt(best - 1);
    }
    for (let i = 1; i <= parts; i += 1) ends.push(offset + starts[i]!);
    return ends;
  };
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/**
 * Splits a word into sections and appends them to `found`. A section ends where a token and a character end together. A token that ends
 * inside a character belongs to the same section as the next token. A character that needs more tokens than remain is dropped, because a
 * model that stops inside it has no visible output.
 * @returns number of used tokens
 */
function cutAtCharacters(word: string, tokenEnds: readonly number[], tokensMax: number, found: TokenPiece[]): number {
  let from = 0;
  let to = 0;
  let byteTo = 0;
  let used = 0;
  let emitted = 0;
  for (const end of tokenEnds) {
    if (used >= tokensMax) break;
    used += 1;
    while (byteTo < end) {
      const point = word.codePointAt(to) ?? 0;
      byteTo += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      to += point < 0x10000 ? 1 : 2;
    }
    if (byteTo > end) continue;
    found.push({ text: word.slice(from, to), tokens: used - emitted });
    from = to;
    emitted = used;
  }
  return used;
}
