/** Generates a mesh from a prompt and a seed: one of eight shapes in a seeded size, textured by the caller's image or a pattern. */
import { createRandom, hashText, type Random } from "../../random.ts";
import { addGeometry, encodeGlb, type MeshParams, newDocument, texturedMaterial } from "./document.ts";
import { type Primitive, PRIMITIVES } from "./primitives.ts";
import { type Surface, tessellated } from "./surface.ts";
import { imageTexture, patternTexture } from "./texture.ts";

/**
 * Returns a binary glTF 2.0 file: equal bytes for equal parameters and image.
 * @param image texture
 * @throws MediaError unsupported, too_large, corrupt for the image
 */
export async function makeMesh(params: MeshParams, image?: Uint8Array): Promise<Uint8Array> {
  const { prompt, seed } = params;
  const random = createRandom(hashText(prompt.toLowerCase(), seed >>> 0));
  const [name, { surfaces }] = choosePrimitive(prompt, random);
  const [width, height] = [0.8 + random.below(50) / 100, 0.8 + random.below(50) / 100];
  const texture = await (image === undefined ? patternTexture(prompt, random) : imageTexture(image, "The image"));
  const document = newDocument(params);
  const material = texturedMaterial(document, texture, random);
  addGeometry(document, name, tessellated(surfaces.map((surface) => sized(surface, width, height))), material);
  return encodeGlb(document);
}

/** Chooses by the first matching word in the prompt, else by the seed. */
function choosePrimitive(prompt: string, random: Random): readonly [string, Primitive] {
  const all = Object.entries(PRIMITIVES) as [[string, Primitive], ...[string, Primitive][]];
  const chosen = random.pick(all);
  const placeOf = ([, { words }]: readonly [string, Primitive]): number => prompt.search(words);
  return all.filter((one) => placeOf(one) >= 0).toSorted((a, b) => placeOf(a) - placeOf(b))[0] ?? chosen;
}

function sized({ at, ...surface }: Surface, width: number, height: number): Surface {
  return {
    ...surface,
    at: (u, v) => {
      const [x, y, z] = at(u, v);
      return [width * x, height * y, width * z];
    },
  };
}
