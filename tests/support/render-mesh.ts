/**
 * A picture of a binary glTF file, so that tests and people can see what it shows: perspective, depth buffer, one sun
 * with shadows, a soft sky that metals mirror, textures, see-through materials, a floor. Not quick, not physically exact.
 */
import { deflateSync } from "node:zlib";

import { Logger, NodeIO, type Document, type Material, type Primitive, type Texture } from "@gltf-transform/core";
import { ALL_EXTENSIONS, type Clearcoat, type EmissiveStrength, type Transmission } from "@gltf-transform/extensions";

import { decodeAny } from "#tests/workers/providers/sandbox/media/png.ts";

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

export interface Rendered {
  readonly width: number;
  readonly height: number;
  /** Four bytes a pixel; alpha is 0 where nothing of the thing is, unless there is a floor. */
  readonly data: Uint8Array;
  /** Share of pixels that show the thing. */
  readonly coverage: number;
}

type Vec3 = readonly [number, number, number];

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array;
}

/** The picture, and it at a half, a quarter and so on: far away a fine pattern would flicker. */
type Pyramid = readonly [Picture, ...Picture[]];

interface Surface {
  readonly base: readonly [number, number, number, number];
  readonly metallic: number;
  readonly roughness: number;
  readonly emissive: Vec3;
  readonly seeThrough: number;
  readonly clearcoat: number;
  readonly isSheet: boolean;
  readonly basePicture: Pyramid | null;
  readonly normalPicture: Pyramid | null;
  readonly surfacePicture: Pyramid | null;
  readonly emissivePicture: Pyramid | null;
}

/** Three of each per corner, nine a triangle; uvs six. */
interface Triangle {
  readonly surface: Surface;
  readonly points: readonly [Vec3, Vec3, Vec3];
  readonly normals: readonly [Vec3, Vec3, Vec3];
  readonly uvs: readonly (readonly [number, number])[];
  /** As the file says: x, y, z and the side of the bitangent; null where it does not. */
  readonly tangents: readonly (readonly number[])[] | null;
  readonly colours: readonly Vec3[];
}

/** Pixels are drawn twice as fine in both directions. */
const FINER = 2;
const SUN: Vec3 = normalise([-0.5, 0.9, 0.62]);
const SUN_LIGHT: Vec3 = [2.5, 2.35, 2.1];
const SHADOW_SIDE = 640;
const FOV_DEGREES = 30;

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
  for (let y = 0; y < height; y += 1) rows.set(data.subarray(4 * width * y, 4 * width * (y + 1)), y * (4 * width + 1) + 1);
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

export function readGlb(glb: Uint8Array): Promise<Document> {
  const io = new NodeIO().setLogger(new Logger(Logger.Verbosity.SILENT)).registerExtensions(ALL_EXTENSIONS);
  return io.readBinary(new Uint8Array(glb));
}

async function trianglesOf(document: Document): Promise<Triangle[]> {
  const triangles: Triangle[] = [];
  const surfaces = new Map<Material | null, Surface>();
  const pictures = new Map<Texture, Pyramid>();
  const [scene] = document.getRoot().listScenes();
  const jobs: Promise<void>[] = [];
  scene?.traverse((node) => {
    const matrix = node.getSkin() === null ? node.getWorldMatrix() : [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) jobs.push(collect(primitive, matrix));
  });
  for (const job of jobs) await job;
  return triangles;

  async function collect(primitive: Primitive, matrix: readonly number[]): Promise<void> {
    const material = primitive.getMaterial();
    const surface = surfaces.get(material) ?? (await surfaceOf(material, pictures));
    surfaces.set(material, surface);
    const places = primitive.getAttribute("POSITION");
    if (places === null) return;
    const indices = primitive.getIndices()?.getArray() ?? Uint32Array.from({ length: places.getCount() }, (_, at) => at);
    const read = (name: string, index: number, missing: readonly number[]): readonly number[] =>
      primitive.getAttribute(name)?.getElement(index, []) ?? missing;
    const three = (list: readonly number[]): Vec3 => [list[0] ?? 0, list[1] ?? 0, list[2] ?? 0];
    for (let at = 0; at + 2 < indices.length; at += 3) {
      const corners = [indices[at] ?? 0, indices[at + 1] ?? 0, indices[at + 2] ?? 0];
      const points = corners.map((corner) => placed(three(read("POSITION", corner, [])), matrix, 1)) as [Vec3, Vec3, Vec3];
      const flat = normalise(cross(sub(points[1], points[0]), sub(points[2], points[0])));
      triangles.push({
        surface,
        points,
        normals: corners.map((corner) => normalise(placed(three(read("NORMAL", corner, flat)), matrix, 0))) as [Vec3, Vec3, Vec3],
        uvs: corners.map((corner) => read("TEXCOORD_0", corner, [0, 0]) as [number, number]),
        tangents:
          primitive.getAttribute("TANGENT") === null
            ? null
            : corners.map((corner) => {
                const tangent = read("TANGENT", corner, [1, 0, 0, 1]);
                return [...normalise(placed(three(tangent), matrix, 0)), tangent[3] ?? 1];
              }),
        colours: corners.map((corner) => three(read("COLOR_0", corner, [1, 1, 1]))),
      });
    }
  }
}

async function surfaceOf(material: Material | null, pictures: Map<Texture, Pyramid>): Promise<Surface> {
  const picture = async (texture: Texture | null | undefined): Promise<Pyramid | null> => {
    const bytes = texture?.getImage();
    if (texture == null || bytes == null) return null;
    const decoded = pictures.get(texture) ?? pyramidOf(await decodeAny(bytes));
    pictures.set(texture, decoded);
    return decoded;
  };
  const extension = <T>(name: string): T | null => (material?.getExtension(name) ?? null) as T | null;
  const strength = extension<EmissiveStrength>("KHR_materials_emissive_strength")?.getEmissiveStrength() ?? 1;
  const base = material?.getBaseColorFactor() ?? [0.8, 0.8, 0.8, 1];
  const transmission = extension<Transmission>("KHR_materials_transmission")?.getTransmissionFactor() ?? 0;
  return {
    base,
    metallic: material?.getMetallicFactor() ?? 0,
    roughness: material?.getRoughnessFactor() ?? 0.8,
    emissive: (material?.getEmissiveFactor() ?? [0, 0, 0]).map((value) => value * strength) as unknown as Vec3,
    seeThrough: material?.getAlphaMode() === "BLEND" ? 1 - base[3] : transmission * 0.8,
    clearcoat: extension<Clearcoat>("KHR_materials_clearcoat")?.getClearcoatFactor() ?? 0,
    isSheet: material?.getDoubleSided() ?? false,
    basePicture: await picture(material?.getBaseColorTexture()),
    normalPicture: await picture(material?.getNormalTexture()),
    surfacePicture: await picture(material?.getMetallicRoughnessTexture()),
    emissivePicture: await picture(material?.getEmissiveTexture()),
  };
}

function pyramidOf(picture: Picture): Pyramid {
  const levels: [Picture, ...Picture[]] = [picture];
  for (let last = picture; Math.min(last.width, last.height) > 4;) {
    const [width, height, channels] = [last.width >> 1, last.height >> 1, last.channels];
    const data = new Uint8Array(width * height * channels);
    for (let at = 0; at < data.length; at += 1) {
      const [channel, x, y] = [at % channels, Math.floor(at / channels) % width, Math.floor(at / channels / width)];
      const from = (2 * y * last.width + 2 * x) * channels + channel;
      const below = from + last.width * channels;
      const sum = (last.data[from] ?? 0) + (last.data[from + channels] ?? 0) + (last.data[below] ?? 0) + (last.data[below + channels] ?? 0);
      data[at] = sum / 4;
    }
    last = { width, height, channels, data };
    levels.push(last);
  }
  return levels;
}

/** How often a triangle's texture has to be halved until one of its pixels is one of the canvas. */
function levelOf({ uvs }: Triangle, pixels: number): number {
  const [a, b, c] = [uvs[0] ?? [0, 0], uvs[1] ?? [0, 0], uvs[2] ?? [0, 0]];
  const area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  return Math.log2(Math.max(1e-9, area / Math.max(1e-6, pixels))) / 2;
}

interface Camera {
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
function cameraFor(triangles: readonly Triangle[], { width, height, turnDegrees, riseDegrees = 18 }: View): Camera {
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
      const across = Math.max(Math.abs(dot(from, right)) * (height < width ? height / width : 1), Math.abs(dot(from, up)));
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

interface Corner {
  readonly x: number;
  readonly y: number;
  /** Distance ahead of the eye. */
  readonly z: number;
}

function onScreen(point: Vec3, { eye, right, up, ahead, focal, width, height }: Camera): Corner {
  const from = sub(point, eye);
  const z = Math.max(1e-6, dot(from, ahead));
  return { x: width / 2 + (focal * dot(from, right)) / z, y: height / 2 - (focal * dot(from, up)) / z, z };
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
  const frame = told === null ? tangents : frameOf(normal, weighted(told as unknown as [Vec3, Vec3, Vec3], weights), told[0]?.[3] ?? 1);
  if (surface.normalPicture !== null && frame !== null) normal = bumped(normal, frame, sample(surface.normalPicture, uv, level));
  const tint = weighted(colours as [Vec3, Vec3, Vec3], weights);
  const texel = surface.basePicture === null ? [1, 1, 1] : sample(surface.basePicture, uv, level).map(toLinear);
  const albedo = [0, 1, 2].map((at) => (surface.base[at] ?? 1) * (texel[at] ?? 1) * (tint[at] ?? 1)) as unknown as Vec3;
  const finish = surface.surfacePicture === null ? [0, 1, 1] : sample(surface.surfacePicture, uv, level);
  const roughness = Math.max(0.04, surface.roughness * (finish[1] ?? 1));
  const metallic = surface.metallic * (finish[2] ?? 1);
  const glowing = surface.emissivePicture === null ? [1, 1, 1] : sample(surface.emissivePicture, uv, level).map(toLinear);
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
    return (matt + shine) * (1 - coat) + coat * (coatLight[at] ?? 0) + (surface.emissive[at] ?? 0) * (glowing[at] ?? 0) * 1.2;
  }) as unknown as Vec3;
  if (surface.seeThrough === 0) return { light, alpha: 1 };
  // Glass takes away what its colour is not, and mirrors at its edges.
  return { light: light.map((value, at) => value + (albedo[at] ?? 0) * 0.1) as unknown as Vec3, alpha: Math.min(0.95, passing * 0.6 + 0.2 + 0.7 * edge) };
}

function bumped(normal: Vec3, [tangent, bitangent]: readonly [Vec3, Vec3], texel: readonly number[]): Vec3 {
  const [x = 0, y = 0, z = 1] = texel.map((value) => 2 * value - 1);
  return normalise(add(add(times(tangent, x), times(bitangent, y)), times(normal, z)));
}

function frameOf(normal: Vec3, along: Vec3, side: number): readonly [Vec3, Vec3] {
  const tangent = normalise(sub(along, times(normal, dot(normal, along))));
  return [tangent, times(cross(normal, tangent), side)];
}

/** Where u and v grow on a triangle; v of the file goes down, green of its pictures up. */
function tangentsOf({ points, uvs }: Triangle): readonly [Vec3, Vec3] | null {
  const [one, two] = [sub(points[1], points[0]), sub(points[2], points[0])];
  const [u1, v1] = [(uvs[1]?.[0] ?? 0) - (uvs[0]?.[0] ?? 0), (uvs[1]?.[1] ?? 0) - (uvs[0]?.[1] ?? 0)];
  const [u2, v2] = [(uvs[2]?.[0] ?? 0) - (uvs[0]?.[0] ?? 0), (uvs[2]?.[1] ?? 0) - (uvs[0]?.[1] ?? 0)];
  const det = u1 * v2 - u2 * v1;
  if (Math.abs(det) < 1e-14) return null;
  return [
    normalise(times(sub(times(one, v2), times(two, v1)), 1 / det)),
    normalise(times(sub(times(two, u1), times(one, u2)), -1 / det)),
  ];
}

/** A bright studio: light from above, a window at the left, a dark horizon line that gives metal its look. */
function skyOf(direction: Vec3, roughness: number): Vec3 {
  const [x, y, z] = direction;
  const up = 0.5 + 0.5 * y;
  const soft = 0.08 + roughness * 0.9;
  const horizon = Math.exp(-((y / soft) ** 2)) * (1 - roughness) * 0.45;
  const box = smooth(0.9 - soft, 0.9 + soft * 0.4, dot(normalise([x, y, z]), normalise([-0.7, 0.55, 0.5]))) * (1.9 - 1.5 * roughness);
  const strip = smooth(0.8 - soft, 0.85 + soft * 0.5, dot(normalise([x, y, z]), normalise([0.85, 0.25, 0.35]))) * (1.1 - 0.9 * roughness);
  const ground: Vec3 = [0.42, 0.4, 0.38];
  const high: Vec3 = [0.82, 0.88, 0.98];
  return [0, 1, 2].map((at) => (ground[at] ?? 0) * (1 - up) + (high[at] ?? 0) * up + box + strip - horizon).map((value) => Math.max(0.03, value)) as unknown as Vec3;
}

/** The sun's image on a rough surface (GGX). */
function highlight(normal: Vec3, toEye: Vec3, roughness: number): number {
  const half = normalise(add(SUN, toEye));
  const a = Math.max(0.003, roughness ** 4);
  const d = dot(normal, half) ** 2 * (a - 1) + 1;
  return Math.min(30, a / (4 * d * d * Math.max(0.1, dot(half, SUN) ** 2)) / 3);
}

interface Shadow {
  readonly depth: Float32Array;
  readonly right: Vec3;
  readonly up: Vec3;
  readonly scale: number;
  readonly target: Vec3;
}

/** What the sun sees; glass throws half a shadow, which is none here. */
function shadowOf(triangles: readonly Triangle[], { target, radius }: Camera): Shadow {
  const right = normalise(cross([0, 1, 0], SUN));
  const up = cross(SUN, right);
  const scale = SHADOW_SIDE / (2.3 * radius);
  const depth = new Float32Array(SHADOW_SIDE * SHADOW_SIDE).fill(-Infinity);
  for (const { points, surface } of triangles) {
    if (surface.seeThrough > 0.3) continue;
    const [a, b, c] = points.map((point) => {
      const from = sub(point, target);
      return { x: SHADOW_SIDE / 2 + dot(from, right) * scale, y: SHADOW_SIDE / 2 + dot(from, up) * scale, z: dot(from, SUN) };
    }) as [Corner, Corner, Corner];
    const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area === 0) continue;
    for (let y = Math.max(0, Math.floor(Math.min(a.y, b.y, c.y))); y <= Math.min(SHADOW_SIDE - 1, Math.max(a.y, b.y, c.y)); y += 1) {
      for (let x = Math.max(0, Math.floor(Math.min(a.x, b.x, c.x))); x <= Math.min(SHADOW_SIDE - 1, Math.max(a.x, b.x, c.x)); x += 1) {
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
function lit({ depth, right, up, scale, target }: Shadow, point: Vec3, normal: Vec3): number {
  const lifted = add(point, times(normal, 3 / scale));
  const from = sub(lifted, target);
  const [x, y, z] = [SHADOW_SIDE / 2 + dot(from, right) * scale, SHADOW_SIDE / 2 + dot(from, up) * scale, dot(from, SUN) + 1 / scale];
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
        const near = Math.max(0, 1 - distance(point, [camera.target[0], camera.floor, camera.target[2]]) / (camera.radius * 3));
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
          for (let channel = 0; channel < 3; channel += 1) sum[channel] = (sum[channel] ?? 0) + toScreen(light[3 * at + channel] ?? 0);
          sum[3] = (sum[3] ?? 0) + (alpha[at] ?? 0);
          isThing ||= (thing[at] ?? 0) === 1;
        }
      }
      const opaque = sum[3] ?? 0;
      const to = 4 * (y * view.width + x);
      for (let channel = 0; channel < 3; channel += 1) {
        data[to + channel] = Math.round((255 * (sum[channel] ?? 0)) / Math.max(1e-6, view.hasFloor === false ? Math.max(opaque, 1e-6) : FINER * FINER));
      }
      data[to + 3] = Math.round((255 * opaque) / (FINER * FINER));
      if (isThing) covered += 1;
    }
  }
  return { width: view.width, height: view.height, data, coverage: covered / (view.width * view.height) };
}

/** Strong light bends to white instead of being cut off. */
function toScreen(value: number): number {
  const bent = value < 0.7 ? value : 0.7 + 0.3 * (1 - Math.exp(-(value - 0.7) / 0.6));
  return bent <= 0.0031308 ? 12.92 * bent : 1.055 * bent ** (1 / 2.4) - 0.055;
}

function toLinear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Between four pixels; the picture repeats. */
function sample(pyramid: Pyramid, [u, v]: readonly [number, number], level: number): number[] {
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

function extent(triangles: readonly Triangle[]): readonly [Vec3, Vec3] {
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (const { points } of triangles) {
    for (const point of points) {
      for (const axis of [0, 1, 2] as const) {
        low[axis] = Math.min(low[axis], point[axis]);
        high[axis] = Math.max(high[axis], point[axis]);
      }
    }
  }
  return [low, high];
}

function placed([x, y, z]: Vec3, m: readonly number[], w: 0 | 1): Vec3 {
  const row = (at: number): number => (m[at] ?? 0) * x + (m[at + 4] ?? 0) * y + (m[at + 8] ?? 0) * z + (m[at + 12] ?? 0) * w;
  return [row(0), row(1), row(2)];
}

function weighted([a, b, c]: readonly [Vec3, Vec3, Vec3], [u, v, w]: Vec3): Vec3 {
  return [a[0] * u + b[0] * v + c[0] * w, a[1] * u + b[1] * v + c[1] * w, a[2] * u + b[2] * v + c[2] * w];
}

const middle = ({ points: [a, b, c] }: Triangle): Vec3 => times(add(add(a, b), c), 1 / 3);
const smooth = (from: number, to: number, value: number): number => {
  const share = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return share * share * (3 - 2 * share);
};

function add(a: Vec3, b: Vec3): Vec3 {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}
function sub(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}
function times(a: Vec3, factor: number): Vec3 {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}
function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
function normalise(a: Vec3): Vec3 {
  const size = Math.hypot(a[0], a[1], a[2]);
  return size > 0 ? times(a, 1 / size) : [0, 1, 0];
}
function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
