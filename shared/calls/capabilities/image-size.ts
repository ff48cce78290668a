/** Calculates the size of an operation's result from the size of its input. Used by the operation itself and to estimate its price. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Resizing {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fit: string;
  readonly enlarge: boolean;
}

/** Returns the size of an image after resizing, or an upper bound of it. */
export function resizedTo(own: Size, { width, height, fit, enlarge }: Resizing): Size {
  const [across, down] = [(width ?? 0) / own.width, (height ?? 0) / own.height];
  const isOne = width === undefined || height === undefined;
  // If stretched, a side that is not given keeps its length.
  if (fit === "fill" || (!isOne && fit !== "outside" && fit !== "inside")) {
    const box = { width: width ?? own.width, height: height ?? own.height };
    if (enlarge || fit === "contain") return box;
    return { width: Math.min(box.width, own.width), height: Math.min(box.height, own.height) };
  }
  const wanted = !isOne && fit === "inside" ? Math.min(across, down) : Math.max(across, down);
  const scale = enlarge ? wanted : Math.min(1, wanted);
  return { width: Math.round(own.width * scale), height: Math.round(own.height * scale) };
}

export interface Cropping {
  readonly x?: number | undefined;
  readonly y?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly aspect_ratio?: string | undefined;
}

/**
 * Returns the size of an image after cropping, at most the size of `own`. Also returns a size for a crop that the operation would reject.
 */
export function croppedTo(own: Size, { x, y, width, height, aspect_ratio: ratio }: Cropping): Size {
  const [across = 0, down = 0] = (ratio ?? "0:0").split(":").map(Number);
  if (across === 0 || down === 0) {
    return { width: width ?? own.width - (x ?? 0), height: height ?? own.height - (y ?? 0) };
  }
  const shape = across / down;
  if (width !== undefined) return { width, height: Math.max(1, Math.round(width / shape)) };
  if (height !== undefined) return { width: Math.max(1, Math.round(height * shape)), height };
  const isWide = own.width / own.height > shape;
  return isWide
    ? { width: Math.max(1, Math.round(own.height * shape)), height: own.height }
    : { width: own.width, height: Math.max(1, Math.round(own.width / shape)) };
}

/** Returns the size of the box around a rotated image. Each side may differ from the real one by a pixel. */
export function rotatedTo({ width, height }: Size, degrees: number): Size {
  if (degrees % 180 === 0) return { width, height };
  if (degrees % 90 === 0) return { width: height, height: width };
  const angle = (degrees * Math.PI) / 180;
  const [cosine, sine] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
  return { width: Math.ceil(width * cosine + height * sine), height: Math.ceil(width * sine + height * cosine) };
}
