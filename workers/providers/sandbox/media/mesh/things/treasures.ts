/** Things of adventures. */
import { bent, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, tube } from "../kit/surface.ts";
import { UP, type Vec2 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { brilliant } from "./treasures-parts.ts";

export const TREASURES: Readonly<Record<string, Thing>> = {
  chest: { metres: 0.6, build: buildChest },
  gift: { metres: 0.3, picture: "sides", build: buildGift },
  potion: { metres: 0.2, build: buildPotion },
  hat: { metres: 0.2, build: buildHat },
};

function buildChest(look: Look): readonly Part[] {
  const wood = look.main("#8a5a34", "planks");
  const isOpen = look.has("open", "opened", "treasure", "filled", "full", "coin", "gold");
  const lid = prism(
    [
      [-0.32, 0],
      [0.32, 0],
      ...Array.from({ length: 13 }, (_, index): Vec2 => [
        0.32 * Math.cos((Math.PI * index) / 12),
        0.04 + 0.22 * Math.sin((Math.PI * index) / 12),
      ]),
    ],
    { depth: 0.96, bevel: 0.01 },
  );
  const straps = [0, 1, 2]
    .map(() =>
      prism(
        [
          [-0.335, -0.005],
          [0.335, -0.005],
          ...Array.from({ length: 13 }, (_, index): Vec2 => [
            0.335 * Math.cos((Math.PI * index) / 12),
            0.04 + 0.235 * Math.sin((Math.PI * index) / 12),
          ]),
        ],
        { depth: 0.07, bevel: 0.008 },
      ),
    )
    .map((shape, index) => moved(rotated(shape, UP, 90), [-0.36 + 0.36 * index, 0, 0]));
  const put = (shape: Shape): Shape => {
    const hinged = moved(shape, [0, 0, 0.32]);
    return moved(isOpen ? rotated(hinged, [1, 0, 0], -68) : hinged, [0, 0.44, -0.32]);
  };
  const walls = [
    box([0, 0.22, 0.3], [0.96, 0.44, 0.04], 0.008),
    box([0, 0.22, -0.3], [0.96, 0.44, 0.04], 0.008),
    twice(box([0.46, 0.22, 0], [0.04, 0.44, 0.6], 0.008)),
    box([0, 0.03, 0], [0.94, 0.06, 0.6], 0.008),
  ];
  const bands = [-0.36, 0, 0.36].flatMap((x) => [
    box([x, 0.22, 0.318], [0.07, 0.45, 0.02], 0.006),
    box([x, 0.22, -0.318], [0.07, 0.45, 0.02], 0.006),
  ]);
  const corners = twice(
    merged([box([0.47, 0.22, 0.31], [0.05, 0.46, 0.05], 0.012), box([0.47, 0.22, -0.31], [0.05, 0.46, 0.05], 0.012)]),
  );
  const parts = [
    part("Chest", wood, ...walls, put(rotated(lid, UP, 90))),
    part(
      "Bands",
      look.second("#c9a15f", "brass"),
      ...bands,
      ...straps.map(put),
      corners,
      box([0, 0.42, 0.33], [0.14, 0.13, 0.05], 0.02),
    ),
    part(
      "Lock",
      look.fixed("#2b2a2c", "iron"),
      moved(
        rotated(
          lathe(
            [
              [0.001, 0],
              [0.022, 0],
              [0.001, 0.01],
            ],
            16,
          ),
          [1, 0, 0],
          90,
        ),
        [0, 0.43, 0.353],
      ),
      box([0, 0.4, 0.355], [0.014, 0.04, 0.01], 0.003),
    ),
  ];
  if (!isOpen) return parts;
  const coins = Array.from({ length: 90 }, (_, index) => {
    const [x, z] = [look.roll(-0.4, 0.4), look.roll(-0.24, 0.24)];
    const high = 0.36 + 0.1 * Math.cos(x * 3) * Math.cos(z * 4) + look.roll(0, 0.03);
    const disc = lathe(
      [
        [0.001, 0],
        [0.05, 0],
        [0.054, 0.006],
        [0.05, 0.012],
        [0.001, 0.012],
      ],
      12,
    );
    return moved(rotated(disc, [Math.sin(index), 0, Math.cos(index)], look.roll(-50, 50)), [x, high, z]);
  });
  const jewels = ["#d2143c", "#12a86b", "#1f4fd0"].map((colour, index) =>
    part(
      `Jewels ${index + 1}`,
      look.fixed(colour, "crystal"),
      ...Array.from({ length: 4 }, () =>
        moved(rotated(brilliant(0.055), [1, 0, 0], look.roll(-60, 60)), [
          look.roll(-0.36, 0.36),
          0.5,
          look.roll(-0.2, 0.2),
        ]),
      ),
    ),
  );
  return [
    ...parts,
    part(
      "Coins",
      look.fixed("#ffc95c", "gold"),
      ...coins,
      bent(box([0, 0.3, 0], [0.88, 0.14, 0.56], 0.05), ([x, y, z]) => [
        x,
        y + 0.08 * Math.cos(x * 3) * Math.cos(z * 4),
        z,
      ]),
    ),
    ...jewels,
  ];
}

function buildGift(look: Look): readonly Part[] {
  const loop = (turn: number): Shape =>
    rotated(
      tube(
        curve(
          [
            [0, 0.8, 0],
            [0.14, 0.98, 0.02],
            [0.27, 0.94, 0],
            [0.22, 0.82, -0.01],
            [0, 0.8, 0],
          ],
          7,
        ),
        0.026,
        { sides: 10, flatness: 2.6, side: [0, 0, 1] },
      ),
      UP,
      turn,
    );
  const ends = [30, -150].map((turn) =>
    rotated(
      tube(
        curve(
          [
            [0, 0.8, 0],
            [0.12, 0.82, 0.08],
            [0.26, 0.74, 0.16],
          ],
          5,
        ),
        0.02,
        { sides: 10, flatness: 2.8, side: [0, 1, 0.3] },
      ),
      UP,
      turn,
    ),
  );
  return [
    part("Box", look.main("#c9303a", "paint"), box([0, 0.34, 0], [0.72, 0.68, 0.72], 0.02)),
    part("Lid", look.main("#c9303a", "paint"), box([0, 0.71, 0], [0.78, 0.16, 0.78], 0.02)),
    part(
      "Ribbon",
      look.second("#f3c64a", "cloth"),
      box([0, 0.395, 0], [0.13, 0.796, 0.79], 0.006),
      box([0, 0.395, 0], [0.79, 0.796, 0.13], 0.006),
    ),
    part(
      "Bow",
      look.second("#f3c64a", "cloth"),
      ...[0, 90, 180, 270].map((turn) => loop(turn + 45)),
      ...ends,
      ball([0, 0.83, 0], [0.06, 0.05, 0.06], 20),
    ),
  ];
}

function buildPotion(look: Look): readonly Part[] {
  const flask = profileCurve(
    [
      [0.001, 0.0],
      [0.16, 0.01],
      [0.34, 0.16],
      [0.35, 0.34],
      [0.22, 0.54],
      [0.09, 0.62],
      [0.085, 0.78],
      [0.12, 0.82],
    ],
    6,
  );
  const inside = flask.map(([r, y]) => [Math.max(0.001, r - 0.018), y + 0.014] as const).toReversed();
  const bubbles = Array.from({ length: 9 }, () =>
    ball([look.roll(-0.16, 0.16), look.roll(0.12, 0.42), look.roll(-0.16, 0.16)], look.roll(0.012, 0.03), 10),
  );
  return [
    part("Flask", look.fixed("#eaf6f6", "glass"), lathe([...flask, ...inside], 52)),
    part(
      "Potion",
      look.main("#8f3fd8", "neon"),
      lathe(
        [
          ...profileCurve(
            [
              [0.001, 0.02],
              [0.14, 0.03],
              [0.315, 0.17],
              [0.325, 0.33],
              [0.26, 0.45],
            ],
            5,
          ),
          [0.001, 0.452],
        ],
        48,
      ),
    ),
    part("Bubbles", look.fixed("#f6e6ff", "light"), ...bubbles),
    part(
      "Cork",
      look.fixed("#b98a55", "wood"),
      lathe(
        [
          [0.001, 0.76],
          [0.068, 0.76],
          [0.082, 0.9],
          [0.076, 0.92],
          [0.001, 0.92],
        ],
        28,
      ),
    ),
    part("Collar", look.second("#c9a15f", "brass"), ring([0, 0.63, 0], 0.095, 0.018, 40, 10)),
  ];
}

function buildHat(look: Look): readonly Part[] {
  const isTop = look.has("top", "magician", "magic");
  const crown: readonly Vec2[] = isTop
    ? [
        [0.27, 0.05],
        [0.26, 0.4],
        [0.29, 0.56],
        [0.27, 0.58],
        [0.001, 0.575],
      ]
    : [
        [0.29, 0.06],
        [0.275, 0.2],
        [0.25, 0.33],
        [0.19, 0.37],
        [0.08, 0.34],
        [0.001, 0.335],
      ];
  const brim = profileCurve(
    [
      [0.001, 0.0],
      [0.28, 0.0],
      [0.5, 0.02],
      [0.56, 0.06],
      [0.55, 0.075],
      [0.48, 0.04],
      [0.3, 0.03],
    ],
    4,
  );
  const hat = lathe([...brim, ...profileCurve(crown, 6)], 64);
  const curled = bent(hat, ([x, y, z]) => [
    x,
    y + (Math.hypot(x, z) > 0.3 ? 0.55 * (Math.abs(x) - 0.3 > 0 ? (Math.abs(x) - 0.3) ** 1.5 : 0) : 0),
    z,
  ]);
  return [
    part("Hat", look.main(isTop ? "#232429" : "#9c6b40", isTop ? "cloth" : "leather"), curled),
    part(
      "Band",
      look.second(isTop ? "#b3242f" : "#4a2f20", "leather"),
      lathe(
        [
          [0.285, 0.06],
          [0.302, 0.06],
          [0.292, 0.13],
          [0.275, 0.13],
        ],
        56,
      ),
    ),
  ];
}
