/** Bitrates that the Vorbis encoder accepts: it refuses those far from what a sample rate needs (tried with libvorbis 1.3.7). */

/** Highest rate it is given: it has no settings beyond. */
export const VORBIS_RATE_MAX = 48_000;

interface Range {
  readonly rateMax: number;
  readonly mono: readonly [min: number, max: number];
  readonly stereo: readonly [min: number, max: number];
}

/** Kilobits a second, by rate. */
const RANGES: readonly Range[] = [
  { rateMax: 8_000, mono: [16, 40], stereo: [16, 80] },
  { rateMax: 12_000, mono: [16, 48], stereo: [16, 96] },
  { rateMax: 16_000, mono: [16, 96], stereo: [24, 192] },
  { rateMax: 24_000, mono: [16, 80], stereo: [32, 160] },
  { rateMax: 32_000, mono: [32, 160], stereo: [40, 320] },
  { rateMax: VORBIS_RATE_MAX, mono: [32, 240], stereo: [48, 320] },
];

/** The bitrate nearest to the wanted one that is taken, in kilobits a second. */
export function vorbisBitrate(wanted: number, rate: number, channels: number): number {
  const range = RANGES.find(({ rateMax }) => rate <= rateMax) ?? RANGES.at(-1);
  const [min, max] = (channels === 1 ? range?.mono : range?.stereo) ?? [wanted, wanted];
  return Math.min(max, Math.max(min, wanted));
}
