/** Where the things of a picture stand: none is cut off, and none covers another without being asked to. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { gather, widthOf, type Cluster, type Member } from "./cluster.ts";
import type { Colour } from "./colours.ts";
import type { Wish } from "./prompt.ts";
import { sunSpot, type Stage } from "./sky.ts";
import type { Thing } from "./thing.ts";
import { THINGS } from "./things.ts";

export interface Placed {
  readonly thing: Thing;
  readonly colour: Colour;
  /** The middle, the feet, and the side of its box. */
  readonly x: number;
  readonly foot: number;
  readonly size: number;
  /** What it throws on the ground or on the water. */
  readonly foil: "shadow" | "wake" | "none";
}

export interface Room {
  /** Where feet are to be, and the lowest that they may be. */
  readonly ground: number;
  readonly lowest: number;
  readonly footing: readonly [number, number];
}

/** From back to front. */
export function placeThings(stage: Stage, room: Room): Placed[] {
  const roots = membersOf(stage.motif.wishes);
  const isHigh = ({ thing, dependants }: Member): boolean =>
    dependants.length === 0 &&
    (thing.where === "sky" || (thing.where === "water" && stage.motif.scenery === "underwater"));
  const low = roots.filter((root) => !isHigh(root));
  const high = roots.filter(isHigh);
  const isRelated = stage.motif.wishes.some(({ at }) => at !== null);
  const clusters = (isRelated ? low : shuffled(low, stage)).map((root) => gather(root, stage.random));
  const standing = placeLow(stage, room, clusters, high.length);
  return [...placeHigh(stage, high, standing, room), ...standing];
}

/** Every thing once for each time it is wanted, below what it stands on; those that are left stand by themselves. */
function membersOf(wishes: readonly Wish[]): Member[] {
  const members = wishes.map(({ thing: name, colour, count }) => {
    const thing = THINGS[name];
    return thing === undefined
      ? []
      : Array.from({ length: Math.min(count, MEDIA_LIMITS.objectsMax) }, (): Member => ({
          thing,
          colour: colour ?? thing.colour,
          dependants: [],
        }));
  });
  const hung = new Set<Member>();
  wishes.forEach(({ at }, index) => {
    if (at === null) return;
    const hosts = members[at.whom] ?? [];
    members[index]?.forEach((member, number) => {
      const shelter = hosts[number];
      const canShelter = at.how === "under" || at.how === "beside";
      if (shelter !== undefined && shelter.thing === THINGS["umbrella"] && canShelter && !hung.has(shelter)) {
        member.dependants.push({ how: "held", member: shelter });
        hung.add(shelter);
        return;
      }
      if (at.how === "beside") return;
      const host = hosts[number % Math.max(1, hosts.length)];
      if (host === undefined || !canHang(member.thing, host.thing, at.how)) return;
      host.dependants.push({ how: at.how, member });
      hung.add(member);
    });
  });
  return members.flat().filter((member) => !hung.has(member));
}

/** The sun over a house and a boat under the moon have all the sky between them. */
function canHang(thing: Thing, host: Thing, how: string): boolean {
  const isFree = thing.where === "sky" && (how === "over" || how === "behind" || how === "under");
  return !isFree && (host.where !== "sky" || how === "on" || how === "in");
}

const ROW_MAX = 5;
/** Of the picture: how tall a usual thing is at most, and how tall a cluster. */
const UNIT_SHARE = 0.42;
const ROOM_UNIT_SHARE = 0.34;
const HEIGHT_SHARE = 0.66;
const GAP = 0.1;

function placeLow(stage: Stage, room: Room, clusters: readonly Cluster[], highCount: number): Placed[] {
  if (clusters.length === 0) return [];
  const { width, height, motif, random } = stage;
  const rowCount = Math.ceil(clusters.length / ROW_MAX);
  const perRow = Math.ceil(clusters.length / rowCount);
  const rows = Array.from({ length: rowCount }, (_, row) => clusters.slice(row * perRow, (row + 1) * perRow));
  const [from, to] = [Math.max(0.03, room.footing[0]) * width, Math.min(0.97, room.footing[1]) * width];
  const lengths = rows.map((row) => row.reduce((sum, { left, right }) => sum + right - left + GAP, 0));
  const tallest = Math.max(...clusters.map((cluster) => cluster.height));
  const floor = Math.min(room.ground, room.lowest);
  const isStill = motif.scenery === "studio" && clusters.length === 1;
  const unit = Math.min(
    height * (motif.scenery === "room" ? ROOM_UNIT_SHARE : UNIT_SHARE) * (isStill ? 1.12 : 1),
    (to - from) / Math.max(...lengths),
    (Math.min(height * (highCount > 0 ? HEIGHT_SHARE - 0.08 : HEIGHT_SHARE), floor * 0.92) / tallest) *
      (rowCount > 1 ? 0.75 : 1),
  );
  // A low sun is not stood before, if there is room beside it.
  const away = motif.light === "sunset" ? (sunSpot(stage).x < width / 2 ? 1 : -1) : 0;
  return rows.flatMap((row, rowIndex) => {
    const back = rowCount - 1 - rowIndex;
    const scale = unit * (1 - 0.16 * back);
    const free = Math.max(0, to - from - (lengths[rowIndex] ?? 0) * scale) / row.length;
    let at = from;
    const placed = row.map((cluster) => {
      const wide = (cluster.right - cluster.left + GAP) * scale;
      const jitter =
        free * (0.5 + away * (row.length > 1 ? random.below(31) / 100 : 0.28) + (random.below(31) - 15) / 100);
      const middle = at + jitter + (GAP / 2 - cluster.left) * scale;
      at += wide + free;
      const isAfloat =
        motif.scenery === "sea" && cluster.pieces.some(({ thing, y }) => thing.where === "water" && y === 0);
      const depth = row.length > 1 ? (random.below(101) / 100 - 0.5) * 0.03 : 0;
      const stands = isAfloat ? Math.min(floor, height * 0.76) : floor;
      const foot = Math.min(room.lowest, stands + height * depth) - back * height * 0.1;
      return {
        foot,
        pieces: cluster.pieces.map((piece) => pieceAt(piece, middle, foot, scale, isAfloat, motif, room)),
      };
    });
    return placed.toSorted((one, other) => one.foot - other.foot).flatMap(({ pieces }) => pieces);
  });
}

function pieceAt(
  { thing, colour, x, y, size, standsOnGround }: Cluster["pieces"][number],
  middle: number,
  foot: number,
  scale: number,
  isAfloat: boolean,
  { scenery, foreland }: Stage["motif"],
  room: Room,
): Placed {
  const isWeightless = scenery === "space" && foreland === null;
  const foil = !standsOnGround || isWeightless ? "none" : isAfloat ? "wake" : "shadow";
  return {
    thing,
    colour,
    x: middle + x * scale,
    foot: Math.min(room.lowest, foot - y * scale),
    size: size * scale,
    foil,
  };
}

/** How many places are tried for what is in the air; it takes the one that covers least. */
const TRIES = 14;

function placeHigh(stage: Stage, members: readonly Member[], standing: readonly Placed[], room: Room): Placed[] {
  const { width, height, motif, random } = stage;
  const isUnder = motif.scenery === "underwater";
  const isAlone = members.length === 1 && standing.length === 0;
  const usual = Math.min(
    height * (isUnder ? 0.3 : standing.length === 0 ? 0.32 : 0.24),
    (width * 0.5) / Math.max(1, Math.sqrt(members.length)),
  );
  const placed: Placed[] = [];
  for (const { thing, colour } of members) {
    const size = Math.min(
      usual * thing.size * (isAlone ? 1.7 : 0.9 + random.below(25) / 100),
      height * 0.6,
      width * 0.9,
    );
    const isSun = thing === THINGS["sun"] && motif.light === "sunset";
    const half = (size * widthOf(thing)) / 2;
    const low = isUnder || motif.scenery === "studio" ? room.lowest * 0.94 : height * 0.62;
    const tries = Array.from({ length: isAlone || isSun ? 1 : TRIES }, (_, index): Placed & { cost: number } => {
      const x = isSun
        ? sunSpot(stage).x
        : isAlone
          ? width * (0.42 + random.below(17) / 100)
          : half + width * 0.02 + (random.below(101) / 100) * Math.max(0, width * 0.96 - 2 * half);
      const highest = size + height * 0.06;
      const foot = isSun
        ? sunSpot(stage).y + size / 2
        : isAlone
          ? Math.min(low, height * 0.44 + size / 2)
          : highest + (random.below(101) / 100) * Math.max(0, low - highest) * (0.4 + (0.6 * index) / TRIES);
      const one: Placed = { thing, colour, x, foot, size, foil: "none" };
      const cost = [...standing, ...placed].reduce((sum, other) => sum + overlap(one, other), 0);
      return { ...one, cost };
    });
    const { cost: _, ...best } = tries.reduce((least, one) => (one.cost < least.cost - 1 ? one : least));
    placed.push(best);
  }
  return placed;
}

/** The area that the boxes share. */
function overlap(one: Placed, other: Placed): number {
  const halves = (one.size * widthOf(one.thing) + other.size * widthOf(other.thing)) / 2;
  const across = Math.min(halves - Math.abs(one.x - other.x), one.size, other.size);
  const down = Math.min(one.foot, other.foot) - Math.max(one.foot - one.size, other.foot - other.size);
  return across > 0 && down > 0 ? across * down : 0;
}

function shuffled<T>(items: readonly T[], { random }: Stage): T[] {
  const list = [...items];
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = random.below(index + 1);
    const [one, two] = [list[index], list[other]];
    if (one === undefined || two === undefined) continue;
    list[index] = two;
    list[other] = one;
  }
  return list;
}
