/** Determines durations of Vorbis I packets. A duration depends on two block sizes, which depend on the packet's mode. */
import { corrupt, type Cursor } from "./facts.ts";
import type { PacketClock } from "./packets.ts";

/** Number of bytes at the end of the setup packet that are read to find its modes. 64 modes and the framing bit have fewer. */
export const VORBIS_TAIL_BYTES = 400;

/** Minimum bits of a setup with one mode: the mode, the number of modes, and everything that precedes them in each setup. */
const MODES_BITS_MIN = 97;

/**
 * Maximum bits per sample and channel. Encoders use up to 5.7 at their best quality. A packet with more bits cannot have the duration that
 * it claims, and counts as longer.
 */
const BITS_MAX = 8;

interface VorbisHead {
  readonly sampleRate: number;
  readonly channels: number;
  readonly blocks: readonly [number, number];
}

/** Reads the identification header of a Vorbis stream; undefined if it is invalid. @param at offset of the identification header */
export function vorbisHead({ view, length }: Cursor, at: number): VorbisHead | undefined {
  if (at + 30 > length) return undefined;
  const exponents = view.getUint8(at + 28);
  return {
    channels: view.getUint8(at + 11),
    sampleRate: view.getUint32(at + 12, true),
    blocks: [2 ** (exponents & 15), 2 ** (exponents >> 4)],
  };
}

/** Returns the clock of a Vorbis stream. @param setup the third packet, or its last `VORBIS_TAIL_BYTES` */
export function vorbisClock({ sampleRate, channels, blocks }: VorbisHead, setup: Uint8Array): PacketClock {
  const modes = modesOf(setup);
  const modeBits = 32 - Math.clz32(modes.length - 1);
  let former: number | undefined;
  return ({ bytes }, at, end) => {
    const first = bytes[at] ?? 1;
    // An odd first byte marks a header.
    if (at >= end || (first & 1) !== 0) return 0;
    const block = blocks[modes[(first >> 1) & ((1 << modeBits) - 1)] ?? 0];
    const samples = former === undefined ? 0 : (former + block) / 4;
    former = block;
    return Math.max(samples, ((end - at) * 8) / (BITS_MAX * channels)) / sampleRate;
  };
}

/**
 * Returns the index of each mode's block size. Modes are read backwards, because the codebooks before them do not state their length. A
 * mode is one bit, two 16-bit zeros, and a mapping below 64. The number of modes precedes the first mode.
 */
function modesOf(setup: Uint8Array): readonly (0 | 1)[] {
  let remainingBits = setup.length * 8;
  const take = (bits: number): number => {
    let value = 0;
    for (let index = 0; index < bits; index += 1) {
      remainingBits -= 1;
      value = value * 2 + (((setup[remainingBits >> 3] ?? 0) >> (remainingBits & 7)) & 1);
    }
    return value;
  };
  // The framing bit is last.
  do if (remainingBits <= MODES_BITS_MIN) throw corrupt("has no Vorbis modes");
  while (take(1) === 0);
  const modes: (0 | 1)[] = [];
  let found: readonly (0 | 1)[] | undefined;
  while (remainingBits >= MODES_BITS_MIN && modes.length < 64) {
    if (take(8) > 63 || take(16) !== 0 || take(16) !== 0) break;
    modes.unshift(take(1) as 0 | 1);
    const before = remainingBits;
    if (take(6) + 1 === modes.length) found = [...modes];
    remainingBits = before;
  }
  if (found === undefined) throw corrupt("has no Vorbis modes");
  return found;
}
