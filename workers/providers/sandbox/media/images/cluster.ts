/** Things that belong together (a cat on a sofa, a lamp over a table), put together around the one on the ground. */
import type { Random } from "../../random.ts";
import type { Colour } from "./colours.ts";
import type { Thing } from "./thing.ts";
import type { How } from "./words.ts";

/** One of the things to draw, and what hangs on it. */
export interface Member {
  readonly thing: Thing;
  readonly colour: Colour;
  readonly dependants: { readonly how: How | "held"; readonly member: Member }[];
}

/** In units of the size of a usual thing; x goes right from the cluster's middle, y up from its feet. */
export interface Piece {
  readonly thing: Thing;
  readonly colour: Colour;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly standsOnGround: boolean;
}

export interface Cluster {
  /** From back to front. */
  readonly pieces: readonly Piece[];
  readonly left: number;
  readonly right: number;
  readonly height: number;
}

const USUAL_TOP = 8;
const USUAL_WIDE = 0.92;
/** Something to crawl under has its top no higher in its box than this. */
const SHELTER_TOP_MIN = 36;
const SMALLEST = 0.5;

export function gather(root: Member, random: Random): Cluster {
  const pieces = arrange(root, { x: 0, y: 0, scale: 1, standsOnGround: true }, random);
  const edge = ({ x, size, thing }: Piece, side: 1 | -1): number => x + (side * size * widthOf(thing)) / 2;
  return {
    pieces,
    left: Math.min(...pieces.map((piece) => edge(piece, -1))),
    right: Math.max(...pieces.map((piece) => edge(piece, 1))),
    height: Math.max(...pieces.map(({ y, size }) => y + size)),
  };
}

export function widthOf({ wide = USUAL_WIDE }: Thing): number {
  return wide;
}

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly standsOnGround: boolean;
}

function arrange(member: Member, spot: Spot, random: Random): Piece[] {
  const { thing, colour, dependants } = member;
  const size = thing.size * spot.scale;
  const own: Piece = { thing, colour, x: spot.x, y: spot.y, size, standsOnGround: spot.standsOnGround };
  const behind: Piece[] = [];
  const before: Piece[] = [];
  const among = (...hows: readonly (How | "held")[]): Member[] =>
    dependants.filter(({ how }) => hows.includes(how)).map((dependant) => dependant.member);
  const isHollow = thing.inside !== undefined;
  const canBear = thing.top !== undefined || thing.where === "water";
  const inside = among("in");
  const atFeet = [...among("before"), ...(isHollow || canBear ? [] : inside)];

  const row = (members: readonly Member[], y: number, room: number, heightMax: number, isGround: boolean): Piece[] => {
    const sizes = members.map((one) => one.thing.size * widthOf(one.thing) * spot.scale);
    const total = sizes.reduce((sum, one) => sum + one, 0);
    const tallest = Math.max(...members.map((one) => one.thing.size)) * spot.scale;
    const shrink = Math.max(SMALLEST, Math.min(1, room / total, heightMax / tallest));
    // What must not become smaller stands closer.
    const step = Math.min(1, room / (total * shrink));
    let at = spot.x - (total * shrink * step) / 2;
    const shift = (random.below(101) / 100 - 0.5) * Math.max(0, room - total * shrink) * 0.4;
    return members.flatMap((one, index) => {
      const wide = (sizes[index] ?? 0) * shrink * step;
      const x = at + wide / 2 + shift;
      at += wide;
      return arrange(one, { x, y, scale: spot.scale * shrink, standsOnGround: isGround }, random);
    });
  };

  if (isHollow && inside.length > 0) {
    behind.push(
      ...row(inside, spot.y + size * (1 - (thing.inside ?? 0) / 100), size * widthOf(thing) * 0.74, Infinity, false),
    );
  }
  const above = [...among("on"), ...(isHollow || !canBear ? [] : inside)];
  if (above.length > 0) {
    const level = spot.y + size * (1 - (thing.top ?? USUAL_TOP) / 100);
    before.push(...row(above, level, size * widthOf(thing) * 0.86, Infinity, false));
  }
  const over = among("over");
  if (over.length > 0) {
    const level = Math.max(spot.y + size * 1.06, ...before.map((piece) => piece.y + piece.size * 1.04));
    before.push(...row(over, level, size * Math.max(1.6, widthOf(thing)), Infinity, false));
  }
  const under = among("under");
  const top = thing.top ?? 0;
  if (under.length > 0 && top >= SHELTER_TOP_MIN) {
    before.push(
      ...row(under, spot.y - 0.03 * size, size * widthOf(thing) * 0.7, size * (0.94 - top / 100), spot.standsOnGround),
    );
  } else {
    atFeet.push(...under);
  }
  for (const held of among("held")) {
    // An umbrella over the head, as wide as its bearer at least.
    const scale = spot.scale * Math.max(1, (size * widthOf(thing) * 1.15) / held.thing.size);
    behind.push(...arrange(held, { x: spot.x, y: spot.y + 0.58 * size, scale, standsOnGround: false }, random));
  }
  const side = random.below(2) === 0 ? 1 : -1;
  atFeet.forEach((one, index) => {
    const away = (index % 2 === 0 ? side : -side) * (0.2 + 0.12 * Math.floor(index / 2)) * size;
    before.push(
      ...arrange(one, { x: spot.x + away, y: spot.y - 0.06 * size, scale: spot.scale, standsOnGround: true }, random),
    );
  });
  among("behind").forEach((one, index) => {
    const away = (index % 2 === 0 ? side : -side) * 0.34 * size;
    behind.push(
      ...arrange(one, { x: spot.x + away, y: spot.y + 0.05 * size, scale: spot.scale, standsOnGround: true }, random),
    );
  });
  return [...behind, own, ...before];
}
