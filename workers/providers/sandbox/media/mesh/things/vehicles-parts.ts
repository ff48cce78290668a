/** Wheels of cars and carts. */
import { around, merged, moved, rotated, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { lathe } from "../kit/surface.ts";
import type { Vec3 } from "../kit/vector.ts";

/** Upright, its axle along x. */
function wheel(at: Vec3, radius: number, wide: number): { readonly tyre: Shape; readonly rim: Shape } {
  const w = wide / 2;
  const tyre = lathe(
    [
      [radius * 0.62, -w * 0.8],
      [radius * 0.72, -w],
      [radius * 0.92, -w],
      [radius, -w * 0.72],
      [radius, w * 0.72],
      [radius * 0.92, w],
      [radius * 0.72, w],
      [radius * 0.62, w * 0.8],
    ],
    40,
    30,
  );
  const disc = lathe(
    [
      [0.001, -w * 0.5],
      [radius * 0.62, -w * 0.84],
      [radius * 0.66, -w * 0.84],
      [radius * 0.66, w * 0.84],
      [radius * 0.62, w * 0.84],
      [radius * 0.52, w * 0.5],
      [radius * 0.2, w * 0.55],
      [radius * 0.16, w * 0.85],
      [0.001, w * 0.85],
    ],
    32,
    30,
  );
  const spokes = around(box([0, w * 0.55, radius * 0.36], [radius * 0.12, w * 0.3, radius * 0.44], 0.004), 5);
  const side = at[0] < 0 ? 90 : -90;
  const put = (shape: Shape): Shape => moved(rotated(shape, [0, 0, 1], side), at);
  return { tyre: put(tyre), rim: put(merged([disc, spokes])) };
}

export function wheels(
  places: readonly Vec3[],
  radius: number,
  wide: number,
): { readonly tyres: Shape; readonly rims: Shape } {
  const all = places.map((at) => wheel(at, radius, wide));
  return { tyres: merged(all.map(({ tyre }) => tyre)), rims: merged(all.map(({ rim }) => rim)) };
}
