/**
 * A picture of a binary glTF file, so that tests and people can see what it shows: perspective, depth buffer, one sun
 * with shadows, a soft sky that metals mirror, textures, see-through materials, a floor. Not quick, not physically exact.
 */
import { deflateSync } from "node:zlib";

import { type Vec3, add, cross, distance, dot, normalise, sub, times, weighted } from "./render/vectors.ts";
import { type Triangle, levelOf, middle, readGlb, tangentsOf, trianglesOf } from "./render/triangles.ts";
import { SUN, type Shadow, highlight, lit, sample, shadowOf, skyOf, toLinear, toScreen } from "./render/light.ts";
import { type Camera, type Corner, FINER, type View, cameraFor, onScreen } from "./render/camera.ts";

export { readGlb } from "./render/triangles.ts";

export interface Rendered {
  readonly width: number;
  readonly height: number;
  /** Four bytes a pixel; alpha is 0 where nothing of the thing is, unless there is a floor. */
  readonly data: Uint8Array;
  /** Share of pixels that show the thing. */
  readonly coverage: number;
}

const SUN_LIGHT: Vec3 = [2.5, 2.35, 2.1];

export async function renderMesh(glb: Uint8Array, view: View): Promise<Rendered> {
  const triangles = await trianglesOf(await readGlb(glb));
  if (triangles.length === 0) throw new Error("the file shows no triangle");
  const camera = cameraFor(triangles, view);
  const shadow = shadowOf(triangles, camera);
  const canvas = newCanvas(view.width * FINER, view.height * FINER);
  const seen = triangles.filter(({ surface }) => surface.seeThrough === 0);
  const clear = triangles.filter(({ surface }) => surface.seeThrough > 0);
  for (const triangle of seen) draw(triangle, camera, canvas, shadow, view.isCulled !== false);
  if (view.hasFloor !== false) drawFloor(camera, canvas, shadow);
  const far = (triangle: Triangle): number => distance(middle(triangle), camera.eye);
  for (const triangle of clear.toSorted((a, b) => far(b) - far(a))) draw(triangle, camera, canvas, shadow, false);
  return resolve(canvas, view);
}

export function pngOf({ width, height, data }: Pick<Rendered, "width" | "height" | "data">): Uint8Array {
  const rows = new Uint8Array(height * (4 * width + 1));
  for (let y = 0; y < height; y += 1)
    rows.set(data.subarray(4 * width * y, 4 * width * (y + 1)), y * (4 * width + 1) + 1);
  const head = new Uint8Array(13);
  new DataView(head.buffer).setUint32(0, width);
  new DataView(head.buffer).setUint32(4, height);
  head.set([8, 6, 0, 0, 0], 8);
  const chunk = (kind: string, bytes: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(kind), bytes]);
    const frame = Buffer.alloc(body.length + 8);
    frame.writeUInt32BE(bytes.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(Bun.hash.crc32(body), body.length + 4);
    return frame;
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return new Uint8Array(
    Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array(0))]),
  );
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly light: Float32Array;
  readonly depth: Float32Array;
  /** 0 to 1: how much of the thing is there. */
  readonly thing: Float32Array;
  readonly alpha: Float32Array;
}

function newCanvas(width: number, height: number): Canvas {
  const count = width * height;
  return {
    width,
    height,
    light: new Float32Array(3 * count),
    depth: new Float32Array(count).fill(Infinity),
    thing: new Float32Array(count),
    alpha: new Float32Array(count),
  };
}

function draw(triangle: Triangle, camera: Camera, canvas: Canvas, shadow: Shadow, isCulled: boolean): void {
  const [a, b, c] = triangle.points.map((point) => onScreen(point, camera)) as [Corner, Corner, Corner];
  const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  // Rows go down: what is counter-clockwise in the world has a negative area here.
  const isBack = area > 0;
  if (area === 0 || (isBack && isCulled && !triangle.surface.isSheet)) return;
  const tangents = triangle.surface.normalPicture === null ? null : tangentsOf(triangle);
  const level = levelOf(triangle, Math.abs(area));
  const fromX = Math.max(0, Math.ceil(Math.min(a.x, b.x, c.x) - 0.5));
  const toX = Math.min(canvas.width - 1, Math.floor(Math.max(a.x, b.x, c.x) - 0.5));
  const fromY = Math.max(0, Math.ceil(Math.min(a.y, b.y, c.y) - 0.5));
  const toY = Math.min(canvas.height - 1, Math.floor(Math.max(a.y, b.y, c.y) - 0.5));
  for (let y = fromY; y <= toY; y += 1) {
    for (let x = fromX; x <= toX; x += 1) {
      const [px, py] = [x + 0.5, y + 0.5];
      const u = ((b.x - px) * (c.y - py) - (b.y - py) * (c.x - px)) / area;
      const v = ((c.x - px) * (a.y - py) - (c.y - py) * (a.x - px)) / area;
      const w = 1 - u - v;
      if (u < 0 || v < 0 || w < 0) continue;
      const depth = 1 / (u / a.z + v / b.z + w / c.z);
      const at = y * canvas.width + x;
      if (depth >= (canvas.depth[at] ?? 0)) continue;
      const weights: Vec3 = [(u * depth) / a.z, (v * depth) / b.z, (w * depth) / c.z];
      const { light, alpha } = shade(triangle, weights, isBack, { tangents, level }, camera, shadow);
      for (let channel = 0; channel < 3; channel += 1) {
        const below = canvas.light[3 * at + channel] ?? 0;
        canvas.light[3 * at + channel] = below * (1 - alpha) + (light[channel] ?? 0) * (alpha < 1 ? 1 : alpha);
      }
      canvas.alpha[at] = Math.max(canvas.alpha[at] ?? 0, alpha);
      canvas.thing[at] = 1;
      if (triangle.surface.seeThrough === 0) canvas.depth[at] = depth;
    }
  }
}

function shade(
  { surface, points, normals, uvs, tangents: told, colours }: Triangle,
  weights: Vec3,
  isBack: boolean,
  { tangents, level }: { readonly tangents: readonly [Vec3, Vec3] | null; readonly level: number },
  camera: Camera,
  shadow: Shadow,
): { readonly light: Vec3; readonly alpha: number } {
  const point = weighted(points, weights);
  let normal = normalise(weighted(normals, weights));
  if (isBack) normal = times(normal, -1);
  const uv: readonly [number, number] = [
    weights.reduce((sum, weight, corner) => sum + weight * (uvs[corner]?.[0] ?? 0), 0),
    weights.reduce((sum, weight, corner) => sum + weight * (uvs[corner]?.[1] ?? 0), 0),
  ];
  const frame =
    told === null
      ? tangents
      : frameOf(normal, weighted(told as unknown as [Vec3, Vec3, Vec3], weights), told[0]?.[3] ?? 1);
  if (surface.normalPicture !== null && frame !== null)
    normal = bumped(normal, frame, sample(surface.normalPicture, uv, level));
  const tint = weighted(colours as [Vec3, Vec3, Vec3], weights);
  const texel = surface.basePicture === null ? [1, 1, 1] : sample(surface.basePicture, uv, level).map(toLinear);
  const albedo = [0, 1, 2].map((at) => (surface.base[at] ?? 1) * (texel[at] ?? 1) * (tint[at] ?? 1)) as unknown as Vec3;
  const finish = surface.surfacePicture === null ? [0, 1, 1] : sample(surface.surfacePicture, uv, level);
  const roughness = Math.max(0.04, surface.roughness * (finish[1] ?? 1));
  const metallic = surface.metallic * (finish[2] ?? 1);
  const glowing =
    surface.emissivePicture === null ? [1, 1, 1] : sample(surface.emissivePicture, uv, level).map(toLinear);
  const toEye = normalise(sub(camera.eye, point));
  const facing = Math.max(0.02, dot(normal, toEye));
  const sun = Math.max(0, dot(normal, SUN)) * lit(shadow, point, normal);
  const sky = skyOf(normal, 1);
  const mirror = sub(times(normal, 2 * dot(normal, toEye)), toEye);
  const reflected = skyOf(mirror, roughness);
  const gloss = highlight(normal, toEye, roughness) * sun;
  const edge = (1 - facing) ** 5;
  const coat = surface.clearcoat * (0.04 + 0.96 * edge);
  const coatLight = surface.clearcoat === 0 ? [0, 0, 0] : skyOf(mirror, 0.08);
  const passing = 1 - surface.seeThrough;
  const dim = Math.min(tint[0], tint[1], tint[2], 1);
  const light = [0, 1, 2].map((at) => {
    const colour = albedo[at] ?? 0;
    const face = 0.04 + (colour - 0.04) * metallic;
    const fresnel = face + (Math.max(1 - roughness, face) - face) * edge;
    const matt = colour * (1 - metallic) * passing * ((sky[at] ?? 0) + (SUN_LIGHT[at] ?? 0) * sun * 0.32);
    const shine = fresnel * (reflected[at] ?? 0) * (0.4 + 0.6 * dim) + fresnel * gloss * (SUN_LIGHT[at] ?? 0);
    return (
      (matt + shine) * (1 - coat) + coat * (coatLight[at] ?? 0) + (surface.emissive[at] ?? 0) * (glowing[at] ?? 0) * 1.2
    );
  }) as unknown as Vec3;
  if (surface.seeThrough === 0) return { light, alpha: 1 };
  // Glass takes away what its colour is not, and mirrors at its edges.
  return {
    light: light.map((value, at) => value + (albedo[at] ?? 0) * 0.1) as unknown as Vec3,
    alpha: Math.min(0.95, passing * 0.6 + 0.2 + 0.7 * edge),
  };
}

function bumped(normal: Vec3, [tangent, bitangent]: readonly [Vec3, Vec3], texel: readonly number[]): Vec3 {
  const [x = 0, y = 0, z = 1] = texel.map((value) => 2 * value - 1);
  return normalise(add(add(times(tangent, x), times(bitangent, y)), times(normal, z)));
}

function frameOf(normal: Vec3, along: Vec3, side: number): readonly [Vec3, Vec3] {
  const tangent = normalise(sub(along, times(normal, dot(normal, along))));
  return [tangent, times(cross(normal, tangent), side)];
}

/** A light floor that fades into the background, with the thing's shadow on it. */
function drawFloor(camera: Camera, canvas: Canvas, shadow: Shadow): void {
  for (let y = 0; y < canvas.height; y += 1) {
    for (let x = 0; x < canvas.width; x += 1) {
      const at = y * canvas.width + x;
      const across = times(camera.right, (x + 0.5 - camera.width / 2) / camera.focal);
      const down = times(camera.up, (camera.height / 2 - y - 0.5) / camera.focal);
      const ray = add(camera.ahead, add(across, down));
      const depth = ray[1] < -1e-6 ? (camera.floor - camera.eye[1]) / ray[1] : Infinity;
      if (depth >= (canvas.depth[at] ?? 0) && (canvas.thing[at] ?? 0) === 1) continue;
      const fade = 0.5 + 0.5 * Math.min(1, y / canvas.height);
      let light: Vec3 = [0.62 + 0.2 * fade, 0.66 + 0.2 * fade, 0.72 + 0.2 * fade];
      if (depth !== Infinity) {
        const point = add(camera.eye, times(ray, depth));
        const near = Math.max(
          0,
          1 - distance(point, [camera.target[0], camera.floor, camera.target[2]]) / (camera.radius * 3),
        );
        const share = 1 - 0.5 * (1 - lit(shadow, point, [0, 1, 0])) * Math.min(1, near * 2);
        light = light.map((value) => (value * (1 - near) + 0.93 * near) * share) as unknown as Vec3;
      }
      canvas.light.set(light, 3 * at);
      canvas.alpha[at] = 1;
      canvas.thing[at] = 0;
    }
  }
}

function resolve({ width, light, alpha, thing }: Canvas, view: View): Rendered {
  const data = new Uint8Array(4 * view.width * view.height);
  let covered = 0;
  for (let y = 0; y < view.height; y += 1) {
    for (let x = 0; x < view.width; x += 1) {
      const sum = [0, 0, 0, 0];
      let isThing = false;
      for (let dy = 0; dy < FINER; dy += 1) {
        for (let dx = 0; dx < FINER; dx += 1) {
          const at = (y * FINER + dy) * width + x * FINER + dx;
          for (let channel = 0; channel < 3; channel += 1)
            sum[channel] = (sum[channel] ?? 0) + toScreen(light[3 * at + channel] ?? 0);
          sum[3] = (sum[3] ?? 0) + (alpha[at] ?? 0);
          isThing ||= (thing[at] ?? 0) === 1;
        }
      }
      const opaque = sum[3] ?? 0;
      const to = 4 * (y * view.width + x);
      for (let channel = 0; channel < 3; channel += 1) {
        data[to + channel] = Math.round(
          (255 * (sum[channel] ?? 0)) /
            Math.max(1e-6, view.hasFloor === false ? Math.max(opaque, 1e-6) : FINER * FINER),
        );
      }
      data[to + 3] = Math.round((255 * opaque) / (FINER * FINER));
      if (isThing) covered += 1;
    }
  }
  return { width: view.width, height: view.height, data, coverage: covered / (view.width * view.height) };
}
