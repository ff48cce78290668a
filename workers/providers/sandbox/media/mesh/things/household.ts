/** What else stands in rooms. */
import type { Skin } from "../finishes.ts";
import { moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const HOUSEHOLD: Readonly<Record<string, Thing>> = {
  lamp: { metres: 0.5, build: buildLamp },
  clock: { metres: 0.3, build: buildClock },
  piano: { metres: 1.2, build: buildPiano },
};

function buildLamp(look: Look): readonly Part[] {
  const shade = lathe(
    [
      [0.3, 0.62],
      [0.302, 0.62],
      [0.19, 1.0],
      [0.188, 1.0],
      [0.294, 0.625],
    ],
    56,
    30,
  );
  const trims = [ring([0, 0.622, 0], 0.3, 0.008, 56, 8), ring([0, 0.998, 0], 0.19, 0.008, 48, 8)];
  const base = profileCurve(
    [
      [0.001, 0],
      [0.19, 0],
      [0.195, 0.02],
      [0.12, 0.05],
      [0.1, 0.1],
      [0.14, 0.2],
      [0.15, 0.3],
      [0.1, 0.42],
      [0.03, 0.5],
      [0.022, 0.56],
      [0.022, 0.7],
      [0.001, 0.7],
    ],
    5,
  );
  return [
    part("Shade", { ...look.second("#f6e3b8", "light"), isSheet: true }, shade),
    part("Trim", look.fixed("#d8b060", "brass"), ...trims),
    part("Base", look.main("#2f7f86", "ceramic"), lathe(base, 48)),
    part("Bulb", look.fixed("#fff3cf", "neon"), ball([0, 0.77, 0], [0.06, 0.075, 0.06], 20)),
  ];
}

function buildClock(look: Look): readonly Part[] {
  const facing = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], 90), [0, 0.5, 0]);
  const rim = lathe(
    profileCurve(
      [
        [0.4, -0.08],
        [0.46, -0.06],
        [0.48, 0],
        [0.46, 0.07],
        [0.42, 0.08],
        [0.4, 0.05],
      ],
      4,
    ),
    72,
  );
  const face = lathe(
    [
      [0.001, -0.08],
      [0.41, -0.08],
      [0.41, 0.03],
      [0.001, 0.03],
    ],
    64,
  );
  const marks = Array.from({ length: 12 }, (_, hour) =>
    rotated(
      box([0, 0.5 + 0.34, 0.04], [hour % 3 === 0 ? 0.03 : 0.016, hour % 3 === 0 ? 0.08 : 0.05, 0.014], 0.003),
      [0, 0, 1],
      0,
    ),
  ).map((mark, hour) => moved(rotated(moved(mark, [0, -0.5, 0]), [0, 0, 1], -30 * hour), [0, 0.5, 0]));
  const hand = (reach: number, wide: number, turn: number): Shape =>
    moved(
      rotated(
        prism(
          [
            [-wide, -0.06],
            [wide, -0.06],
            [wide * 0.4, reach],
            [-wide * 0.4, reach],
          ],
          { depth: 0.012 },
        ),
        [0, 0, 1],
        -turn,
      ),
      [0, 0.5, 0.055],
    );
  const minutes = look.random.below(60);
  const hours = look.random.below(12);
  return [
    part(
      "Rim",
      look.main("#b88746", "brass"),
      facing(rim),
      facing(
        lathe(
          [
            [0.001, -0.1],
            [0.36, -0.09],
            [0.4, -0.075],
          ],
          56,
        ),
      ),
      twice(
        tube(
          [
            [0.26, 0.08, 0],
            [0.34, -0.02, 0.04],
          ],
          0.04,
        ),
      ),
      ...[-1, 1].map((side) => moved(ball([0, 0, 0], [0.16, 0.1, 0.12], 24), [side * 0.27, 0.98, 0])),
      rod([0, 0.96, 0], [0, 1.08, 0], 0.02),
    ),
    part("Face", look.second("#f7f2e4", "matt"), facing(face)),
    part(
      "Hands",
      look.fixed("#24252b", "matt"),
      ...marks,
      hand(0.3, 0.014, 6 * minutes),
      hand(0.2, 0.02, 30 * hours + minutes / 2),
      moved(
        rotated(
          lathe(
            [
              [0.001, 0],
              [0.03, 0],
              [0.02, 0.02],
              [0.001, 0.02],
            ],
            20,
          ),
          [1, 0, 0],
          90,
        ),
        [0, 0.5, 0.055],
      ),
    ),
  ];
}

function buildPiano(look: Look): readonly Part[] {
  const black: Skin = look.main("#1d1e22", "paint");
  const white = Array.from({ length: 28 }, (_, index) =>
    box([-0.608 + 0.045 * index, 0.632, 0.34], [0.042, 0.03, 0.2], 0.004),
  );
  const sharps = Array.from({ length: 27 }, (_, index) => index)
    .filter((index) => ![2, 6].includes(index % 7))
    .map((index) => box([-0.585 + 0.045 * index, 0.655, 0.3], [0.022, 0.03, 0.12], 0.004));
  return [
    part(
      "Case",
      black,
      box([0, 0.52, 0], [1.4, 0.92, 0.34], 0.02),
      box([0, 0.58, 0.28], [1.4, 0.07, 0.36], 0.015),
      box([0, 0.97, 0.01], [1.44, 0.04, 0.4], 0.015),
      twice(box([0.67, 0.64, 0.3], [0.07, 0.1, 0.34], 0.02)),
      twice(box([0.65, 0.29, 0.38], [0.07, 0.54, 0.07], 0.015)),
      box([0, 0.04, 0.1], [1.4, 0.08, 0.6], 0.02),
      box([0, 0.8, 0.19], [1.0, 0.22, 0.02], 0.008),
    ),
    part("Keys", look.fixed("#fbf9f2", "ceramic"), ...white),
    part("Sharps", look.fixed("#17181b", "ceramic"), ...sharps),
    part(
      "Pedals",
      look.second("#d8b060", "brass"),
      ...[-0.1, 0, 0.1].map((x) => box([x, 0.1, 0.32], [0.04, 0.02, 0.14], 0.008)),
    ),
  ];
}
