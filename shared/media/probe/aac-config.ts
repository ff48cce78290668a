/** Parses the AudioSpecificConfig of AAC (ISO 14496-3, 1.6.2.1). Decoders use it regardless of other fields of the container. */
import type { Cursor } from "./facts.ts";

/** Sampling rates of AAC in hertz, by code. */
export const AAC_RATES: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const ESCAPE = 31;
const RATE_ESCAPE = 15;
const LOW_DELAY = new Set([23, 39]);
const USAC = 42;
/** Audio object types for which a further sampling rate and the extended object type follow in the configuration. */
const EXTENDED = new Set([5, 29]);

/** Returns the duration of one AAC packet, in seconds; undefined for an invalid configuration. @param at offset of the configuration */
export function aacPacketSeconds({ bytes }: Cursor, at: number, end: number): number | undefined {
  let place = at * 8;
  const take = (bits: number): number => {
    let value = 0;
    for (let index = 0; index < bits; index += 1, place += 1) {
      value = value * 2 + (((place < end * 8 ? (bytes[place >> 3] ?? 0) : 0) >> (7 - (place & 7))) & 1);
    }
    return value;
  };
  const takeType = (): number => {
    const type = take(5);
    return type === ESCAPE ? 32 + take(6) : type;
  };
  const takeRate = (): number => {
    const index = take(4);
    return index === RATE_ESCAPE ? take(24) : (AAC_RATES[index] ?? 0);
  };
  let type = takeType();
  const rate = takeRate();
  take(4);
  if (EXTENDED.has(type)) {
    takeRate();
    type = takeType();
  }
  if (type === 0 || rate === 0) return undefined;
  // The shortest possible packet: the exact length is in a nested config.
  if (type === USAC) return 768 / rate;
  const isShort = take(1) === 1;
  if (LOW_DELAY.has(type)) return (isShort ? 480 : 512) / rate;
  return (isShort ? 960 : 1_024) / rate;
}
