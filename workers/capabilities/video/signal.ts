/** Determines bit depth and colours of a video, and the filters that convert them for the output. For child processes only. */
import type { Stream } from "node-av";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";
import type { StreamColor } from "#workers/children/graph-streams.ts";

export interface VideoSignal extends StreamColor {
  readonly bits: number;
  /** Colour properties as code points of ITU-T H.273; 2 means unspecified. */
  readonly matrix: number;
  readonly isFullRange: boolean;
}

export async function signalOf({ codecpar }: Stream): Promise<VideoSignal> {
  const { lib, constants } = await loadFfmpeg();
  const { colorPrimaries, colorTrc, colorSpace, colorRange, format } = codecpar;
  const sideData = [
    constants.AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    constants.AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
  ].flatMap((type) => {
    const data = codecpar.getCodedSideData(type);
    return data === null ? [] : [{ type, data: Buffer.from(data) }];
  });
  return {
    bits: bitsOf(lib.avGetPixFmtName(format as Parameters<typeof lib.avGetPixFmtName>[0]) ?? ""),
    primaries: colorPrimaries,
    transfer: colorTrc,
    matrix: colorSpace,
    isFullRange: colorRange === constants.AVCOL_RANGE_JPEG,
    ...(sideData.length > 0 ? { sideData } : {}),
  };
}

/** Returns the number of bits per sample. @param format FFmpeg's name of a pixel format, such as `yuv420p10le` */
function bitsOf(format: string): number {
  if (/^(?:rgb|bgr)a?(?:48|64)/.test(format)) return 16;
  const bits = Number(/(\d+)[lb]e$/.exec(format)?.[1] ?? 8);
  return bits > 16 ? 8 : bits;
}

const PQ = 16;
const HLG = 18;
const BT709 = 1;
const SDR = { primaries: BT709, transfer: BT709 } as const;

export function isHdr({ transfer }: Pick<VideoSignal, "transfer">): boolean {
  return transfer === PQ || transfer === HLG;
}

/**
 * Filters that map HDR to the range and colours of BT.709. Diffuse white of PQ (203 cd/m², ITU-R BT.2408) becomes 91 % of white. Brighter
 * areas are compressed. The filter's other curves darken areas above 1,000 cd/m² (measured).
 */
const TONE_MAP = "format=yuv420p10le,tonemapx=tonemap=mobius:desat=0:t=bt709:m=bt709:p=bt709:r=tv:format=yuv420p";

interface OutputSignal {
  readonly filters: readonly string[];
  readonly color: StreamColor;
  /** True to encode with 10 bits per sample. */
  readonly isDeep: boolean;
  readonly notes: readonly string[];
}

/**
 * Returns the bit depth and colours of the output, and the filters that convert a video to them.
 * @param keepsDepth true if the encoder and all operations support 10 bits
 */
export function outputSignalOf(signal: VideoSignal, keepsDepth: boolean): OutputSignal {
  const { bits } = signal;
  const lost = bits > 10 ? [`The picture has 10 instead of ${bits} bits per sample.`] : [];
  if (keepsDepth && bits > 8) return { filters: [], color: signal, isDeep: true, notes: lost };
  if (isHdr(signal)) {
    const from = signal.transfer === PQ ? "PQ" : "HLG";
    const depth = bits > 8 ? `, with 8 instead of ${bits} bits per sample` : "";
    const notes = [`The picture was tone-mapped from HDR (${from}) to SDR (BT.709)${depth}.`];
    return { filters: [TONE_MAP], color: SDR, isDeep: false, notes };
  }
  const notes = bits > 8 ? [`The picture has 8 instead of ${bits} bits per sample.`] : [];
  return { filters: [], color: { primaries: signal.primaries, transfer: signal.transfer }, isDeep: false, notes };
}

/** FFmpeg's names for the code points of ITU-T H.273. */
const PRIMARIES: Readonly<Record<number, string>> = {
  1: "bt709",
  4: "bt470m",
  5: "bt470bg",
  6: "smpte170m",
  7: "smpte240m",
  8: "film",
  9: "bt2020",
  10: "smpte428",
  11: "smpte431",
  12: "smpte432",
  22: "ebu3213",
};
const TRANSFERS: Readonly<Record<number, string>> = {
  1: "bt709",
  4: "gamma22",
  5: "gamma28",
  6: "smpte170m",
  7: "smpte240m",
  8: "linear",
  11: "iec61966-2-4",
  13: "iec61966-2-1",
  14: "bt2020-10",
  15: "bt2020-12",
  16: "smpte2084",
  17: "smpte428",
  18: "arib-std-b67",
};
const MATRICES: Readonly<Record<number, string>> = {
  0: "gbr",
  1: "bt709",
  4: "fcc",
  5: "bt470bg",
  6: "smpte170m",
  7: "smpte240m",
  8: "ycgco",
  9: "bt2020nc",
  10: "bt2020c",
  14: "ictcp",
};

/** Returns the names of a video's colour properties for the caller; null for properties that the file does not state. */
export function namedColor({ primaries, transfer, matrix, isFullRange }: VideoSignal) {
  return {
    primaries: PRIMARIES[primaries] ?? null,
    transfer: TRANSFERS[transfer] ?? null,
    matrix: MATRICES[matrix] ?? null,
    range: isFullRange ? "full" : "limited",
  };
}
