/** Where the thing is seen from, and where its points lie on the picture then. */
import { type Vec3, add, cross, distance, dot, normalise, sub, times } from "./vectors.ts";
import { type Triangle, extent } from "./triangles.ts";

export interface View {
  readonly width: number;
  readonly height: number;
  /** Around the thing: 0 from the front, 90 from its left side. */
  readonly turnDegrees: number;
  /** Above the horizon. */
  readonly riseDegrees?: number;
  /** false: nothing behind the thing, alpha 0. */
  readonly hasFloor?: boolean;
  /** Triangles that look away are left out, as viewers do: inside-out surfaces then show as holes. On by default. */
  readonly isCulled?: boolean;
}

/** Pixels are drawn twice as fine in both directions. */
export const FINER = 2;

const FOV_DEGREES = 30;

export interface Camera {
  readonly eye: Vec3;
  readonly right: Vec3;
  readonly up: Vec3;
  readonly ahead: Vec3;
  /** Pixels by the tangent of an angle. */
  readonly focal: number;
  readonly width: number;
  readonly height: number;
  readonly target: Vec3;
  readonly radius: number;
  readonly floor: number;
}

/** Far enough away that all of it is seen. */
export function cameraFor(
  triangles: readonly Triangle[],
  { width, height, turnDegrees, riseDegrees = 18 }: View,
): Camera {
  const [low, high] = extent(triangles);
  const target: Vec3 = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2];
  const [turn, rise] = [(turnDegrees * Math.PI) / 180, (riseDegrees * Math.PI) / 180];
  const back: Vec3 = [Math.sin(turn) * Math.cos(rise), Math.sin(rise), Math.cos(turn) * Math.cos(rise)];
  const right = normalise(cross([0, 1, 0], back));
  const up = cross(back, right);
  const tangent = Math.tan((FOV_DEGREES * Math.PI) / 360);
  const shorter = Math.min(width, height) * FINER;
  let away = 0;
  for (const { points } of triangles) {
    for (const point of points) {
      const from = sub(point, target);
      const across = Math.max(
        Math.abs(dot(from, right)) * (height < width ? height / width : 1),
        Math.abs(dot(from, up)),
      );
      away = Math.max(away, dot(from, back) + across / (tangent * 0.86));
    }
  }
  return {
    eye: add(target, times(back, away)),
    right,
    up,
    ahead: times(back, -1),
    focal: shorter / 2 / tangent,
    width: width * FINER,
    height: height * FINER,
    target,
    radius: distance(low, high) / 2,
    floor: low[1],
  };
}

export interface Corner {
  readonly x: number;
  readonly y: number;
  /** Distance ahead of the eye. */
  readonly z: number;
}

export function onScreen(point: Vec3, { eye, right, up, ahead, focal, width, height }: Camera): Corner {
  const from = sub(point, eye);
  const z = Math.max(1e-6, dot(from, ahead));
  return { x: width / 2 + (focal * dot(from, right)) / z, y: height / 2 - (focal * dot(from, up)) / z, z };
}
