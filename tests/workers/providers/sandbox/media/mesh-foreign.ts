/** Meshes that others might have made: written by hand, or with the library in ways that we never do. */
import { Document, type Accessor } from "@gltf-transform/core";
import { KHRMeshQuantization } from "@gltf-transform/extensions";

import { pngOf } from "#tests/support/render-mesh.ts";

import { writeGlb } from "./mesh-reading.ts";

/** A wavy ball under a turned and mirrored node: smooth, one piece, without normals, coordinates or material. */
export async function ball(columns = 48, rows = 32): Promise<Uint8Array> {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let row = 0; row <= rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [turn, rise] = [(2 * Math.PI * column) / columns, (Math.PI * row) / rows];
      const reach = 1 + 0.25 * Math.cos(3 * turn) * Math.sin(rise) ** 2;
      positions.push(reach * Math.sin(rise) * Math.sin(turn), Math.cos(rise), reach * Math.sin(rise) * Math.cos(turn));
      const [here, beside] = [row * columns + column, row * columns + ((column + 1) % columns)];
      if (row > 0 && row < rows) indices.push(here, here + columns, beside);
      if (row + 1 < rows) indices.push(beside, here + columns, beside + columns);
    }
  }
  const document = new Document();
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", numbers(document, "VEC3", Float32Array.from(positions)))
    .setIndices(numbers(document, "SCALAR", Uint16Array.from(indices)));
  const node = document
    .createNode("Blob")
    .setMesh(document.createMesh().addPrimitive(primitive))
    .setScale([-2, 3, 2])
    .setRotation([0, Math.SQRT1_2, 0, Math.SQRT1_2])
    .setTranslation([5, 1, -4]);
  document.createScene().addChild(document.createNode("Above").addChild(node).setTranslation([0, 2, 0]));
  return writeGlb(document);
}

/** Blocks side by side, each of twelve triangles that share no points, flat, in a checked texture. */
export async function blocks(count: number): Promise<Uint8Array> {
  const document = new Document();
  const texture = document.createTexture("checks").setMimeType("image/png").setImage(checks());
  const material = document.createMaterial("Checks").setBaseColorTexture(texture).setMetallicFactor(0);
  const [positions, normals, uvs]: [number[], number[], number[]] = [[], [], []];
  for (let block = 0; block < count; block += 1) {
    for (const axis of [0, 1, 2]) {
      for (const sign of [-1, 1]) {
        const corner = (a: number, b: number): number[] => {
          const point = [0, 0, 0];
          point[axis] = sign / 2;
          point[(axis + 1) % 3] = a - 0.5;
          point[(axis + 2) % 3] = (sign > 0 ? b : 1 - b) - 0.5;
          return point;
        };
        for (const [a, b] of [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
          [1, 1],
          [0, 1],
        ] as const) {
          const [x = 0, y = 0, z = 0] = corner(a, b);
          positions.push(x + 2 * block, y, z);
          normals.push(...[0, 1, 2].map((at) => (at === axis ? sign : 0)));
          uvs.push(a, b);
        }
      }
    }
  }
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", numbers(document, "VEC3", Float32Array.from(positions)))
    .setAttribute("NORMAL", numbers(document, "VEC3", Float32Array.from(normals)))
    .setAttribute("TEXCOORD_0", numbers(document, "VEC2", Float32Array.from(uvs)))
    .setMaterial(material);
  document.createScene().addChild(document.createNode("Block").setMesh(document.createMesh().addPrimitive(primitive)));
  return writeGlb(document);
}

/** Red at the left, blue at the right. */
export function twoColours(alpha: (x: number, y: number) => number = () => 255): Uint8Array {
  return drawn(64, (x, y) => (x < 32 ? [220, 20, 30, alpha(x, y)] : [20, 40, 220, alpha(x, y)]));
}

function checks(): Uint8Array<ArrayBuffer> {
  return drawn(16, (x, y) => ((x + y) % 2 === 0 ? [250, 250, 250, 255] : [30, 30, 30, 255]));
}

function drawn(side: number, colour: (x: number, y: number) => readonly number[]): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(4 * side * side);
  for (let at = 0; at < side * side; at += 1) data.set(colour(at % side, Math.floor(at / side)), 4 * at);
  return new Uint8Array(pngOf({ width: side, height: side, data }));
}

function numbers(
  document: Document,
  type: "SCALAR" | "VEC2" | "VEC3",
  array: NonNullable<ReturnType<Accessor["getArray"]>>,
): Accessor {
  const buffer = document.getRoot().listBuffers()[0] ?? document.createBuffer();
  return document.createAccessor().setType(type).setArray(array).setBuffer(buffer);
}

export type Json = Record<string, unknown> & Record<"accessors" | "nodes" | "meshes" | "bufferViews", Entry[]>;
export type Entry = Record<string, unknown>;

/** The file with another description, its lengths right. */
export function edited(glb: Uint8Array, edit: (json: Json, binary: Uint8Array) => void): Uint8Array {
  const view = new DataView(glb.buffer, glb.byteOffset, glb.byteLength);
  const length = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(glb.subarray(20, 20 + length))) as Json;
  const binary = glb.slice(20 + length + 8);
  edit(json, binary);
  return packed(new TextEncoder().encode(JSON.stringify(json)), binary);
}

export function packed(json: Uint8Array, binary = new Uint8Array(0)): Uint8Array {
  const [text, rest] = [padded(json, 0x20), padded(binary, 0)];
  const result = new Uint8Array(12 + 8 + text.length + 8 + rest.length);
  const view = new DataView(result.buffer);
  [0x46546c67, 2, result.length, text.length, 0x4e4f534a].forEach((value, at) => view.setUint32(4 * at, value, true));
  result.set(text, 20);
  view.setUint32(20 + text.length, rest.length, true);
  view.setUint32(24 + text.length, 0x004e4942, true);
  result.set(rest, 28 + text.length);
  return result;
}

function padded(bytes: Uint8Array, fill: number): Uint8Array {
  const result = new Uint8Array(Math.ceil(bytes.length / 4) * 4).fill(fill);
  result.set(bytes);
  return result;
}

/** A strip and a fan of small whole numbers, as files for the web have them; and a list with only some of its numbers given. */
export async function packedForms(): Promise<Uint8Array> {
  const document = new Document();
  const rim = Array.from(
    { length: 9 },
    (_, at) => [Math.cos((at * Math.PI) / 4), Math.sin((at * Math.PI) / 4)] as const,
  );
  const fan = Int8Array.from([0, 0, 0, ...rim.flatMap(([x, y]) => [Math.round(100 * x), Math.round(100 * y), 20])]);
  const strip = Int16Array.from(rim.flatMap(([x, y]) => [30_000 * x, 30_000 * y, 0, 30_000 * x, 30_000 * y, 9_000]));
  const mesh = document
    .createMesh("Drum")
    .addPrimitive(
      document
        .createPrimitive()
        .setMode(6)
        .setAttribute("POSITION", numbers(document, "VEC3", fan).setNormalized(true)),
    )
    .addPrimitive(
      document
        .createPrimitive()
        .setMode(5)
        .setAttribute("POSITION", numbers(document, "VEC3", strip).setNormalized(true))
        .setIndices(
          numbers(
            document,
            "SCALAR",
            Uint8Array.from(strip.subarray(0, 18), (_, at) => at),
          ),
        ),
    );
  document.createExtension(KHRMeshQuantization).setRequired(true);
  document.createScene().addChild(document.createNode("Drum").setMesh(mesh).setScale([4, 4, 4]));
  return writeGlb(document);
}
