/** What is eaten and drunk from. */
import type { Colour } from "../../images/colours.ts";
import { moved, scaled, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, profileCurve, ring, tube } from "../kit/surface.ts";
import type { Vec2, Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { hollow } from "./vessels-parts.ts";

export const TABLEWARE: Readonly<Record<string, Thing>> = {
  cup: { metres: 0.1, picture: "around", build: buildCup },
  teapot: { metres: 0.16, picture: "around", build: buildTeapot },
  bowl: { metres: 0.12, picture: "around", build: buildBowl },
  goblet: { metres: 0.2, picture: "around", build: buildGoblet },
  glass: { metres: 0.13, picture: "around", build: buildTumbler },
};

function liquid(radius: number, height: number): Shape {
  return lathe(
    [
      [radius * 1.0, height - 0.004],
      [radius * 0.9, height],
      [0.001, height],
    ],
    40,
    80,
  );
}

function buildCup(look: Look): readonly Part[] {
  const wall = profileCurve(
    [
      [0.3, 0],
      [0.33, 0.02],
      [0.36, 0.12],
      [0.38, 0.4],
      [0.385, 0.82],
    ],
    6,
  );
  const handle = tube(
    curve(
      [
        [0.35, 0.68, 0],
        [0.52, 0.72, 0],
        [0.62, 0.52, 0],
        [0.55, 0.28, 0],
        [0.35, 0.18, 0],
      ],
      8,
    ),
    0.048,
    { sides: 16, flatness: 1, side: [0, 0, 1] },
  );
  const isTea = look.has("tea");
  const isMilky = look.has("latte", "cappuccino", "milk", "cocoa");
  const drink: Colour = isTea ? "#a5561f" : isMilky ? "#a97748" : "#3a2115";
  const parts = [
    part("Cup", look.main("#e9e4da", "ceramic"), lathe(hollow(wall, 0.035, 0.05), 56), handle),
    part("Drink", look.fixed(drink, "eye"), liquid(0.35, 0.72)),
  ];
  if (isMilky)
    parts.push(
      part("Foam", look.fixed("#f3e4cd", "matt"), moved(scaled(ball([0, 0, 0], 0.3, 28), [1, 0.12, 1]), [0, 0.715, 0])),
    );
  if (look.has("saucer", "tea", "cappuccino", "espresso")) {
    parts.push(
      part(
        "Saucer",
        look.second("#e9e4da", "ceramic"),
        moved(
          lathe(
            profileCurve(
              [
                [0.001, -0.02],
                [0.3, -0.02],
                [0.5, 0.03],
                [0.62, 0.09],
                [0.61, 0.105],
                [0.48, 0.06],
                [0.3, 0.005],
                [0.001, 0.005],
              ],
              4,
            ),
            56,
          ),
          [0, -0.006, 0],
        ),
      ),
    );
  }
  return parts;
}

function buildTeapot(look: Look): readonly Part[] {
  const belly = profileCurve(
    [
      [0.001, 0.0],
      [0.2, 0.0],
      [0.24, 0.03],
      [0.37, 0.18],
      [0.4, 0.34],
      [0.34, 0.5],
      [0.22, 0.58],
      [0.2, 0.6],
    ],
    6,
  );
  const lid = profileCurve(
    [
      [0.24, 0.585],
      [0.245, 0.6],
      [0.2, 0.64],
      [0.1, 0.68],
      [0.03, 0.695],
      [0.028, 0.72],
      [0.055, 0.75],
      [0.05, 0.79],
      [0.001, 0.8],
    ],
    5,
  );
  const spout = tube(
    curve(
      [
        [0.3, 0.2, 0],
        [0.48, 0.26, 0],
        [0.54, 0.42, 0],
        [0.66, 0.57, 0],
      ],
      7,
    ),
    (share) => 0.098 - 0.058 * share,
    { sides: 24, ends: "flat" },
  );
  const handle = tube(
    curve(
      [
        [-0.32, 0.48, 0],
        [-0.5, 0.52, 0],
        [-0.62, 0.38, 0],
        [-0.54, 0.2, 0],
        [-0.36, 0.16, 0],
      ],
      8,
    ),
    0.042,
    { sides: 16 },
  );
  const band = ring([0, 0.34, 0], 0.4, 0.009, 64, 8);
  return [
    part("Teapot", look.main("#c9543f", "ceramic"), lathe(belly, 64), spout, handle),
    part("Lid", look.main("#c9543f", "ceramic"), lathe(lid, 48)),
    part("Band", look.second("#f2e4c8", "ceramic"), band, ring([0, 0.6, 0], 0.205, 0.012, 48, 8)),
  ];
}

function buildBowl(look: Look): readonly Part[] {
  const profile = profileCurve(
    [
      [0.2, 0],
      [0.22, 0.05],
      [0.21, 0.07],
      [0.38, 0.2],
      [0.5, 0.42],
    ],
    7,
  );
  const fruits: readonly (readonly [Vec3, number, Colour])[] = [
    [[0.02, 0.33, 0.16], 0.17, "#c9252c"],
    [[-0.18, 0.34, -0.06], 0.17, "#f08a24"],
    [[0.2, 0.34, -0.1], 0.165, "#7fb23a"],
    [[0.0, 0.5, -0.02], 0.15, "#e8b02e"],
  ];
  const parts = [part("Bowl", look.main("#5d8f9c", "glaze"), lathe(hollow(profile, 0.028, 0.09), 64))];
  if (!look.has("fruit", "fruits", "apples", "oranges", "filled")) return parts;
  return [
    ...parts,
    ...fruits.map(([at, size, colour], index) =>
      part(`Fruit ${index + 1}`, look.fixed(colour, "plastic"), ball(at, size, 24)),
    ),
  ];
}

function buildGoblet(look: Look): readonly Part[] {
  const foot = profileCurve(
    [
      [0.001, 0],
      [0.24, 0],
      [0.245, 0.015],
      [0.1, 0.045],
      [0.035, 0.09],
      [0.028, 0.3],
      [0.03, 0.42],
    ],
    5,
  );
  const cup = profileCurve(
    [
      [0.03, 0.42],
      [0.14, 0.47],
      [0.235, 0.6],
      [0.245, 0.76],
      [0.2, 1],
    ],
    6,
  );
  const inside = cup.map(([r, y]) => [Math.max(0.001, r - 0.014), y + 0.012] as const).toReversed();
  return [
    part("Goblet", look.main("#eaf6f6", "glass"), lathe([...foot, ...cup.slice(1), ...inside], 56)),
    part(
      "Wine",
      look.second("#6d0f2a", "eye"),
      lathe(
        [
          ...profileCurve(
            [
              [0.001, 0.445],
              [0.1, 0.465],
              [0.2, 0.57],
              [0.226, 0.67],
            ],
            5,
          ),
          [0.001, 0.672],
        ],
        48,
      ),
    ),
  ];
}

function buildTumbler(look: Look): readonly Part[] {
  const profile: readonly Vec2[] = [
    [0.24, 0],
    [0.255, 0.02],
    [0.27, 0.3],
    [0.29, 0.74],
  ];
  return [
    part("Glass", look.main("#eaf6f6", "glass"), lathe(hollow(profileCurve(profile, 4), 0.02, 0.07), 56)),
    part(
      "Water",
      look.second("#a9d6ea", "eye"),
      lathe(
        [
          [0.001, 0.075],
          [0.225, 0.075],
          [0.24, 0.3],
          [0.252, 0.52],
          [0.001, 0.522],
        ],
        48,
      ),
    ),
  ];
}
