/** Whole files that are cut or have other bytes in places, as transfers and disks leave them. */

/** The file cut at about so many places, from nothing on. */
export function* cutsOf(file: Uint8Array, count: number): Generator<Uint8Array> {
  const step = Math.max(1, Math.floor(file.length / count));
  for (let length = 0; length < file.length; length += step) yield file.subarray(0, length);
}

/** A copy of the file with so many of its first bytes changed. @param random from 0 to 1 */
export function spoilt(file: Uint8Array, random: () => number, changes: number, within = file.length): Buffer {
  const copy = Buffer.from(file);
  for (let change = 0; change < changes; change += 1) {
    copy[Math.floor(random() * Math.min(within, copy.length))] = Math.floor(random() * 256);
  }
  return copy;
}
