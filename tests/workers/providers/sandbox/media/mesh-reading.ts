/** What a binary glTF file holds, in numbers that tests can judge. */
import { type Animation, type Document, type Material, type Node, NodeIO } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import { validateBytes } from "gltf-validator";

import { readGlb } from "#tests/support/render-mesh.ts";

type Point = readonly [number, number, number];

export interface MeshFacts {
  readonly document: Document;
  readonly triangles: number;
  /** Corners in the world, three a triangle. */
  readonly corners: readonly Point[];
  readonly min: Point;
  readonly max: Point;
  readonly area: number;
  readonly materials: readonly Material[];
  readonly extras: Readonly<Record<string, unknown>>;
  /** Names of the nodes at the top of the scene. */
  readonly names: readonly string[];
}

/** Errors and warnings of Khronos' validator. */
export async function faultsOf(glb: Uint8Array): Promise<readonly string[]> {
  const { issues } = await validateBytes(glb, { maxIssues: 50 });
  return issues.messages.filter(({ severity }) => severity < 2).map(({ code, message }) => `${code}: ${message}`);
}

export async function factsOf(glb: Uint8Array): Promise<MeshFacts> {
  const document = await readGlb(glb);
  const root = document.getRoot();
  const roots = root.listScenes()[0]?.listChildren() ?? [];
  const corners = roots.flatMap(cornersOf);
  return {
    document,
    triangles: corners.length / 3,
    corners,
    ...extent(corners),
    area: areaOf(corners),
    materials: root.listMaterials(),
    extras: (root.getAsset()["extras"] ?? {}) as Readonly<Record<string, unknown>>,
    names: roots.map((node) => node.getName()),
  };
}

/** Of a node and those under it. */
export function cornersOf(top: Node): Point[] {
  const corners: Point[] = [];
  top.traverse((node) => {
    const m = node.getSkin() === null ? node.getWorldMatrix() : [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) {
      const places = primitive.getAttribute("POSITION");
      const indices =
        primitive.getIndices()?.getArray() ?? Uint32Array.from({ length: places?.getCount() ?? 0 }, (_, at) => at);
      for (const index of indices) {
        const [x = 0, y = 0, z = 0] = places?.getElement(index, []) ?? [];
        const row = (at: number): number =>
          (m[at] ?? 0) * x + (m[at + 4] ?? 0) * y + (m[at + 8] ?? 0) * z + (m[at + 12] ?? 0);
        corners.push([row(0), row(1), row(2)]);
      }
    }
  });
  return corners;
}

export function extent(corners: readonly Point[]): { readonly min: Point; readonly max: Point } {
  const along = (axis: 0 | 1 | 2, pick: (a: number, b: number) => number): number =>
    corners.reduce((value, corner) => pick(value, corner[axis]), corners[0]?.[axis] ?? 0);
  return {
    min: [along(0, Math.min), along(1, Math.min), along(2, Math.min)],
    max: [along(0, Math.max), along(1, Math.max), along(2, Math.max)],
  };
}

export function areaOf(corners: readonly Point[]): number {
  let sum = 0;
  for (let at = 0; at + 2 < corners.length; at += 3) {
    const [a, b, c] = [corners[at], corners[at + 1], corners[at + 2]] as [Point, Point, Point];
    const [u, v] = [minus(b, a), minus(c, a)];
    sum += Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
  }
  return sum;
}

export function sizeOf({ min, max }: Pick<MeshFacts, "min" | "max">): number {
  return Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]);
}

/** How far the bounds lie apart at most, as a share of the size. */
export function boundsApart(one: MeshFacts, other: MeshFacts): number {
  const gaps = [0, 1, 2].flatMap((axis) => [
    (one.min[axis] ?? 0) - (other.min[axis] ?? 0),
    (one.max[axis] ?? 0) - (other.max[axis] ?? 0),
  ]);
  return Math.max(...gaps.map(Math.abs)) / sizeOf(one);
}

/** The largest distance from a point of one to the nearest point of the other, as a share of the size; every `every`th is looked at. */
export function farApart(one: MeshFacts, other: MeshFacts, every = 1): number {
  let far = 0;
  for (let at = 0; at < one.corners.length; at += every) {
    const point = one.corners[at] ?? [0, 0, 0];
    let near = Infinity;
    for (const corner of other.corners) {
      const d = minus(corner, point);
      near = Math.min(near, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    far = Math.max(far, near);
  }
  return Math.sqrt(far) / sizeOf(one);
}

/** The file as it stands at one key of its first clip. */
export async function posedAt(glb: Uint8Array, key: number): Promise<Uint8Array> {
  const document = await readGlb(glb);
  const clip = clipOf(document);
  for (const channel of clip.listChannels()) {
    const value = channel.getSampler()?.getOutput()?.getElement(key, []) ?? [];
    const [x = 0, y = 0, z = 0, w = 0] = value;
    if (channel.getTargetPath() === "rotation") channel.getTargetNode()?.setRotation([x, y, z, w]);
    else channel.getTargetNode()?.setTranslation([x, y, z]);
  }
  return writeGlb(document);
}

export function clipOf(document: Document): Animation {
  const [clip] = document.getRoot().listAnimations();
  if (clip === undefined) throw new Error("the file has no clip");
  return clip;
}

export function writeGlb(document: Document): Promise<Uint8Array> {
  return new NodeIO().registerExtensions(ALL_EXTENSIONS).writeBinary(document);
}

const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
