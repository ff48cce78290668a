/** Points and directions: x to the right, y up, z to the viewer, as glTF has them. */

export type Vec2 = readonly [number, number];
export type Vec3 = readonly [number, number, number];

export const UP: Vec3 = [0, 1, 0];

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const times = (a: Vec3, factor: number): Vec3 => [a[0] * factor, a[1] * factor, a[2] * factor];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);

export const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** Of no length: up, which is a direction at least. */
export function unit(a: Vec3): Vec3 {
  const size = length(a);
  return size > 1e-12 ? times(a, 1 / size) : UP;
}

/** @param share of the second point, 0 to 1 */
export const between = (a: Vec3, b: Vec3, share: number): Vec3 => add(times(a, 1 - share), times(b, share));

/** Turned around an axis through the origin, by degrees, counter-clockwise seen against the axis. */
export function turned(point: Vec3, axis: Vec3, degrees: number): Vec3 {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return add(add(times(point, cos), times(cross(axis, point), sin)), times(axis, dot(axis, point) * (1 - cos)));
}

/** The third point of three numbers in a flat list, and so on. */
export function pointAt(list: ArrayLike<number>, index: number): Vec3 {
  return [list[3 * index] ?? 0, list[3 * index + 1] ?? 0, list[3 * index + 2] ?? 0];
}

export const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));

/** 0 below `from`, 1 above `to`, smooth between them. */
export function step(from: number, to: number, value: number): number {
  const share = clamp((value - from) / (to - from), 0, 1);
  return share * share * (3 - 2 * share);
}
