/** What things can be made of: how light meets it, and the pattern it has up close. */
import type { Colour } from "../images/colours.ts";
import type { PatternName } from "./textures/patterns.ts";

export interface Finish {
  /** 0 or 1, seldom between. */
  readonly metallic: number;
  /** 0 a mirror, 1 chalk. */
  readonly roughness: number;
  readonly pattern?: PatternName;
  /** Repeats of the pattern a unit of length; whole, so that it closes around a lathe's work. */
  readonly repeat?: number;
  /** How deep the pattern looks; 1 is usual. */
  readonly depth?: number;
  /** Of the pattern's second colour. */
  readonly second?: Colour;
  readonly secondIs?: "matt" | "glowing";
  /** What it has without a colour in the prompt; otherwise each thing's own colour stays. */
  readonly colour?: Colour;
  /** Share of light that goes through. */
  readonly transmission?: number;
  readonly ior?: number;
  readonly clearcoat?: number;
  readonly sheen?: number;
  readonly iridescence?: number;
  /** Share of the colour that it shines by itself. */
  readonly glow?: number;
  /** Thin sheets are seen from both sides. */
  readonly isSheet?: boolean;
  /** Looks best with flat faces. */
  readonly isFaceted?: boolean;
}

export const FINISHES = {
  paint: { metallic: 0, roughness: 0.3, clearcoat: 1 },
  glossy: { metallic: 0, roughness: 0.45, clearcoat: 0.25 },
  plastic: { metallic: 0, roughness: 0.38 },
  matt: { metallic: 0, roughness: 0.85 },
  rubber: { metallic: 0, roughness: 0.92 },
  skin: { metallic: 0, roughness: 0.6 },
  ceramic: { metallic: 0, roughness: 0.14, clearcoat: 0.6 },
  glaze: { metallic: 0, roughness: 0.2, pattern: "plaster", depth: 0.2, clearcoat: 0.4 },
  clay: { metallic: 0, roughness: 0.85, pattern: "plaster", depth: 0.5, colour: "#c4704a" },
  eye: { metallic: 0, roughness: 0.06 },
  leaf: { metallic: 0, roughness: 0.6, isSheet: true },
  petal: { metallic: 0, roughness: 0.55, isSheet: true, sheen: 0.3 },
  paper: { metallic: 0, roughness: 0.9, isSheet: true },
  gold: { metallic: 1, roughness: 0.2, colour: "#ffc95c" },
  silver: { metallic: 1, roughness: 0.2, colour: "#e8e8ea" },
  chrome: { metallic: 1, roughness: 0.05, colour: "#dfe3e8" },
  copper: { metallic: 1, roughness: 0.26, colour: "#e08a60" },
  bronze: { metallic: 1, roughness: 0.38, colour: "#b07a44" },
  brass: { metallic: 1, roughness: 0.28, colour: "#d8b060" },
  steel: { metallic: 1, roughness: 0.32, pattern: "brushed", depth: 0.3, colour: "#c4c9d0" },
  iron: { metallic: 1, roughness: 0.55, pattern: "plaster", depth: 0.35, colour: "#5b5e66" },
  metal: { metallic: 1, roughness: 0.3 },
  rust: { metallic: 1, roughness: 0.45, pattern: "rust", second: "#8a4522", secondIs: "matt", colour: "#8d9097" },
  panels: { metallic: 0.6, roughness: 0.42, pattern: "panels", depth: 0.7 },
  glass: { metallic: 0, roughness: 0.04, transmission: 0.94, ior: 1.5, colour: "#eaf6f6" },
  crystal: { metallic: 0, roughness: 0.06, transmission: 0.55, ior: 1.7, glow: 0.12, isFaceted: true },
  diamond: { metallic: 0, roughness: 0.02, transmission: 0.72, ior: 2.2, isFaceted: true, colour: "#dff4ff" },
  ice: { metallic: 0, roughness: 0.12, pattern: "ice", depth: 0.6, transmission: 0.5, ior: 1.31, colour: "#bfe6f7" },
  jelly: { metallic: 0, roughness: 0.1, transmission: 0.6, ior: 1.35, clearcoat: 1 },
  water: { metallic: 0, roughness: 0.07, pattern: "snow", depth: 0.5, colour: "#2f86b8" },
  wood: { metallic: 0, roughness: 0.6, pattern: "wood", depth: 0.5, colour: "#a9713f" },
  planks: { metallic: 0, roughness: 0.7, pattern: "planks", colour: "#9c6b3f" },
  bark: { metallic: 0, roughness: 0.95, pattern: "bark", depth: 1.6, repeat: 2, colour: "#6d4c33" },
  leaves: { metallic: 0, roughness: 0.75, pattern: "leaves", depth: 1.4, repeat: 2 },
  grass: { metallic: 0, roughness: 0.95, pattern: "grass", depth: 1.2, repeat: 2, colour: "#5f9a3c" },
  earth: { metallic: 0, roughness: 1, pattern: "stone", depth: 1.2, repeat: 2, colour: "#5a4230" },
  stone: { metallic: 0, roughness: 0.85, pattern: "stone", depth: 1.2, colour: "#8f8c86" },
  blocks: { metallic: 0, roughness: 0.85, pattern: "blocks", repeat: 2, second: "#76706a", colour: "#a8a49d" },
  brick: { metallic: 0, roughness: 0.85, pattern: "brick", repeat: 2, second: "#cfc4b4", colour: "#a8543e" },
  marble: { metallic: 0, roughness: 0.18, pattern: "marble", second: "#5b5f68", colour: "#f0ede6" },
  plaster: { metallic: 0, roughness: 0.9, pattern: "plaster", depth: 0.6 },
  tiles: { metallic: 0, roughness: 0.75, pattern: "tiles", repeat: 2, depth: 1.2 },
  sand: { metallic: 0, roughness: 1, pattern: "sand", colour: "#e2c48d" },
  snow: { metallic: 0, roughness: 0.8, pattern: "snow", depth: 0.7, colour: "#f4f8fc" },
  fur: { metallic: 0, roughness: 0.95, pattern: "fur", repeat: 2, sheen: 0.4 },
  plush: { metallic: 0, roughness: 1, pattern: "fur", repeat: 3, depth: 0.7, sheen: 0.6 },
  scales: { metallic: 0, roughness: 0.4, pattern: "scales", repeat: 2, depth: 0.9 },
  cloth: { metallic: 0, roughness: 0.95, pattern: "cloth", repeat: 2, depth: 0.5, sheen: 0.4 },
  knit: { metallic: 0, roughness: 1, pattern: "knit", repeat: 2, depth: 1.6, sheen: 0.5 },
  leather: { metallic: 0, roughness: 0.5, pattern: "leather", repeat: 2, depth: 0.6, colour: "#7a4a2c" },
  wax: { metallic: 0, roughness: 0.45, clearcoat: 0.2 },
  chocolate: { metallic: 0, roughness: 0.35, pattern: "plaster", depth: 0.2, clearcoat: 0.3, colour: "#53301d" },
  crumb: { metallic: 0, roughness: 0.95, pattern: "crumb", repeat: 2 },
  lava: {
    metallic: 0,
    roughness: 0.9,
    pattern: "lava",
    depth: 1.5,
    second: "#ff7a1c",
    secondIs: "glowing",
    colour: "#35302f",
  },
  neon: { metallic: 0, roughness: 0.4, glow: 1, colour: "#ff3fb4" },
  light: { metallic: 0, roughness: 0.5, glow: 0.85 },
  pearl: { metallic: 0.1, roughness: 0.18, iridescence: 1, clearcoat: 1, colour: "#f3ece8" },
  carbon: { metallic: 0.3, roughness: 0.35, pattern: "cloth", repeat: 2, depth: 0.4, clearcoat: 1, colour: "#2b2d31" },
  striped: { metallic: 0, roughness: 0.6, pattern: "stripes", second: "#f4f2ec" },
  spotted: { metallic: 0, roughness: 0.7, pattern: "spots", second: "#2c211c" },
  checked: { metallic: 0, roughness: 0.6, pattern: "checks", second: "#f4f2ec" },
  camouflage: { metallic: 0, roughness: 0.85, pattern: "camouflage", second: "#3b3a2a", colour: "#66703f" },
} satisfies Readonly<Record<string, Finish>>;

export type FinishName = keyof typeof FINISHES;

export const finishOf = (name: FinishName): Finish => FINISHES[name];

/** A finish in a colour: one material of the file. */
export interface Skin {
  readonly finish: FinishName;
  readonly colour: Colour;
  /** Of the finish's pattern, where it is not the usual one. */
  readonly second?: Colour | undefined;
  /** Sides turned away are seen too. */
  readonly isSheet?: boolean;
  /** What the thing mostly consists of, and what a given picture goes onto. */
  readonly isMain?: boolean;
  /** Instead of the finish's pattern; its texture coordinates go from 0 to 1, v downwards. */
  readonly picture?: Picture;
}

export interface Picture {
  /** Two pictures of one file have different names. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly pixels: Uint8Array;
}

/** Linear red, green, blue of a colour, as glTF's factors and vertex colours are. */
export function linear(colour: Colour): readonly [number, number, number] {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
}

/** Words of a prompt that name a finish. */
const FINISH_WORDS: Readonly<Record<string, FinishName>> = {
  painted: "paint",
  lacquered: "paint",
  glossy: "paint",
  shiny: "paint",
  plastic: "plastic",
  toy: "plastic",
  lego: "plastic",
  matte: "matt",
  matt: "matt",
  rubber: "rubber",
  inflatable: "rubber",
  ceramic: "ceramic",
  porcelain: "ceramic",
  china: "ceramic",
  clay: "clay",
  terracotta: "clay",
  earthenware: "clay",
  plasticine: "clay",
  gold: "gold",
  golden: "gold",
  gilded: "gold",
  gilt: "gold",
  silver: "silver",
  silvery: "silver",
  platinum: "silver",
  chrome: "chrome",
  chromed: "chrome",
  mirror: "chrome",
  mercury: "chrome",
  copper: "copper",
  bronze: "bronze",
  brass: "brass",
  steel: "steel",
  stainless: "steel",
  aluminium: "steel",
  aluminum: "steel",
  titanium: "steel",
  iron: "iron",
  wrought: "iron",
  metal: "metal",
  metallic: "metal",
  rusty: "rust",
  rusted: "rust",
  corroded: "rust",
  futuristic: "panels",
  cyberpunk: "panels",
  mechanical: "panels",
  glass: "glass",
  transparent: "glass",
  crystal: "crystal",
  crystalline: "crystal",
  amethyst: "crystal",
  ruby: "crystal",
  sapphire: "crystal",
  emerald: "crystal",
  diamond: "diamond",
  ice: "ice",
  icy: "ice",
  frozen: "ice",
  jelly: "jelly",
  gummy: "jelly",
  candy: "jelly",
  slime: "jelly",
  wooden: "wood",
  wood: "wood",
  oak: "wood",
  walnut: "wood",
  mahogany: "wood",
  bamboo: "wood",
  timber: "planks",
  driftwood: "planks",
  mossy: "grass",
  stone: "stone",
  stony: "stone",
  rock: "stone",
  rocky: "stone",
  granite: "stone",
  concrete: "plaster",
  plaster: "plaster",
  cobblestone: "blocks",
  brick: "brick",
  bricks: "brick",
  marble: "marble",
  onyx: "marble",
  alabaster: "marble",
  sand: "sand",
  sandy: "sand",
  snowy: "snow",
  furry: "fur",
  fluffy: "fur",
  plush: "plush",
  stuffed: "plush",
  cuddly: "plush",
  felt: "plush",
  scaly: "scales",
  reptilian: "scales",
  fabric: "cloth",
  cloth: "cloth",
  cotton: "cloth",
  linen: "cloth",
  velvet: "cloth",
  denim: "cloth",
  knitted: "knit",
  knit: "knit",
  crochet: "knit",
  woolen: "knit",
  wool: "knit",
  leather: "leather",
  wax: "wax",
  chocolate: "chocolate",
  lava: "lava",
  molten: "lava",
  volcanic: "lava",
  neon: "neon",
  glowing: "neon",
  luminous: "neon",
  pearl: "pearl",
  pearlescent: "pearl",
  iridescent: "pearl",
  holographic: "pearl",
  opal: "pearl",
  carbon: "carbon",
  striped: "striped",
  zebra: "striped",
  stripes: "striped",
  spotted: "spotted",
  dotted: "spotted",
  leopard: "spotted",
  dalmatian: "spotted",
  checkered: "checked",
  chequered: "checked",
  checked: "checked",
  camouflage: "camouflage",
  camo: "camouflage",
  holz: "wood",
  bois: "wood",
  madera: "wood",
  stein: "stone",
  glas: "glass",
  verre: "glass",
  goldene: "gold",
};

export function finishNamed(word: string): FinishName | undefined {
  return Object.hasOwn(FINISH_WORDS, word) ? FINISH_WORDS[word] : undefined;
}

/** Colours that some names of materials bring along. */
export const MATERIAL_COLOURS: Readonly<Record<string, Colour>> = {
  oak: "#b98a55",
  walnut: "#5f4029",
  mahogany: "#6d2f20",
  bamboo: "#d8bd7c",
  ruby: "#d2143c",
  sapphire: "#1f4fd0",
  amethyst: "#8f4fd0",
  emerald: "#12a86b",
  granite: "#7c7f86",
  concrete: "#a5a49f",
  onyx: "#24262c",
  denim: "#3f5f92",
  zebra: "#1d1d20",
  dalmatian: "#f4f2ec",
  leopard: "#d9a55a",
  mossy: "#5d7f35",
  lava: "#35302f",
};
