/** Small meshes as other programs write them, edited copies of files, and readers of mesh content. */
import { type Accessor, Document, NodeIO, type TypedArray } from "@gltf-transform/core";
import { ALL_EXTENSIONS, KHRMeshQuantization } from "@gltf-transform/extensions";
import { type Report, validateBytes } from "gltf-validator";

import { MediaError } from "#shared/children/media-error.ts";

import { glbOf } from "./file-parts.ts";
import { pngOf } from "./png.ts";

export type Entry = Record<string, unknown>;
export type Json = Record<string, unknown> & Record<"accessors" | "nodes" | "meshes" | "bufferViews", Entry[]>;

/** Validates a GLB file with the Khronos validator. Returns errors and warnings, and counts of its content. */
export async function validated(
  glb: Uint8Array,
): Promise<{ readonly faults: string[]; readonly info: Report["info"] }> {
  const { issues, info } = await validateBytes(glb);
  const faults = issues.messages.filter(({ severity }) => severity < 2);
  return { faults: faults.map(({ code, message }) => `${code}: ${message}`), info };
}

/** Returns the error of a job that must be rejected. */
export async function refusalOf(job: Promise<unknown>): Promise<MediaError> {
  const error = await job.then(
    () => new Error("the job was done"),
    (reason: unknown) => reason,
  );
  if (error instanceof MediaError) return error;
  throw error;
}

export function readGlb(glb: Uint8Array): Promise<Document> {
  return io().readBinary(new Uint8Array(glb));
}

/** Returns a mesh of adjacent cubes with a texture, in one primitive of triangles that share no points. */
export async function blocks(count: number): Promise<Uint8Array> {
  const document = new Document();
  const texture = document
    .createTexture()
    .setMimeType("image/png")
    .setImage(new Uint8Array(pngOf(16, 16)));
  const points = Array.from({ length: count }, (_, block) => CUBE.map(([x, y, z]) => [x + 2 * block, y, z])).flat();
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", numbers(document, "VEC3", Float32Array.from(points.flat())))
    .setAttribute("NORMAL", numbers(document, "VEC3", Float32Array.from(points.flatMap(() => [0, 1, 0]))))
    .setAttribute(
      "TEXCOORD_0",
      numbers(document, "VEC2", Float32Array.from(points.flatMap(([x = 0, y = 0]) => [x, y]))),
    )
    .setMaterial(document.createMaterial("Checks").setBaseColorTexture(texture));
  document.createScene().addChild(document.createNode("Block").setMesh(document.createMesh().addPrimitive(primitive)));
  return io().writeBinary(document);
}

/**
 * Returns a mesh of a wavy ball without normals, texture coordinates and material. The ball occurs twice: rotated, and mirrored below a
 * node that moves it.
 */
export async function balls(columns = 24, rows = 16): Promise<Uint8Array> {
  const document = new Document();
  const [positions, indices]: [number[], number[]] = [[], []];
  for (let row = 0; row <= rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const [turn, rise] = [(2 * Math.PI * column) / columns, (Math.PI * row) / rows];
      const reach = Math.sin(rise) * (1 + 0.25 * Math.cos(3 * turn));
      positions.push(reach * Math.sin(turn), Math.cos(rise), reach * Math.cos(turn));
      const [here, beside] = [row * columns + column, row * columns + ((column + 1) % columns)];
      if (row < rows) indices.push(here, here + columns, beside, beside, here + columns, beside + columns);
    }
  }
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", numbers(document, "VEC3", Float32Array.from(positions)))
    .setIndices(numbers(document, "SCALAR", Uint16Array.from(indices)));
  const mesh = document.createMesh().addPrimitive(primitive);
  const mirrored = document.createNode().setMesh(mesh).setScale([-2, 3, 2]);
  const turned = document.createNode("Ball").setMesh(mesh).setRotation([0, Math.SQRT1_2, 0, Math.SQRT1_2]);
  document
    .createScene()
    .addChild(turned)
    .addChild(document.createNode().addChild(mirrored).setTranslation([5, 2, -4]));
  return io().writeBinary(document);
}

/**
 * Returns a mesh with a strip and a fan of small integers, and a line. They are below a node that a camera, a skin and an animation use.
 */
export async function compact(): Promise<Uint8Array> {
  const document = new Document();
  const rim = [0, 1, 2, 3, 4, 5, 6].map(
    (at) => [Math.round(100 * Math.cos(at)), Math.round(100 * Math.sin(at))] as const,
  );
  const mesh = document.createMesh();
  for (const [mode, points] of [
    [6, [0, 0, 0, 0, ...rim.flatMap(([x, y]) => [x, y, 20, 0])]],
    [5, rim.flatMap(([x, y]) => [x, y, 0, 0, x, y, 90, 0])],
    [3, rim.flatMap(([x, y]) => [x, y, 0, 0])],
  ] as const) {
    const threes = points.filter((_, at) => at % 4 !== 3);
    const position = numbers(document, "VEC3", Int8Array.from(threes)).setNormalized(true);
    const normal = numbers(
      document,
      "VEC3",
      Int8Array.from(threes, (_, at) => (at % 3 === 1 ? 127 : 0)),
    ).setNormalized(true);
    mesh.addPrimitive(
      document.createPrimitive().setMode(mode).setAttribute("POSITION", position).setAttribute("NORMAL", normal),
    );
  }
  document.createExtension(KHRMeshQuantization).setRequired(true);
  const node = document.createNode("Drum").setMesh(mesh).setScale([4, 4, 4]).setCamera(document.createCamera());
  const channel = document.createAnimationChannel().setTargetNode(node).setTargetPath("translation");
  const sampler = document.createAnimationSampler().setInput(numbers(document, "SCALAR", Float32Array.of(0)));
  sampler.setOutput(numbers(document, "VEC3", Float32Array.of(0, 0, 0)));
  document.createAnimation().addSampler(sampler).addChannel(channel.setSampler(sampler));
  document.createScene().addChild(node);
  return io().writeBinary(document);
}

/** Returns a copy of a GLB with changed description and numbers. The lengths in the file stay valid. */
export function edited(glb: Uint8Array, edit: (json: Json, binary: Uint8Array) => void): Uint8Array {
  const length = new DataView(glb.buffer, glb.byteOffset).getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(glb.subarray(20, 20 + length))) as Json;
  const binary = glb.slice(20 + length + 8);
  edit(json, binary);
  return glbOf(JSON.stringify(json), binary);
}

const io = (): NodeIO => new NodeIO().registerExtensions(ALL_EXTENSIONS);

function numbers(document: Document, type: "SCALAR" | "VEC2" | "VEC3", array: TypedArray): Accessor {
  const buffer = document.getRoot().listBuffers()[0] ?? document.createBuffer();
  return document.createAccessor().setType(type).setArray(array).setBuffer(buffer);
}

/** Corners of a cube from -½ to ½: six squares of two triangles each. */
const CUBE = [0, 1, 2].flatMap((axis) =>
  [-0.5, 0.5].flatMap((side) =>
    (
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
        [1, 1],
        [0, 1],
      ] as const
    ).map(([a, b]): readonly [number, number, number] => {
      const point: [number, number, number] = [side, side, side];
      point[(axis + 1) % 3] = (side > 0 ? a : b) - 0.5;
      point[(axis + 2) % 3] = (side > 0 ? b : a) - 0.5;
      return point;
    }),
  ),
);
