/** One picture of a film as the encoder takes it, and pictures with transparency to lay over it. */

/** A value for each pixel; `width` values a row, without gaps. */
export interface Plane {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** YUV 4:2:0 after BT.709, 16 to 235; both sides even. The planes are views of `data`, one after the other. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly planes: readonly [Plane, Plane, Plane];
}

/** A plane already multiplied by its opacity, so that laying it over another is one multiplication. */
export interface CoverPlane extends Plane {
  readonly alpha: Uint8Array;
  /** By row: nothing to see, something to see, all of it opaque. */
  readonly rows: Uint8Array;
}

export interface Cover {
  readonly width: number;
  readonly height: number;
  readonly planes: readonly [CoverPlane, CoverPlane, CoverPlane];
}

export const ROW = { empty: 0, mixed: 1, opaque: 2 } as const;

export function createFrame(width: number, height: number): Frame {
  const [halfWidth, halfHeight] = [width / 2, height / 2];
  const [whole, half] = [width * height, halfWidth * halfHeight];
  const data = new Uint8Array(whole + 2 * half);
  return {
    width,
    height,
    data,
    planes: [
      { width, height, data: data.subarray(0, whole) },
      { width: halfWidth, height: halfHeight, data: data.subarray(whole, whole + half) },
      { width: halfWidth, height: halfHeight, data: data.subarray(whole + half) },
    ],
  };
}

/** BT.709's weights, scaled to 16–235 and 16–240, times 2¹⁶. */
const TO_Y = [11_966, 40_254, 4_064] as const;
const TO_U = [-6_596, -22_189, 28_784] as const;
const TO_V = [28_784, -26_145, -2_639] as const;

/** What stands for a colour in the three planes. */
export function toYuv(red: number, green: number, blue: number): readonly [number, number, number] {
  const weigh = ([r, g, b]: readonly [number, number, number], base: number): number =>
    Math.round((r * red + g * green + b * blue) / 65_536) + base;
  return [weigh(TO_Y, 16), weigh(TO_U, 128), weigh(TO_V, 128)];
}

/** @param rgba four bytes a pixel; both sides even */
export function toCover(rgba: Uint8Array, width: number, height: number): Cover {
  const [halfWidth, halfHeight] = [width / 2, height / 2];
  const y = coverPlane(width, height);
  const u = coverPlane(halfWidth, halfHeight);
  const v = coverPlane(halfWidth, halfHeight);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const at = row * width + column;
      const alpha = rgba[4 * at + 3] ?? 0;
      if (alpha === 0) continue;
      const light =
        TO_Y[0] * (rgba[4 * at] ?? 0) + TO_Y[1] * (rgba[4 * at + 1] ?? 0) + TO_Y[2] * (rgba[4 * at + 2] ?? 0);
      y.data[at] = ((light / 65_536 + 16) * alpha) / 255 + 0.5;
      y.alpha[at] = alpha;
    }
  }
  for (let row = 0; row < halfHeight; row += 1) {
    for (let column = 0; column < halfWidth; column += 1) {
      const first = 4 * (2 * row * width + 2 * column);
      let [red, green, blue, sum] = [0, 0, 0, 0];
      for (let part = 0; part < 4; part += 1) {
        const at = first + (part & 1) * 4 + (part >> 1) * 4 * width;
        const alpha = rgba[at + 3] ?? 0;
        red += (rgba[at] ?? 0) * alpha;
        green += (rgba[at + 1] ?? 0) * alpha;
        blue += (rgba[at + 2] ?? 0) * alpha;
        sum += alpha;
      }
      if (sum === 0) continue;
      const at = row * halfWidth + column;
      // Sums of colour times opacity over four pixels; what belongs to 128 grows with the opacity alone.
      u.data[at] = ((TO_U[0] * red + TO_U[1] * green + TO_U[2] * blue) / 65_536 + 128 * sum) / 1_020 + 0.5;
      v.data[at] = ((TO_V[0] * red + TO_V[1] * green + TO_V[2] * blue) / 65_536 + 128 * sum) / 1_020 + 0.5;
      u.alpha[at] = v.alpha[at] = (sum + 2) >> 2;
    }
  }
  for (const plane of [y, u, v]) describeRows(plane);
  return { width, height, planes: [y, u, v] };
}

function coverPlane(width: number, height: number): CoverPlane {
  const pixels = width * height;
  return {
    width,
    height,
    data: new Uint8Array(pixels),
    alpha: new Uint8Array(pixels),
    rows: new Uint8Array(height),
  };
}

function describeRows({ width, height, alpha, rows }: CoverPlane): void {
  for (let row = 0; row < height; row += 1) {
    const line = alpha.subarray(row * width, (row + 1) * width);
    rows[row] = line.every((value) => value === 255)
      ? ROW.opaque
      : line.some((value) => value > 0)
        ? ROW.mixed
        : ROW.empty;
  }
}
