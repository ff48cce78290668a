/** A hole in a picture, closed with what surrounds it. */
import { fromPixels } from "./encode.ts";
import type { Pixels } from "./source.ts";

/** The hole is closed at this size and enlarged: there is no detail to be had in it anyway. */
const SMALL_SIDE = 160;
/** Passes of over-relaxation after which 160 pixels have settled. */
const PASSES = 220;
const RELAXATION = 1.9;

/**
 * Every pixel of the hole becomes the mean of its neighbours, so colours flow in from the rim without an edge (the
 * discrete Laplace equation).
 * @param weights above 0 in the hole, one for each pixel
 */
export async function fillIn(source: Pixels, weights: Uint8Array): Promise<Uint8Array> {
  const { width, height } = source;
  const scale = Math.min(1, SMALL_SIDE / Math.max(width, height));
  const [smallWidth, smallHeight] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const open = source.data.slice();
  weights.forEach((weight, index) => {
    open[4 * index + 3] = weight > 0 ? 0 : 255;
  });
  const small = await fromPixels(open, width, height, 4)
    .resize(smallWidth, smallHeight, { fit: "fill", kernel: "linear" })
    .raw()
    .toBuffer();
  const settled = settle(small, smallWidth, smallHeight);
  const large = await fromPixels(settled, smallWidth, smallHeight, 4)
    .resize(width, height, { fit: "fill", kernel: "cubic" })
    .raw()
    .toBuffer();
  const result = source.data.slice();
  weights.forEach((weight, index) => {
    if (weight === 0) return;
    for (let channel = 0; channel < 3; channel += 1) result[4 * index + channel] = large[4 * index + channel] ?? 0;
  });
  return result;
}

function settle(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const values = Float32Array.from(pixels);
  const holes: number[] = [];
  const mean = [0, 0, 0];
  let known = 0;
  for (let index = 0; index < width * height; index += 1) {
    if ((pixels[4 * index + 3] ?? 0) < 128) {
      holes.push(index);
      continue;
    }
    known += 1;
    for (let channel = 0; channel < 3; channel += 1)
      mean[channel] = (mean[channel] ?? 0) + (values[4 * index + channel] ?? 0);
  }
  for (const index of holes) {
    for (let channel = 0; channel < 3; channel += 1)
      values[4 * index + channel] = (mean[channel] ?? 0) / Math.max(1, known);
  }
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const index of holes) {
      const x = index % width;
      const left = x > 0 ? index - 1 : index;
      const right = x < width - 1 ? index + 1 : index;
      const up = index >= width ? index - width : index;
      const down = index + width < width * height ? index + width : index;
      for (let channel = 0; channel < 3; channel += 1) {
        const at = 4 * index + channel;
        const around =
          ((values[4 * left + channel] ?? 0) +
            (values[4 * right + channel] ?? 0) +
            (values[4 * up + channel] ?? 0) +
            (values[4 * down + channel] ?? 0)) /
          4;
        values[at] = (values[at] ?? 0) + RELAXATION * (around - (values[at] ?? 0));
      }
    }
  }
  return Uint8Array.from(values, (value, at) => ((at & 3) === 3 ? 255 : Math.round(Math.max(0, Math.min(255, value)))));
}
