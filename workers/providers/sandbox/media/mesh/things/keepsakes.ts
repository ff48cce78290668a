/** Small things made on a lathe, to be looked at. */
import type { Colour } from "../../images/colours.ts";
import { around, merged, moved, rotated, scaled } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec2 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const KEEPSAKES: Readonly<Record<string, Thing>> = {
  trophy: { metres: 0.4, build: buildTrophy },
  bell: { metres: 0.2, build: buildBell },
  candle: { metres: 0.2, picture: "around", build: buildCandle },
  lantern: { metres: 0.35, build: buildLantern },
  pawn: { metres: 0.05, build: (look) => buildChess(look, "pawn") },
  king: { metres: 0.1, build: (look) => buildChess(look, "king") },
  queen: { metres: 0.09, build: (look) => buildChess(look, "queen") },
};

function buildTrophy(look: Look): readonly Part[] {
  const cup = profileCurve(
    [
      [0.03, 0.38],
      [0.06, 0.42],
      [0.2, 0.55],
      [0.25, 0.72],
      [0.27, 0.94],
    ],
    6,
  );
  const foot = profileCurve(
    [
      [0.001, 0.2],
      [0.16, 0.2],
      [0.15, 0.225],
      [0.06, 0.26],
      [0.03, 0.32],
      [0.055, 0.345],
      [0.03, 0.38],
    ],
    5,
  );
  const inside = cup.map(([r, y]) => [Math.max(0.001, r - 0.02), y + 0.006] as const).toReversed();
  const handle = tube(
    curve(
      [
        [0.25, 0.86, 0],
        [0.4, 0.88, 0],
        [0.43, 0.74, 0],
        [0.33, 0.6, 0],
        [0.2, 0.56, 0],
      ],
      8,
    ),
    0.022,
    { sides: 12 },
  );
  const star = around(
    moved(
      rotated(
        lathe(
          [
            [0.001, 0],
            [0.026, 0.0],
            [0.001, 0.075],
          ],
          4,
          10,
        ),
        [1, 0, 0],
        90,
      ),
      [0, 0, 0],
    ),
    1,
  );
  const rays = merged(
    Array.from({ length: 5 }, (_, index) => rotated(rotated(star, [1, 0, 0], -90), [0, 0, 1], 72 * index)),
  );
  return [
    part(
      "Cup",
      look.main("#ffc95c", "gold"),
      lathe([...foot, ...cup.slice(1), ...inside], 56),
      handle,
      scaled(handle, [-1, 1, 1]),
    ),
    part("Star", look.second("#fff1cf", "silver"), moved(rays, [0, 0.74, 0.25])),
    part(
      "Base",
      look.fixed("#2b2422", "marble"),
      box([0, 0.05, 0], [0.46, 0.1, 0.46], 0.016),
      box([0, 0.15, 0], [0.36, 0.11, 0.36], 0.014),
    ),
    part("Plate", look.fixed("#ffc95c", "gold"), box([0, 0.15, 0.18], [0.2, 0.06, 0.012], 0.004)),
  ];
}

function buildBell(look: Look): readonly Part[] {
  const outside = profileCurve(
    [
      [0.42, 0],
      [0.4, 0.04],
      [0.32, 0.16],
      [0.27, 0.4],
      [0.22, 0.55],
      [0.1, 0.63],
      [0.001, 0.65],
    ],
    6,
  );
  const inside = profileCurve(
    [
      [0.001, 0.6],
      [0.09, 0.58],
      [0.19, 0.51],
      [0.24, 0.38],
      [0.29, 0.15],
      [0.38, 0],
    ],
    6,
  );
  return [
    part("Bell", look.main("#d8a04a", "brass"), lathe([...inside, ...outside], 64)),
    part(
      "Clapper",
      look.second("#6b5436", "iron"),
      rod([0, 0.58, 0], [0, 0.1, 0], 0.02),
      ball([0, 0.07, 0], 0.075, 20),
    ),
    part(
      "Handle",
      look.fixed("#7a4a2c", "wood"),
      lathe(
        profileCurve(
          [
            [0.001, 0.64],
            [0.05, 0.64],
            [0.035, 0.7],
            [0.065, 0.84],
            [0.06, 0.96],
            [0.001, 1],
          ],
          5,
        ),
        28,
      ),
    ),
  ];
}

function buildCandle(look: Look): readonly Part[] {
  const wax = profileCurve(
    [
      [0.001, 0.05],
      [0.15, 0.05],
      [0.152, 0.1],
      [0.15, 0.62],
      [0.145, 0.66],
      [0.12, 0.65],
      [0.05, 0.63],
      [0.001, 0.63],
    ],
    4,
  );
  const drips = Array.from({ length: 7 }, (_, index) => {
    const angle = index * 0.9 + look.roll(0, 0.3);
    const [x, z] = [0.148 * Math.sin(angle), 0.148 * Math.cos(angle)];
    return tube(
      [
        [x, 0.64, z],
        [x, 0.64 - look.roll(0.08, 0.3), z],
      ],
      (share) => 0.016 + 0.008 * share,
      { sides: 8 },
    );
  });
  const flame = lathe(
    profileCurve(
      [
        [0.001, 0.68],
        [0.035, 0.72],
        [0.045, 0.77],
        [0.025, 0.86],
        [0.001, 0.93],
      ],
      6,
    ),
    20,
  );
  const holder = profileCurve(
    [
      [0.001, 0],
      [0.26, 0],
      [0.34, 0.05],
      [0.335, 0.065],
      [0.24, 0.025],
      [0.19, 0.03],
      [0.175, 0.1],
      [0.16, 0.1],
      [0.155, 0.05],
      [0.001, 0.05],
    ],
    4,
  );
  return [
    part("Wax", look.main("#f3ead6", "wax"), lathe(wax, 44), ...drips),
    part("Flame", look.fixed("#ffb347", "neon"), flame),
    part("Wick", look.fixed("#2a2018", "matt"), rod([0, 0.62, 0], [0, 0.7, 0], 0.008)),
    part(
      "Holder",
      look.second("#c9a15f", "brass"),
      lathe(holder, 48),
      moved(rotated(ring([0, 0, 0], 0.075, 0.016, 28, 10), [1, 0, 0], 90), [0.4, 0.07, 0]),
    ),
  ];
}

function buildLantern(look: Look): readonly Part[] {
  const frame = [
    [-1, -1],
    [-1, 1],
    [1, -1],
    [1, 1],
  ].map(([x = 0, z = 0]) => rod([0.17 * x, 0.1, 0.17 * z], [0.17 * x, 0.62, 0.17 * z], 0.016));
  const roof = lathe(
    [
      [0.27, 0.62],
      [0.28, 0.64],
      [0.09, 0.8],
      [0.09, 0.84],
      [0.05, 0.88],
      [0.001, 0.88],
    ],
    4,
    30,
  );
  const panes = [0, 90, 180, 270].map((turn) => rotated(box([0, 0.36, 0.17], [0.31, 0.5, 0.008], 0), UP, turn));
  const hook = moved(rotated(ring([0, 0, 0], 0.1, 0.012, 32, 8), [1, 0, 0], 90), [0, 0.97, 0]);
  return [
    part(
      "Frame",
      look.main("#3a3d44", "iron"),
      box([0, 0.05, 0], [0.44, 0.1, 0.44], 0.02),
      ...frame,
      rotated(roof, UP, 45),
      hook,
    ),
    part("Panes", look.fixed("#fff2d0", "glass"), ...panes),
    part("Candle", look.fixed("#f6ecd8", "wax"), rod([0, 0.1, 0], [0, 0.34, 0], 0.06)),
    part(
      "Flame",
      look.second("#ffb347", "neon"),
      lathe(
        profileCurve(
          [
            [0.001, 0.35],
            [0.035, 0.4],
            [0.04, 0.45],
            [0.02, 0.53],
            [0.001, 0.58],
          ],
          5,
        ),
        18,
      ),
    ),
  ];
}

function buildChess(look: Look, kind: "pawn" | "king" | "queen"): readonly Part[] {
  const top = kind === "pawn" ? 0.6 : 1.0;
  const base: readonly Vec2[] = [
    [0.001, 0],
    [0.27, 0],
    [0.28, 0.05],
    [0.26, 0.09],
    [0.2, 0.12],
    [0.21, 0.16],
    [0.13, 0.24],
  ];
  const column: readonly Vec2[] =
    kind === "pawn"
      ? [
          [0.08, 0.42],
          [0.075, 0.5],
          [0.15, 0.53],
          [0.15, 0.56],
          [0.07, 0.58],
        ]
      : [
          [0.095, 0.55],
          [0.08, 0.74],
          [0.18, 0.78],
          [0.18, 0.82],
          [0.1, 0.84],
          [0.11, 0.88],
          [0.19, 1.02],
          [0.17, 1.06],
        ];
  const shapes = [lathe([...profileCurve([...base, ...column], 4), [0.001, top + (kind === "pawn" ? 0 : 0.08)]], 48)];
  if (kind === "pawn") shapes.push(ball([0, 0.7, 0], 0.14, 32));
  if (kind === "queen") shapes.push(around(ball([0, 1.06, 0.15], 0.04, 12), 8), ball([0, 1.13, 0], 0.07, 20));
  if (kind === "king")
    shapes.push(
      ball([0, 1.08, 0], [0.14, 0.07, 0.14], 24),
      box([0, 1.22, 0], [0.045, 0.2, 0.045], 0.01),
      box([0, 1.24, 0], [0.15, 0.045, 0.045], 0.01),
    );
  const colour: Colour = look.has("black", "dark") ? "#2b2422" : "#e8d6b0";
  return [
    part("Piece", look.main(colour, "ceramic"), ...shapes),
    part(
      "Felt",
      look.fixed("#2f6a45", "plush"),
      lathe(
        [
          [0.001, -0.012],
          [0.255, -0.012],
          [0.26, 0],
          [0.001, 0],
        ],
        40,
      ),
    ),
  ];
}
