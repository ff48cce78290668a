/** Modes of fitting a video into a size with another aspect ratio. */
export const FITS = ["contain", "cover", "fill", "inside"] as const;
export type Fit = (typeof FITS)[number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Rounds to the nearest even number, because most codecs require even sides. */
export function even(side: number): number {
  return Math.max(2, Math.round(side / 2) * 2);
}

/**
 * Returns filters that fit a video into a box, and the resulting size. The sides of `box` must be even. @param background border colour in
 * FFmpeg's syntax
 */
export function fitInto(from: Size, box: Size, fit: Fit, background: string): { filters: string[]; size: Size } {
  const { width, height } = box;
  const [across, down] = [width / from.width, height / from.height];
  if (fit === "fill" || across === down) return { filters: [`scale=${width}:${height}`], size: box };
  const factor = fit === "cover" ? Math.max(across, down) : Math.min(across, down);
  const inner = { width: even(from.width * factor), height: even(from.height * factor) };
  const scaled = `scale=${inner.width}:${inner.height}`;
  if (fit === "inside") return { filters: [scaled], size: inner };
  return fit === "cover"
    ? { filters: [scaled, `crop=${width}:${height}`], size: box }
    : { filters: [scaled, `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2:${background}`], size: box };
}

/**
 * Returns the width and height to fit a video into, for a requested size. A missing side is calculated from the requested side and the
 * aspect ratio. Without any side, the video's own size is used.
 */
export function boxOf(from: Size, width: number | undefined, height: number | undefined, shape?: number): Size {
  const ratio = shape ?? from.width / from.height;
  const [across, down] = [width, height].map((side) => (side === undefined ? undefined : floored(side)));
  if (across !== undefined) return { width: across, height: down ?? even(across / ratio) };
  if (down !== undefined) return { width: even(down * ratio), height: down };
  return { width: floored(from.width), height: floored(from.height) };
}

/**
 * Returns a size with the aspect ratio `shape`. If `isWithin` is true, it is the largest such size within the video's size; otherwise the
 * smallest that contains it.
 */
export function shapedBox(from: Size, shape: number, isWithin: boolean): Size {
  const isWide = from.width / from.height > shape;
  return isWide === isWithin
    ? { width: even(from.height * shape), height: even(from.height) }
    : { width: even(from.width), height: even(from.width / shape) };
}

/** Rounds a requested side down to an even number of at least 2. The encoder would round a side in the same way. */
function floored(side: number): number {
  return Math.max(2, side - (side % 2));
}
