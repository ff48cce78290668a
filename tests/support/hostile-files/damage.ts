/** Damages valid files in the way that transfers and disks do: truncates them, or changes bytes. */

/** Yields truncated copies of the file, cut at about `count` positions. The first copy is empty. */
export function* cutsOf(file: Uint8Array, count: number): Generator<Uint8Array> {
  const step = Math.max(1, Math.floor(file.length / count));
  for (let length = 0; length < file.length; length += step) yield file.subarray(0, length);
}

/**
 * Returns a copy of a file with `changes` changed bytes, all among its first `within` bytes.
 * @param random returns numbers from 0 to 1
 */
export function spoilt(file: Uint8Array, random: () => number, changes: number, within = file.length): Buffer {
  const copy = Buffer.from(file);
  for (let change = 0; change < changes; change += 1) {
    copy[Math.floor(random() * Math.min(within, copy.length))] = Math.floor(random() * 256);
  }
  return copy;
}
