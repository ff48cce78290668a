/** One mesh made into another: fewer triangles, other materials, parts, or a skeleton. */
import type { Document, Material, Node, Texture } from "@gltf-transform/core";

import { createRandom, hashText } from "../../../random.ts";
import { hsl } from "../../images/colours.ts";
import { readGivenPicture } from "../given-picture.ts";
import { linear } from "../finishes.ts";
import { createWardrobe } from "../glb/materials.ts";
import { readMesh, type SourceMesh } from "../glb/read.ts";
import { addPiece, encodeGlb, newMesh, stamp } from "../glb/write.ts";
import { merged } from "../kit/shape.ts";
import { simplifierReady } from "../kit/simplify.ts";
import { plainPrompt } from "../prompt.ts";
import { createNoise } from "../textures/noise.ts";
import { remeshed } from "./remesh.ts";
import { retextured } from "./retexture.ts";
import { rigged } from "./rig.ts";
import { segmented } from "./segment.ts";

export type MeshOperation = "remesh" | "retexture" | "segment" | "rig";

export interface MeshChange {
  readonly operation: MeshOperation;
  readonly prompt: string;
  readonly seed: number;
}

interface Result {
  readonly nodes: readonly Node[];
  /** What the file says about it besides the operation. */
  readonly extras: Readonly<Record<string, unknown>>;
}

type Operation = (source: SourceMesh, change: MeshChange, image: Uint8Array | undefined) => Result | Promise<Result>;

const OPERATIONS: Readonly<Record<MeshOperation, Operation>> = { remesh, retexture, segment, rig };

/**
 * @param image for a retexture, what the mesh is to wear; the others look at their prompt alone
 * @throws MediaError unsupported, corrupt, too_large, invalid for what was given
 */
export async function changeMesh(change: MeshChange, mesh: Uint8Array, image?: Uint8Array): Promise<Uint8Array> {
  await simplifierReady();
  const source = await readMesh(mesh);
  const { document } = source;
  const { operation, seed } = change;
  const prompt = plainPrompt(change.prompt);
  const { nodes, extras } = await OPERATIONS[operation](source, { operation, prompt, seed }, image);
  const scene = document.createScene("Scene");
  document.getRoot().setDefaultScene(scene);
  for (const node of nodes) scene.addChild(node);
  stamp(document, { operation, prompt, seed, ...extras });
  forgetUnused(document);
  return encodeGlb(document);
}

function remesh({ document, pieces }: SourceMesh, { prompt }: MeshChange): Result {
  const { pieces: fewer, extras } = remeshed(pieces, prompt);
  return { nodes: fewer.map((piece) => addPiece(document, piece)), extras };
}

async function retexture(
  { document, pieces }: SourceMesh,
  { prompt, seed }: MeshChange,
  image: Uint8Array | undefined,
): Promise<Result> {
  const picture = image === undefined ? null : await readGivenPicture(image);
  const wardrobe = createWardrobe(document, createNoise(createRandom(hashText(prompt.toLowerCase(), seed >>> 0))));
  const nodes: Node[] = [];
  const materials = new Set<string>();
  for (const { name, shape, skin } of retextured(pieces, { prompt, seed }, picture)) {
    const material = await wardrobe.materialOf(skin);
    materials.add(material.getName());
    nodes.push(addPiece(document, { name, shape, material }));
  }
  return { nodes, extras: { materials: [...materials] } };
}

/** Each part in a colour of its own, unless the prompt wants its materials kept. */
function segment({ document, pieces }: SourceMesh, { prompt, seed }: MeshChange): Result {
  const parts = segmented(pieces, prompt);
  const isKept = /\b(?:keep|original|same|with) (?:\w+ )?(?:materials?|colou?rs?|textures?)\b/i.test(prompt);
  const nodes = parts.map(({ name, areaShare, pieces: own }, index): Node => {
    const node = document.createNode(name).setExtras({ part: index + 1, areaShare: Number(areaShare.toFixed(4)) });
    if (!isKept) {
      const shape = { ...merged(own.map((piece) => piece.shape)), colours: null };
      return node.setMesh(newMesh(document, { name, shape, material: partMaterial(document, name, index, seed) }));
    }
    for (const piece of own) node.addChild(addPiece(document, piece));
    return node;
  });
  return { nodes, extras: { parts: parts.map(({ name }) => name) } };
}

/** Neighbours in the list are far apart on the colour wheel. */
function partMaterial(document: Document, name: string, index: number, seed: number): Material {
  const colour = linear(hsl((seed * 47 + index * 137.508) % 360, 62, index % 3 === 0 ? 56 : index % 3 === 1 ? 44 : 68));
  return document
    .createMaterial(name)
    .setBaseColorFactor([...colour, 1])
    .setMetallicFactor(0)
    .setRoughnessFactor(0.55)
    .setDoubleSided(true);
}

function rig({ document, pieces }: SourceMesh, { prompt }: MeshChange): Result {
  return rigged(document, pieces, prompt);
}

/** Materials that nothing wears any more, and pictures that no material shows: the file would carry them along. */
function forgetUnused(document: Document): void {
  const root = document.getRoot();
  const isUsed = (property: Material | Texture): boolean => property.listParents().some((parent) => parent !== root);
  for (const material of root.listMaterials()) {
    if (isUsed(material)) continue;
    for (const extension of material.listExtensions()) extension.dispose();
    material.dispose();
  }
  for (const texture of root.listTextures()) if (!isUsed(texture)) texture.dispose();
  for (const extension of root.listExtensionsUsed()) {
    if (extension.listProperties().length === 0) extension.dispose();
  }
}
