/** Trees. */
import { blob, type Lump } from "../kit/blob.ts";
import { boxProjected } from "../kit/project.ts";
import { around, bent, merged, moved, rotated, scaled, tinted, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, surface, tube } from "../kit/surface.ts";
import { add, between, step, times, unit, UP, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const TREES: Readonly<Record<string, Thing>> = {
  tree: { metres: 6, build: buildTree },
  pine: { metres: 8, build: buildPine },
  palm: { metres: 7, build: buildPalm },
};

function buildTree(look: Look): readonly Part[] {
  const { random, noise, roll } = look;
  const isAutumn = look.has("autumn", "fall", "autumnal");
  const isBlossom = look.has("cherry", "blossom", "blossoming", "sakura");
  const leaves = look.main(isAutumn ? "#d9772b" : isBlossom ? "#f4b6cc" : "#4f9a3e", "leaves");
  const lean = [roll(-0.08, 0.08), roll(-0.08, 0.08)] as const;
  const trunk = curve([
    [0, 0, 0],
    [lean[0], 0.25, lean[1]],
    [lean[0] * 0.4, 0.55, -lean[1]],
    [0, 0.85, 0],
  ]);
  const branches: Shape[] = [];
  const lumps: Lump[] = [{ at: [0, 1.08, 0], radius: [0.36, 0.32, 0.36], colour: [1, 1, 1] }];
  const count = 6 + random.below(2);
  const start = roll(0, 6);
  for (let index = 0; index < count; index += 1) {
    const angle = start + (index * 2 * Math.PI) / count;
    const out: Vec3 = [Math.sin(angle), 0, Math.cos(angle)];
    const foot: Vec3 = [lean[0] * 0.5, 0.42 + roll(0, 0.16), 0];
    const tip = add(times(out, roll(0.3, 0.44)), [0, 0.78 + roll(-0.06, 0.2), 0]);
    const middle = add(between(foot, tip, 0.5), [0, -0.05, 0]);
    branches.push(tube(curve([foot, middle, tip], 5), (share) => 0.05 - 0.032 * share, { sides: 8 }));
    lumps.push({ at: tip, radius: roll(0.2, 0.29), colour: [1, 1, 1], blend: 0.1 });
    const high = add(times(out, roll(0.12, 0.26)), [0, 1.18 + roll(0, 0.14), 0]);
    lumps.push({ at: high, radius: roll(0.17, 0.24), colour: [1, 1, 1], blend: 0.1 });
  }
  const crown = blob(lumps, {
    cell: 0.036,
    noise: (x, y, z) => 0.05 * noise.solid(x * 5, y * 5, z * 5, 2) + 0.028 * noise.solid(x * 15, y * 15, z * 15, 1),
  });
  const shaded = tinted(boxProjected(crown, 0.7), ([x, y, z], normal) => {
    const light = step(0.55, 1.35, y + 0.25 * normal[1]) * 0.75 + 0.15 * noise.solid(x * 4, y * 4, z * 4, 2);
    const shade = 0.45 + 0.65 * light;
    return [shade * (0.92 + 0.16 * light), shade, shade * (0.98 - 0.2 * light)];
  });
  const roots = around(
    tube(
      curve(
        [
          [0, 0.16, 0.05],
          [0, 0.05, 0.1],
          [0.02, -0.01, 0.2],
        ],
        4,
      ),
      (share) => 0.045 * (1 - share) + 0.008,
      { sides: 8 },
    ),
    5,
  );
  const parts = [
    part(
      "Trunk",
      look.fixed("#6d4c33", "bark"),
      tube(trunk, (share) => 0.11 - 0.06 * share + 0.05 * (1 - share) ** 6, { sides: 18 }),
      ...branches,
      roots,
    ),
    part("Crown", leaves, shaded),
  ];
  if (look.has("apple", "apples", "fruit", "orange", "lemon", "cherries")) {
    const fruit = Array.from({ length: 16 }, () => surfacePoint(shaded, random.below(1e6)));
    const colour = look.has("lemon") ? "#f4d03a" : look.has("orange") ? "#f08a24" : "#c9252c";
    parts.push(part("Fruit", look.content(colour, "plastic"), ...fruit.map((at) => ball(at, 0.042, 12))));
  }
  return parts;
}

function surfacePoint({ positions }: Shape, pick: number): Vec3 {
  const index = pick % (positions.length / 3);
  return [positions[3 * index] ?? 0, positions[3 * index + 1] ?? 0, positions[3 * index + 2] ?? 0];
}

function buildPine(look: Look): readonly Part[] {
  const { noise, roll } = look;
  const isSnowy = look.has("snow", "snowy", "winter");
  const needles = look.main("#2f6e4a", "leaves");
  const tiers = 6;
  const skirts = Array.from({ length: tiers }, (_, tier) => {
    const share = tier / (tiers - 1);
    const [low, high, wide] = [
      0.2 + 0.98 * share * 0.86,
      0.2 + 0.98 * share * 0.86 + 0.46 - 0.16 * share,
      0.46 - 0.33 * share,
    ];
    const turn = roll(0, 6);
    const points = 11 - tier;
    return surface(
      points * 6,
      8,
      (u, v) => {
        const angle = 2 * Math.PI * u;
        const jag = Math.abs(Math.sin((points * angle) / 2 + turn));
        // From under the skirt, over its hem, up to the tip.
        const [inner, up] = v < 0.25 ? [v * 4, 0] : [1, (v - 0.25) / 0.75];
        const radius = wide * inner * (1 - up ** 0.8) * (1 - 0.28 * (1 - up) * (1 - jag)) + 1e-4;
        const drop = 0.09 * (1 - up) * inner * jag;
        const height = low + 0.08 * (1 - inner) + (high - low) * up - drop;
        const wobble = 1 + 0.12 * noise.solid(3 * Math.sin(angle) + tier, 4 * height, 3 * Math.cos(angle), 2);
        return [radius * wobble * Math.sin(angle), height, radius * wobble * Math.cos(angle)];
      },
      { around: true, creaseDegrees: 70 },
    );
  });
  const crown = tinted(merged(skirts), ([x, y, z], normal) => {
    const tip = step(0.0, 0.4, Math.hypot(x, z));
    const light = 0.5 + 0.3 * tip + 0.25 * normal[1] * 0.6 + 0.1 * step(0.2, 1.4, y);
    const snow = isSnowy ? step(0.25, 0.55, normal[1] + 0.25 * noise.solid(x * 7, y * 7, z * 7, 2)) : 0;
    return [light * 0.95 + 6 * snow, light + 4 * snow, light * 0.9 + 6 * snow];
  });
  const parts = [
    part(
      "Trunk",
      look.fixed("#5b4030", "bark"),
      lathe(
        [
          [0.001, 0],
          [0.1, 0],
          [0.075, 0.1],
          [0.055, 0.4],
          [0.001, 0.4],
        ],
        18,
      ),
    ),
    part(
      "Needles",
      needles,
      isSnowy ? tinted(crown, ([x, y, z], n) => snowy(noise.solid(x * 7, y * 7, z * 7, 2), n[1], y)) : crown,
    ),
  ];
  if (look.has("christmas", "xmas", "weihnachtsbaum")) {
    const baubles = Array.from({ length: 26 }, (_, index) => {
      const [share, angle] = [(index + 0.5) / 26, index * 2.4];
      const radius = (0.4 - 0.32 * share) * 0.9;
      return { at: [radius * Math.sin(angle), 0.24 + 0.95 * share, radius * Math.cos(angle)] as Vec3, index };
    });
    for (const [turn, colour] of ["#d0202c", "#f0b93a", "#3f7fd0"].entries()) {
      const own = baubles.filter(({ index }) => index % 3 === turn);
      parts.push(part(`Baubles ${turn + 1}`, look.fixed(colour, "metal"), ...own.map(({ at }) => ball(at, 0.032, 14))));
    }
    parts.push(part("Star", look.fixed("#ffd34d", "light"), moved(scaled(star(), 1.3), [0, 1.42, 0])));
  }
  return parts;
}

/** Brighter than the needles' green can be: snow is made of light added to it. */
function snowy(rough: number, up: number, y: number): Vec3 {
  const snow = step(0.15, 0.5, up + 0.3 * rough + 0.1 * y);
  const light = 0.55 + 0.2 * up;
  return [light + snow * 8, light + snow * 3.2, light + snow * 5];
}

function star(): Shape {
  const rays = Array.from({ length: 5 }, (_, index) =>
    rotated(
      lathe(
        [
          [0.001, 0],
          [0.026, 0],
          [0.001, 0.09],
        ],
        4,
        10,
      ),
      [0, 0, 1],
      72 * index,
    ),
  );
  return merged(rays);
}

function buildPalm(look: Look): readonly Part[] {
  const { roll, random } = look;
  const lean = roll(0.12, 0.28);
  const trunk = curve(
    [
      [0, 0, 0],
      [lean * 0.25, 0.35, 0],
      [lean * 0.6, 0.7, 0],
      [lean, 1.05, 0],
    ],
    8,
  );
  const top = trunk.at(-1) ?? UP;
  const rings = tube(
    trunk,
    (share) => 0.062 - 0.022 * share + 0.03 * (1 - share) ** 8 + 0.006 * Math.abs(Math.sin(60 * share)),
    { sides: 16 },
  );
  const count = 11;
  const fronds = Array.from({ length: count }, (_, index) => {
    const isHigh = index % 2 === 0;
    const frond = palmFrond(roll(0.6, 0.74), isHigh ? roll(0.2, 0.34) : roll(0.0, 0.12));
    return rotated(frond, UP, (360 * index) / count + roll(-8, 8));
  });
  const nuts = Array.from({ length: 4 }, (_, index) => {
    const angle = index * 1.6 + roll(0, 0.5);
    return ball([top[0] + 0.07 * Math.sin(angle), top[1] - 0.06, 0.07 * Math.cos(angle)], [0.048, 0.056, 0.048], 14);
  });
  const ground = bent(ball([0, 0, 0], [0.5, 0.07, 0.5], 32), ([x, y, z]) => [
    x * (1 + 0.1 * Math.sin(3 * Math.atan2(x, z) + random.below(6))),
    Math.max(0, y),
    z,
  ]);
  return [
    part("Trunk", look.fixed("#8c6a48", "bark"), rings),
    part("Fronds", sheet(look.main("#4c9a42", "skin")), moved(merged(fronds), top)),
    part("Coconuts", look.fixed("#5f3d22", "fur"), ...nuts),
    part("Ground", look.fixed("#e2c48d", "sand"), ground),
  ];
}

/** A rib with leaflets on both sides, along z. */
function palmFrond(reach: number, rise: number): Shape {
  const spine = (share: number): Vec3 => [
    0,
    rise * Math.sin(Math.PI * 0.62 * share) * 1.2 - 0.42 * share ** 2.4,
    reach * share * (1 - 0.12 * share),
  ];
  const leaflets: Shape[] = [];
  const count = 15;
  for (let index = 0; index < count; index += 1) {
    const share = 0.1 + (0.88 * index) / (count - 1);
    const [at, next] = [spine(share), spine(share + 0.02)];
    const along = unit([0, next[1] - at[1], next[2] - at[2]]);
    const size = 0.24 * Math.sin(Math.PI * (0.12 + 0.8 * share)) + 0.03;
    for (const side of [-1, 1] as const) {
      leaflets.push(
        surface(2, 4, (u, v) => {
          const wide = 0.026 * Math.sin(Math.PI * Math.min(1, 0.2 + 0.8 * v)) * (u - 0.5) * 2;
          const out = size * v;
          return add(at, [
            side * out * 0.86,
            -0.35 * out * v + (0.25 - Math.abs(u - 0.5) * 0.5) * 0.03,
            along[2] * (wide * 0.9 + out * 0.5),
          ]);
        }),
      );
    }
  }
  const rib = tube(
    Array.from({ length: 9 }, (_, index) => spine(index / 8)),
    (share) => 0.014 * (1 - 0.8 * share),
    { sides: 6 },
  );
  return tinted(merged([...leaflets, rib]), ([x, , z]) => {
    const tip = step(0, 0.8, Math.hypot(x, z) / reach);
    return [0.7 + 0.35 * tip, 0.72 + 0.3 * tip, 0.6];
  });
}
