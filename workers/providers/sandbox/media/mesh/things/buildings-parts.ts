/** Doors and roofs of buildings. */
import { merged, moved, rotated, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { rod } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";

/** A roof over a rectangle, its ridge along x. */
export function gable(wide: number, deep: number, low: number, high: number, over: number, thick = 0.045): Shape {
  const slope = Math.atan2(high - low, deep / 2);
  const reach = Math.hypot(high - low, deep / 2) + over;
  const side = (sign: 1 | -1): Shape => {
    const slab = box([0, 0, 0], [wide + 2 * over, thick, reach], 0.008);
    const tilted = rotated(moved(slab, [0, 0, reach / 2]), [1, 0, 0], (slope * 180) / Math.PI);
    return rotated(moved(tilted, [0, high, 0]), UP, sign > 0 ? 0 : 180);
  };
  return merged([
    side(1),
    side(-1),
    rod([-wide / 2 - over, high + 0.01, 0], [wide / 2 + over, high + 0.01, 0], thick * 0.62),
  ]);
}

export function doorArch(at: Vec3, wide: number, high: number): Shape {
  const half = wide / 2;
  const arch = Array.from({ length: 9 }, (_, index): Vec2 => [
    half * Math.cos((Math.PI * index) / 8),
    high - half + half * Math.sin((Math.PI * index) / 8),
  ]);
  return moved(prism([[-half, 0], [half, 0], ...arch], { depth: 0.06, bevel: 0.012 }), at);
}
