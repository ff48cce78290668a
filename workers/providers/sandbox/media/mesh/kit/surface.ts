/** Surfaces over a grid: what is turned on a lathe, drawn along a path, or bent from a sheet. */
import { newDraft, shapeOf, type Shape } from "./shape.ts";
import { add, cross, dot, length, sub, times, unit, UP, type Vec2, type Vec3 } from "./vector.ts";

/**
 * `place(u, v)` with u and v from 0 to 1; its outside is where u to the right and v upwards are seen from.
 * @param around whether u = 1 is u = 0 again: the texture then fits a whole number of times
 */
export function surface(
  columns: number,
  rows: number,
  place: (u: number, v: number) => Vec3,
  { around = false, creaseDegrees }: { readonly around?: boolean; readonly creaseDegrees?: number } = {},
): Shape {
  const draft = newDraft();
  const grid = Array.from({ length: rows + 1 }, (_, row) =>
    Array.from({ length: columns + 1 }, (_, column) =>
      place(around && column === columns ? 0 : column / columns, row / rows),
    ),
  );
  const widths = grid.map((points) => pathLengths(points).at(-1) ?? 0);
  const widest = Math.max(...widths);
  const width = around ? Math.max(1, Math.round(widest)) : widest;
  const middle = grid.map((points) => points[Math.floor(columns / 3)] ?? UP);
  const heights = pathLengths(middle);
  grid.forEach((points, row) =>
    points.forEach((point, column) => {
      draft.positions.push(...point);
      draft.uvs.push((width * column) / columns, -(heights[row] ?? 0));
      if (row === rows || column === columns) return;
      const corner = row * (columns + 1) + column;
      const above = corner + columns + 1;
      draft.indices.push(corner, corner + 1, above + 1, corner, above + 1, above);
    }),
  );
  return shapeOf(draft, creaseDegrees);
}

/**
 * Turned around the y axis.
 * @param profile radius and height, from below upwards on the outside; it may go on over a rim and down the inside
 */
export function lathe(profile: readonly Vec2[], sides = 32, creaseDegrees?: number): Shape {
  const rows = profile.length - 1;
  return surface(
    sides,
    rows,
    (u, v) => {
      const [radius, height] = profile[Math.round(v * rows)] ?? [0, 0];
      const angle = 2 * Math.PI * u;
      return [radius * Math.sin(angle), height, radius * Math.cos(angle)];
    },
    { around: true, ...(creaseDegrees === undefined ? {} : { creaseDegrees }) },
  );
}

/** An ellipsoid. */
export function ball(at: Vec3, radii: number | Vec3, sides = 24): Shape {
  const [x, y, z] = typeof radii === "number" ? [radii, radii, radii] : radii;
  return surface(
    sides,
    Math.max(4, Math.round(sides / 2)),
    (u, v) => {
      const [angle, rise] = [2 * Math.PI * u, Math.PI * (v - 0.5)];
      const ring = v === 0 || v === 1 ? 0 : Math.cos(rise);
      return [at[0] + x * ring * Math.sin(angle), at[1] + y * Math.sin(rise), at[2] + z * ring * Math.cos(angle)];
    },
    { around: true },
  );
}

/** A ring that lies flat around the y axis. */
export function ring(at: Vec3, radius: number, thickness: number, sides = 32, across = 12): Shape {
  return surface(
    sides,
    across,
    (u, v) => {
      const [angle, turn] = [2 * Math.PI * u, 2 * Math.PI * v];
      const reach = radius + thickness * Math.cos(turn);
      return [
        at[0] + reach * Math.sin(angle),
        at[1] + thickness * Math.sin(v === 1 ? 0 : turn),
        at[2] + reach * Math.cos(angle),
      ];
    },
    { around: true },
  );
}

export interface TubeShape {
  readonly sides?: number;
  readonly ends?: "round" | "flat";
  /** Which way the first side looks: for bands that are not round. */
  readonly side?: Vec3;
  /** Width to thickness of a flat band. */
  readonly flatness?: number;
}

/**
 * Drawn along a path; closed at both ends, or in itself where the path comes back to its start.
 * @param radius by the share of the way, 0 to 1
 */
export function tube(
  path: readonly Vec3[],
  radius: number | ((share: number) => number),
  { sides = 12, ends = "round", side, flatness = 1 }: TubeShape = {},
): Shape {
  const lengths = pathLengths(path);
  const whole = lengths.at(-1) ?? 1;
  const isClosed = length(sub(path[0] ?? UP, path.at(-1) ?? UP)) < 1e-9;
  const thick = (share: number): number => (typeof radius === "number" ? radius : radius(share));
  const frames = framesOf(path, isClosed, side);
  const rings = frames.map((frame, index) => ({
    ...frame,
    radius: thick((lengths[index] ?? 0) / whole),
  }));
  const first = rings[0];
  const last = rings.at(-1);
  const all =
    isClosed || first === undefined || last === undefined
      ? rings
      : [...capOf(first, -1, ends).toReversed(), ...rings, ...capOf(last, 1, ends)];
  const rows = all.length - 1;
  return surface(
    sides,
    rows,
    (u, v) => {
      const frame = all[Math.round(v * rows)];
      if (frame === undefined) return UP;
      const angle = 2 * Math.PI * u;
      const across = times(frame.right, frame.radius * flatness * Math.cos(angle));
      return add(frame.at, add(across, times(frame.front, frame.radius * Math.sin(angle))));
    },
    { around: true },
  );
}

/** A straight round bar. */
export function rod(from: Vec3, to: Vec3, radius: number, radiusTo = radius, sides = 16): Shape {
  return tube([from, to], (share) => radius + (radiusTo - radius) * share, { sides, ends: "flat" });
}

/** A smooth line through points. */
export function curve(points: readonly Vec3[], steps = 8): Vec3[] {
  const result: Vec3[] = [];
  for (let index = 0; index + 1 < points.length; index += 1) {
    const [one, two] = [points[index] ?? UP, points[index + 1] ?? UP];
    const [before, after] = [points[index - 1] ?? one, points[index + 2] ?? two];
    for (let at = 0; at < steps; at += 1) {
      const t = at / steps;
      const [enter, leave] = [times(sub(two, before), 0.5), times(sub(after, one), 0.5)];
      const [t2, t3] = [t * t, t * t * t];
      result.push(
        add(
          add(times(one, 2 * t3 - 3 * t2 + 1), times(enter, t3 - 2 * t2 + t)),
          add(times(two, -2 * t3 + 3 * t2), times(leave, t3 - t2)),
        ),
      );
    }
  }
  const last = points.at(-1);
  return last === undefined ? result : [...result, last];
}

/** The same for profiles of a lathe. */
export function profileCurve(points: readonly Vec2[], steps = 6): Vec2[] {
  return curve(
    points.map(([r, y]) => [r, y, 0] as const),
    steps,
  ).map(([r, y]) => [Math.max(0, r), y] as const);
}

interface Frame {
  readonly at: Vec3;
  readonly along: Vec3;
  readonly right: Vec3;
  readonly front: Vec3;
}

/** Frames that turn no more than the path does. */
function framesOf(path: readonly Vec3[], isClosed: boolean, side: Vec3 | undefined): Frame[] {
  const frames: Frame[] = [];
  let right: Vec3 | undefined = side;
  path.forEach((at, index) => {
    const before = path[index - 1] ?? (isClosed ? path.at(-2) : undefined) ?? at;
    const after = path[index + 1] ?? (isClosed ? path[1] : undefined) ?? at;
    const along = unit(sub(after, before));
    const guess: Vec3 = right ?? (Math.abs(along[1]) < 0.9 ? UP : [1, 0, 0]);
    const flat = unit(sub(guess, times(along, dot(guess, along))));
    frames.push({ at, along, right: flat, front: cross(along, flat) });
    right = side === undefined ? flat : side;
  });
  return isClosed ? untwisted(frames) : frames;
}

/** The last frame of a ring must be the first: what is left of a turn is spread over the way. */
function untwisted(frames: readonly Frame[]): Frame[] {
  const [first, last] = [frames[0], frames.at(-1)];
  if (first === undefined || last === undefined) return [...frames];
  const angle = Math.atan2(dot(last.right, first.front), dot(last.right, first.right));
  return frames.map((frame, index) => {
    const turn = (-angle * index) / (frames.length - 1);
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    return {
      ...frame,
      right: add(times(frame.right, cos), times(frame.front, sin)),
      front: add(times(frame.front, cos), times(frame.right, -sin)),
    };
  });
}

interface Ring extends Frame {
  readonly radius: number;
}

const ROUND_STEPS = [0.35, 0.65, 0.88, 1];

function capOf(frame: Ring, direction: 1 | -1, ends: "round" | "flat"): Ring[] {
  if (ends === "flat") return [{ ...frame, radius: 0 }];
  return ROUND_STEPS.map((share) => ({
    ...frame,
    at: add(frame.at, times(frame.along, direction * frame.radius * share)),
    radius: frame.radius * Math.sqrt(Math.max(0, 1 - share * share)),
  }));
}

function pathLengths(points: readonly Vec3[]): number[] {
  let sum = 0;
  return points.map((point, index) => {
    sum += length(sub(point, points[index - 1] ?? point));
    return sum;
  });
}
