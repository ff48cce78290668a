/** Ways to fit a video into a size of another shape. */
export const FITS = ["contain", "cover", "fill", "inside"] as const;
export type Fit = (typeof FITS)[number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** To the nearest even number: most codecs have no others. */
export function even(side: number): number {
  return Math.max(2, Math.round(side / 2) * 2);
}

/** Filters from one size to another, and what then is there; sides of `box` are even. @param background FFmpeg's colour of what stays free */
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

/** The box of a wanted size; a side that is not given follows from the other and the shape. */
export function boxOf(from: Size, width: number | undefined, height: number | undefined, shape?: number): Size {
  const ratio = shape ?? from.width / from.height;
  const [across, down] = [width, height].map((side) => (side === undefined ? undefined : floored(side)));
  if (across !== undefined) return { width: across, height: down ?? even(across / ratio) };
  if (down !== undefined) return { width: even(down * ratio), height: down };
  return { width: floored(from.width), height: floored(from.height) };
}

/** The smallest box of a shape that holds a size, or the largest within it. */
export function shapedBox(from: Size, shape: number, isWithin: boolean): Size {
  const isWide = from.width / from.height > shape;
  return isWide === isWithin
    ? { width: even(from.height * shape), height: even(from.height) }
    : { width: even(from.width), height: even(from.width / shape) };
}

/** Rounds a side that was asked for exactly down to an even number, as the encode would; at least 2. */
function floored(side: number): number {
  return Math.max(2, side - (side % 2));
}
