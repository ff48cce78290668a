/** Figures that stand on two legs. */
import { darker, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { around, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const FIGURES: Readonly<Record<string, Thing>> = {
  person: { metres: 1.7, build: buildPerson },
  astronaut: { metres: 1.8, build: buildAstronaut },
  alien: { metres: 1.4, build: buildAlien },
};

interface Dress {
  readonly skin: Colour;
  readonly hair: Colour;
  readonly top: Colour;
  readonly legs: Colour;
  readonly shoes: Colour;
}

/** A figure of a toy's proportions: a large head, simple hands. */
function figure(look: Look, finish: "skin" | "matt", dress: Dress): Part {
  const own = coat(look, dress.top, finish);
  const [skin, legs, shoes] = [own.of(dress.skin), own.of(dress.legs), own.of(dress.shoes)];
  const lumps: Lump[] = [
    { at: [0, 0.62, 0], to: [0, 0.9, 0], radius: 0.16, radiusTo: 0.135, colour: own.plain },
    { at: [0, 0.56, 0], radius: [0.165, 0.1, 0.135], colour: legs, blend: 0.03 },
    ...pair({ at: [0.085, 0.54, 0], to: [0.1, 0.12, 0], radius: 0.088, radiusTo: 0.07, colour: legs, blend: 0.03 }),
    ...pair({ at: [0.105, 0.055, 0.035], radius: [0.078, 0.058, 0.13], colour: shoes, blend: 0.02 }),
    ...pair({
      at: [0.15, 0.93, 0],
      to: [0.28, 0.7, 0.02],
      radius: 0.068,
      radiusTo: 0.056,
      colour: own.plain,
      blend: 0.04,
    }),
    ...pair({
      at: [0.28, 0.7, 0.02],
      to: [0.31, 0.54, 0.08],
      radius: 0.056,
      radiusTo: 0.046,
      colour: own.plain,
      blend: 0.02,
    }),
    ...pair({ at: [0.315, 0.49, 0.1], radius: [0.05, 0.06, 0.05], colour: skin, blend: 0.01 }),
    { at: [0, 0.98, 0], to: [0, 1.06, 0], radius: 0.062, radiusTo: 0.06, colour: skin, blend: 0.03 },
    { at: [0, 1.24, 0.01], radius: [0.195, 0.21, 0.195], colour: skin, blend: 0.03 },
    { at: [0, 1.21, 0.205], radius: 0.024, colour: skin, blend: 0.02 },
    ...pair({ at: [0.195, 1.22, 0], radius: [0.03, 0.05, 0.036], colour: skin, blend: 0.02 }),
  ];
  return body("Figure", own, lumps, { cell: 0.0155, fade: 0.014 });
}

function face(look: Look): readonly Part[] {
  const smile = tube(
    curve(
      [
        [-0.06, 1.152, 0.178],
        [0, 1.128, 0.188],
        [0.06, 1.152, 0.178],
      ],
      5,
    ),
    0.008,
    { sides: 8 },
  );
  return [...eyes(look, [0.075, 1.26, 0.18], 0.026), part("Smile", look.fixed("#7a3b32", "skin"), smile)];
}

const SKINS: readonly [Colour, ...Colour[]] = ["#f0c8a4", "#d9a27a", "#a86f4a", "#6f4630"];

const HAIRS: readonly [Colour, ...Colour[]] = ["#3a2518", "#15120f", "#b5803f", "#7a4326"];

function buildPerson(look: Look): readonly Part[] {
  const { random } = look;
  const isWoman = look.has("woman", "girl", "lady", "princess", "queen", "female", "mother");
  const [skin, hair] = [random.pick(SKINS), random.pick(HAIRS)];
  const dress = {
    skin,
    hair,
    top: isWoman ? "#c9486a" : "#3f77b5",
    legs: isWoman ? darker("#c9486a", 0.25) : "#3a4255",
    shoes: "#2b2522",
  };
  const lumps: Lump[] = [
    { at: [0, 1.31, -0.03], radius: [0.212, 0.185, 0.205], colour: [1, 1, 1] },
    { at: [0.05, 1.41, 0.1], radius: [0.14, 0.07, 0.1], colour: [1, 1, 1], blend: 0.05 },
    ...(isWoman
      ? [
          {
            at: [0, 1.24, -0.1],
            to: [0, 0.94, -0.13],
            radius: 0.185,
            radiusTo: 0.13,
            colour: [1, 1, 1] as Vec3,
            blend: 0.08,
          } as Lump,
        ]
      : []),
  ];
  const hairCoat = { ...coat(look, hair, "fur"), skin: look.fixed(hair, "fur") };
  const parts = [figure(look, "matt", dress), body("Hair", hairCoat, lumps, { cell: 0.018 }), ...face(look)];
  if (isWoman)
    parts.push(
      part(
        "Skirt",
        look.main(dress.top, "cloth"),
        lathe(
          profileCurve(
            [
              [0.14, 0.66],
              [0.19, 0.5],
              [0.27, 0.3],
              [0.28, 0.3],
              [0.2, 0.5],
              [0.15, 0.66],
            ],
            4,
          ),
          40,
        ),
      ),
    );
  if (look.has("princess", "prince", "queen")) parts.push(crownOn(look, 1.44));
  return parts;
}

function crownOn(look: Look, height: number): Part {
  const teeth = around(
    rotated(
      moved(
        lathe(
          [
            [0.03, 0],
            [0.001, 0.09],
          ],
          4,
        ),
        [0, 0.05, 0.13],
      ),
      UP,
      0,
    ),
    7,
  );
  return part(
    "Crown",
    look.fixed("#ffc95c", "gold"),
    moved(
      merged([
        lathe(
          [
            [0.125, 0],
            [0.14, 0],
            [0.145, 0.06],
            [0.13, 0.06],
            [0.125, 0],
          ],
          36,
        ),
        teeth,
      ]),
      [0, height, -0.02],
    ),
  );
}

function buildAstronaut(look: Look): readonly Part[] {
  const own = coat(look, "#eef0f2", "matt");
  const lumps: Lump[] = [
    { at: [0, 0.6, 0], to: [0, 0.9, 0], radius: 0.2, radiusTo: 0.19, colour: own.plain },
    ...pair({ at: [0.1, 0.55, 0], to: [0.12, 0.14, 0], radius: 0.11, radiusTo: 0.1, colour: own.plain, blend: 0.04 }),
    ...pair({ at: [0.125, 0.07, 0.04], radius: [0.1, 0.075, 0.15], colour: own.dark, blend: 0.02 }),
    ...pair({
      at: [0.19, 0.93, 0],
      to: [0.33, 0.7, 0.04],
      radius: 0.09,
      radiusTo: 0.08,
      colour: own.plain,
      blend: 0.05,
    }),
    ...pair({
      at: [0.33, 0.7, 0.04],
      to: [0.36, 0.53, 0.12],
      radius: 0.08,
      radiusTo: 0.068,
      colour: own.plain,
      blend: 0.02,
    }),
    ...pair({ at: [0.365, 0.47, 0.15], radius: [0.065, 0.075, 0.065], colour: own.dark, blend: 0.02 }),
    { at: [0, 1.24, 0], radius: [0.27, 0.26, 0.26], colour: own.plain, blend: 0.04 },
  ];
  const stripe = look.second("#e0662c", "matt");
  const bands = twice(merged([tubeRing([0.345, 0.615, 0.085], 0.082), tubeRing([0.12, 0.34, 0], 0.112)]));
  return [
    body("Suit", own, lumps, { cell: 0.0165, fade: 0.02 }),
    part("Visor", look.fixed("#d9a441", "gold"), ball([0, 1.25, 0.075], [0.215, 0.19, 0.215], 40)),
    part(
      "Rim",
      look.fixed("#c4c9d0", "metal"),
      moved(rotated(ring([0, 0, 0], 0.2, 0.024, 44, 10), [1, 0, 0], 90), [0, 1.25, 0.15]),
    ),
    part(
      "Pack",
      look.fixed("#d5d9de", "matt"),
      box([0, 0.86, -0.24], [0.36, 0.46, 0.16], 0.05),
      twice(rod([0.1, 1.1, -0.24], [0.1, 1.14, -0.24], 0.05)),
    ),
    part("Bands", stripe, bands),
    part("Controls", look.fixed("#5b6470", "matt"), box([0, 0.86, 0.19], [0.18, 0.13, 0.05], 0.015)),
    part(
      "Lights",
      look.fixed("#ff4a4a", "neon"),
      ball([-0.05, 0.885, 0.218], 0.016, 12),
      ball([0.05, 0.885, 0.218], 0.016, 12),
    ),
    part("Badge", look.fixed("#2f5fb5", "matt"), ball([0, 0.84, 0.216], [0.045, 0.026, 0.01], 16)),
  ];
}

function tubeRing(at: Vec3, radius: number): Shape {
  return moved(
    lathe(
      [
        [radius * 0.9, -0.02],
        [radius + 0.008, -0.02],
        [radius + 0.008, 0.02],
        [radius * 0.9, 0.02],
      ],
      28,
    ),
    at,
  );
}

function buildAlien(look: Look): readonly Part[] {
  const own = coat(look, "#6fbf4f", "skin");
  const lumps: Lump[] = [
    { at: [0, 1.05, 0], radius: [0.27, 0.27, 0.25], colour: own.plain },
    { at: [0, 0.86, 0.04], radius: [0.15, 0.14, 0.14], colour: own.plain, blend: 0.12 },
    { at: [0, 0.72, 0], to: [0, 0.42, 0], radius: 0.07, radiusTo: 0.13, colour: own.plain, blend: 0.06 },
    ...pair({ at: [0.06, 0.36, 0], to: [0.09, 0.06, 0], radius: 0.07, radiusTo: 0.05, colour: own.plain, blend: 0.05 }),
    ...pair({ at: [0.1, 0.04, 0.04], radius: [0.065, 0.045, 0.11], colour: own.dark, blend: 0.03 }),
    ...pair({
      at: [0.07, 0.66, 0],
      to: [0.22, 0.46, 0.03],
      radius: 0.045,
      radiusTo: 0.036,
      colour: own.plain,
      blend: 0.05,
    }),
    ...pair({
      at: [0.22, 0.46, 0.03],
      to: [0.28, 0.3, 0.1],
      radius: 0.036,
      radiusTo: 0.034,
      colour: own.plain,
      blend: 0.02,
    }),
    ...pair({ at: [0.29, 0.27, 0.12], radius: 0.05, colour: own.dark, blend: 0.03 }),
    ...pair({
      at: [0.12, 1.26, 0],
      to: [0.2, 1.46, 0.02],
      radius: 0.026,
      radiusTo: 0.018,
      colour: own.plain,
      blend: 0.04,
    }),
    ...pair({ at: [0.2, 1.48, 0.02], radius: 0.042, colour: own.light, blend: 0.02 }),
  ];
  const eye = rotated(ball([0, 0, 0], [0.085, 0.125, 0.05], 28), [0, 0, 1], 24);
  return [
    body("Body", own, lumps, { cell: 0.0145 }),
    part("Eyes", look.fixed("#101014", "eye"), twice(moved(rotated(eye, UP, 22), [0.115, 1.05, 0.205]))),
    part(
      "Mouth",
      look.fixed(darker("#6fbf4f", 0.6), "skin"),
      tube(
        curve(
          [
            [-0.05, 0.845, 0.172],
            [0, 0.835, 0.182],
            [0.05, 0.845, 0.172],
          ],
          4,
        ),
        0.008,
        { sides: 8 },
      ),
    ),
  ];
}
