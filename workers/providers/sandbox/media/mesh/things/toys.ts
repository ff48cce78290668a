/** Figures that are made. */
import type { Lump } from "../kit/blob.ts";
import { merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { body, coat, eyes, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const TOYS: Readonly<Record<string, Thing>> = {
  robot: { metres: 1.6, build: buildRobot },
  snowman: { metres: 1.5, build: buildSnowman },
  teddy: { metres: 0.35, build: buildTeddy },
};

function buildRobot(look: Look): readonly Part[] {
  const shell = look.main("#d9dde2", "paint");
  const joint = look.fixed("#4a4e57", "metal");
  const glow = look.second("#35d0ff", "neon");
  const isBoxy = look.random.below(2) === 0;
  const head = isBoxy ? box([0, 1.28, 0], [0.46, 0.36, 0.38], 0.09) : ball([0, 1.29, 0], [0.26, 0.22, 0.23], 40);
  const visor = isBoxy ? box([0, 1.29, 0.17], [0.36, 0.17, 0.06], 0.03) : ball([0, 1.3, 0.05], [0.22, 0.115, 0.2], 36);
  const torso = isBoxy
    ? box([0, 0.85, 0], [0.52, 0.5, 0.36], 0.08)
    : lathe(
        profileCurve(
          [
            [0.001, 0.56],
            [0.16, 0.58],
            [0.27, 0.76],
            [0.28, 0.96],
            [0.2, 1.08],
            [0.001, 1.1],
          ],
          5,
        ),
        44,
      );
  const eyeAt = isBoxy ? 0.2 : 0.235;
  const arm = [
    ball([0.34, 0.98, 0], 0.105, 24),
    rod([0.37, 0.96, 0], [0.42, 0.74, 0.02], 0.062, 0.058, 20),
    rod([0.42, 0.7, 0.02], [0.42, 0.5, 0.12], 0.068, 0.08, 20),
  ];
  const fingers = [-0.5, 0, 0.5].map((turn) =>
    tube(
      curve(
        [
          [0.42, 0.49, 0.13],
          [0.42 + 0.06 * Math.sin(turn * 2), 0.43, 0.18],
          [0.42 + 0.03 * Math.sin(turn * 2), 0.39, 0.17],
        ],
        4,
      ),
      0.022,
      { sides: 8 },
    ),
  );
  const leg = [
    rod([0.14, 0.52, 0], [0.15, 0.34, 0.01], 0.07, 0.066, 20),
    rod([0.15, 0.28, 0.01], [0.15, 0.1, 0], 0.088, 0.1, 20),
  ];
  const foot = box([0.155, 0.055, 0.05], [0.2, 0.11, 0.32], 0.05);
  return [
    part("Head", shell, head),
    part("Visor", look.fixed("#15181d", "eye"), visor),
    part("Eyes", glow, twice(ball([0.085, 1.3, eyeAt], [0.042, 0.042, 0.02], 18))),
    part("Torso", shell, torso),
    part("Limbs", shell, twice(merged([...arm, ...leg, foot]))),
    part(
      "Joints",
      joint,
      rod([0, 1.06, 0], [0, 1.14, 0], 0.075, 0.075, 24),
      twice(
        merged([
          ball([0.42, 0.72, 0.02], 0.066, 18),
          ball([0.15, 0.31, 0.01], 0.07, 18),
          ball([0.14, 0.54, 0], 0.08, 18),
          ...fingers,
          ball([0.42, 0.49, 0.13], 0.05, 16),
        ]),
      ),
      rod([0, 1.48, 0], [0, 1.62, 0], 0.012, 0.01),
      twice(
        moved(
          rotated(
            lathe(
              [
                [0.001, 0],
                [0.075, 0],
                [0.06, 0.04],
                [0.001, 0.05],
              ],
              24,
            ),
            [0, 0, 1],
            -90,
          ),
          [isBoxy ? 0.22 : 0.24, 1.29, 0],
        ),
      ),
    ),
    part(
      "Lights",
      glow,
      ball([0, 1.64, 0], 0.034, 16),
      moved(
        rotated(
          lathe(
            [
              [0.001, 0],
              [0.055, 0],
              [0.045, 0.016],
              [0.001, 0.02],
            ],
            28,
          ),
          [1, 0, 0],
          90,
        ),
        [0, 0.92, isBoxy ? 0.178 : 0.272],
      ),
    ),
    part(
      "Panel",
      joint,
      box([0, 0.76, isBoxy ? 0.178 : 0.262], [0.22, 0.09, 0.02], 0.01),
      moved(rotated(ring([0, 0, 0], 0.062, 0.012, 32, 8), [1, 0, 0], 90), [0, 0.92, isBoxy ? 0.182 : 0.278]),
    ),
  ];
}

function buildSnowman(look: Look): readonly Part[] {
  const snow = look.main("#f6f9fc", "snow");
  const coal = look.fixed("#1f2024", "stone");
  const carrot = rotated(
    lathe(
      profileCurve(
        [
          [0.001, 0],
          [0.035, 0.01],
          [0.03, 0.08],
          [0.014, 0.17],
          [0.001, 0.21],
        ],
        4,
      ),
      20,
    ),
    [1, 0, 0],
    96,
  );
  const arm = (side: number): Shape =>
    merged([
      tube(
        curve(
          [
            [side * 0.2, 0.72, 0],
            [side * 0.36, 0.82, 0.03],
            [side * 0.5, 0.98, 0.06],
          ],
          5,
        ),
        0.016,
        { sides: 8 },
      ),
      tube(
        [
          [side * 0.42, 0.88, 0.04],
          [side * 0.52, 0.88, 0.08],
        ],
        0.01,
        { sides: 6 },
      ),
      tube(
        [
          [side * 0.44, 0.9, 0.05],
          [side * 0.42, 1.0, 0.06],
        ],
        0.01,
        { sides: 6 },
      ),
    ]);
  const smile = Array.from({ length: 7 }, (_, index) => {
    const angle = -0.6 + index * 0.2;
    return ball([0.12 * Math.sin(angle), 1.0 - 0.1 * Math.cos(angle) * 0.55, 0.172 - 0.02 * Math.abs(angle)], 0.013, 8);
  });
  return [
    part(
      "Snow",
      snow,
      ball([0, 0.3, 0], [0.34, 0.31, 0.34], 44),
      ball([0, 0.71, 0], [0.25, 0.23, 0.25], 40),
      ball([0, 1.03, 0], [0.185, 0.175, 0.185], 36),
    ),
    part(
      "Coal",
      coal,
      twice(ball([0.068, 1.08, 0.165], 0.023, 12)),
      ...smile,
      ball([0, 0.82, 0.222], 0.026, 12),
      ball([0, 0.71, 0.25], 0.026, 12),
      ball([0, 0.6, 0.222], 0.026, 12),
    ),
    part("Carrot", look.fixed("#ee7f22", "matt"), moved(carrot, [0, 1.035, 0.17])),
    part(
      "Hat",
      look.fixed("#26272c", "cloth"),
      lathe(
        [
          [0.001, 1.16],
          [0.24, 1.16],
          [0.245, 1.18],
          [0.16, 1.185],
          [0.15, 1.42],
          [0.14, 1.435],
          [0.001, 1.435],
        ],
        44,
        35,
      ),
    ),
    part(
      "Hat band",
      look.second("#c9303a", "cloth"),
      lathe(
        [
          [0.15, 1.19],
          [0.166, 1.19],
          [0.163, 1.25],
          [0.15, 1.25],
        ],
        44,
      ),
    ),
    part(
      "Scarf",
      look.second("#c9303a", "knit"),
      ring([0, 0.89, 0], 0.165, 0.05, 44, 14),
      moved(rotated(box([0, -0.13, 0], [0.1, 0.26, 0.045], 0.02), [0, 0, 1], 8), [0.09, 0.86, 0.19]),
    ),
    part("Arms", look.fixed("#5b4030", "bark"), arm(1), arm(-1)),
  ];
}

function buildTeddy(look: Look): readonly Part[] {
  const own = coat(look, "#b5803f", "plush");
  const lumps: Lump[] = [
    { at: [0, 0.36, 0], radius: [0.25, 0.27, 0.21], colour: own.plain },
    { at: [0, 0.34, 0.09], radius: [0.17, 0.19, 0.15], colour: own.light, blend: 0.02 },
    { at: [0, 0.8, 0.02], radius: [0.24, 0.215, 0.21], colour: own.plain, blend: 0.04 },
    { at: [0, 0.74, 0.18], radius: [0.11, 0.085, 0.09], colour: own.light, blend: 0.03 },
    ...pair({ at: [0.19, 0.98, 0], radius: [0.09, 0.09, 0.05], colour: own.plain, blend: 0.02 }),
    ...pair({ at: [0.19, 0.975, 0.035], radius: [0.055, 0.055, 0.03], colour: own.light, blend: 0.01 }),
    ...pair({
      at: [0.2, 0.54, 0.05],
      to: [0.33, 0.34, 0.16],
      radius: 0.085,
      radiusTo: 0.08,
      colour: own.plain,
      blend: 0.03,
    }),
    ...pair({
      at: [0.16, 0.14, 0.1],
      to: [0.25, 0.1, 0.32],
      radius: 0.11,
      radiusTo: 0.1,
      colour: own.plain,
      blend: 0.03,
    }),
    ...pair({ at: [0.258, 0.1, 0.4], radius: [0.085, 0.095, 0.03], colour: own.light, blend: 0.015 }),
  ];
  const bow = twice(moved(rotated(ball([0, 0, 0], [0.085, 0.055, 0.035], 20), [0, 0, 1], 14), [0.085, 0.595, 0.2]));
  return [
    body("Bear", own, lumps, { cell: 0.0155, fade: 0.02 }),
    ...eyes(look, [0.09, 0.855, 0.205], 0.026),
    part("Nose", look.fixed("#33221a", "leather"), ball([0, 0.775, 0.265], [0.042, 0.03, 0.026], 18)),
    part(
      "Smile",
      look.fixed("#33221a", "leather"),
      tube(
        curve(
          [
            [-0.045, 0.72, 0.252],
            [0, 0.705, 0.268],
            [0.045, 0.72, 0.252],
          ],
          4,
        ),
        0.006,
        { sides: 6 },
      ),
      rod([0, 0.755, 0.272], [0, 0.705, 0.268], 0.005),
    ),
    part("Bow", look.second("#c9303a", "cloth"), bow, ball([0, 0.595, 0.22], 0.036, 16)),
  ];
}
