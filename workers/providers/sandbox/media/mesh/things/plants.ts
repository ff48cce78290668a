/** What grows. */
import { darker, lighter, mix, type Colour } from "../../images/colours.ts";
import { linear } from "../finishes.ts";
import { blob, type Lump } from "../kit/blob.ts";
import { boxProjected } from "../kit/project.ts";
import { around, bent, merged, moved, rotated, scaled, tinted, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, profileCurve, surface, tube } from "../kit/surface.ts";
import { add, between, step, times, unit, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const PLANTS: Readonly<Record<string, Thing>> = {
  tree: { metres: 6, isAlive: true, build: buildTree },
  pine: { metres: 8, isAlive: true, build: buildPine },
  palm: { metres: 7, isAlive: true, build: buildPalm },
  cactus: { metres: 0.4, isAlive: true, build: buildCactus },
  flower: { metres: 0.4, isAlive: true, build: buildFlower },
  mushroom: { metres: 0.15, isAlive: true, build: buildMushroom },
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
    tube(curve([[0, 0.16, 0.05], [0, 0.05, 0.1], [0.02, -0.01, 0.2]], 4), (share) => 0.045 * (1 - share) + 0.008, { sides: 8 }),
    5,
  );
  const parts = [
    part("Trunk", look.fixed("#6d4c33", "bark"), tube(trunk, (share) => 0.11 - 0.06 * share + 0.05 * (1 - share) ** 6, { sides: 18 }), ...branches, roots),
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
    const [low, high, wide] = [0.2 + 0.98 * share * 0.86, 0.2 + 0.98 * share * 0.86 + 0.46 - 0.16 * share, 0.46 - 0.33 * share];
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
    part("Trunk", look.fixed("#5b4030", "bark"), lathe([[0.001, 0], [0.1, 0], [0.075, 0.1], [0.055, 0.4], [0.001, 0.4]], 18)),
    part("Needles", needles, isSnowy ? tinted(crown, ([x, y, z], n) => snowy(noise.solid(x * 7, y * 7, z * 7, 2), n[1], y)) : crown),
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
    parts.push(part("Star", look.fixed("#ffd34d", "light"), moved(scaled(star(), 1.3), [0, 1.5, 0])));
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
  const rays = Array.from({ length: 5 }, (_, index) => rotated(lathe([[0.001, 0], [0.026, 0], [0.001, 0.09]], 4, 10), [0, 0, 1], 72 * index));
  return merged(rays);
}

function buildPalm(look: Look): readonly Part[] {
  const { roll, random } = look;
  const lean = roll(0.12, 0.28);
  const trunk = curve([[0, 0, 0], [lean * 0.25, 0.35, 0], [lean * 0.6, 0.7, 0], [lean, 1.05, 0]], 8);
  const top = trunk.at(-1) ?? UP;
  const rings = tube(trunk, (share) => 0.062 - 0.022 * share + 0.03 * (1 - share) ** 8 + 0.006 * Math.abs(Math.sin(60 * share)), { sides: 16 });
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
  const ground = bent(ball([0, 0, 0], [0.5, 0.07, 0.5], 32), ([x, y, z]) => [x * (1 + 0.1 * Math.sin(3 * Math.atan2(x, z) + random.below(6))), Math.max(0, y), z]);
  return [
    part("Trunk", look.fixed("#8c6a48", "bark"), rings),
    part("Fronds", sheet(look.main("#4c9a42", "skin")), moved(merged(fronds), top)),
    part("Coconuts", look.fixed("#5f3d22", "fur"), ...nuts),
    part("Ground", look.fixed("#e2c48d", "sand"), ground),
  ];
}

/** A rib with leaflets on both sides, along z. */
function palmFrond(reach: number, rise: number): Shape {
  const spine = (share: number): Vec3 => [0, rise * Math.sin(Math.PI * 0.62 * share) * 1.2 - 0.42 * share ** 2.4, reach * share * (1 - 0.12 * share)];
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
          return add(at, [side * out * 0.86, -0.35 * out * v + (0.25 - Math.abs(u - 0.5) * 0.5) * 0.03, along[2] * (wide * 0.9 + out * 0.5)]);
        }),
      );
    }
  }
  const rib = tube(Array.from({ length: 9 }, (_, index) => spine(index / 8)), (share) => 0.014 * (1 - 0.8 * share), { sides: 6 });
  return tinted(merged([...leaflets, rib]), ([x, , z]) => {
    const tip = step(0, 0.8, Math.hypot(x, z) / reach);
    return [0.7 + 0.35 * tip, 0.72 + 0.3 * tip, 0.6];
  });
}

function pot(look: Look, radius: number, height: number): readonly Part[] {
  const [r, h] = [radius, height];
  const outside: Vec2[] = [[0.001, 0], [r * 0.68, 0], [r * 0.7, 0.01], [r * 0.88, h * 0.78], [r * 1.0, h * 0.78], [r * 1.02, h * 0.8], [r * 1.04, h * 0.98], [r * 1.02, h]];
  const inside: Vec2[] = [[r * 0.92, h], [r * 0.9, h * 0.98], [r * 0.86, h * 0.8], [0.001, h * 0.8]];
  return [
    part("Pot", look.second("#c4704a", "clay"), lathe([...outside, ...inside], 40)),
    part("Soil", look.fixed("#4a3526", "earth"), bent(ball([0, h * 0.84, 0], [r * 0.885, h * 0.07, r * 0.885], 28), ([x, y, z]) => [x, y + 0.004 * Math.sin(60 * x) * Math.cos(53 * z), z])),
  ];
}

function buildCactus(look: Look): readonly Part[] {
  const ribs = 12;
  const ribbed = (shape: Shape): Shape =>
    bent(shape, ([x, y, z]) => {
      const depth = 1 - 0.1 * (0.5 + 0.5 * Math.cos(ribs * Math.atan2(x, z)));
      return [x * depth, y, z * depth];
    });
  const body = ribbed(lathe(profileCurve([[0.001, 0.26], [0.13, 0.27], [0.165, 0.45], [0.16, 0.7], [0.12, 0.88], [0.06, 0.95], [0.001, 0.97]], 5), ribs * 4));
  const arm = (height: number, reach: number, up: number): Shape =>
    tube(curve([[0.08, height, 0], [reach * 0.8, height + 0.01, 0], [reach, height + 0.07, 0], [reach, height + up, 0]], 6), (share) => 0.068 - 0.01 * share, { sides: 20 });
  const arms = [arm(0.48, 0.27, 0.26), rotated(arm(0.58, 0.25, 0.2), UP, 180 + look.roll(-14, 14))];
  const spines: Shape[] = [];
  for (let rib = 0; rib < ribs; rib += 1) {
    const angle = ((rib + 0.5) * 2 * Math.PI) / ribs;
    for (let row = 0; row < 7; row += 1) {
      const height = 0.36 + 0.08 * row;
      const radius = 0.158 - (row > 4 ? 0.018 * (row - 4) : 0);
      const foot: Vec3 = [radius * Math.sin(angle), height, radius * Math.cos(angle)];
      const out: Vec3 = [Math.sin(angle), 0.35, Math.cos(angle)];
      spines.push(tube([foot, add(foot, times(out, 0.035))], (share) => 0.0028 * (1 - 0.8 * share), { sides: 4, ends: "flat" }));
    }
  }
  const petals = around(moved(petal(0.075, 0.045, 0.5), [0, 0.965, 0.005]), 8);
  return [
    ...pot(look, 0.22, 0.3),
    part("Cactus", look.main("#4d8f52", "skin"), body, ...arms),
    part("Spines", look.fixed("#efe3c0", "matt"), ...spines),
    part("Blossom", sheet(look.fixed("#e8558c", "petal")), petals, moved(scaled(petals, [0.6, 1, 0.6]), [0, 0.012, 0])),
    part("Stamens", look.fixed("#f6cf4a", "matt"), ball([0, 0.985, 0], [0.016, 0.014, 0.016], 10)),
  ];
}

/** A petal that leaves the origin towards z and bends upwards by `lift`. */
export function petal(reach: number, wide: number, lift: number): Shape {
  return surface(4, 6, (u, v) => {
    const across = (u - 0.5) * 2;
    const half = wide * Math.sin(Math.PI * (0.08 + 0.86 * v)) ** 0.7 * 0.5 * (v < 0.1 ? v * 10 * 0.6 + 0.4 : 1);
    const cup = 0.18 * wide * across * across;
    return [across * half, reach * lift * v ** 1.5 + cup, reach * v * (1 - 0.15 * lift)];
  });
}

const FLOWERS: Readonly<Record<string, { readonly colour: Colour; readonly heart: Colour }>> = {
  sunflower: { colour: "#f7b92a", heart: "#4a2c18" },
  daisy: { colour: "#f8f6f0", heart: "#f3c02e" },
  rose: { colour: "#c41f3a", heart: "#8f1228" },
  tulip: { colour: "#e0413a", heart: "#2d2a2a" },
  lily: { colour: "#f3d7e4", heart: "#e0a030" },
};

function buildFlower(look: Look): readonly Part[] {
  const kind = Object.keys(FLOWERS).find((name) => look.has(name, `${name}s`)) ?? "";
  const { colour, heart } = FLOWERS[kind] ?? { colour: "#e8558c", heart: "#f6cf4a" };
  const head: Vec3 = [look.roll(-0.04, 0.04), 0.9, 0.05];
  const stem = tube(curve([[0, 0.22, 0], [0.01, 0.5, -0.015], head], 8), 0.014, { sides: 10 });
  const leaf = (height: number, angle: number): Shape => rotated(moved(scaled(petal(0.26, 0.12, 0.55), [1, 1, 1]), [0, height, 0]), UP, angle);
  const bloom = kind === "tulip" ? tulipHead() : kind === "rose" ? roseHead() : openHead(kind === "daisy" || kind === "sunflower" ? 18 : 8, kind);
  const main = sheet(look.main(colour, "petal"));
  const faced = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], kind === "tulip" || kind === "rose" ? 12 : 42), head);
  const parts = [
    ...pot(look, 0.17, 0.25),
    part("Stem", look.fixed("#4d8f3c", "skin"), stem),
    part("Leaves", sheet(look.fixed("#4f9a3e", "skin")), leaf(0.36, 20), leaf(0.46, 200), leaf(0.4, 110)),
    part("Petals", main, tinted(faced(bloom), (point) => {
      const tip = step(0.02, 0.2, Math.hypot(point[0] - head[0], point[1] - head[1], point[2] - head[2]));
      return [0.72 + 0.28 * tip, 0.6 + 0.4 * tip, 0.62 + 0.38 * tip];
    })),
  ];
  if (kind === "rose" || kind === "tulip") return parts;
  const size = kind === "sunflower" ? 0.1 : kind === "daisy" ? 0.062 : 0.05;
  const seeds = Array.from({ length: 70 }, (_, index) => {
    const [radius, angle] = [size * Math.sqrt((index + 0.5) / 70) * 0.94, index * 2.39996];
    return ball([radius * Math.sin(angle), 0.02 + 0.03 * (1 - (radius / size) ** 2), radius * Math.cos(angle)], size * 0.11, 6);
  });
  return [...parts, part("Heart", look.fixed(heart, "matt"), faced(merged([ball([0, 0.005, 0], [size, 0.035, size], 20), ...seeds])))];
}

function openHead(count: number, kind: string): Shape {
  const [reach, wide] = kind === "sunflower" ? [0.24, 0.075] : kind === "daisy" ? [0.2, 0.05] : [0.2, 0.15];
  const ring = around(moved(petal(reach, wide, 0.25), [0, 0, 0.02]), count);
  return merged([ring, moved(rotated(scaled(ring, 0.86), UP, 180 / count), [0, 0.014, 0])]);
}

function tulipHead(): Shape {
  const cup = surface(5, 8, (u, v) => {
    const [angle, half] = [(u - 0.5) * 2, Math.sin(Math.PI * (0.12 + 0.83 * v)) ** 0.6];
    const radius = 0.1 * Math.sin(Math.PI * (0.1 + 0.72 * v)) ** 0.7;
    const turn = angle * half * 0.95;
    return [radius * Math.sin(turn), 0.23 * v, radius * Math.cos(turn)];
  });
  const ring = around(cup, 3);
  return merged([ring, rotated(scaled(ring, [0.86, 0.97, 0.86]), UP, 60)]);
}

function roseHead(): Shape {
  const petals: Shape[] = [];
  for (let index = 0; index < 17; index += 1) {
    const share = index / 16;
    const open = 0.012 + 0.1 * share ** 1.1;
    const cup = surface(6, 6, (u, v) => {
      const turn = (u - 0.5) * (2.3 - 0.7 * share);
      const curl = 0.035 * share * Math.max(0, v - 0.6) * 2.5;
      const radius = open * (0.35 + 0.65 * Math.sin((Math.PI / 2) * v)) + curl;
      const height = 0.15 * v * (1 - 0.25 * share) - 0.045 * share - 0.02 * (2 * u - 1) ** 2 * v;
      return [radius * Math.sin(turn), height, radius * Math.cos(turn)];
    });
    petals.push(rotated(cup, UP, index * 137.5));
  }
  return moved(merged(petals), [0, 0.03, 0]);
}

function buildMushroom(look: Look): readonly Part[] {
  const cap = profileCurve([[0.03, 0.44], [0.2, 0.43], [0.36, 0.4], [0.43, 0.4], [0.44, 0.44], [0.4, 0.56], [0.28, 0.7], [0.13, 0.77], [0.001, 0.785]], 5);
  const stem = profileCurve([[0.001, 0], [0.13, 0], [0.15, 0.05], [0.11, 0.2], [0.095, 0.36], [0.11, 0.46], [0.02, 0.47]], 5);
  const skirt: Vec2[] = [[0.1, 0.35], [0.16, 0.3], [0.165, 0.305], [0.1, 0.365]];
  const gills = surface(96, 3, (u, v) => {
    const radius = 0.09 + 0.31 * v;
    const wave = 0.018 * Math.abs(Math.sin(48 * Math.PI * u)) * Math.sin(Math.PI * v);
    return [-radius * Math.sin(2 * Math.PI * u), 0.425 - 0.02 * v - wave, radius * Math.cos(2 * Math.PI * u)];
  }, { around: true });
  const spots: Shape[] = [];
  for (let index = 0; index < 26; index += 1) {
    const [share, angle] = [Math.sqrt((index + 0.6) / 27), index * 2.39996 + look.roll(-0.2, 0.2)];
    const [radius, height] = alongProfile(cap, 1 - 0.52 * share);
    const [inner, lower] = alongProfile(cap, 1 - 0.52 * share - 0.02);
    const out = unit([lower - height > 0 ? 0 : height - lower, Math.max(1e-3, inner - radius), 0]);
    const size = look.roll(0.026, 0.05) * (1.1 - 0.4 * share);
    const dot = rotated(ball([0, 0, 0], [size, size * 0.4, size], 10), [0, 0, 1], (-Math.atan2(out[0], out[1]) * 180) / Math.PI);
    spots.push(rotated(moved(dot, [radius, height, 0]), UP, (angle * 180) / Math.PI));
  }
  const tufts = Array.from({ length: 26 }, (_, index) => {
    const [angle, far] = [index * 2.4, look.roll(0.14, 0.32)];
    const blade = surface(1, 4, (u, v) => [(u - 0.5) * 0.03 * (1 - v), 0.16 * v * (0.7 + (index % 4) / 8), 0.06 * v * v]);
    return rotated(moved(blade, [0, 0, far]), UP, (angle * 180) / Math.PI);
  });
  return [
    part("Cap", look.main("#c8262c", "glaze"), lathe(cap, 48)),
    part("Spots", look.second("#f7f1e3", "matt"), ...spots),
    part("Stem", look.fixed("#f0e6d0", "plaster"), lathe(stem, 36), lathe(skirt, 36)),
    part("Gills", sheet(look.fixed("#e8d9bd", "matt")), gills),
    part("Grass", sheet(look.fixed("#5f9a3c", "skin")), tinted(merged(tufts), ([, y]) => { const l = 0.5 + 4 * y; return [l, l, l * 0.9]; })),
  ];
}

function alongProfile(profile: readonly Vec2[], share: number): Vec2 {
  return profile[Math.round(share * (profile.length - 1))] ?? [0, 0];
}

/** For those who put green around their feet. */
export const LEAF_GREEN = linear(mix(darker("#4f9a3e", 0.1), lighter("#4f9a3e", 0.1), 0.5));
