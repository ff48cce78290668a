/** What flies. */
import { around, bent, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { UP, type Vec2 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const AIRCRAFT: Readonly<Record<string, Thing>> = {
  plane: { metres: 3, build: buildPlane },
  helicopter: { metres: 3, build: buildHelicopter },
  balloon: { metres: 12, picture: "around", build: buildBalloon },
};

function wingOf(span: number, root: number, tip: number, sweep: number, thick: number): Shape {
  return twice(
    surface(
      36,
      16,
      (u, v) => {
        const chord = root + (tip - root) * v;
        const angle = -2 * Math.PI * u;
        const x = Math.cos(angle);
        const t =
          thick *
          (1 - 0.6 * v) *
          Math.sin(angle) *
          (0.6 + 0.4 * x) *
          Math.sqrt(Math.max(0.02, (1 + 1.02 * x) / 2 + 0.25));
        const end = v === 1 ? 0.3 : 1;
        return [span * v, t * end + 0.04 * span * v * v, (x * chord) / 2 - sweep * v];
      },
      { around: true },
    ),
  );
}

function buildPlane(look: Look): readonly Part[] {
  const rise = 0.42;
  const body = moved(
    rotated(
      lathe(
        profileCurve(
          [
            [0.001, -1.0],
            [0.05, -0.92],
            [0.1, -0.62],
            [0.16, -0.2],
            [0.17, 0.3],
            [0.15, 0.68],
            [0.09, 0.88],
            [0.001, 0.96],
          ],
          6,
        ),
        44,
      ),
      [1, 0, 0],
      90,
    ),
    [0, rise, 0],
  );
  const fin = rotated(
    prism(
      [
        [-0.02, 0],
        [0.2, 0],
        [0.06, 0.36],
        [-0.1, 0.36],
      ].map(([x = 0, y = 0]) => [x, y] as Vec2),
      { depth: 0.035, bevel: 0.014 },
    ),
    UP,
    -90,
  );
  const engine = (x: number): Shape =>
    moved(
      rotated(
        lathe(
          profileCurve(
            [
              [0.001, -0.18],
              [0.045, -0.17],
              [0.075, -0.05],
              [0.08, 0.1],
              [0.066, 0.15],
              [0.055, 0.13],
              [0.001, 0.1],
            ],
            4,
          ),
          28,
        ),
        [1, 0, 0],
        90,
      ),
      [x, rise - 0.12, 0.14],
    );
  const windows = Array.from({ length: 9 }, (_, index) =>
    twice(ball([0.155, rise + 0.055, -0.36 + 0.1 * index], [0.02, 0.03, 0.026], 10)),
  );
  const cockpit = twice(moved(ball([0.07, rise + 0.085, 0.69], [0.06, 0.04, 0.06], 14), [0, 0, 0]));
  const gear = [
    [0, 0.6],
    [0.16, -0.04],
    [-0.16, -0.04],
  ].map(([x = 0, z = 0]) => ({
    leg: rod([x, 0.08, z], [x, rise - 0.12, z], 0.018),
    tyre: moved(rotated(ring([0, 0, 0], 0.05, 0.03, 24, 10), [0, 0, 1], 90), [x, 0.08, z]),
  }));
  return [
    part("Body", look.main("#f2f0ea", "paint"), body),
    part(
      "Wings",
      look.main("#f2f0ea", "paint"),
      moved(wingOf(1.02, 0.42, 0.16, 0.34, 0.05), [0, rise - 0.05, 0.08]),
      moved(wingOf(0.4, 0.22, 0.1, 0.14, 0.03), [0, rise + 0.05, -0.82]),
    ),
    part("Tail", look.second("#2f6fb5", "paint"), moved(fin, [0, rise + 0.06, -0.78]), engine(0.38), engine(-0.38)),
    part("Windows", look.fixed("#24303a", "eye"), ...windows, cockpit),
    part("Gear", look.fixed("#8d9298", "steel"), ...gear.map(({ leg }) => leg)),
    part("Tyres", look.fixed("#1d1e21", "rubber"), ...gear.map(({ tyre }) => tyre)),
  ];
}

function buildHelicopter(look: Look): readonly Part[] {
  const paint = look.main("#e0a52c", "paint");
  const cabin = ball([0, 0.52, 0.22], [0.27, 0.28, 0.42], 40);
  const boom = rotated(
    lathe(
      [
        [0.001, 0],
        [0.1, 0],
        [0.04, 0.86],
        [0.001, 0.88],
      ],
      24,
    ),
    [1, 0, 0],
    -94,
  );
  const blades = around(box([0, 0.95, 0.52], [0.085, 0.014, 0.98], 0.006), 4);
  const rotor = around(box([0, 0.11, 0], [0.03, 0.2, 0.008], 0.003), 1);
  const skids = twice(
    merged([
      tube(
        curve(
          [
            [0.26, 0.1, 0.66],
            [0.26, 0.04, 0.56],
            [0.26, 0.03, 0.2],
            [0.26, 0.03, -0.3],
          ],
          5,
        ),
        0.02,
        { sides: 10 },
      ),
      rod([0.26, 0.04, 0.4], [0.13, 0.32, 0.36], 0.016),
      rod([0.26, 0.04, -0.02], [0.13, 0.32, 0.02], 0.016),
    ]),
  );
  const tailRotor = merged([0, 60, 120].map((turn) => rotated(rotated(rotor, [0, 0, 1], 0), [1, 0, 0], turn)));
  return [
    part(
      "Body",
      paint,
      cabin,
      moved(boom, [0, 0.58, -0.1]),
      box([0, 0.76, 0.1], [0.2, 0.12, 0.4], 0.05),
      box([0, 0.78, -0.9], [0.025, 0.3, 0.16], 0.01),
      box([0, 0.63, -0.8], [0.36, 0.02, 0.12], 0.008),
    ),
    part(
      "Window",
      look.fixed("#2a4658", "eye"),
      bent(ball([0, 0.56, 0.27], [0.262, 0.252, 0.392], 40), ([x, y, z]) =>
        z < 0.3 || y < 0.46 ? [x * 0.9, 0.52 + (y - 0.52) * 0.86, 0.27 + (z - 0.27) * 0.8] : [x, y, z],
      ),
    ),
    part(
      "Rotor",
      look.second("#34373d", "metal"),
      blades,
      rod([0, 0.78, 0], [0, 0.98, 0], 0.035),
      moved(tailRotor, [0.05, 0.75, -0.93]),
    ),
    part("Skids", look.fixed("#34373d", "metal"), skids),
  ];
}

function buildBalloon(look: Look): readonly Part[] {
  const gores = 16;
  const envelope = profileCurve(
    [
      [0.13, 0.62],
      [0.24, 0.8],
      [0.5, 1.16],
      [0.56, 1.45],
      [0.42, 1.76],
      [0.2, 1.9],
      [0.001, 1.93],
    ],
    7,
  );
  const shape = bent(lathe(envelope, gores * 6), ([x, y, z]) => {
    const swell = 1 + 0.03 * Math.abs(Math.sin((gores / 2) * Math.atan2(x, z)));
    return [x * swell, y, z * swell];
  });
  const stripes = { even: [] as number[], odd: [] as number[] };
  for (let at = 0; at < shape.indices.length; at += 3) {
    const corners = [0, 1, 2].map((offset) => shape.indices[at + offset] ?? 0);
    const [x, z] = [0, 2].map((axis) =>
      corners.reduce((sum, corner) => sum + (shape.positions[3 * corner + axis] ?? 0), 0),
    );
    const gore = Math.floor(((Math.atan2(x ?? 0, z ?? 0) / (2 * Math.PI) + 1) % 1) * gores);
    stripes[gore % 2 === 0 ? "even" : "odd"].push(...corners);
  }
  const strip = (indices: readonly number[]): Shape => ({ ...shape, indices: Uint32Array.from(indices) });
  const ropes = [
    [-1, -1],
    [-1, 1],
    [1, -1],
    [1, 1],
  ].map(([x = 0, z = 0]) => rod([0.12 * x, 0.26, 0.12 * z], [0.1 * x, 0.66, 0.1 * z], 0.006, 0.006, 6));
  return [
    part("Envelope", look.main("#d8433b", "cloth"), strip(stripes.even)),
    part("Stripes", look.second("#f6d37a", "cloth"), strip(stripes.odd)),
    part("Basket", look.fixed("#a3713f", "knit"), box([0, 0.13, 0], [0.28, 0.26, 0.28], 0.03)),
    part("Rim", look.fixed("#6b4326", "leather"), box([0, 0.265, 0], [0.31, 0.03, 0.31], 0.014)),
    part("Ropes", look.fixed("#d9c8a0", "matt"), ...ropes),
    part(
      "Burner",
      look.fixed("#ffb347", "neon"),
      lathe(
        profileCurve(
          [
            [0.001, 0.44],
            [0.03, 0.48],
            [0.02, 0.58],
            [0.001, 0.64],
          ],
          4,
        ),
        16,
      ),
    ),
  ];
}
