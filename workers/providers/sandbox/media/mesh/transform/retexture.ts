/** The same form in other materials: those that the prompt names, those of the thing it names, or a given picture. */
import type { Material } from "@gltf-transform/core";

import { createRandom, hashText, type Random } from "../../../random.ts";
import { darker, hsl, lighter } from "../../images/colours.ts";
import { finishOf, type FinishName, type Skin } from "../finishes.ts";
import { pictured, wrapped, type GivenPicture } from "../given-picture.ts";
import type { SourcePiece } from "../glb/read.ts";
import { occlusionOf } from "../kit/occlusion.ts";
import { boxProjected, pictureProjected } from "../kit/project.ts";
import { boundsOf, triangleCount, vertexCount, withLight, type Bounds, type Shape } from "../kit/shape.ts";
import { pointAt } from "../kit/vector.ts";
import { lookOf } from "../look.ts";
import { readPrompt, type Motif, type ThingWish } from "../prompt.ts";
import { createNoise, type Noise } from "../textures/noise.ts";
import { ABSTRACT, THINGS } from "../things/index.ts";
import type { Look } from "../things/thing.ts";

export interface DressedPiece {
  readonly name: string;
  readonly shape: Shape;
  readonly skin: Skin;
}

/** Beyond this, shade in hollows takes longer than all the rest. */
const SHADED_MAX = 250_000;
const RANDOM_FINISHES: readonly [FinishName, ...FinishName[]] = ["ceramic", "wood", "stone", "paint", "marble", "knit"];

export function retextured(
  pieces: readonly SourcePiece[],
  { prompt, seed }: { readonly prompt: string; readonly seed: number },
  picture: GivenPicture | null,
): readonly DressedPiece[] {
  const bounds = boundsOf(pieces.map(({ shape }) => shape));
  const size = Math.max(...[0, 1, 2].map((axis) => (bounds.max[axis] ?? 0) - (bounds.min[axis] ?? 0))) || 1;
  const random = createRandom(hashText(prompt.toLowerCase(), seed >>> 0));
  const wearing = picture === null ? null : projectionOf(pieces, bounds, picture);
  const skins = picture === null ? skinsOf(pieces, prompt, random) : null;
  const dressed = pieces.map(({ name, shape, material }): DressedPiece => {
    const bare = { ...shape, colours: null };
    if (picture !== null && wearing !== null) {
      return { name, shape: wearing(bare), skin: pictured({}, picture) };
    }
    const skin = skins?.get(material) ?? { finish: "matt", colour: "#b8bcc2" };
    return { name, shape: boxProjected(bare, size / (finishOf(skin.finish).repeat ?? 1)), skin };
  });
  return shaded(dressed);
}

/** Around what is round, onto each side of what has sides or is long. */
function projectionOf(pieces: readonly SourcePiece[], bounds: Bounds, picture: GivenPicture): (shape: Shape) => Shape {
  const [wide, deep] = [bounds.max[0] - bounds.min[0], bounds.max[2] - bounds.min[2]];
  const isEven = Math.max(wide, deep) < 1.4 * Math.min(wide, deep);
  if (isEven && !hasSides(pieces)) return (shape) => wrapped(shape, bounds, picture);
  return (shape) => pictureProjected(shape, bounds, picture.width / picture.height);
}

/** Whether most points look straight along an axis. */
function hasSides(pieces: readonly SourcePiece[]): boolean {
  let [straight, all] = [0, 0];
  for (const { shape } of pieces) {
    for (let vertex = 0; vertex < vertexCount(shape); vertex += 1) {
      const [x, y, z] = pointAt(shape.normals, vertex);
      all += 1;
      if (Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) > 0.97) straight += 1;
    }
  }
  return straight > all / 2;
}

/** What was one material stays one: the largest is the main one, the others set themselves off from it. */
function skinsOf(pieces: readonly SourcePiece[], prompt: string, random: Random): ReadonlyMap<Material | null, Skin> {
  const [main, second] = wantedSkins(prompt, random, createNoise(random));
  const sizes = new Map<Material | null, number>();
  for (const { material, shape } of pieces) {
    sizes.set(material, (sizes.get(material) ?? 0) + triangleCount(shape));
  }
  const ranked = [...sizes.keys()].toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
  const others = [second, shade(main, -0.35), shade(second, 0.3), shade(main, 0.35), shade(second, -0.35)];
  return new Map(ranked.map((material, rank) => [material, rank === 0 ? main : (others[(rank - 1) % 5] ?? second)]));
}

function shade(skin: Skin, by: number): Skin {
  return { ...skin, colour: by < 0 ? darker(skin.colour, -by) : lighter(skin.colour, by) };
}

function wantedSkins(prompt: string, random: Random, noise: Noise): readonly [main: Skin, second: Skin] {
  const motif = readPrompt(prompt);
  const [wish] = motif.wishes;
  const look = lookOf(wish ?? nothingKnown(motif), motif, random, noise);
  const own = wish === undefined ? null : worn(look, wish, motif);
  const main =
    own?.[0] ??
    look.main(hsl(random.below(360), 58, 52), motif.colours.length > 0 ? "glossy" : random.pick(RANDOM_FINISHES));
  const hasSecond = (wish?.colours ?? motif.colours).length > 1;
  if (hasSecond) return [main, { ...look.second("#e8e4da", main.finish), finish: main.finish }];
  return [main, own?.[1] ?? shade(main, -0.3)];
}

const nothingKnown = ({ colours, finish }: Motif): Pick<ThingWish, "colours" | "finish" | "contentColours"> => ({
  colours,
  finish,
  contentColours: [],
});

/** "Like a zebra": the thing is built only to see what it has on; null where it has nothing of its own. */
function worn(look: Look, wish: ThingWish, motif: Motif): readonly [Skin, Skin | undefined] | null {
  if (wish.finish !== null || motif.isStatue) return null;
  const [mains, seconds]: [Skin[], Skin[]] = [[], []];
  const keep =
    (list: Skin[], give: Look["main"]): Look["main"] =>
    (colour, finish) => {
      const skin = give(colour, finish);
      list.push(skin);
      return skin;
    };
  const [main, second] = [keep(mains, look.main), keep(seconds, look.second)];
  (THINGS[wish.thing] ?? ABSTRACT).build({ ...look, main, second });
  const [first] = mains;
  return first === undefined ? null : [first, seconds[0]];
}

function shaded(pieces: readonly DressedPiece[]): readonly DressedPiece[] {
  const shapes = pieces.map(({ shape }) => shape);
  const work = shapes.reduce((sum, shape) => sum + vertexCount(shape) + triangleCount(shape) / 2, 0);
  if (work > SHADED_MAX) return pieces;
  const light = occlusionOf(shapes);
  return pieces.map((piece, index) => ({
    ...piece,
    shape: withLight(piece.shape, light[index] ?? new Float32Array(0)),
  }));
}
