/** Small treasures. */
import { darker, lighter } from "../../images/colours.ts";
import { finishOf } from "../finishes.ts";
import { around, bent, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, ring, rod, surface, tube } from "../kit/surface.ts";
import { UP } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { stand, brilliant } from "./treasures-parts.ts";

export const JEWELS: Readonly<Record<string, Thing>> = {
  crown: { metres: 0.2, build: buildCrown },
  ring: { metres: 0.03, build: buildRing },
  gem: { metres: 0.05, build: buildGem },
  key: { metres: 0.1, build: buildKey },
  coin: { metres: 0.05, build: buildCoin },
  book: { metres: 0.25, picture: "sides", build: buildBook },
};

function buildCrown(look: Look): readonly Part[] {
  const points = 8;
  const band = surface(
    points * 12,
    10,
    (u, v) => {
      const angle = 2 * Math.PI * u;
      const tooth = Math.abs(((u * points) % 1) - 0.5) * 2;
      const high = 0.2 + 0.34 * (1 - tooth) ** 1.4;
      const radius = 0.4 + 0.07 * v * (high / 0.5);
      const up = v < 0.5 ? 2 * v : 1;
      return [radius * Math.sin(angle), high * up * (v < 0.5 ? 1 : 1), radius * Math.cos(angle)];
    },
    { around: true },
  );
  const inner = bent(band, ([x, y, z]) => [x * 0.955, y, z * 0.955]);
  const pearls = Array.from({ length: points }, (_, index) => {
    const angle = ((index + 0.5) * 2 * Math.PI) / points;
    return ball([0.465 * Math.sin(angle), 0.57, 0.465 * Math.cos(angle)], 0.036, 18);
  });
  const gems = (turn: number): Shape => around(rotated(ball([0, 0.12, 0.42], [0.045, 0.06, 0.03], 14), UP, turn), 4);
  return [
    part("Band", { ...look.main("#ffc95c", "gold"), isSheet: true }, band, inner),
    part(
      "Rims",
      look.main("#ffc95c", "gold"),
      ring([0, 0.02, 0], 0.4, 0.026, 72, 10),
      ring([0, 0.21, 0], 0.415, 0.016, 72, 8),
      ...pearls,
    ),
    part("Rubies", look.fixed("#d2143c", "crystal"), gems(22.5)),
    part("Sapphires", look.fixed("#1f4fd0", "crystal"), gems(67.5)),
    part(
      "Lining",
      look.second("#8a1f3a", "cloth"),
      moved(scaled(ball([0, 0, 0], [0.385, 0.22, 0.385], 36), [1, 1, 1]), [0, 0.12, 0]),
    ),
  ];
}

function buildRing(look: Look): readonly Part[] {
  // "a diamond ring": the stone is meant, the ring stays of gold.
  const isStone = look.finish !== null && (finishOf(look.finish).isFaceted ?? false);
  const metal = isStone ? look.fixed("#ffc95c", "gold") : look.main("#ffc95c", "gold");
  const stone = isStone ? look.main("#dff4ff", "diamond") : look.second("#dff4ff", "diamond");
  const band = moved(rotated(ring([0, 0, 0], 0.42, 0.05, 80, 20), [1, 0, 0], 90), [0, 0.47, 0]);
  const prongs = around(
    tube(
      curve(
        [
          [0, 0.9, 0.05],
          [0, 1.0, 0.14],
          [0, 1.1, 0.15],
        ],
        4,
      ),
      0.016,
      { sides: 8 },
    ),
    6,
  );
  return [
    part(
      "Band",
      metal,
      band,
      prongs,
      lathe(
        [
          [0.001, 0.88],
          [0.08, 0.9],
          [0.1, 0.96],
          [0.001, 0.96],
        ],
        24,
      ),
    ),
    part("Stone", stone, moved(brilliant(0.17), [0, 1.06, 0])),
  ];
}

function buildGem(look: Look): readonly Part[] {
  return [
    part("Stone", look.main("#3fb8e8", "diamond"), moved(brilliant(0.48), [0, 0.6, 0])),
    part(
      "Stand",
      look.second("#2b2d33", "marble"),
      lathe(
        [
          [0.001, 0],
          [0.26, 0],
          [0.27, 0.03],
          [0.17, 0.07],
          [0.15, 0.12],
          [0.17, 0.3],
          [0.15, 0.31],
          [0.1, 0.18],
          [0.001, 0.17],
        ],
        40,
      ),
    ),
  ];
}

function buildKey(look: Look): readonly Part[] {
  const flat = (shape: Shape): Shape => rotated(shape, [1, 0, 0], 90);
  const bow = merged(
    [0, 120, 240].map((turn) =>
      rotated(moved(flat(ring([0, 0, 0], 0.1, 0.028, 36, 12)), [0, 0.115, 0]), [0, 0, 1], turn),
    ),
  );
  const bits = [
    box([0.07, -0.74, 0], [0.16, 0.05, 0.035], 0.01),
    box([0.06, -0.64, 0], [0.13, 0.04, 0.035], 0.01),
    box([0.12, -0.69, 0], [0.05, 0.06, 0.035], 0.01),
  ];
  const up = (shape: Shape): Shape => moved(shape, [0, 0.93, 0]);
  return [
    part(
      "Key",
      look.main("#d8a04a", "brass"),
      up(bow),
      up(rod([0, -0.1, 0], [0, -0.8, 0], 0.034, 0.034, 24)),
      ...[-0.14, -0.2].map((y) => up(ring([0, y, 0], 0.036, 0.018, 28, 10))),
      ...bits.map(up),
    ),
    part("Jewel", look.second("#1f8fd0", "crystal"), up(ball([0, 0, 0], [0.05, 0.05, 0.04], 16))),
    stand(look, 0.4),
  ];
}

function buildBook(look: Look): readonly Part[] {
  const cover = look.main("#7a2f2a", "leather");
  const lean = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], -90), [0, 0.09, 0]);
  const pages = lean(
    bent(box([0.02, 0, 0], [0.66, 0.94, 0.13], 0.01), ([x, y, z]) => [
      x - (x > 0.3 ? 0.03 * (1 - (z / 0.065) ** 2) : 0),
      y,
      z,
    ]),
  );
  const covers = [box([0, 0, 0.078], [0.74, 1.0, 0.022], 0.01), box([0, 0, -0.078], [0.74, 1.0, 0.022], 0.01)].map(
    lean,
  );
  const spine = lean(
    bent(box([-0.36, 0, 0], [0.04, 1.0, 0.178], 0.018), ([x, y, z]) => [x - 0.03 * (1 - (z / 0.09) ** 2), y, z]),
  );
  const ribs = [-0.32, -0.1, 0.1, 0.32].map((y) => lean(box([-0.4, y, 0], [0.03, 0.03, 0.15], 0.012)));
  const frame = [
    box([0, 0.42, 0.092], [0.6, 0.02, 0.006], 0.002),
    box([0, -0.42, 0.092], [0.6, 0.02, 0.006], 0.002),
    box([0.29, 0, 0.092], [0.02, 0.84, 0.006], 0.002),
    box([-0.29, 0, 0.092], [0.02, 0.84, 0.006], 0.002),
  ].map(lean);
  const star = lean(
    moved(
      merged(
        Array.from({ length: 8 }, (_, index) =>
          rotated(
            prism(
              [
                [-0.03, 0],
                [0.03, 0],
                [0, index % 2 === 0 ? 0.16 : 0.1],
              ],
              { depth: 0.01 },
            ),
            [0, 0, 1],
            45 * index,
          ),
        ),
      ),
      [0, 0.04, 0.092],
    ),
  );
  return [
    part("Cover", cover, ...covers, spine),
    part("Pages", look.fixed("#f3ead2", "planks"), pages),
    part("Gilding", look.second("#e2b64a", "gold"), ...frame, star, ...ribs),
    part("Bookmark", look.fixed("#c9303a", "cloth"), lean(box([0.12, -0.54, 0.0], [0.05, 0.2, 0.006], 0.002))),
  ];
}

function buildCoin(look: Look): readonly Part[] {
  const disc = lathe(
    [
      [0.001, -0.045],
      [0.46, -0.045],
      [0.47, -0.06],
      [0.5, -0.06],
      [0.51, -0.045],
      [0.51, 0.045],
      [0.5, 0.06],
      [0.47, 0.06],
      [0.46, 0.045],
      [0.001, 0.045],
    ],
    96,
    35,
  );
  const ridges = around(box([0, 0, 0.51], [0.018, 0.1, 0.012], 0.003), 72);
  const star = merged(
    Array.from({ length: 5 }, (_, index) =>
      rotated(
        lathe(
          [
            [0.001, 0],
            [0.085, 0],
            [0.001, 0.26],
          ],
          4,
          10,
        ),
        [0, 0, 1],
        72 * index,
      ),
    ),
  );
  const relief = scaled(star, [1, 1, 0.42]);
  const up = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], 90), [0, 0.58, 0]);
  return [
    part(
      "Coin",
      look.main("#ffc95c", "gold"),
      up(disc),
      up(ridges),
      moved(relief, [0, 0.58, 0.045]),
      moved(rotated(relief, UP, 180), [0, 0.58, -0.045]),
    ),
    part(
      "Stand",
      look.second(darker(lighter("#4a3526", 0.1), 0.1), "wood"),
      box([0, 0.04, 0], [0.5, 0.08, 0.3], 0.02),
      twice(box([0.16, 0.1, 0], [0.06, 0.08, 0.2], 0.015)),
    ),
  ];
}
