/** What drives on roads. */
import { bent, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, ring, rod, surface, tube } from "../kit/surface.ts";
import { clamp, UP, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { wheels } from "./vehicles-parts.ts";

export const VEHICLES: Readonly<Record<string, Thing>> = {
  car: { metres: 1.4, build: buildCar },
  truck: { metres: 2.6, build: buildTruck },
  bicycle: { metres: 1.1, build: buildBicycle },
};

/** Cross sections along z, each a width, a floor and a top, smooth between them. */
function hull(
  sections: readonly { readonly z: number; readonly wide: number; readonly low: number; readonly high: number }[],
  round = 4,
): Shape {
  const at = (v: number): { z: number; wide: number; low: number; high: number } => {
    const place = clamp(v, 0, 1) * (sections.length - 1);
    const index = Math.min(sections.length - 2, Math.floor(place));
    const share = place - index;
    const get = (key: "z" | "wide" | "low" | "high"): number => {
      const [p, q] = [sections[index]?.[key] ?? 0, sections[index + 1]?.[key] ?? 0];
      const [o, r] = [sections[index - 1]?.[key] ?? p, sections[index + 2]?.[key] ?? q];
      const [enter, leave] = [(q - o) / 2, (r - p) / 2];
      const [t2, t3] = [share * share, share ** 3];
      return p * (2 * t3 - 3 * t2 + 1) + enter * (t3 - 2 * t2 + share) + q * (-2 * t3 + 3 * t2) + leave * (t3 - t2);
    };
    return { z: key("z"), wide: get("wide"), low: get("low"), high: get("high") };
    function key(name: "z"): number {
      const [p, q] = [sections[index]?.[name] ?? 0, sections[index + 1]?.[name] ?? 0];
      return p + (q - p) * share;
    }
  };
  return surface(
    48,
    64,
    (u, v) => {
      const { z, wide, low, high } = at(v);
      const angle = -2 * Math.PI * u;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const bend = (value: number): number => Math.sign(value) * Math.abs(value) ** (2 / round);
      const end = v === 0 || v === 1 ? 0.001 : 1;
      return [wide * bend(sin) * end, (low + high) / 2 + ((high - low) / 2) * bend(cos) * end, z];
    },
    { around: true, creaseDegrees: 50 },
  );
}

function buildCar(look: Look): readonly Part[] {
  const paint = look.main("#d0272f", "paint");
  const isTaxi = look.has("taxi", "cab");
  const isSporty = look.has("sports", "sport", "race", "racing", "ferrari", "porsche", "supercar");
  const roof = isSporty ? 0.56 : 0.66;
  const body = hull(
    [
      { z: -1.0, wide: 0.36, low: 0.2, high: 0.44 },
      { z: -0.94, wide: 0.41, low: 0.15, high: 0.46 },
      { z: -0.6, wide: 0.44, low: 0.13, high: 0.48 },
      { z: 0, wide: 0.445, low: 0.12, high: 0.46 },
      { z: 0.5, wide: 0.44, low: 0.13, high: isSporty ? 0.4 : 0.44 },
      { z: 0.9, wide: 0.41, low: 0.15, high: isSporty ? 0.32 : 0.39 },
      { z: 1.0, wide: 0.35, low: 0.18, high: isSporty ? 0.27 : 0.34 },
    ],
    5,
  );
  const cabin = (grow: number, top: number): Shape =>
    hull(
      [
        { z: -0.76, wide: 0.3 + grow, low: 0.38, high: 0.45 + grow },
        { z: -0.62, wide: 0.33 + grow, low: 0.38, high: top - 0.07 + grow },
        { z: -0.4, wide: 0.335 + grow, low: 0.38, high: top + grow },
        { z: 0.0, wide: 0.335 + grow, low: 0.38, high: top + 0.01 + grow },
        { z: 0.2, wide: 0.33 + grow, low: 0.38, high: top - 0.06 + grow },
        { z: 0.44, wide: 0.32 + grow, low: 0.38, high: 0.46 + grow },
        { z: 0.5, wide: 0.3, low: 0.38, high: 0.42 },
      ],
      5,
    );
  const top = hull(
    [
      { z: -0.5, wide: 0.27, low: roof - 0.015, high: roof + 0.0 },
      { z: -0.4, wide: 0.3, low: roof - 0.02, high: roof + 0.026 },
      { z: -0.15, wide: 0.31, low: roof - 0.02, high: roof + 0.034 },
      { z: 0.06, wide: 0.3, low: roof - 0.02, high: roof + 0.024 },
      { z: 0.13, wide: 0.26, low: roof - 0.03, high: roof - 0.01 },
    ],
    6,
  );
  const pillar = (from: Vec3, to: Vec3): Shape => twice(rod(from, to, 0.02));
  const frames = [
    pillar([0.33, 0.44, 0.4], [0.285, roof - 0.01, 0.1]),
    pillar([0.34, 0.44, -0.16], [0.3, roof, -0.16]),
    pillar([0.325, 0.45, -0.7], [0.275, roof - 0.02, -0.45]),
  ];
  const arches = [0.6, -0.6].map((z) =>
    tube(
      Array.from({ length: 21 }, (_, index): Vec3 => {
        const angle = -0.15 + (Math.PI + 0.3) * (index / 20);
        return [0.43, 0.21 + 0.245 * Math.sin(angle), z + 0.245 * Math.cos(angle)];
      }),
      0.022,
      { sides: 10 },
    ),
  );
  const { tyres, rims } = wheels(
    [
      [-0.39, 0.21, 0.6],
      [0.39, 0.21, 0.6],
      [-0.39, 0.21, -0.6],
      [0.39, 0.21, -0.6],
    ],
    0.21,
    0.15,
  );
  const lights = twice(ball([0.27, isSporty ? 0.28 : 0.31, 0.945], [0.075, 0.05, 0.06], 18));
  const rear = twice(ball([0.3, 0.37, -0.955], [0.075, 0.045, 0.05], 16));
  const grille = box([0, 0.24, 0.985], [0.34, 0.075, 0.03], 0.012);
  const bumpers = [box([0, 0.18, 0.96], [0.72, 0.06, 0.1], 0.028), box([0, 0.2, -0.965], [0.74, 0.07, 0.09], 0.028)];
  const parts = [
    part("Body", paint, body, top, twice(merged(arches))),
    part("Windows", look.fixed("#1f2a33", "eye"), cabin(0, roof)),
    part("Pillars", paint, ...frames),
    part("Tyres", look.fixed("#1d1e21", "rubber"), tyres),
    part("Rims", look.fixed("#c9ced4", "silver"), rims),
    part("Headlights", look.fixed("#fff6d8", "light"), lights),
    part("Rear lights", look.fixed("#e02424", "light"), rear),
    part(
      "Trim",
      look.second("#2a2c31", "matt"),
      grille,
      ...bumpers,
      twice(box([0.445, 0.43, 0.25], [0.06, 0.05, 0.08], 0.02)),
      twice(box([0.43, 0.15, 0], [0.03, 0.05, 0.8], 0.012)),
    ),
  ];
  if (isTaxi)
    parts.push(part("Sign", look.fixed("#fff1a8", "light"), box([0, roof + 0.07, -0.1], [0.26, 0.08, 0.1], 0.02)));
  if (isSporty)
    parts.push(
      part(
        "Spoiler",
        paint,
        box([0, 0.6, -0.92], [0.8, 0.025, 0.17], 0.01),
        twice(box([0.3, 0.53, -0.92], [0.03, 0.14, 0.1], 0.01)),
      ),
    );
  return parts;
}

function buildTruck(look: Look): readonly Part[] {
  const paint = look.main("#2f6fb5", "paint");
  const isFire = look.has("fire", "firetruck");
  const cab = [box([0, 0.5, 0.72], [0.72, 0.56, 0.5], 0.07), box([0, 0.42, 0.99], [0.7, 0.38, 0.1], 0.05)];
  const { tyres, rims } = wheels(
    [
      [-0.32, 0.18, 0.72],
      [0.32, 0.18, 0.72],
      [-0.32, 0.18, -0.3],
      [0.32, 0.18, -0.3],
      [-0.32, 0.18, -0.72],
      [0.32, 0.18, -0.72],
    ],
    0.18,
    0.15,
  );
  const glass = [
    box([0, 0.63, 0.972], [0.6, 0.24, 0.03], 0.02),
    twice(box([0.358, 0.63, 0.74], [0.02, 0.22, 0.3], 0.015)),
  ];
  const cargo = isFire
    ? [box([0, 0.5, -0.28], [0.74, 0.5, 1.3], 0.03)]
    : [
        box([0, 0.66, -0.28], [0.78, 0.86, 1.34], 0.02),
        ...[-0.8, -0.45, -0.1, 0.25].map((z) => twice(box([0.392, 0.66, z], [0.016, 0.78, 0.03], 0.004))),
      ];
  const parts = [
    part("Cab", paint, ...cab),
    part("Cargo", isFire ? paint : look.second("#eceae4", "matt"), ...cargo),
    part("Windows", look.fixed("#1f2a33", "eye"), ...glass),
    part(
      "Chassis",
      look.fixed("#2a2c31", "matt"),
      box([0, 0.2, 0], [0.56, 0.1, 1.9], 0.02),
      box([0, 0.2, 1.0], [0.74, 0.12, 0.1], 0.03),
      twice(box([0.41, 0.6, 0.9], [0.04, 0.12, 0.03], 0.01)),
    ),
    part("Tyres", look.fixed("#1d1e21", "rubber"), tyres),
    part("Rims", look.fixed("#c9ced4", "silver"), rims),
    part("Lights", look.fixed("#fff6d8", "light"), twice(ball([0.25, 0.3, 1.03], [0.06, 0.05, 0.03], 16))),
    part("Rear lights", look.fixed("#e02424", "light"), twice(box([0.28, 0.26, -0.955], [0.1, 0.05, 0.02], 0.008))),
  ];
  if (!isFire) return parts;
  const rungs = Array.from({ length: 12 }, (_, index) =>
    rod([-0.12, 0.83 + 0.01 * index, -0.85 + 0.13 * index], [0.12, 0.83 + 0.01 * index, -0.85 + 0.13 * index], 0.012),
  );
  return [
    ...parts,
    part("Ladder", look.fixed("#c4c9d0", "steel"), twice(rod([0.13, 0.82, -0.9], [0.13, 0.96, 0.72], 0.02)), ...rungs),
    part("Beacon", look.fixed("#3f7fff", "neon"), twice(ball([0.18, 0.81, 0.72], [0.07, 0.05, 0.05], 16))),
  ];
}

function buildBicycle(look: Look): readonly Part[] {
  const paint = look.main("#2f8f6a", "paint");
  const r = 0.34;
  const [rear, front]: readonly [Vec3, Vec3] = [
    [0, r, -0.52],
    [0, r, 0.56],
  ];
  const [crank, saddle, head]: readonly [Vec3, Vec3, Vec3] = [
    [0, 0.3, -0.06],
    [0, 0.82, -0.22],
    [0, 0.8, 0.4],
  ];
  const upright = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [0, 0, 1], 90), at);
  const spokes = (at: Vec3): Shape =>
    upright(
      merged(
        Array.from({ length: 18 }, (_, index) =>
          rotated(rod([0.02 * (index % 2 === 0 ? 1 : -1), 0, 0], [0, 0, r - 0.02], 0.0035, 0.0035, 5), UP, index * 20),
        ).map((shape) => shape),
      ),
      at,
    );
  return [
    part(
      "Frame",
      paint,
      rod(crank, saddle, 0.02),
      rod(crank, head, 0.022),
      rod([0, 0.76, -0.2], head, 0.02),
      twice(rod([0.03, 0.3, -0.08], [0.045, r, -0.52], 0.012)),
      twice(rod([0.02, 0.76, -0.2], [0.045, r, -0.52], 0.01)),
      rod([0, 0.72, 0.42], [0, 0.94, 0.34], 0.024),
      twice(
        tube(
          curve(
            [
              [0.02, 0.72, 0.42],
              [0.05, 0.62, 0.46],
              [0.05, r, 0.56],
            ],
            5,
          ),
          0.014,
          { sides: 10 },
        ),
      ),
    ),
    part(
      "Tyres",
      look.fixed("#1d1e21", "rubber"),
      ...[rear, front].map((at) => upright(ring([0, 0, 0], r, 0.026, 56, 12), at)),
    ),
    part(
      "Metal",
      look.fixed("#c9ced4", "silver"),
      ...[rear, front].map((at) => upright(ring([0, 0, 0], r - 0.03, 0.012, 56, 8), at)),
      spokes(rear),
      spokes(front),
      ...[rear, front].map((at) => rod([-0.06, at[1], at[2]], [0.06, at[1], at[2]], 0.022)),
      upright(ring([0, 0, 0], 0.09, 0.01, 36, 8), [0.05, 0.3, -0.06]),
      rod([-0.09, 0.3, -0.06], [0.09, 0.3, -0.06], 0.018),
      rod([0.08, 0.3, -0.06], [0.08, 0.16, 0.02], 0.012),
      rod([-0.08, 0.3, -0.06], [-0.08, 0.44, -0.14], 0.012),
      tube(
        curve(
          [
            [-0.28, 0.98, 0.24],
            [-0.16, 1.0, 0.34],
            [0, 0.96, 0.36],
            [0.16, 1.0, 0.34],
            [0.28, 0.98, 0.24],
          ],
          6,
        ),
        0.014,
        { sides: 10 },
      ),
    ),
    part(
      "Saddle",
      look.second("#4a2f20", "leather"),
      bent(ball([0, 0.87, -0.24], [0.09, 0.045, 0.16], 28), ([x, y, z]) => [
        x * (z > -0.24 ? 1 - 3.2 * (z + 0.24) : 1),
        y,
        z,
      ]),
      twice(rod([0.27, 0.98, 0.25], [0.31, 0.97, 0.16], 0.022)),
      rod([0, 0.8, -0.215], [0, 0.86, -0.23], 0.016),
    ),
    part(
      "Pedals",
      look.fixed("#2a2c31", "rubber"),
      box([0.13, 0.16, 0.02], [0.09, 0.025, 0.07], 0.008),
      box([-0.13, 0.44, -0.14], [0.09, 0.025, 0.07], 0.008),
    ),
  ];
}
