/** A prompt and a seed as a mesh: things, their places, their materials, one binary glTF file. */
import { createRandom, hashText } from "../../random.ts";
import { readGivenPicture, type GivenPicture } from "./given-picture.ts";
import { plainPrompt, readPrompt } from "./prompt.ts";
import { addPiece, encodeGlb, newDocument } from "./glb/write.ts";
import { createWardrobe } from "./glb/materials.ts";
import { simplifierReady } from "./kit/simplify.ts";
import { composeScene } from "./scene.ts";
import { createNoise } from "./textures/noise.ts";

export interface MeshWish {
  readonly prompt: string;
  readonly seed: number;
}

/**
 * @param image the picture that the thing is to wear, or to be a relief of where the prompt names no thing
 * @throws MediaError unsupported, too_large, corrupt for the picture
 */
export async function makeMesh(wish: MeshWish, image?: Uint8Array): Promise<Uint8Array> {
  await simplifierReady();
  const text = plainPrompt(wish.prompt);
  const random = createRandom(hashText(text.toLowerCase(), wish.seed >>> 0));
  const noise = createNoise(random);
  const picture = image === undefined ? await ownPicture(text, wish.seed) : await readGivenPicture(image);
  const document = newDocument({ prompt: text, seed: wish.seed });
  const wardrobe = createWardrobe(document, noise);
  const scene = document.createScene("Scene");
  document.getRoot().setDefaultScene(scene);
  for (const { name, parts } of await composeScene(text, random, noise, picture)) {
    const node = document.createNode(name);
    scene.addChild(node);
    for (const { name: part, shape, skin } of parts) {
      const material = await wardrobe.materialOf(skin);
      node.addChild(addPiece(document, { name: part, shape, material }));
    }
  }
  return encodeGlb(document);
}

/** A framed picture shows what the prompt says; everything else needs none. */
async function ownPicture(text: string, seed: number): Promise<GivenPicture | null> {
  if (!readPrompt(text).wishes.some(({ thing }) => thing === "frame")) return null;
  const { rasterise } = await import("../images/raster.ts");
  const size = { width: 864, height: 656, isTransparent: false, hasCaption: false };
  const scene = await rasterise({ prompt: text, seed, ...size });
  const pixels = new Uint8Array(await scene.removeAlpha().raw({ depth: "uchar" }).toBuffer());
  return { name: "painting", width: size.width, height: size.height, pixels, alpha: null };
}
