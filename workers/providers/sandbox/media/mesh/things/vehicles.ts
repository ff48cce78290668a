/** What drives, sails and flies. */
import { darker, lighter } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { clamp, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const VEHICLES: Readonly<Record<string, Thing>> = {
  car: { metres: 1.4, build: buildCar },
  truck: { metres: 2.6, build: buildTruck },
  train: { metres: 3, build: buildTrain },
  boat: { metres: 6, build: buildBoat },
  rocket: { metres: 10, picture: "around", build: buildRocket },
  plane: { metres: 3, build: buildPlane },
  helicopter: { metres: 3, build: buildHelicopter },
  ufo: { metres: 3, build: buildUfo },
  balloon: { metres: 12, picture: "around", build: buildBalloon },
  bicycle: { metres: 1.1, build: buildBicycle },
  submarine: { metres: 3, build: buildSubmarine },
};

/** Upright, its axle along x. */
function wheel(at: Vec3, radius: number, wide: number): { readonly tyre: Shape; readonly rim: Shape } {
  const w = wide / 2;
  const tyre = lathe([[radius * 0.62, -w * 0.8], [radius * 0.72, -w], [radius * 0.92, -w], [radius, -w * 0.72], [radius, w * 0.72], [radius * 0.92, w], [radius * 0.72, w], [radius * 0.62, w * 0.8]], 40, 30);
  const disc = lathe([[0.001, -w * 0.5], [radius * 0.62, -w * 0.84], [radius * 0.66, -w * 0.84], [radius * 0.66, w * 0.84], [radius * 0.62, w * 0.84], [radius * 0.52, w * 0.5], [radius * 0.2, w * 0.55], [radius * 0.16, w * 0.85], [0.001, w * 0.85]], 32, 30);
  const spokes = around(box([0, w * 0.55, radius * 0.36], [radius * 0.12, w * 0.3, radius * 0.44], 0.004), 5);
  const side = at[0] < 0 ? 90 : -90;
  const put = (shape: Shape): Shape => moved(rotated(shape, [0, 0, 1], side), at);
  return { tyre: put(tyre), rim: put(merged([disc, spokes])) };
}

function wheels(places: readonly Vec3[], radius: number, wide: number): { readonly tyres: Shape; readonly rims: Shape } {
  const all = places.map((at) => wheel(at, radius, wide));
  return { tyres: merged(all.map(({ tyre }) => tyre)), rims: merged(all.map(({ rim }) => rim)) };
}

/** Cross sections along z, each a width, a floor and a top, smooth between them. */
function hull(sections: readonly { readonly z: number; readonly wide: number; readonly low: number; readonly high: number }[], round = 4): Shape {
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
  const body = hull([
    { z: -1.0, wide: 0.36, low: 0.2, high: 0.44 },
    { z: -0.94, wide: 0.41, low: 0.15, high: 0.46 },
    { z: -0.6, wide: 0.44, low: 0.13, high: 0.48 },
    { z: 0, wide: 0.445, low: 0.12, high: 0.46 },
    { z: 0.5, wide: 0.44, low: 0.13, high: isSporty ? 0.4 : 0.44 },
    { z: 0.9, wide: 0.41, low: 0.15, high: isSporty ? 0.32 : 0.39 },
    { z: 1.0, wide: 0.35, low: 0.18, high: isSporty ? 0.27 : 0.34 },
  ], 5);
  const cabin = (grow: number, top: number): Shape => hull([
    { z: -0.76, wide: 0.3 + grow, low: 0.38, high: 0.45 + grow },
    { z: -0.62, wide: 0.33 + grow, low: 0.38, high: top - 0.07 + grow },
    { z: -0.4, wide: 0.335 + grow, low: 0.38, high: top + grow },
    { z: 0.0, wide: 0.335 + grow, low: 0.38, high: top + 0.01 + grow },
    { z: 0.2, wide: 0.33 + grow, low: 0.38, high: top - 0.06 + grow },
    { z: 0.44, wide: 0.32 + grow, low: 0.38, high: 0.46 + grow },
    { z: 0.5, wide: 0.3, low: 0.38, high: 0.42 },
  ], 5);
  const top = hull([
    { z: -0.5, wide: 0.27, low: roof - 0.015, high: roof + 0.0 },
    { z: -0.4, wide: 0.3, low: roof - 0.02, high: roof + 0.026 },
    { z: -0.15, wide: 0.31, low: roof - 0.02, high: roof + 0.034 },
    { z: 0.06, wide: 0.3, low: roof - 0.02, high: roof + 0.024 },
    { z: 0.13, wide: 0.26, low: roof - 0.03, high: roof - 0.01 },
  ], 6);
  const pillar = (from: Vec3, to: Vec3): Shape => twice(rod(from, to, 0.02));
  const frames = [pillar([0.33, 0.44, 0.4], [0.285, roof - 0.01, 0.1]), pillar([0.34, 0.44, -0.16], [0.3, roof, -0.16]), pillar([0.325, 0.45, -0.7], [0.275, roof - 0.02, -0.45])];
  const arches = [0.6, -0.6].map((z) => tube(Array.from({ length: 21 }, (_, index): Vec3 => {
    const angle = -0.15 + (Math.PI + 0.3) * (index / 20);
    return [0.43, 0.21 + 0.245 * Math.sin(angle), z + 0.245 * Math.cos(angle)];
  }), 0.022, { sides: 10 }));
  const { tyres, rims } = wheels([[-0.39, 0.21, 0.6], [0.39, 0.21, 0.6], [-0.39, 0.21, -0.6], [0.39, 0.21, -0.6]], 0.21, 0.15);
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
    part("Trim", look.second("#2a2c31", "matt"), grille, ...bumpers, twice(box([0.445, 0.43, 0.25], [0.06, 0.05, 0.08], 0.02)), twice(box([0.43, 0.15, 0], [0.03, 0.05, 0.8], 0.012))),
  ];
  if (isTaxi) parts.push(part("Sign", look.fixed("#fff1a8", "light"), box([0, roof + 0.07, -0.1], [0.26, 0.08, 0.1], 0.02)));
  if (isSporty) parts.push(part("Spoiler", paint, box([0, 0.6, -0.92], [0.8, 0.025, 0.17], 0.01), twice(box([0.3, 0.53, -0.92], [0.03, 0.14, 0.1], 0.01))));
  return parts;
}

function buildTruck(look: Look): readonly Part[] {
  const paint = look.main("#2f6fb5", "paint");
  const isFire = look.has("fire", "firetruck");
  const cab = [box([0, 0.5, 0.72], [0.72, 0.56, 0.5], 0.07), box([0, 0.42, 0.99], [0.7, 0.38, 0.1], 0.05)];
  const { tyres, rims } = wheels([[-0.32, 0.18, 0.72], [0.32, 0.18, 0.72], [-0.32, 0.18, -0.3], [0.32, 0.18, -0.3], [-0.32, 0.18, -0.72], [0.32, 0.18, -0.72]], 0.18, 0.15);
  const glass = [box([0, 0.63, 0.972], [0.6, 0.24, 0.03], 0.02), twice(box([0.358, 0.63, 0.74], [0.02, 0.22, 0.3], 0.015))];
  const cargo = isFire
    ? [box([0, 0.5, -0.28], [0.74, 0.5, 1.3], 0.03)]
    : [box([0, 0.66, -0.28], [0.78, 0.86, 1.34], 0.02), ...[-0.8, -0.45, -0.1, 0.25].map((z) => twice(box([0.392, 0.66, z], [0.016, 0.78, 0.03], 0.004)))];
  const parts = [
    part("Cab", paint, ...cab),
    part("Cargo", isFire ? paint : look.second("#eceae4", "matt"), ...cargo),
    part("Windows", look.fixed("#1f2a33", "eye"), ...glass),
    part("Chassis", look.fixed("#2a2c31", "matt"), box([0, 0.2, 0], [0.56, 0.1, 1.9], 0.02), box([0, 0.2, 1.0], [0.74, 0.12, 0.1], 0.03), twice(box([0.41, 0.6, 0.9], [0.04, 0.12, 0.03], 0.01))),
    part("Tyres", look.fixed("#1d1e21", "rubber"), tyres),
    part("Rims", look.fixed("#c9ced4", "silver"), rims),
    part("Lights", look.fixed("#fff6d8", "light"), twice(ball([0.25, 0.3, 1.03], [0.06, 0.05, 0.03], 16))),
    part("Rear lights", look.fixed("#e02424", "light"), twice(box([0.28, 0.26, -0.955], [0.1, 0.05, 0.02], 0.008))),
  ];
  if (!isFire) return parts;
  const rungs = Array.from({ length: 12 }, (_, index) => rod([-0.12, 0.83 + 0.01 * index, -0.85 + 0.13 * index], [0.12, 0.83 + 0.01 * index, -0.85 + 0.13 * index], 0.012));
  return [...parts, part("Ladder", look.fixed("#c4c9d0", "steel"), twice(rod([0.13, 0.82, -0.9], [0.13, 0.96, 0.72], 0.02)), ...rungs), part("Beacon", look.fixed("#3f7fff", "neon"), twice(ball([0.18, 0.81, 0.72], [0.07, 0.05, 0.05], 16)))];
}

function buildTrain(look: Look): readonly Part[] {
  const paint = look.main("#2b5c46", "paint");
  const lying = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [1, 0, 0], 90), at);
  const boiler = lying(lathe(profileCurve([[0.001, -0.72], [0.27, -0.72], [0.28, -0.7], [0.28, 0.56], [0.26, 0.62], [0.001, 0.64]], 3), 48), [0, 0.58, 0.4]);
  const bands = [0.05, 0.35, 0.65].map((z) => lying(ring([0, 0, 0], 0.283, 0.012, 48, 8), [0, 0.58, 0.2 + z]));
  const chimney = lathe(profileCurve([[0.001, 0], [0.09, 0], [0.075, 0.1], [0.085, 0.26], [0.14, 0.36], [0.13, 0.4], [0.001, 0.38]], 4), 32);
  const dome = ball([0, 0.86, 0.28], [0.11, 0.12, 0.11], 28);
  const cab = [box([0, 0.66, -0.52], [0.68, 0.62, 0.44], 0.02), box([0, 1.0, -0.54], [0.82, 0.06, 0.62], 0.03)];
  const big = wheels([[-0.3, 0.21, -0.5], [0.3, 0.21, -0.5], [-0.3, 0.21, -0.02], [0.3, 0.21, -0.02]], 0.21, 0.08);
  const small = wheels([[-0.3, 0.14, 0.42], [0.3, 0.14, 0.42], [-0.3, 0.14, 0.76], [0.3, 0.14, 0.76]], 0.14, 0.08);
  const catcher = Array.from({ length: 7 }, (_, index) => rod([-0.27 + 0.09 * index, 0.05, 1.16 - Math.abs(index - 3) * 0.05], [-0.2 + 0.066 * index, 0.3, 1.0], 0.016));
  return [
    part("Boiler", paint, boiler, ...cab),
    part("Brass", look.second("#e2b64a", "brass"), ...bands, dome, moved(lathe([[0.001, 0], [0.05, 0], [0.05, 0.03], [0.001, 0.03]], 20), [0, 0, 0])),
    part("Iron", look.fixed("#26282d", "iron"), moved(chimney, [0, 0.82, 0.8]), box([0, 0.31, 0.14], [0.5, 0.1, 1.72], 0.02), ...catcher, lying(lathe([[0.001, 0], [0.24, 0], [0.25, 0.02], [0.001, 0.05]], 40), [0, 0.58, 1.03]), twice(rod([0.35, 0.21, -0.52], [0.35, 0.21, 0.02], 0.025))),
    part("Wheels", look.fixed("#26282d", "iron"), big.tyres, small.tyres),
    part("Rims", look.fixed("#b3302c", "paint"), big.rims, small.rims),
    part("Windows", look.fixed("#dff1f7", "eye"), twice(box([0.342, 0.78, -0.52], [0.012, 0.2, 0.26], 0.004)), twice(box([0.24, 0.8, -0.298], [0.14, 0.16, 0.012], 0.004))),
    part("Lamp", look.fixed("#fff1c0", "light"), lying(lathe([[0.001, 0], [0.09, 0], [0.09, 0.08], [0.001, 0.09]], 28), [0, 0.92, 1.0])),
  ];
}

function buildBoat(look: Look): readonly Part[] {
  const isSailing = !look.has("motorboat", "speedboat", "rowing", "rowboat", "canoe");
  const shell = surface(64, 24, (u, v) => {
    // From the left rim under the keel to the right rim; stern to bow.
    const along = u;
    const across = 2 * v - 1;
    const wide = 0.36 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - along), 0, 1)) ** 0.62 * (along > 0.985 ? 0.02 : 1);
    const deep = 0.36 * (1 - 0.5 * along ** 4);
    const rise = 0.13 * along ** 2.2 + 0.03 * (1 - along) ** 3;
    const curve = 1 - Math.abs(across) ** 2.6;
    return [wide * Math.sin((across * Math.PI) / 2), 0.42 + rise - deep * curve, -0.92 + 1.95 * along];
  });
  const deck = surface(48, 8, (u, v) => {
    const wide = 0.352 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - u), 0, 1)) ** 0.62;
    return [-wide * (2 * v - 1), 0.395 + 0.13 * u ** 2.2 + 0.03 * (1 - u) ** 3, -0.9 + 1.9 * u];
  });
  const rail = (side: number): Shape => tube(Array.from({ length: 30 }, (_, index): Vec3 => {
    const u = index / 29;
    const wide = 0.36 * Math.sin(Math.PI * clamp(0.18 + 0.82 * (1 - u), 0, 1)) ** 0.62;
    return [side * wide * (u > 0.985 ? 0.02 : 1), 0.425 + 0.13 * u ** 2.2 + 0.03 * (1 - u) ** 3, -0.92 + 1.95 * u];
  }), 0.022, { sides: 8 });
  const stern = prism(Array.from({ length: 17 }, (_, index): Vec2 => {
    const across = 2 * (index / 16) - 1;
    const wide = 0.36 * Math.sin(Math.PI * 1) ** 0.62;
    return [0.19 * Math.sin((across * Math.PI) / 2) + wide * 0, 0.45 - 0.36 * (1 - Math.abs(across) ** 2.6)];
  }), { depth: 0.03 });
  const cabin = [box([0, 0.53, -0.42], [0.34, 0.24, 0.5], 0.04), box([0, 0.66, -0.42], [0.38, 0.03, 0.56], 0.014)];
  const panes = [-0.55, -0.4, -0.26].map((z) => twice(box([0.172, 0.56, z], [0.012, 0.09, 0.09], 0.01)));
  const parts = [
    part("Hull", sheet(look.main("#c9433a", "paint")), shell, moved(stern, [0, 0, -0.91])),
    part("Deck", sheet(look.fixed("#b98a55", "planks")), deck),
    part("Rail", look.fixed("#7a5230", "wood"), rail(1), rail(-1)),
    part("Cabin", look.second("#f4f0e6", "matt"), ...cabin),
    part("Windows", look.fixed("#2f4a5c", "eye"), ...panes),
  ];
  if (!isSailing) return parts;
  const sail = (points: readonly [Vec3, Vec3, Vec3], belly: number): Shape => surface(10, 14, (u, v) => {
    const [a, b, c] = points;
    const w = u * (1 - v);
    const x = a[0] * (1 - v) * (1 - u) + b[0] * w + c[0] * v;
    const bulge = belly * Math.sin(Math.PI * u) * Math.sin(Math.PI * Math.min(1, v * 0.8 + 0.12));
    return [x + bulge, a[1] * (1 - v) * (1 - u) + b[1] * w + c[1] * v, a[2] * (1 - v) * (1 - u) + b[2] * w + c[2] * v];
  });
  return [
    ...parts,
    part("Mast", look.fixed("#8c6238", "wood"), rod([0, 0.4, 0.12], [0, 1.95, 0.12], 0.026, 0.014), rod([0, 0.72, 0.12], [0, 0.72, -0.74], 0.016)),
    part("Sails", sheet(look.fixed("#faf6ea", "cloth")), sail([[0, 0.76, 0.1], [0, 0.74, -0.72], [0, 1.88, 0.1]], 0.12), sail([[0, 0.7, 0.98], [0, 0.72, 0.2], [0, 1.72, 0.14]], 0.1)),
    part("Pennant", sheet(look.fixed("#e2b64a", "cloth")), surface(6, 2, (u, v) => [0.02 * Math.sin(6 * u), 1.86 + 0.08 * v * (1 - u) + 0.04 * u, 0.12 - 0.2 * u])),
  ];
}

function buildRocket(look: Look): readonly Part[] {
  const body = profileCurve([[0.13, 0.2], [0.2, 0.34], [0.235, 0.62], [0.235, 0.9], [0.2, 1.16]], 6);
  const nose = profileCurve([[0.2, 1.16], [0.15, 1.32], [0.08, 1.46], [0.001, 1.56]], 6);
  const fin = prism([[0.12, 0.3], [0.4, 0.0], [0.42, 0.22], [0.33, 0.46], [0.2, 0.62]], { depth: 0.05, bevel: 0.018 });
  const fins = around(rotated(fin, UP, -90), 4);
  const porthole = (y: number): readonly [Shape, Shape] => [moved(rotated(ring([0, 0, 0], 0.085, 0.02, 36, 10), [1, 0, 0], 90), [0, y, 0.232]), moved(rotated(lathe([[0.001, -0.02], [0.085, -0.02], [0.08, 0.012], [0.001, 0.026]], 28), [1, 0, 0], 90), [0, y, 0.225])];
  const holes = [porthole(0.92), porthole(0.64)];
  const flame = lathe(profileCurve([[0.001, -0.32], [0.04, -0.2], [0.1, -0.02], [0.105, 0.1], [0.001, 0.13]], 5), 28);
  const inner = lathe(profileCurve([[0.001, -0.14], [0.05, -0.02], [0.06, 0.09], [0.001, 0.11]], 5), 20);
  return [
    part("Body", look.main("#eceae4", "paint"), lathe(body, 56)),
    part("Nose", look.second("#d0342c", "paint"), lathe(nose, 56), ring([0, 1.16, 0], 0.2, 0.014, 48, 8)),
    part("Fins", look.second("#d0342c", "paint"), fins, ring([0, 0.36, 0], 0.203, 0.014, 48, 8)),
    part("Nozzle", look.fixed("#5b5e66", "iron"), lathe([[0.11, 0.12], [0.125, 0.1], [0.145, 0.1], [0.1, 0.2], [0.135, 0.22], [0.001, 0.22]], 36)),
    part("Portholes", look.fixed("#c9ced4", "silver"), ...holes.map(([rim]) => rim)),
    part("Glass", look.fixed("#6fc4e8", "eye"), ...holes.map(([, pane]) => pane)),
    part("Flame", look.fixed("#ff8a1c", "neon"), flame),
    part("Flame core", look.fixed("#fff0a8", "neon"), moved(scaled(inner, [1.3, 1, 1.3]), [0, 0, 0])),
  ];
}

function wingOf(span: number, root: number, tip: number, sweep: number, thick: number): Shape {
  return twice(surface(36, 16, (u, v) => {
    const chord = root + (tip - root) * v;
    const angle = -2 * Math.PI * u;
    const x = Math.cos(angle);
    const t = thick * (1 - 0.6 * v) * Math.sin(angle) * (0.6 + 0.4 * x) * Math.sqrt(Math.max(0.02, (1 + 1.02 * x) / 2 + 0.25));
    const end = v === 1 ? 0.3 : 1;
    return [span * v, t * end + 0.04 * span * v * v, (x * chord) / 2 - sweep * v];
  }, { around: true }));
}

function buildPlane(look: Look): readonly Part[] {
  const rise = 0.42;
  const body = moved(rotated(lathe(profileCurve([[0.001, -1.0], [0.05, -0.92], [0.1, -0.62], [0.16, -0.2], [0.17, 0.3], [0.15, 0.68], [0.09, 0.88], [0.001, 0.96]], 6), 44), [1, 0, 0], 90), [0, rise, 0]);
  const fin = rotated(prism([[-0.02, 0], [0.2, 0], [0.06, 0.36], [-0.1, 0.36]].map(([x = 0, y = 0]) => [x, y] as Vec2), { depth: 0.035, bevel: 0.014 }), UP, -90);
  const engine = (x: number): Shape => moved(rotated(lathe(profileCurve([[0.001, -0.18], [0.045, -0.17], [0.075, -0.05], [0.08, 0.1], [0.066, 0.15], [0.055, 0.13], [0.001, 0.1]], 4), 28), [1, 0, 0], 90), [x, rise - 0.12, 0.14]);
  const windows = Array.from({ length: 9 }, (_, index) => twice(ball([0.155, rise + 0.055, -0.36 + 0.1 * index], [0.02, 0.03, 0.026], 10)));
  const cockpit = twice(moved(ball([0.07, rise + 0.085, 0.69], [0.06, 0.04, 0.06], 14), [0, 0, 0]));
  const gear = [[0, 0.6], [0.16, -0.04], [-0.16, -0.04]].map(([x = 0, z = 0]) => ({ leg: rod([x, 0.08, z], [x, rise - 0.12, z], 0.018), tyre: moved(rotated(ring([0, 0, 0], 0.05, 0.03, 24, 10), [0, 0, 1], 90), [x, 0.08, z]) }));
  return [
    part("Body", look.main("#f2f0ea", "paint"), body),
    part("Wings", look.main("#f2f0ea", "paint"), moved(wingOf(1.02, 0.42, 0.16, 0.34, 0.05), [0, rise - 0.05, 0.08]), moved(wingOf(0.4, 0.22, 0.1, 0.14, 0.03), [0, rise + 0.05, -0.82])),
    part("Tail", look.second("#2f6fb5", "paint"), moved(fin, [0, rise + 0.06, -0.78]), engine(0.38), engine(-0.38)),
    part("Windows", look.fixed("#24303a", "eye"), ...windows, cockpit),
    part("Gear", look.fixed("#8d9298", "steel"), ...gear.map(({ leg }) => leg)),
    part("Tyres", look.fixed("#1d1e21", "rubber"), ...gear.map(({ tyre }) => tyre)),
  ];
}

function buildHelicopter(look: Look): readonly Part[] {
  const paint = look.main("#e0a52c", "paint");
  const cabin = ball([0, 0.52, 0.22], [0.27, 0.28, 0.42], 40);
  const boom = rotated(lathe([[0.001, 0], [0.1, 0], [0.04, 0.86], [0.001, 0.88]], 24), [1, 0, 0], -94);
  const blades = around(box([0, 0.95, 0.52], [0.085, 0.014, 0.98], 0.006), 4);
  const rotor = around(box([0, 0.11, 0], [0.03, 0.2, 0.008], 0.003), 1);
  const skids = twice(merged([tube(curve([[0.26, 0.1, 0.66], [0.26, 0.04, 0.56], [0.26, 0.03, 0.2], [0.26, 0.03, -0.3]], 5), 0.02, { sides: 10 }), rod([0.26, 0.04, 0.4], [0.13, 0.32, 0.36], 0.016), rod([0.26, 0.04, -0.02], [0.13, 0.32, 0.02], 0.016)]));
  const tailRotor = merged([0, 60, 120].map((turn) => rotated(rotated(rotor, [0, 0, 1], 0), [1, 0, 0], turn)));
  return [
    part("Body", paint, cabin, moved(boom, [0, 0.58, -0.1]), box([0, 0.76, 0.1], [0.2, 0.12, 0.4], 0.05), box([0, 0.78, -0.9], [0.025, 0.3, 0.16], 0.01), box([0, 0.63, -0.8], [0.36, 0.02, 0.12], 0.008)),
    part("Window", look.fixed("#2a4658", "eye"), bent(ball([0, 0.56, 0.27], [0.262, 0.252, 0.392], 40), ([x, y, z]) => (z < 0.3 || y < 0.46 ? [x * 0.9, 0.52 + (y - 0.52) * 0.86, 0.27 + (z - 0.27) * 0.8] : [x, y, z]))),
    part("Rotor", look.second("#34373d", "metal"), blades, rod([0, 0.78, 0], [0, 0.98, 0], 0.035), moved(tailRotor, [0.05, 0.75, -0.93])),
    part("Skids", look.fixed("#34373d", "metal"), skids),
  ];
}

function buildUfo(look: Look): readonly Part[] {
  const saucer = profileCurve([[0.001, 0.3], [0.2, 0.3], [0.5, 0.4], [0.8, 0.52], [0.82, 0.55], [0.5, 0.64], [0.3, 0.68], [0.001, 0.68]], 5);
  const lights = around(ball([0, 0.5, 0.745], [0.045, 0.035, 0.045], 14), 14);
  const legs = around(merged([rod([0, 0.34, 0.3], [0, 0.02, 0.52], 0.022), ball([0, 0.02, 0.52], [0.07, 0.025, 0.07], 16)]), 3);
  return [
    part("Saucer", look.main("#b9c0c8", "panels"), lathe(saucer, 72)),
    part("Dome", look.second("#7fe0c8", "glass"), ball([0, 0.68, 0], [0.29, 0.24, 0.29], 40)),
    part("Pilot", look.fixed("#6fc04a", "skin"), ball([0, 0.78, 0], [0.1, 0.11, 0.095], 24), ball([0, 0.66, 0], [0.07, 0.07, 0.06], 18)),
    part("Eyes", look.fixed("#17151a", "eye"), twice(rotated(ball([0.045, 0.79, 0.075], [0.026, 0.036, 0.026], 12), UP, 0))),
    part("Lights", look.fixed("#ffe36a", "neon"), lights),
    part("Engine", look.fixed("#5fe0ff", "neon"), lathe([[0.001, 0.29], [0.17, 0.292], [0.18, 0.31], [0.001, 0.31]], 36)),
    part("Legs", look.fixed("#5b5e66", "iron"), legs),
  ];
}

function buildBalloon(look: Look): readonly Part[] {
  const gores = 16;
  const envelope = profileCurve([[0.13, 0.62], [0.24, 0.8], [0.5, 1.16], [0.56, 1.45], [0.42, 1.76], [0.2, 1.9], [0.001, 1.93]], 7);
  const shape = bent(lathe(envelope, gores * 6), ([x, y, z]) => {
    const swell = 1 + 0.03 * Math.abs(Math.sin((gores / 2) * Math.atan2(x, z)));
    return [x * swell, y, z * swell];
  });
  const stripes = { even: [] as number[], odd: [] as number[] };
  for (let at = 0; at < shape.indices.length; at += 3) {
    const corners = [0, 1, 2].map((offset) => shape.indices[at + offset] ?? 0);
    const [x, z] = [0, 2].map((axis) => corners.reduce((sum, corner) => sum + (shape.positions[3 * corner + axis] ?? 0), 0));
    const gore = Math.floor(((Math.atan2(x ?? 0, z ?? 0) / (2 * Math.PI) + 1) % 1) * gores);
    stripes[gore % 2 === 0 ? "even" : "odd"].push(...corners);
  }
  const strip = (indices: readonly number[]): Shape => ({ ...shape, indices: Uint32Array.from(indices) });
  const ropes = [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([x = 0, z = 0]) => rod([0.12 * x, 0.26, 0.12 * z], [0.1 * x, 0.66, 0.1 * z], 0.006, 0.006, 6));
  return [
    part("Envelope", look.main("#d8433b", "cloth"), strip(stripes.even)),
    part("Stripes", look.second("#f6d37a", "cloth"), strip(stripes.odd)),
    part("Basket", look.fixed("#a3713f", "knit"), box([0, 0.13, 0], [0.28, 0.26, 0.28], 0.03)),
    part("Rim", look.fixed("#6b4326", "leather"), box([0, 0.265, 0], [0.31, 0.03, 0.31], 0.014)),
    part("Ropes", look.fixed("#d9c8a0", "matt"), ...ropes),
    part("Burner", look.fixed("#ffb347", "neon"), lathe(profileCurve([[0.001, 0.44], [0.03, 0.48], [0.02, 0.58], [0.001, 0.64]], 4), 16)),
  ];
}

function buildBicycle(look: Look): readonly Part[] {
  const paint = look.main("#2f8f6a", "paint");
  const r = 0.34;
  const [rear, front]: readonly [Vec3, Vec3] = [[0, r, -0.52], [0, r, 0.56]];
  const [crank, saddle, head]: readonly [Vec3, Vec3, Vec3] = [[0, 0.3, -0.06], [0, 0.82, -0.22], [0, 0.8, 0.4]];
  const upright = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [0, 0, 1], 90), at);
  const spokes = (at: Vec3): Shape => upright(merged(Array.from({ length: 18 }, (_, index) => rotated(rod([0.02 * (index % 2 === 0 ? 1 : -1), 0, 0], [0, 0, r - 0.02], 0.0035, 0.0035, 5), UP, index * 20)).map((shape) => shape)), at);
  return [
    part("Frame", paint, rod(crank, saddle, 0.02), rod(crank, head, 0.022), rod([0, 0.76, -0.2], head, 0.02), twice(rod([0.03, 0.3, -0.08], [0.045, r, -0.52], 0.012)), twice(rod([0.02, 0.76, -0.2], [0.045, r, -0.52], 0.01)), rod([0, 0.72, 0.42], [0, 0.94, 0.34], 0.024), twice(tube(curve([[0.02, 0.72, 0.42], [0.05, 0.62, 0.46], [0.05, r, 0.56]], 5), 0.014, { sides: 10 }))),
    part("Tyres", look.fixed("#1d1e21", "rubber"), ...[rear, front].map((at) => upright(ring([0, 0, 0], r, 0.026, 56, 12), at))),
    part("Metal", look.fixed("#c9ced4", "silver"), ...[rear, front].map((at) => upright(ring([0, 0, 0], r - 0.03, 0.012, 56, 8), at)), spokes(rear), spokes(front), ...[rear, front].map((at) => rod([-0.06, at[1], at[2]], [0.06, at[1], at[2]], 0.022)), upright(ring([0, 0, 0], 0.09, 0.01, 36, 8), [0.05, 0.3, -0.06]), rod([-0.09, 0.3, -0.06], [0.09, 0.3, -0.06], 0.018), rod([0.08, 0.3, -0.06], [0.08, 0.16, 0.02], 0.012), rod([-0.08, 0.3, -0.06], [-0.08, 0.44, -0.14], 0.012), tube(curve([[-0.28, 0.98, 0.24], [-0.16, 1.0, 0.34], [0, 0.96, 0.36], [0.16, 1.0, 0.34], [0.28, 0.98, 0.24]], 6), 0.014, { sides: 10 })),
    part("Saddle", look.second("#4a2f20", "leather"), bent(ball([0, 0.87, -0.24], [0.09, 0.045, 0.16], 28), ([x, y, z]) => [x * (z > -0.24 ? 1 - 3.2 * (z + 0.24) : 1), y, z]), twice(rod([0.27, 0.98, 0.25], [0.31, 0.97, 0.16], 0.022)), rod([0, 0.8, -0.215], [0, 0.86, -0.23], 0.016)),
    part("Pedals", look.fixed("#2a2c31", "rubber"), box([0.13, 0.16, 0.02], [0.09, 0.025, 0.07], 0.008), box([-0.13, 0.44, -0.14], [0.09, 0.025, 0.07], 0.008)),
  ];
}

function buildSubmarine(look: Look): readonly Part[] {
  const paint = look.main("#e8b820", "paint");
  const lying = (shape: Shape, at: Vec3): Shape => moved(rotated(shape, [1, 0, 0], 90), at);
  const hullShape = lying(lathe(profileCurve([[0.001, -0.86], [0.1, -0.8], [0.24, -0.5], [0.31, 0], [0.29, 0.42], [0.17, 0.72], [0.001, 0.8]], 7), 52), [0, 0.4, 0]);
  const hole = (z: number): readonly [Shape, Shape] => [moved(rotated(ring([0, 0, 0], 0.075, 0.018, 32, 10), [0, 0, 1], 90), [0.292, 0.46, z]), ball([0.28, 0.46, z], [0.03, 0.07, 0.07], 20)];
  const holes = [-0.24, 0.06, 0.34].map(hole);
  const blades = merged(Array.from({ length: 4 }, (_, index) => rotated(moved(rotated(ball([0, 0, 0], [0.06, 0.14, 0.015], 16), UP, 30), [0, 0.14, 0]), [0, 0, 1], 90 * index)));
  return [
    part("Hull", paint, hullShape, box([0, 0.76, 0.02], [0.26, 0.24, 0.44], 0.09)),
    part("Fins", look.second(darker("#e8b820", 0.25), "paint"), twice(box([0.24, 0.4, -0.66], [0.26, 0.03, 0.2], 0.012)), box([0, 0.62, -0.7], [0.03, 0.3, 0.2], 0.012), box([0, 0.2, -0.7], [0.03, 0.26, 0.2], 0.012)),
    part("Rims", look.fixed("#b88746", "brass"), ...holes.map(([rim]) => twice(rim)), lying(ring([0, 0, 0], 0.315, 0.014, 48, 8), [0, 0.4, 0.08]), lying(ring([0, 0, 0], 0.275, 0.014, 48, 8), [0, 0.4, -0.42])),
    part("Glass", look.fixed("#8fd4ee", "eye"), ...holes.map(([, pane]) => twice(pane))),
    part("Periscope", look.fixed("#5b5e66", "iron"), tube(curve([[0, 0.84, 0.06], [0, 1.06, 0.06], [0, 1.1, 0.1], [0, 1.1, 0.18]], 5), 0.03, { sides: 14, ends: "flat" })),
    part("Propeller", look.fixed("#b88746", "brass"), moved(blades, [0, 0.4, -0.88]), ball([0, 0.4, -0.88], 0.05, 16)),
    part("Stand", look.fixed(lighter("#5b5e66", 0.1), "iron"), ...[0.34, -0.34].map((z) => box([0, 0.06, z], [0.4, 0.12, 0.06], 0.02))),
  ];
}
