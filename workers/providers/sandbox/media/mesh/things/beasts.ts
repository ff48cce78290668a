/** Animals on four legs, all of one build. */
import { darker, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { ball, curve, lathe } from "../kit/surface.ts";
import { moved, rotated, twice } from "../kit/shape.ts";
import { add, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, marked, pair, type Coat } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import type { Beast } from "./beast.ts";
import { GRAZERS } from "./grazers.ts";
import { PREDATORS } from "./predators.ts";

export const FOUR_LEGGED: Readonly<Record<string, Thing>> = Object.fromEntries(
  Object.entries({ ...PREDATORS, ...GRAZERS }).map(([name, beast]) => [
    name,
    { metres: beast.metres, build: (look: Look) => build(look, beast) },
  ]),
);

function build(look: Look, beast: Beast): readonly Part[] {
  const own = coat(look, beast.colour, beast.finish ?? "fur");
  const belly = beast.belly === undefined || own.colour !== beast.colour ? own.light : own.of(beast.belly);
  const paws = beast.paws === undefined ? own.plain : own.colour === beast.colour ? own.of(beast.paws) : own.dark;
  const [half, radius, height] = beast.trunk;
  const [up, ahead, size] = beast.head;
  const shoulder: Vec3 = [0, height + radius * 0.2, half * 0.85];
  const head: Vec3 = add(shoulder, [0, up, ahead]);
  const more = beast.more?.(look, own, head, size) ?? {};
  const [reach, thick, drop] = beast.muzzle;
  const snout: Vec3 = add(head, [0, -drop, reach]);
  const face = beast.face === undefined ? own.plain : own.of(beast.face);
  const lumps: Lump[] = [
    {
      at: [0, height, -half],
      to: [0, height + 0.02, half],
      radius: radius * 0.96,
      radiusTo: radius,
      colour: own.plain,
    },
    {
      at: [0, height - radius * 0.35, -half * 0.2],
      radius: [radius * 0.78, radius * 0.8, half * 1.05],
      colour: belly,
      blend: 0.05,
    },
    {
      at: shoulder,
      to: add(head, [0, -size * 0.2, -size * 0.3]),
      radius: beast.neck * 1.25,
      radiusTo: beast.neck,
      colour: own.plain,
      blend: 0.12,
    },
    { at: head, radius: [size * 1.02, size * 0.95, size], colour: face, blend: 0.08 },
    {
      at: add(head, [0, -drop * 0.7, size * 0.4]),
      to: snout,
      radius: thick * 1.1,
      radiusTo: thick * 0.85,
      colour: beast.face !== undefined ? face : beast.finish === "skin" ? own.plain : belly,
      blend: 0.06,
    },
    ...legs(beast, own, paws),
    ...ears(beast, own, head),
    ...tail(beast, own, [0, height + radius * 0.35, -half - radius * 0.75]),
    ...(more.lumps ?? []),
  ];
  const cell = Math.max(0.016, (height + up + 2 * half) * 0.0128);
  const marks = own.isPainted ? beast.marks : undefined;
  const main = body(
    "Body",
    own,
    lumps,
    { cell, fade: 0.045 },
    marks === undefined ? undefined : (shape) => marked(shape, (point) => marks(look, point)),
  );
  const eyeSize = Math.max(0.026, size * (beast.eye === undefined ? 0.165 : 0.2));
  const isElephant = beast.ears === "fan";
  const nose = rotated(
    lathe(
      [
        [0.001, -thick * 0.3],
        [thick * 0.42, -thick * 0.16],
        [thick * 0.46, 0],
        [thick * 0.36, thick * 0.2],
        [0.001, thick * 0.3],
      ],
      16,
    ),
    [1, 0, 0],
    90,
  );
  return [
    main,
    ...eyes(
      look,
      [size * (isElephant ? 0.68 : 0.5), head[1] + size * 0.2, head[2] + size * (isElephant ? 0.66 : 0.8)],
      eyeSize,
      beast.eye ?? null,
    ),
    ...(isElephant
      ? []
      : beast.snout === true
        ? pigSnout(look, beast.nose, snout, thick)
        : [part("Nose", look.fixed(beast.nose, "skin"), moved(nose, add(snout, [0, thick * 0.35, thick * 0.66])))]),
    ...(more.parts ?? []),
  ];
}

function legs({ trunk: [half, radius, height], leg: [thick, spread] }: Beast, own: Coat, paws: Vec3): Lump[] {
  return [1, -1].flatMap((end) => {
    const z = end * half * 0.92;
    const hip: Vec3 = [spread, height - radius * 0.25, z];
    const knee: Vec3 = [spread * 1.05, height * 0.42, z + (end > 0 ? 0.005 : -0.03)];
    const foot: Vec3 = [spread * 1.05, thick * 0.9, z + (end > 0 ? 0.01 : 0.0)];
    return [
      ...pair({
        at: hip,
        to: knee,
        radius: thick * (end > 0 ? 1.45 : 1.75),
        radiusTo: thick * 1.05,
        colour: own.plain,
        blend: 0.08,
      }),
      ...pair({ at: knee, to: foot, radius: thick * 1.05, radiusTo: thick * 0.9, colour: own.plain, blend: 0.04 }),
      ...pair({
        at: add(foot, [0, 0, thick * 0.45]),
        radius: [thick * 1.12, thick * 0.92, thick * 1.35],
        colour: paws,
        blend: 0.03,
      }),
    ];
  });
}

function ears({ ears: kind, head: [, , size] }: Beast, own: Coat, head: Vec3): readonly Lump[] {
  const at = (x: number, y: number, z: number): Vec3 => add(head, [x * size, y * size, z * size]);
  switch (kind) {
    case "pointed":
      return pair({
        at: at(0.5, 0.55, -0.1),
        to: at(0.72, 1.32, -0.05),
        radius: size * 0.34,
        radiusTo: size * 0.05,
        colour: own.dark,
        blend: 0.04,
      });
    case "floppy":
      return [
        ...pair({
          at: at(0.75, 0.5, -0.15),
          to: at(1.15, 0.05, -0.05),
          radius: size * 0.24,
          radiusTo: size * 0.24,
          colour: own.dark,
          blend: 0.03,
        }),
        ...pair({
          at: at(1.15, 0.05, -0.05),
          to: at(1.12, -0.5, 0.05),
          radius: size * 0.24,
          radiusTo: size * 0.18,
          colour: own.dark,
          blend: 0.03,
        }),
      ];
    case "round":
      return pair({
        at: at(0.72, 0.8, -0.1),
        radius: [size * 0.34, size * 0.34, size * 0.2],
        colour: own.dark,
        blend: 0.03,
      });
    case "long":
      return pair({
        at: at(0.36, 1.4, -0.25),
        radius: [size * 0.24, size * 0.85, size * 0.15],
        along: [0.16, 1, -0.22],
        colour: own.dark,
        blend: 0.04,
      });
    case "fan":
      return pair({
        at: at(1.35, 0.05, -0.35),
        radius: [size * 0.75, size * 0.95, size * 0.13],
        along: [0.12, 1, 0],
        colour: own.dark,
        blend: 0.03,
      });
    default:
      return [];
  }
}

function tail({ tail: points, tailRadius: [from, to], tailTip }: Beast, own: Coat, root: Vec3): Lump[] {
  const way = curve([[0, 0, 0] as const, ...points], 4).map((point) => add(root, point));
  const radius = (index: number): number => from + ((to - from) * index) / Math.max(1, way.length - 1);
  return way.slice(1).map((point, index) => ({
    at: way[index] ?? root,
    to: point,
    radius: radius(index),
    radiusTo: radius(index + 1),
    colour: tailTip !== undefined && index >= way.length * 0.72 ? own.of(tailTip) : own.plain,
    blend: index === 0 ? 0.05 : 0.02,
  }));
}

function pigSnout(look: Look, colour: Colour, at: Vec3, thick: number): readonly Part[] {
  const front = at[2] + thick * 0.55;
  const disc = rotated(
    lathe(
      [
        [0.001, -0.03],
        [thick * 0.92, -0.03],
        [thick * 1.02, 0],
        [thick * 0.95, 0.045],
        [thick * 0.8, 0.055],
        [0.001, 0.05],
      ],
      32,
    ),
    [1, 0, 0],
    90,
  );
  const holes = twice(ball([thick * 0.36, at[1], front + 0.05], [thick * 0.17, thick * 0.28, 0.02], 12));
  return [
    part("Snout", look.fixed(colour, "skin"), moved(disc, [0, at[1], front])),
    part("Nostrils", look.fixed(darker(colour, 0.5), "skin"), holes),
  ];
}
