/** The things of a prompt as actors: where each begins, how large it is, how it goes on. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import type { Colour } from "../images/colours.ts";
import type { Stage } from "../images/sky.ts";
import { ellipse, group } from "../images/svg.ts";
import type { Thing } from "../images/thing.ts";
import { THINGS } from "../images/things.ts";
import { drawCover } from "./drawing.ts";
import type { Cover, Frame } from "./frame.ts";
import { place } from "./lay.ts";
import { facing, wayOf, type Way } from "./motions.ts";

export interface Actor {
  /** Behind the land or before it. */
  readonly isBehindLand: boolean;
  /** @param camera pixels that the ground has moved to the left */
  draw(frame: Frame, seconds: number, camera: number): void;
}

/** The frame, and how its pixels relate to the drawing's units. */
export interface View {
  readonly width: number;
  readonly height: number;
  readonly pixelsPerUnit: number;
}

interface Role {
  readonly name: string;
  readonly thing: Thing;
  readonly colour: Colour;
  /** Units: the height of the box it is drawn in, and where its feet are. */
  readonly size: number;
  readonly x: number;
  readonly foot: number;
}

/** These are far away, whatever they are drawn with. */
const FAR = new Set(["sun", "moon", "star", "cloud", "rainbow"]);
const STANDING = { sea: 0.76, other: 0.9 } as const;

/** @param ground where feet stand, in units */
export async function castActors(stage: Stage, ground: number, view: View): Promise<Actor[]> {
  const roles = assignRoles(stage, ground, view);
  return Promise.all(roles.map((role) => prepare(role, stage, view)));
}

function assignRoles(stage: Stage, ground: number, view: View): Role[] {
  const { motif, random } = stage;
  const width = view.width / view.pixelsPerUnit;
  const { height } = stage;
  const wanted = motif.wishes.flatMap(({ thing: name, colour, count }) => {
    const thing = THINGS[name];
    const one = thing === undefined ? [] : [{ name, thing, colour: colour ?? thing.colour }];
    return Array.from({ length: Math.min(count, MEDIA_LIMITS.objectsMax) }, () => one).flat();
  });
  const high = wanted.filter(({ thing }) => thing.where === "sky");
  const low = wanted.filter(({ thing }) => thing.where !== "sky");
  const isAlone = wanted.length === 1;
  const share = (index: number, count: number): number =>
    (index + 0.5) / count + (random.below(100) / 100 - 0.5) * (count > 1 ? 0.4 / count : 0.16);
  const highSize = Math.min(height * 0.24, (width * 0.5) / Math.max(1, Math.sqrt(high.length))) * (isAlone ? 1.6 : 1);
  const lowSize = Math.min(height * 0.4, (width * 0.72) / Math.max(1.4, Math.sqrt(low.length) * 1.3));
  const floor = Math.min(ground, height * STANDING.other);
  return [
    ...high.map((role, index): Role => {
      const size = highSize * role.thing.size * (0.85 + random.below(30) / 100);
      const middle = height * (isAlone ? 0.42 : 0.2 + random.below(26) / 100);
      return { ...role, size, x: width * (0.06 + 0.88 * share(index, high.length)), foot: middle + size / 2 };
    }),
    ...low
      .map((role, index): Role => {
        const depth = low.length > 1 ? random.below(100) / 100 : 0.6;
        const size = Math.min(height * 0.62, lowSize * role.thing.size * (0.8 + 0.25 * depth));
        const isAfloat = motif.scenery === "sea" && role.thing.where === "water";
        const stands = isAfloat ? Math.min(floor, height * STANDING.sea) : floor;
        const x = width * (0.06 + 0.88 * share(index, low.length));
        return { ...role, size, x, foot: stands + height * 0.07 * (depth - 0.4) };
      })
      .toSorted((one, other) => one.foot - other.foot),
  ];
}

/** The box of 100 and some room around it for what reaches beyond. */
const BOX = 100;
const ROOM = 12;

async function prepare(role: Role, stage: Stage, view: View): Promise<Actor> {
  const { name, thing, size, x, foot } = role;
  const { random, motif } = stage;
  // Chance is asked before anything is waited for: drawings may be finished in any order.
  const direction = random.below(2) === 0 ? 1 : -1;
  const phase = random.below(1_000) / 1_000;
  const pixels = size * view.pixelsPerUnit;
  const side = even((pixels * (BOX + 2 * ROOM)) / BOX);
  const canvas = { width: BOX + 2 * ROOM, height: BOX + 2 * ROOM, definitions: "" };
  const drawing = group({ transform: `translate(${ROOM} ${ROOM})` }, thing.draw(role.colour));
  const cover = await drawCover(canvas, drawing, { width: side, height: side });
  const hasShadow = thing.where !== "sky" && motif.scenery !== "sea" && motif.scenery !== "space";
  const shadow = hasShadow ? await drawShadow(side) : null;
  const [startX, startY] = [x * view.pixelsPerUnit, foot * view.pixelsPerUnit];
  const way = motif.scenery === "studio" && thing.where === "ground" ? atRest(wayOf(name)) : wayOf(name);
  const isBehindLand = FAR.has(name);
  const nearness = isBehindLand ? 0.1 : thing.where === "sky" ? 0.5 : 1;
  return {
    isBehindLand,
    draw: (frame, seconds, camera) => {
      const { x = 0, y = 0, scaleX = 1, scaleY = 1, turn = 0, lean = 0 } = way.pose({ seconds, phase });
      const gone = direction * (way.speed ?? 0) * pixels * seconds;
      const at = startX + gone + x * pixels - nearness * camera;
      // What has left at one side comes in at the other.
      const middleX = way.speed === undefined ? at : wrapped(at, -side / 2, view.width + side / 2);
      const climbed = Math.min((way.climb ?? 0) * pixels * seconds, Math.max(0, startY - 0.75 * pixels));
      const lift = y * pixels - climbed;
      if (shadow !== null) {
        const small = 1 + Math.max(-0.6, 0.8 * y);
        place(frame, shadow, { x: middleX, y: startY, scaleX: small, scaleY: small, turn: 0, lean: 0 });
      }
      // Feet stay where they are while the rest leans, shrinks or turns.
      const middleY = startY + lift - (pixels / 2) * scaleY * Math.cos(turn);
      const shiftX = (pixels / 2) * (Math.sin(turn) + lean) * scaleY;
      const flip = direction * facing(name);
      place(frame, cover, { x: middleX + shiftX, y: middleY, scaleX: scaleX * flip, scaleY, turn, lean: lean * flip });
    },
  };
}

function atRest({ pose }: Way): Way {
  return { pose };
}

function drawShadow(side: number): Promise<Cover> {
  const [width, height] = [100, 20];
  const svg = ellipse(50, 10, 34, 5, "#0d1024", { opacity: 0.22 });
  return drawCover({ width, height, definitions: "" }, svg, { width: side, height: even(side / 5) });
}

function wrapped(value: number, from: number, to: number): number {
  const span = to - from;
  return from + ((((value - from) % span) + span) % span);
}

function even(value: number): number {
  return Math.max(2, 2 * Math.ceil(value / 2));
}
