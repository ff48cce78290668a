/** Weighted rendezvous hashing: distributes calls over alternatives by weight, without memory and without messages. */

/**
 * Returns the rank of an alternative; the lowest rank is first. A rank depends only on its own alternative. Therefore adding, removing or
 * weighting an alternative moves only calls to or from this alternative.
 * @param name name of the alternative
 * @param seed calls with the same seed have the same order
 */
export function rendezvousRank(name: string, weight: number, seed: string): number {
  const hash = Bun.hash.xxHash64(`${name}\n${seed}`);
  const unit = (Number(hash >> 11n) + 1) / 2 ** 53;
  return -Math.log(unit) / weight;
}
