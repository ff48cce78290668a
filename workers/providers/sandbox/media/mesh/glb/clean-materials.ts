/** Materials and pictures of a foreign file, as far as the specification knows their fields. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { READABLE } from "./extensions.ts";
import {
  corrupt,
  extensionsOf,
  given,
  isFields,
  listOf,
  nameOf,
  numberOf,
  numbersOf,
  optionalWhole,
  wholeOf,
  type Fields,
} from "./fields.ts";

interface CleanMaterials {
  readonly materials: readonly Fields[];
  readonly textures: readonly Fields[];
  readonly images: readonly Fields[];
  readonly samplers: readonly Fields[];
  /** Extensions that are left in them. */
  readonly extensions: ReadonlySet<string>;
}

/** What a field of an extension of a material may be. */
type Rule = "share" | "size" | "colour" | "light" | "ior" | "texture" | "angle";

const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  KHR_materials_anisotropy: { anisotropyStrength: "share", anisotropyRotation: "angle", anisotropyTexture: "texture" },
  KHR_materials_clearcoat: {
    clearcoatFactor: "share",
    clearcoatTexture: "texture",
    clearcoatRoughnessFactor: "share",
    clearcoatRoughnessTexture: "texture",
    clearcoatNormalTexture: "texture",
  },
  KHR_materials_diffuse_transmission: {
    diffuseTransmissionFactor: "share",
    diffuseTransmissionTexture: "texture",
    diffuseTransmissionColorFactor: "colour",
    diffuseTransmissionColorTexture: "texture",
  },
  KHR_materials_dispersion: { dispersion: "size" },
  KHR_materials_emissive_strength: { emissiveStrength: "size" },
  KHR_materials_ior: { ior: "ior" },
  KHR_materials_iridescence: {
    iridescenceFactor: "share",
    iridescenceTexture: "texture",
    iridescenceIor: "ior",
    iridescenceThicknessMinimum: "size",
    iridescenceThicknessMaximum: "size",
    iridescenceThicknessTexture: "texture",
  },
  KHR_materials_sheen: {
    sheenColorFactor: "colour",
    sheenColorTexture: "texture",
    sheenRoughnessFactor: "share",
    sheenRoughnessTexture: "texture",
  },
  KHR_materials_specular: {
    specularFactor: "share",
    specularTexture: "texture",
    specularColorFactor: "light",
    specularColorTexture: "texture",
  },
  KHR_materials_transmission: { transmissionFactor: "share", transmissionTexture: "texture" },
  KHR_materials_unlit: {},
  KHR_materials_volume: {
    thicknessFactor: "size",
    thicknessTexture: "texture",
    attenuationDistance: "size",
    attenuationColor: "colour",
  },
};

const WRAPS = [33_071, 33_648, 10_497];
const MAG_FILTERS = [9_728, 9_729];
const MIN_FILTERS = [9_728, 9_729, 9_984, 9_985, 9_986, 9_987];
const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"];
const LARGEST = 1e6;

export function cleanMaterials(json: Fields, viewCount: number): CleanMaterials {
  const { meshEntriesMax, meshPicturesMax } = MEDIA_LIMITS;
  const extensions = new Set<string>();
  const images = listOf(json, "images", meshPicturesMax).map((image) => {
    const { mimeType } = image;
    if (typeof mimeType !== "string" || !PICTURE_TYPES.includes(mimeType))
      throw corrupt("a picture is of no known kind");
    return { ...nameOf(image), mimeType, bufferView: wholeOf(image, "bufferView", 0, viewCount - 1) };
  });
  const samplers = listOf(json, "samplers", meshEntriesMax).map((sampler) =>
    given({
      wrapS: oneOf(sampler, "wrapS", WRAPS),
      wrapT: oneOf(sampler, "wrapT", WRAPS),
      magFilter: oneOf(sampler, "magFilter", MAG_FILTERS),
      minFilter: oneOf(sampler, "minFilter", MIN_FILTERS),
    }),
  );
  const textures = listOf(json, "textures", meshEntriesMax).map((texture) => {
    const webp = extensionsOf(texture)["EXT_texture_webp"];
    const sampler = optionalWhole(texture, "sampler", 0, samplers.length - 1);
    if (!isFields(webp)) return given({ sampler, source: wholeOf(texture, "source", 0, images.length - 1) });
    extensions.add("EXT_texture_webp");
    const source = wholeOf(webp, "source", 0, images.length - 1);
    return given({ sampler, extensions: { EXT_texture_webp: { source } } });
  });
  const textureOf = (parent: Fields, key: string): Fields | undefined =>
    cleanTexture(parent, key, textures.length, extensions);
  const materials = listOf(json, "materials", meshEntriesMax).map((material) =>
    cleanMaterial(material, textureOf, extensions),
  );
  return { materials, textures, images, samplers, extensions };
}

type TextureOf = (parent: Fields, key: string) => Fields | undefined;

function cleanMaterial(material: Fields, textureOf: TextureOf, used: Set<string>): Fields {
  const pbr = isFields(material["pbrMetallicRoughness"]) ? material["pbrMetallicRoughness"] : {};
  const alphaMode = material["alphaMode"] ?? "OPAQUE";
  if (!["OPAQUE", "MASK", "BLEND"].some((mode) => mode === alphaMode))
    throw corrupt("a material has no known transparency");
  const normal = textureOf(material, "normalTexture");
  const occlusion = textureOf(material, "occlusionTexture");
  const own = fieldsOfExtensions(material, textureOf);
  for (const name of Object.keys(own)) used.add(name);
  return given({
    ...nameOf(material),
    pbrMetallicRoughness: given({
      baseColorFactor: numbersOf(pbr, "baseColorFactor", 4, 0, 1),
      metallicFactor: numberOf(pbr, "metallicFactor", 0, 1),
      roughnessFactor: numberOf(pbr, "roughnessFactor", 0, 1),
      baseColorTexture: textureOf(pbr, "baseColorTexture"),
      metallicRoughnessTexture: textureOf(pbr, "metallicRoughnessTexture"),
    }),
    normalTexture: withNumber(normal, material["normalTexture"], "scale", -LARGEST, LARGEST),
    occlusionTexture: withNumber(occlusion, material["occlusionTexture"], "strength", 0, 1),
    emissiveTexture: textureOf(material, "emissiveTexture"),
    emissiveFactor: numbersOf(material, "emissiveFactor", 3, 0, 1),
    alphaMode,
    alphaCutoff: alphaMode === "MASK" ? numberOf(material, "alphaCutoff", 0, LARGEST) : undefined,
    doubleSided: material["doubleSided"] === true,
    extensions: own,
  });
}

function fieldsOfExtensions(material: Fields, textureOf: TextureOf): Record<string, Fields> {
  const all = extensionsOf(material);
  const kept = Object.keys(RULES).filter((name) => READABLE.has(name) && isFields(all[name]));
  return Object.fromEntries(
    kept.map((name) => {
      const fields = all[name] as Fields;
      const clean = Object.entries(RULES[name] ?? {}).map(([key, rule]) => [key, byRule(fields, key, rule, textureOf)]);
      return [name, given(Object.fromEntries(clean) as Fields)];
    }),
  );
}

function byRule(fields: Fields, key: string, rule: Rule, textureOf: TextureOf): unknown {
  switch (rule) {
    case "texture":
      return textureOf(fields, key);
    case "colour":
      return numbersOf(fields, key, 3, 0, 1);
    case "light":
      return numbersOf(fields, key, 3, 0, LARGEST);
    case "share":
      return numberOf(fields, key, 0, 1);
    case "ior":
      // 0 turns reflections to all of the light, and is allowed.
      return numberOf(fields, key, 0, 10);
    case "angle":
      return numberOf(fields, key, -LARGEST, LARGEST);
    case "size":
    default:
      return numberOf(fields, key, 0, LARGEST);
  }
}

function cleanTexture(parent: Fields, key: string, count: number, used: Set<string>): Fields | undefined {
  const texture = parent[key];
  if (!isFields(texture)) return undefined;
  // Two sets of coordinates are read: a picture that needs a third is left out.
  if ((optionalWhole(texture, "texCoord", 0, 255) ?? 0) > 1) return undefined;
  const transform = extensionsOf(texture)["KHR_texture_transform"];
  const plain = {
    index: wholeOf(texture, "index", 0, count - 1),
    texCoord: optionalWhole(texture, "texCoord", 0, 1) ?? 0,
  };
  if (!isFields(transform)) return plain;
  used.add("KHR_texture_transform");
  const move = given({
    offset: numbersOf(transform, "offset", 2, -LARGEST, LARGEST),
    scale: numbersOf(transform, "scale", 2, -LARGEST, LARGEST),
    rotation: numberOf(transform, "rotation", -LARGEST, LARGEST),
  });
  return { ...plain, extensions: { KHR_texture_transform: move } };
}

function withNumber(
  texture: Fields | undefined,
  from: unknown,
  key: string,
  min: number,
  max: number,
): Fields | undefined {
  if (texture === undefined || !isFields(from)) return texture;
  return given({ ...texture, [key]: numberOf(from, key, min, max) });
}

function oneOf(parent: Fields, key: string, values: readonly number[]): number | undefined {
  const value = parent[key];
  if (value !== undefined && !values.some((known) => known === value)) throw corrupt(`${key} is no known number`);
  return value as number | undefined;
}
