/** Random numbers for tests. Their seeds are printed, so that failures can be reproduced. */

/** Returns TEST_SEED or else a random seed, and prints it with the given name. */
export function testSeed(name: string): number {
  const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`${name}: TEST_SEED=${seed}\n`);
  return seed;
}

/** Returns a generator of numbers from 0 to 1 (Mulberry32), which is small and gives the same numbers on every machine. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses the size of a random test. Returns `gate` in `npm test`, and `verify` in `npm run verify`. */
export function sized<T>(gate: T, verify: T): T {
  return process.env["TEST_SUITE"] === "verify" ? verify : gate;
}
