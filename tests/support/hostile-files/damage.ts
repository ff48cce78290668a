/** Damages valid files as transfers and disks do: truncated, or with changed bytes. */

/** Yields the file truncated at about `count` places, starting with an empty one. */
export function* cutsOf(file: Uint8Array, count: number): Generator<Uint8Array> {
  const step = Math.max(1, Math.floor(file.length / count));
  for (let length = 0; length < file.length; length += step) yield file.subarray(0, length);
}

/** Returns a copy with `changes` changed bytes among the first `within`. @param random returns 0 to 1 */
export function spoilt(file: Uint8Array, random: () => number, changes: number, within = file.length): Buffer {
  const copy = Buffer.from(file);
  for (let change = 0; change < changes; change += 1) {
    copy[Math.floor(random() * Math.min(within, copy.length))] = Math.floor(random() * 256);
  }
  return copy;
}
