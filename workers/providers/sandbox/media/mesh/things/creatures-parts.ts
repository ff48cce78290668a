/** Soft outlines of small animals. */
import { moved, scaled, type Shape } from "../kit/shape.ts";
import { curve } from "../kit/surface.ts";
import type { Vec2, Vec3 } from "../kit/vector.ts";

export function scaledAt(shape: Shape, [x, y, z]: Vec3, by: Vec3): Shape {
  return moved(scaled(moved(shape, [-x, -y, -z]), by), [x, y, z]);
}

export function rounded(points: readonly Vec2[]): Vec2[] {
  const closed = [...points, points[0] ?? [0, 0]].map(([x, y]) => [x, y, 0] as const);
  return curve(closed, 5)
    .slice(0, -1)
    .map(([x, y]) => [x, y] as const);
}
