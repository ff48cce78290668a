/** What a binary glTF file shows, as triangles with their surfaces. */
import { Logger, NodeIO, type Document, type Material, type Primitive, type Texture } from "@gltf-transform/core";
import { ALL_EXTENSIONS, type Clearcoat, type EmissiveStrength, type Transmission } from "@gltf-transform/extensions";
import { decodeAny } from "#tests/workers/providers/sandbox/media/png.ts";
import { type Vec3, add, cross, normalise, placed, sub, times } from "./vectors.ts";

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array;
}

/** The picture, and it at a half, a quarter and so on: far away a fine pattern would flicker. */
export type Pyramid = readonly [Picture, ...Picture[]];

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
export interface Triangle {
  readonly surface: Surface;
  readonly points: readonly [Vec3, Vec3, Vec3];
  readonly normals: readonly [Vec3, Vec3, Vec3];
  readonly uvs: readonly (readonly [number, number])[];
  /** As the file says: x, y, z and the side of the bitangent; null where it does not. */
  readonly tangents: readonly (readonly number[])[] | null;
  readonly colours: readonly Vec3[];
}

export function readGlb(glb: Uint8Array): Promise<Document> {
  const io = new NodeIO().setLogger(new Logger(Logger.Verbosity.SILENT)).registerExtensions(ALL_EXTENSIONS);
  return io.readBinary(new Uint8Array(glb));
}

export async function trianglesOf(document: Document): Promise<Triangle[]> {
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
    const indices =
      primitive.getIndices()?.getArray() ?? Uint32Array.from({ length: places.getCount() }, (_, at) => at);
    const read = (name: string, index: number, missing: readonly number[]): readonly number[] =>
      primitive.getAttribute(name)?.getElement(index, []) ?? missing;
    const three = (list: readonly number[]): Vec3 => [list[0] ?? 0, list[1] ?? 0, list[2] ?? 0];
    for (let at = 0; at + 2 < indices.length; at += 3) {
      const corners = [indices[at] ?? 0, indices[at + 1] ?? 0, indices[at + 2] ?? 0];
      const points = corners.map((corner) => placed(three(read("POSITION", corner, [])), matrix, 1)) as [
        Vec3,
        Vec3,
        Vec3,
      ];
      const flat = normalise(cross(sub(points[1], points[0]), sub(points[2], points[0])));
      triangles.push({
        surface,
        points,
        normals: corners.map((corner) => normalise(placed(three(read("NORMAL", corner, flat)), matrix, 0))) as [
          Vec3,
          Vec3,
          Vec3,
        ],
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
  const strength =
    material?.getExtension<EmissiveStrength>("KHR_materials_emissive_strength")?.getEmissiveStrength() ?? 1;
  const base = material?.getBaseColorFactor() ?? [0.8, 0.8, 0.8, 1];
  const transmission = material?.getExtension<Transmission>("KHR_materials_transmission")?.getTransmissionFactor() ?? 0;
  return {
    base,
    metallic: material?.getMetallicFactor() ?? 0,
    roughness: material?.getRoughnessFactor() ?? 0.8,
    emissive: (material?.getEmissiveFactor() ?? [0, 0, 0]).map((value) => value * strength) as unknown as Vec3,
    seeThrough: material?.getAlphaMode() === "BLEND" ? 1 - base[3] : transmission * 0.8,
    clearcoat: material?.getExtension<Clearcoat>("KHR_materials_clearcoat")?.getClearcoatFactor() ?? 0,
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
      const sum =
        (last.data[from] ?? 0) +
        (last.data[from + channels] ?? 0) +
        (last.data[below] ?? 0) +
        (last.data[below + channels] ?? 0);
      data[at] = sum / 4;
    }
    last = { width, height, channels, data };
    levels.push(last);
  }
  return levels;
}

/** How often a triangle's texture has to be halved until one of its pixels is one of the canvas. */
export function levelOf({ uvs }: Triangle, pixels: number): number {
  const [a, b, c] = [uvs[0] ?? [0, 0], uvs[1] ?? [0, 0], uvs[2] ?? [0, 0]];
  const area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  return Math.log2(Math.max(1e-9, area / Math.max(1e-6, pixels))) / 2;
}

/** Where u and v grow on a triangle; v of the file goes down, green of its pictures up. */
export function tangentsOf({ points, uvs }: Triangle): readonly [Vec3, Vec3] | null {
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

export function extent(triangles: readonly Triangle[]): readonly [Vec3, Vec3] {
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

export const middle = ({ points: [a, b, c] }: Triangle): Vec3 => times(add(add(a, b), c), 1 / 3);
