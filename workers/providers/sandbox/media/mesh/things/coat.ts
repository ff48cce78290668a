/** The skin of a soft body: many colours on one surface, unless the prompt says it is of gold. */
import { darker, lighter, type Colour } from "../../images/colours.ts";
import { finishOf, linear, type FinishName, type Skin } from "../finishes.ts";
import { blob, type BlobShape, type Lump } from "../kit/blob.ts";
import { boxProjected } from "../kit/project.ts";
import { tinted, type Shape } from "../kit/shape.ts";
import { ball } from "../kit/surface.ts";
import type { Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part } from "./thing.ts";

export interface Coat {
  readonly skin: Skin;
  /** Its main colour, for what is mixed from it. */
  readonly colour: Colour;
  readonly light: Vec3;
  readonly dark: Vec3;
  readonly plain: Vec3;
  /** Whether each place has a colour of its own: not so on gold. */
  readonly isPainted: boolean;
  /** Any other colour on the same surface. */
  of(colour: Colour): Vec3;
}

export function coat(look: Look, colour: Colour, finish: FinishName): Coat {
  const skin = look.main(colour, finish);
  const { metallic, pattern, transmission } = finishOf(skin.finish);
  // Metal and stone have one colour; on fur and plastic every vertex brings its own.
  const isPainted = skin.finish === finish || (metallic === 0 && transmission === undefined && pattern === undefined);
  const white: Vec3 = [1, 1, 1];
  const of = (wanted: Colour): Vec3 => (isPainted ? linear(wanted) : white);
  return {
    skin: isPainted ? { ...skin, colour: "#ffffff" } : skin,
    colour: skin.colour,
    isPainted,
    plain: of(skin.colour),
    light: of(lighter(skin.colour, 0.55)),
    dark: of(darker(skin.colour, 0.4)),
    of,
  };
}

/** A soft body with a texture the same size everywhere. */
export function body(
  name: string,
  { skin }: Coat,
  lumps: readonly Lump[],
  shape: BlobShape,
  change?: (shape: Shape) => Shape,
): Part {
  const soft = blob(lumps, shape);
  return part(name, skin, boxProjected(change === undefined ? soft : change(soft), 0.8));
}

/** Colours of a shape multiplied by what a place says. */
export function marked(shape: Shape, factor: (point: Vec3) => number): Shape {
  const own = shape.colours;
  let at = 0;
  return tinted(shape, (point) => {
    const by = factor(point);
    const colour: Vec3 = [(own?.[at] ?? 1) * by, (own?.[at + 1] ?? 1) * by, (own?.[at + 2] ?? 1) * by];
    at += 3;
    return colour;
  });
}

/** The same ball on both sides. */
export const pair = (lump: Lump): readonly Lump[] => [lump, { ...lump, at: mirrored(lump.at), ...turnedOver(lump) }];

const mirrored = ([x, y, z]: Vec3): Vec3 => [-x, y, z];

function turnedOver({ to, along }: Lump): Partial<Lump> {
  return {
    ...(to === undefined ? {} : { to: mirrored(to) }),
    ...(along === undefined ? {} : { along: mirrored(along) }),
  };
}

/**
 * Two eyes that look ahead, with a spark of light in each.
 * @param at the left one seen from the animal's front is at -x
 */
export function eyes(look: Look, at: Vec3, size: number, iris: Colour | null = null): readonly Part[] {
  const both = (offset: Vec3, radii: number | Vec3): readonly Shape[] =>
    [-1, 1].map((side) => ball([side * (at[0] + offset[0]), at[1] + offset[1], at[2] + offset[2]], radii, 16));
  const dark = look.fixed("#17151a", "eye");
  const spark = [-1, 1].map((side) =>
    ball([side * at[0] + size * 0.3, at[1] + size * 0.38, at[2] + size * 0.8], size * 0.22, 8),
  );
  const parts = [part("Eye lights", look.fixed("#ffffff", "light"), ...spark)];
  if (iris === null) return [part("Eyes", dark, ...both([0, 0, 0], size)), ...parts];
  return [
    part("Eyes", look.fixed(iris, "eye"), ...both([0, 0, 0], size)),
    part("Pupils", dark, ...both([0, 0, size * 0.52], [size * 0.38, size * 0.72, size * 0.56])),
    ...parts,
  ];
}
