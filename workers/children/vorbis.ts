/** Selects bitrates that the Vorbis encoder accepts. It rejects bitrates that do not suit the sample rate (tested with libvorbis 1.3.7). */

/** Highest sample rate that the Vorbis encoder supports, in hertz. The encoder has no settings above it. */
export const VORBIS_RATE_MAX = 48_000;

interface Range {
  readonly rateMax: number;
  readonly mono: readonly [min: number, max: number];
  readonly stereo: readonly [min: number, max: number];
}

/** Accepted bitrates in kbit/s, by sample rate and number of channels. */
const RANGES: readonly Range[] = [
  { rateMax: 8_000, mono: [16, 40], stereo: [16, 80] },
  { rateMax: 12_000, mono: [16, 48], stereo: [16, 96] },
  { rateMax: 16_000, mono: [16, 96], stereo: [24, 192] },
  { rateMax: 24_000, mono: [16, 80], stereo: [32, 160] },
  { rateMax: 32_000, mono: [32, 160], stereo: [40, 320] },
  { rateMax: VORBIS_RATE_MAX, mono: [32, 240], stereo: [48, 320] },
];

/** Returns the bitrate that the encoder accepts and that is nearest to the requested one, in kbit/s. */
export function vorbisBitrate(wanted: number, rate: number, channels: number): number {
  const range = RANGES.find(({ rateMax }) => rate <= rateMax) ?? RANGES.at(-1);
  const [min, max] = (channels === 1 ? range?.mono : range?.stereo) ?? [wanted, wanted];
  return Math.min(max, Math.max(min, wanted));
}
