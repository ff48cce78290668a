/** What flies further. */
import { around, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { prism } from "../kit/solids.ts";
import { ball, lathe, profileCurve, ring, rod } from "../kit/surface.ts";
import { UP } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const SPACECRAFT: Readonly<Record<string, Thing>> = {
  rocket: { metres: 10, picture: "around", build: buildRocket },
  ufo: { metres: 3, build: buildUfo },
};

function buildRocket(look: Look): readonly Part[] {
  const body = profileCurve(
    [
      [0.13, 0.2],
      [0.2, 0.34],
      [0.235, 0.62],
      [0.235, 0.9],
      [0.2, 1.16],
    ],
    6,
  );
  const nose = profileCurve(
    [
      [0.2, 1.16],
      [0.15, 1.32],
      [0.08, 1.46],
      [0.001, 1.56],
    ],
    6,
  );
  const fin = prism(
    [
      [0.12, 0.3],
      [0.4, 0.0],
      [0.42, 0.22],
      [0.33, 0.46],
      [0.2, 0.62],
    ],
    { depth: 0.05, bevel: 0.018 },
  );
  const fins = around(rotated(fin, UP, -90), 4);
  const porthole = (y: number): readonly [Shape, Shape] => [
    moved(rotated(ring([0, 0, 0], 0.085, 0.02, 36, 10), [1, 0, 0], 90), [0, y, 0.232]),
    moved(
      rotated(
        lathe(
          [
            [0.001, -0.02],
            [0.085, -0.02],
            [0.08, 0.012],
            [0.001, 0.026],
          ],
          28,
        ),
        [1, 0, 0],
        90,
      ),
      [0, y, 0.225],
    ),
  ];
  const holes = [porthole(0.92), porthole(0.64)];
  const flame = lathe(
    profileCurve(
      [
        [0.001, -0.32],
        [0.04, -0.2],
        [0.1, -0.02],
        [0.105, 0.1],
        [0.001, 0.13],
      ],
      5,
    ),
    28,
  );
  const inner = lathe(
    profileCurve(
      [
        [0.001, -0.14],
        [0.05, -0.02],
        [0.06, 0.09],
        [0.001, 0.11],
      ],
      5,
    ),
    20,
  );
  return [
    part("Body", look.main("#eceae4", "paint"), lathe(body, 56)),
    part("Nose", look.second("#d0342c", "paint"), lathe(nose, 56), ring([0, 1.16, 0], 0.2, 0.014, 48, 8)),
    part("Fins", look.second("#d0342c", "paint"), fins, ring([0, 0.36, 0], 0.203, 0.014, 48, 8)),
    part(
      "Nozzle",
      look.fixed("#5b5e66", "iron"),
      lathe(
        [
          [0.11, 0.12],
          [0.125, 0.1],
          [0.145, 0.1],
          [0.1, 0.2],
          [0.135, 0.22],
          [0.001, 0.22],
        ],
        36,
      ),
    ),
    part("Portholes", look.fixed("#c9ced4", "silver"), ...holes.map(([rim]) => rim)),
    part("Glass", look.fixed("#6fc4e8", "eye"), ...holes.map(([, pane]) => pane)),
    part("Flame", look.fixed("#ff8a1c", "neon"), flame),
    part("Flame core", look.fixed("#fff0a8", "neon"), moved(scaled(inner, [1.3, 1, 1.3]), [0, 0, 0])),
  ];
}

function buildUfo(look: Look): readonly Part[] {
  const saucer = profileCurve(
    [
      [0.001, 0.3],
      [0.2, 0.3],
      [0.5, 0.4],
      [0.8, 0.52],
      [0.82, 0.55],
      [0.5, 0.64],
      [0.3, 0.68],
      [0.001, 0.68],
    ],
    5,
  );
  const lights = around(ball([0, 0.5, 0.745], [0.045, 0.035, 0.045], 14), 14);
  const legs = around(
    merged([rod([0, 0.34, 0.3], [0, 0.02, 0.52], 0.022), ball([0, 0.02, 0.52], [0.07, 0.025, 0.07], 16)]),
    3,
  );
  return [
    part("Saucer", look.main("#b9c0c8", "panels"), lathe(saucer, 72)),
    part("Dome", look.second("#7fe0c8", "glass"), ball([0, 0.68, 0], [0.29, 0.24, 0.29], 40)),
    part(
      "Pilot",
      look.fixed("#6fc04a", "skin"),
      ball([0, 0.78, 0], [0.1, 0.11, 0.095], 24),
      ball([0, 0.66, 0], [0.07, 0.07, 0.06], 18),
    ),
    part(
      "Eyes",
      look.fixed("#17151a", "eye"),
      twice(rotated(ball([0.045, 0.79, 0.075], [0.026, 0.036, 0.026], 12), UP, 0)),
    ),
    part("Lights", look.fixed("#ffe36a", "neon"), lights),
    part(
      "Engine",
      look.fixed("#5fe0ff", "neon"),
      lathe(
        [
          [0.001, 0.29],
          [0.17, 0.292],
          [0.18, 0.31],
          [0.001, 0.31],
        ],
        36,
      ),
    ),
    part("Legs", look.fixed("#5b5e66", "iron"), legs),
  ];
}
