/** Things of a prompt, built, scaled and put in their places. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import type { Random } from "../../random.ts";
import { finishOf } from "./finishes.ts";
import { wearing, type GivenPicture } from "./given-picture.ts";
import { occlusionOf } from "./kit/occlusion.ts";
import { refined } from "./kit/refine.ts";
import {
  boundsOf,
  faceted,
  moved,
  rotated,
  scaled,
  triangleCount,
  withLight,
  type Bounds,
  type Shape,
} from "./kit/shape.ts";
import { simplified } from "./kit/simplify.ts";
import { cross, pointAt, sub, UP, type Vec3 } from "./kit/vector.ts";
import { lookOf } from "./look.ts";
import { readPrompt, type Motif, type ThingWish } from "./prompt.ts";
import { buildRelief } from "./relief.ts";
import type { Noise } from "./textures/noise.ts";
import { ABSTRACT, plinth, THINGS } from "./things/index.ts";
import type { Part, Thing } from "./things/thing.ts";

export interface Placed {
  readonly name: string;
  readonly parts: readonly Part[];
}

interface Standing extends Placed {
  readonly isOnNext: boolean;
}

/** The smallest of several things has at least this share of the largest one's height: a cat beside a house. */
const LEAST_SHARE = 0.4;
/** Low poly: this share of the triangles, and none of the fine patterns. */
const LOW_POLY_SHARE = 0.07;
const LOW_POLY_LEAST = 60;

const PEAKS: ReadonlySet<string> = new Set(["Mountain", "Volcano"]);
/** Of half the width of what stands on a peak, how far out there must be ground. */
const FOOTHOLD = 0.55;

const RELIEF = /\b(relief|plaque|lithophane|medallion)s?\b/i;
const RELIEF_METRES = 0.4;
const NOTHING_KNOWN = { thing: "sculpture", count: 1, size: 1, isOnNext: false, contentColours: [] } as const;

/** Parts in metres, standing on y = 0, the group in the middle. */
export async function composeScene(
  prompt: string,
  random: Random,
  noise: Noise,
  picture: GivenPicture | null,
): Promise<readonly Placed[]> {
  const motif = readPrompt(prompt);
  if (picture !== null && (motif.wishes.length === 0 || RELIEF.test(prompt))) {
    const look = lookOf({ ...NOTHING_KNOWN, colours: motif.colours, finish: motif.finish }, motif, random, noise);
    const parts = standing(await buildRelief(look, picture), RELIEF_METRES, motif);
    return shaded([{ name: "Relief", parts }]).map((one) => ({ ...one, parts: one.parts.map(repeated) }));
  }
  const wishes: readonly ThingWish[] =
    motif.wishes.length > 0 ? motif.wishes : [{ ...NOTHING_KNOWN, colours: motif.colours, finish: motif.finish }];
  const largest = Math.max(...wishes.map(({ thing }) => thingOf(thing).metres));
  const built = wishes.flatMap((wish) =>
    Array.from({ length: wish.count }, (_, index): Standing => {
      const thing = thingOf(wish.thing);
      const metres = Math.max(thing.metres, largest * LEAST_SHARE) * wish.size;
      const name = wish.count > 1 ? `${titled(wish.thing)} ${index + 1}` : titled(wish.thing);
      const plain = buildOne(wish, thing, motif, random, noise);
      // The first thing is what the picture is meant for.
      const parts = picture !== null && wish === wishes[0] ? wearing(plain, thing, picture) : plain;
      return { name, parts: standing(parts, metres, motif), isOnNext: wish.isOnNext };
    }),
  );
  const things = fewer(arranged(stacked(built), random));
  return shaded(motif.isLowPoly ? things : finer(things)).map((one) => ({ ...one, parts: one.parts.map(repeated) }));
}

function thingOf(name: string): Thing {
  return THINGS[name] ?? ABSTRACT;
}

const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function buildOne(wish: ThingWish, thing: Thing, motif: Motif, random: Random, noise: Noise): readonly Part[] {
  const look = lookOf(wish, motif, random, noise);
  const plain = thing.build(look);
  const parts = motif.isStatue && motif.wishes.length > 0 ? [...plain, plinth(look, plain)] : plain;
  if (motif.isLowPoly) return parts.map(lowPoly);
  return parts.map((part) =>
    finishOf(part.skin.finish).isFaceted === true ? { ...part, shape: faceted(coarser(part.shape)) } : part,
  );
}

/** Cut stones have large faces; those of a fine mesh would only glitter. */
function coarser(shape: Shape): Shape {
  if (triangleCount(shape) < 300) return shape;
  return simplified(shape, { triangles: Math.max(80, triangleCount(shape) * 0.2), error: 0.04 });
}

function lowPoly({ name, skin, shape }: Part): Part {
  const { metallic, transmission, pattern } = finishOf(skin.finish);
  const isPlain = pattern === undefined || metallic > 0.5 || transmission !== undefined;
  const triangles = Math.max(LOW_POLY_LEAST, triangleCount(shape) * LOW_POLY_SHARE);
  return {
    name,
    skin: isPlain ? skin : { ...skin, finish: "matt" },
    shape: faceted(simplified(shape, { triangles, error: 0.08 })),
  };
}

/** Feet on the ground, the middle over the origin, as high as it should be. */
function standing(parts: readonly Part[], metres: number, { tallness, width }: Motif): readonly Part[] {
  const { min, max } = boundsOf(parts.map(({ shape }) => shape));
  // What is wide and low, such as a ring or a fish, is measured by its width.
  const size = metres / Math.max(max[1] - min[1], 0.5 * Math.max(max[0] - min[0], max[2] - min[2]));
  const [x, z] = [(min[0] + max[0]) / 2, (min[2] + max[2]) / 2];
  return eachShape(parts, (shape) =>
    scaled(moved(shape, [-x, -min[1], -z]), [size * width, size * tallness, size * width]),
  );
}

function eachShape(parts: readonly Part[], change: (shape: Shape) => Shape): readonly Part[] {
  return parts.map((part) => ({ ...part, shape: change(part.shape) }));
}

/** What is to stand on the next thing is put there, side by side, and made to fit. */
function stacked(things: readonly Standing[]): Placed[][] {
  const groups: Placed[][] = [];
  let waiting: Standing[] = [];
  for (const thing of things) {
    if (thing.isOnNext) {
      waiting.push(thing);
      continue;
    }
    groups.push([thing, ...putOn(waiting, thing)]);
    waiting = [];
  }
  return groups;
}

function putOn(above: readonly Placed[], below: Placed): readonly Placed[] {
  const shapes = below.parts.map(({ shape }) => shape);
  const under = boundsOf(shapes);
  const longer = Math.max(under.max[0] - under.min[0], under.max[2] - under.min[2]);
  const isAcross = under.max[0] - under.min[0] >= under.max[2] - under.min[2];
  const isPeak = PEAKS.has(below.name);
  const room = (longer * (isPeak ? 0.5 : 0.8)) / Math.max(1, above.length);
  return above.map((thing, index) => {
    const own = boundsOf(thing.parts.map(({ shape }) => shape));
    const factor = Math.min(1, room / (isAcross ? own.max[0] - own.min[0] : own.max[2] - own.min[2]));
    const along = (index - (above.length - 1) / 2) * room;
    const [x, z] = isAcross ? [along, 0] : [0, along];
    const reach = ((own.max[0] - own.min[0] + own.max[2] - own.min[2]) / 4) * factor * FOOTHOLD;
    const top = isPeak ? flankAt(shapes, x, z, reach) : topAt(shapes, x, z);
    return {
      ...thing,
      parts: eachShape(thing.parts, (shape) => moved(scaled(shape, factor), [x, top ?? under.max[1], z])),
    };
  });
}

/** On a peak nothing stands by its middle alone: it sinks in until there is ground around it. */
function flankAt(shapes: readonly Shape[], x: number, z: number, reach: number): number | null {
  const heights = [0, 1, 2, 3].map((side) => {
    const angle = (side * Math.PI) / 2;
    return topAt(shapes, x + reach * Math.cos(angle), z + reach * Math.sin(angle));
  });
  const found = heights.filter((height) => height !== null);
  return found.length === 0 ? null : found.reduce((sum, height) => sum + height, 0) / found.length;
}

/** The highest point of the surfaces above a place on the ground. */
function topAt(shapes: readonly Shape[], x: number, z: number): number | null {
  let top: number | null = null;
  for (const { positions, indices } of shapes) {
    for (let at = 0; at < indices.length; at += 3) {
      const [a, b, c] = [0, 1, 2].map((corner) => pointAt(positions, indices[at + corner] ?? 0)) as [Vec3, Vec3, Vec3];
      const normal = cross(sub(b, a), sub(c, a));
      if (Math.abs(normal[1]) < 1e-12) continue;
      const side = (p: Vec3, q: Vec3): number => (q[0] - p[0]) * (z - p[2]) - (q[2] - p[2]) * (x - p[0]);
      const [one, two, three] = [side(a, b), side(b, c), side(c, a)];
      if (!((one >= 0 && two >= 0 && three >= 0) || (one <= 0 && two <= 0 && three <= 0))) continue;
      const height = a[1] - (normal[0] * (x - a[0]) + normal[2] * (z - a[2])) / normal[1];
      top = top === null ? height : Math.max(top, height);
    }
  }
  return top;
}

/** Seen from the tallest: to the sides and ahead first, then behind; degrees from the front. */
const PLACES = [62, -62, 128, -128, 178];

/** The tallest in the middle, the others around it, turned a little. */
function arranged(groups: readonly (readonly Placed[])[], random: Random): Placed[] {
  const sized = groups.map((group) => ({
    group,
    bounds: boundsOf(group.flatMap(({ parts }) => parts.map(({ shape }) => shape))),
  }));
  const [first, ...others] = sized.toSorted((a, b) => b.bounds.max[1] - a.bounds.max[1]);
  if (first === undefined) return [];
  const [wide, deep] = halves(first.bounds);
  const placed = others.flatMap(({ group, bounds }, index) => {
    const angle = ((PLACES[index % PLACES.length] ?? 0) * Math.PI) / 180;
    const [ownWide, ownDeep] = halves(bounds);
    const own = Math.max(ownWide, ownDeep);
    const by: Vec3 = [Math.sin(angle) * (wide + own) * 1.15, 0, Math.cos(angle) * (deep + own) * 1.15];
    const turn = random.below(40) - 20;
    return group.map((one) => ({
      ...one,
      parts: eachShape(one.parts, (shape) => moved(rotated(shape, UP, turn), by)),
    }));
  });
  return centred([...first.group, ...placed]);
}

function halves({ min, max }: Bounds): readonly [wide: number, deep: number] {
  return [(max[0] - min[0]) / 2, (max[2] - min[2]) / 2];
}

function centred(things: readonly Placed[]): Placed[] {
  const { min, max } = boundsOf(things.flatMap(({ parts }) => parts.map(({ shape }) => shape)));
  const by: Vec3 = [-(min[0] + max[0]) / 2, -min[1], -(min[2] + max[2]) / 2];
  return things.map((thing) => ({ ...thing, parts: eachShape(thing.parts, (shape) => moved(shape, by)) }));
}

/** Many things share the triangles that one file may have. */
function fewer(things: readonly Placed[]): readonly Placed[] {
  const sum = things.reduce(
    (all, { parts }) => all + parts.reduce((own, { shape }) => own + triangleCount(shape), 0),
    0,
  );
  const share = MEDIA_LIMITS.meshMadeTrianglesMax / sum;
  if (share >= 1) return things;
  return things.map((thing) => ({
    ...thing,
    parts: eachShape(thing.parts, (shape) =>
      simplified(shape, { triangles: triangleCount(shape) * share, error: 0.1 }),
    ),
  }));
}

/** Edges no longer than this share of the whole, as long as there are not too many of them. */
const EDGE_SHARES = [0.035, 0.06, 0.1, 0.16, 0.25];
const REFINED_TRIANGLES_MAX = 14_000;

/** Large flat faces get vertices for light and shade. */
function finer(things: readonly Placed[]): readonly Placed[] {
  const shapes = things.flatMap(({ parts }) => parts.map(({ shape }) => shape));
  const { min, max } = boundsOf(shapes);
  const size = Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]);
  for (const share of EDGE_SHARES) {
    const next = things.map((thing) => ({
      ...thing,
      parts: eachShape(thing.parts, (shape) => refined(shape, share * size)),
    }));
    const count = next.reduce(
      (sum, { parts }) => sum + parts.reduce((own, { shape }) => own + triangleCount(shape), 0),
      0,
    );
    if (count <= REFINED_TRIANGLES_MAX) return next;
  }
  return things;
}

/** Texture coordinates at the repeat of the material's pattern. */
function repeated(part: Part): Part {
  const { repeat = 1 } = finishOf(part.skin.finish);
  if (repeat === 1 || part.skin.picture !== undefined) return part;
  return { ...part, shape: { ...part.shape, uvs: part.shape.uvs.map((value) => value * repeat) } };
}

function shaded(things: readonly Placed[]): Placed[] {
  const light = occlusionOf(things.flatMap(({ parts }) => parts.map(({ shape }) => shape)));
  let at = 0;
  return things.map((thing) => ({
    ...thing,
    parts: eachShape(thing.parts, (shape) => {
      const factors = light[at] ?? new Float32Array(0);
      at += 1;
      return withLight(shape, factors);
    }),
  }));
}
