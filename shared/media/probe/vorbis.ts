/** Vorbis I: packets last as long as two of its block sizes say, and the mode of a packet says which. */
import { corrupt, type Cursor } from "./facts.ts";
import type { PacketClock } from "./packets.ts";

/** Bytes at the end of the setup that are read for its modes: 64 of them, and the framing bit, have fewer. */
export const VORBIS_TAIL_BYTES = 400;

/** One mode, their number, and what every setup has before it. */
const MODES_BITS_MIN = 97;

/**
 * Bits of a sample of one channel. Encoders come to 5.7 at their best quality; what is more cannot be the audio that the
 * packets claim, and lasts longer.
 */
const BITS_MAX = 8;

interface VorbisHead {
  readonly sampleRate: number;
  readonly channels: number;
  readonly blocks: readonly [number, number];
}

/** @param at where the identification begins */
export function vorbisHead({ view, length }: Cursor, at: number): VorbisHead | undefined {
  if (at + 30 > length) return undefined;
  const exponents = view.getUint8(at + 28);
  return {
    channels: view.getUint8(at + 11),
    sampleRate: view.getUint32(at + 12, true),
    blocks: [2 ** (exponents & 15), 2 ** (exponents >> 4)],
  };
}

/** @param setup the third packet, or its end of `VORBIS_TAIL_BYTES` */
export function vorbisClock({ sampleRate, channels, blocks }: VorbisHead, setup: Uint8Array): PacketClock {
  const modes = modesOf(setup);
  const modeBits = 32 - Math.clz32(modes.length - 1);
  let former: number | undefined;
  return ({ bytes }, at, end) => {
    const first = bytes[at] ?? 1;
    // An odd one is a head.
    if (at >= end || (first & 1) !== 0) return 0;
    const block = blocks[modes[(first >> 1) & ((1 << modeBits) - 1)] ?? 0];
    const samples = former === undefined ? 0 : (former + block) / 4;
    former = block;
    return Math.max(samples, ((end - at) * 8) / (BITS_MAX * channels)) / sampleRate;
  };
}

/**
 * Index of each mode's block size. Modes are read backwards, as the codebooks before them do not state their length: a mode
 * is one bit, two numbers of 16 bits that are 0, and a mapping below 64; the number of modes stands before the first.
 */
function modesOf(setup: Uint8Array): readonly (0 | 1)[] {
  let left = setup.length * 8;
  const take = (bits: number): number => {
    let value = 0;
    for (let index = 0; index < bits; index += 1) {
      left -= 1;
      value = value * 2 + (((setup[left >> 3] ?? 0) >> (left & 7)) & 1);
    }
    return value;
  };
  // One bit ends it all.
  do if (left <= MODES_BITS_MIN) throw corrupt("has no Vorbis modes");
  while (take(1) === 0);
  const modes: (0 | 1)[] = [];
  let found: readonly (0 | 1)[] | undefined;
  while (left >= MODES_BITS_MIN && modes.length < 64) {
    if (take(8) > 63 || take(16) !== 0 || take(16) !== 0) break;
    modes.unshift(take(1) as 0 | 1);
    const before = left;
    if (take(6) + 1 === modes.length) found = [...modes];
    left = before;
  }
  if (found === undefined) throw corrupt("has no Vorbis modes");
  return found;
}
