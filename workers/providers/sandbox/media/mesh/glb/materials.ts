/** Skins as materials of a file: each pair of finish and colour once. */
import type { Document, Material, Texture } from "@gltf-transform/core";
import {
  KHRMaterialsClearcoat,
  KHRMaterialsEmissiveStrength,
  KHRMaterialsIOR,
  KHRMaterialsIridescence,
  KHRMaterialsSheen,
  KHRMaterialsTransmission,
  KHRMaterialsVolume,
} from "@gltf-transform/extensions";

import { finishOf, linear, type Finish, type Skin } from "../finishes.ts";
import { bake, jpeg, type Baked } from "../textures/bake.ts";
import type { Noise } from "../textures/noise.ts";
import { PATTERNS } from "../textures/patterns.ts";

export interface Wardrobe {
  materialOf(skin: Skin): Promise<Material>;
}

/** Pictures of patterns are made when a material first needs them. */
export function createWardrobe(document: Document, noise: Noise): Wardrobe {
  const known = new Map<string, Promise<Material>>();
  return {
    materialOf: (skin) => {
      const key = JSON.stringify([
        skin.finish,
        skin.colour,
        skin.second ?? "",
        skin.isSheet ?? false,
        skin.picture?.name ?? "",
      ]);
      const material = known.get(key) ?? newMaterial(document, skin, noise);
      known.set(key, material);
      return material;
    },
  };
}

async function newMaterial(document: Document, skin: Skin, noise: Noise): Promise<Material> {
  const finish = finishOf(skin.finish);
  const colour = linear(skin.colour);
  const material = document
    .createMaterial(`${skin.finish} ${skin.colour}`)
    .setMetallicFactor(finish.metallic)
    .setRoughnessFactor(finish.roughness)
    .setBaseColorFactor([...colour, 1])
    .setDoubleSided(finish.isSheet === true || skin.isSheet === true);
  if (skin.picture !== undefined) {
    const { name, width, height, pixels } = skin.picture;
    const bytes = await jpeg(pixels, width, height);
    material
      .setName(`${skin.finish} with ${name}`)
      .setBaseColorFactor([1, 1, 1, 1])
      .setBaseColorTexture(newTexture(document, name, bytes));
  } else if (finish.pattern !== undefined) {
    const baked = await bake(
      {
        pattern: PATTERNS[finish.pattern],
        colour: skin.colour,
        second: skin.second ?? finish.second ?? "#3a3a3a",
        depth: finish.depth ?? 1,
        secondIs: finish.secondIs,
        metallic: finish.metallic,
        roughness: finish.roughness,
      },
      noise,
    );
    dress(document, material, baked, skin.finish);
  }
  if (finish.glow !== undefined) shine(document, material, colour, finish.glow);
  addExtensions(document, material, finish, colour);
  return material;
}

function dress(document: Document, material: Material, baked: Baked, name: string): void {
  const texture = (what: string, bytes: Uint8Array): Texture => newTexture(document, `${name} ${what}`, bytes);
  material.setBaseColorFactor([1, 1, 1, 1]).setBaseColorTexture(texture("colour", baked.base));
  if (baked.normal !== null) material.setNormalTexture(texture("normal", baked.normal));
  if (baked.surface !== null) {
    material.setMetallicRoughnessTexture(texture("surface", baked.surface)).setMetallicFactor(1).setRoughnessFactor(1);
  }
  if (baked.glow !== null) material.setEmissiveTexture(texture("glow", baked.glow)).setEmissiveFactor([1, 1, 1]);
}

function newTexture(document: Document, name: string, bytes: Uint8Array): Texture {
  return document.createTexture(name).setMimeType("image/jpeg").setImage(bytes);
}

function shine(document: Document, material: Material, colour: readonly [number, number, number], glow: number): void {
  material.setEmissiveFactor([colour[0] * glow, colour[1] * glow, colour[2] * glow]);
  if (glow < 1) return;
  // What shines by itself would be white in daylight on top of its own light.
  material.setBaseColorFactor([colour[0] * 0.3, colour[1] * 0.3, colour[2] * 0.3, 1]);
  const strength = document.createExtension(KHRMaterialsEmissiveStrength).createEmissiveStrength();
  material.setExtension("KHR_materials_emissive_strength", strength.setEmissiveStrength(1.2));
}

function addExtensions(
  document: Document,
  material: Material,
  { transmission, ior, clearcoat, sheen, iridescence }: Finish,
  colour: readonly [number, number, number],
): void {
  if (transmission !== undefined) {
    const pass = document.createExtension(KHRMaterialsTransmission).createTransmission();
    const inside = document.createExtension(KHRMaterialsVolume).createVolume();
    material
      .setExtension("KHR_materials_transmission", pass.setTransmissionFactor(transmission))
      .setExtension("KHR_materials_volume", inside.setThicknessFactor(0.05).setAttenuationColor([...colour]));
  }
  if (ior !== undefined) {
    material.setExtension("KHR_materials_ior", document.createExtension(KHRMaterialsIOR).createIOR().setIOR(ior));
  }
  if (clearcoat !== undefined) {
    const coat = document.createExtension(KHRMaterialsClearcoat).createClearcoat();
    material.setExtension(
      "KHR_materials_clearcoat",
      coat.setClearcoatFactor(clearcoat).setClearcoatRoughnessFactor(0.08),
    );
  }
  if (sheen !== undefined) {
    const nap = document.createExtension(KHRMaterialsSheen).createSheen();
    const light = colour.map((value) => sheen * (0.3 + 0.7 * value)) as [number, number, number];
    material.setExtension("KHR_materials_sheen", nap.setSheenColorFactor(light).setSheenRoughnessFactor(0.6));
  }
  if (iridescence !== undefined) {
    const film = document.createExtension(KHRMaterialsIridescence).createIridescence();
    material.setExtension("KHR_materials_iridescence", film.setIridescenceFactor(iridescence).setIridescenceIOR(1.6));
  }
}
