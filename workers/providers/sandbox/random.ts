/** Creates repeatable random choices. Equal seeds produce equal sequences on every machine. */

export interface Random {
  /** Returns an integer from 0 to `bound` - 1. */
  below(bound: number): number;
  pick<T>(options: readonly [T, ...T[]]): T;
  /** Returns a random text of letters and digits, as in ids. */
  characters(length: number): string;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Creates a generator with the mulberry32 algorithm. Its 32 bits of state are sufficient for choosing phrases and ids. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  const below = (bound: number): number => next() % bound;
  return {
    below,
    pick: (options) => options[below(options.length)] ?? options[0],
    characters: (length) => Array.from({ length }, () => ALPHABET.charAt(below(ALPHABET.length))).join(""),
  };
}

/** Hashes a text with xxHash32. The algorithm is published, so seeds do not depend on the version of the runtime. */
export function hashText(text: string, seed = 0): number {
  return Bun.hash.xxHash32(text, seed);
}
