/** The sun with its shadows, and a soft sky. */
import { type Vec3, add, cross, dot, normalise, smooth, sub, times } from "./vectors.ts";
import type { Pyramid, Triangle } from "./triangles.ts";
import type { Camera, Corner } from "./camera.ts";

export const SUN: Vec3 = normalise([-0.5, 0.9, 0.62]);

const SHADOW_SIDE = 640;

/** A bright studio: light from above, a window at the left, a dark horizon line that gives metal its look. */
export function skyOf(direction: Vec3, roughness: number): Vec3 {
  const [x, y, z] = direction;
  const up = 0.5 + 0.5 * y;
  const soft = 0.08 + roughness * 0.9;
  const horizon = Math.exp(-((y / soft) ** 2)) * (1 - roughness) * 0.45;
  const box =
    smooth(0.9 - soft, 0.9 + soft * 0.4, dot(normalise([x, y, z]), normalise([-0.7, 0.55, 0.5]))) *
    (1.9 - 1.5 * roughness);
  const strip =
    smooth(0.8 - soft, 0.85 + soft * 0.5, dot(normalise([x, y, z]), normalise([0.85, 0.25, 0.35]))) *
    (1.1 - 0.9 * roughness);
  const ground: Vec3 = [0.42, 0.4, 0.38];
  const high: Vec3 = [0.82, 0.88, 0.98];
  return [0, 1, 2]
    .map((at) => (ground[at] ?? 0) * (1 - up) + (high[at] ?? 0) * up + box + strip - horizon)
    .map((value) => Math.max(0.03, value)) as unknown as Vec3;
}

/** The sun's image on a rough surface (GGX). */
export function highlight(normal: Vec3, toEye: Vec3, roughness: number): number {
  const half = normalise(add(SUN, toEye));
  const a = Math.max(0.003, roughness ** 4);
  const d = dot(normal, half) ** 2 * (a - 1) + 1;
  return Math.min(30, a / (4 * d * d * Math.max(0.1, dot(half, SUN) ** 2)) / 3);
}

export interface Shadow {
  readonly depth: Float32Array;
  readonly right: Vec3;
  readonly up: Vec3;
  readonly scale: number;
  readonly target: Vec3;
}

/** What the sun sees; glass throws half a shadow, which is none here. */
export function shadowOf(triangles: readonly Triangle[], { target, radius }: Camera): Shadow {
  const right = normalise(cross([0, 1, 0], SUN));
  const up = cross(SUN, right);
  const scale = SHADOW_SIDE / (2.3 * radius);
  const depth = new Float32Array(SHADOW_SIDE * SHADOW_SIDE).fill(-Infinity);
  for (const { points, surface } of triangles) {
    if (surface.seeThrough > 0.3) continue;
    const [a, b, c] = points.map((point) => {
      const from = sub(point, target);
      return {
        x: SHADOW_SIDE / 2 + dot(from, right) * scale,
        y: SHADOW_SIDE / 2 + dot(from, up) * scale,
        z: dot(from, SUN),
      };
    }) as [Corner, Corner, Corner];
    const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area === 0) continue;
    for (
      let y = Math.max(0, Math.floor(Math.min(a.y, b.y, c.y)));
      y <= Math.min(SHADOW_SIDE - 1, Math.max(a.y, b.y, c.y));
      y += 1
    ) {
      for (
        let x = Math.max(0, Math.floor(Math.min(a.x, b.x, c.x)));
        x <= Math.min(SHADOW_SIDE - 1, Math.max(a.x, b.x, c.x));
        x += 1
      ) {
        const u = ((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area;
        const v = ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area;
        if (u < -0.01 || v < -0.01 || u + v > 1.01) continue;
        const at = y * SHADOW_SIDE + x;
        depth[at] = Math.max(depth[at] ?? -Infinity, u * a.z + v * b.z + (1 - u - v) * c.z);
      }
    }
  }
  return { depth, right, up, scale, target };
}

/** Share of sunlight at a point. */
export function lit({ depth, right, up, scale, target }: Shadow, point: Vec3, normal: Vec3): number {
  const lifted = add(point, times(normal, 3 / scale));
  const from = sub(lifted, target);
  const [x, y, z] = [
    SHADOW_SIDE / 2 + dot(from, right) * scale,
    SHADOW_SIDE / 2 + dot(from, up) * scale,
    dot(from, SUN) + 1 / scale,
  ];
  let open = 0;
  for (let dy = -2; dy <= 2; dy += 1) {
    for (let dx = -2; dx <= 2; dx += 1) {
      const [i, j] = [Math.round(x) + dx, Math.round(y) + dy];
      const isInside = i >= 0 && j >= 0 && i < SHADOW_SIDE && j < SHADOW_SIDE;
      if (!isInside || (depth[j * SHADOW_SIDE + i] ?? 0) <= z) open += 1;
    }
  }
  return open / 25;
}

/** Strong light bends to white instead of being cut off. */
export function toScreen(value: number): number {
  const bent = value < 0.7 ? value : 0.7 + 0.3 * (1 - Math.exp(-(value - 0.7) / 0.6));
  return bent <= 0.0031308 ? 12.92 * bent : 1.055 * bent ** (1 / 2.4) - 0.055;
}

export function toLinear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Between four pixels; the picture repeats. */
export function sample(pyramid: Pyramid, [u, v]: readonly [number, number], level: number): number[] {
  const halvings = Math.round(level + Math.log2(pyramid[0].width));
  const { width, height, channels, data } = pyramid[Math.min(pyramid.length - 1, Math.max(0, halvings))] ?? pyramid[0];
  const [x, y] = [(u - Math.floor(u)) * width - 0.5, (v - Math.floor(v)) * height - 0.5];
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [fx, fy] = [x - left, y - top];
  const read = (i: number, j: number, channel: number): number =>
    data[(((j + height) % height) * width + ((i + width) % width)) * channels + channel] ?? 0;
  return [0, 1, 2].map((channel) => {
    const high = read(left, top, channel) * (1 - fx) + read(left + 1, top, channel) * fx;
    const low = read(left, top + 1, channel) * (1 - fx) + read(left + 1, top + 1, channel) * fx;
    return (high * (1 - fy) + low * fy) / 255;
  });
}
