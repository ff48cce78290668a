/** What is turned on a wheel or a lathe, mostly to hold something. */
import { darker, type Colour } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, scaled, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const VESSELS: Readonly<Record<string, Thing>> = {
  cup: { metres: 0.1, picture: "around", build: buildCup },
  vase: { metres: 0.35, picture: "around", build: buildVase },
  bottle: { metres: 0.3, picture: "around", build: buildBottle },
  teapot: { metres: 0.16, picture: "around", build: buildTeapot },
  bowl: { metres: 0.12, picture: "around", build: buildBowl },
  goblet: { metres: 0.2, picture: "around", build: buildGoblet },
  glass: { metres: 0.13, picture: "around", build: buildTumbler },
  trophy: { metres: 0.4, build: buildTrophy },
  bell: { metres: 0.2, build: buildBell },
  candle: { metres: 0.2, picture: "around", build: buildCandle },
  lantern: { metres: 0.35, build: buildLantern },
  barrel: { metres: 0.9, picture: "around", build: buildBarrel },
  pawn: { metres: 0.05, build: (look) => buildChess(look, "pawn") },
  king: { metres: 0.1, build: (look) => buildChess(look, "king") },
  queen: { metres: 0.09, build: (look) => buildChess(look, "queen") },
};

/** Outside from the foot to the rim, then a wall's thickness inwards and down again. */
function hollow(outside: readonly Vec2[], wall: number, floor: number): Vec2[] {
  const rim = outside.at(-1) ?? [0, 0];
  const inside = outside
    .filter(([r, y]) => y > floor && r > 2 * wall)
    .map(([r, y]) => [r - wall, y] as const)
    .toReversed();
  return [[0.001, outside[0]?.[1] ?? 0], ...outside, [rim[0] - wall * 0.3, rim[1] + wall * 0.4], [rim[0] - wall * 0.7, rim[1] + wall * 0.4], ...inside, [0.001, floor]];
}

function liquid(radius: number, height: number): Shape {
  return lathe([[radius * 1.0, height - 0.004], [radius * 0.9, height], [0.001, height]], 40, 80);
}

function buildCup(look: Look): readonly Part[] {
  const wall = profileCurve([[0.3, 0], [0.33, 0.02], [0.36, 0.12], [0.38, 0.4], [0.385, 0.82]], 6);
  const handle = tube(curve([[0.35, 0.68, 0], [0.52, 0.72, 0], [0.62, 0.52, 0], [0.55, 0.28, 0], [0.35, 0.18, 0]], 8), 0.048, { sides: 16, flatness: 1, side: [0, 0, 1] });
  const isTea = look.has("tea");
  const isMilky = look.has("latte", "cappuccino", "milk", "cocoa");
  const drink: Colour = isTea ? "#a5561f" : isMilky ? "#a97748" : "#3a2115";
  const parts = [
    part("Cup", look.main("#e9e4da", "ceramic"), lathe(hollow(wall, 0.035, 0.05), 56), handle),
    part("Drink", look.fixed(drink, "eye"), liquid(0.35, 0.72)),
  ];
  if (isMilky) parts.push(part("Foam", look.fixed("#f3e4cd", "matt"), moved(scaled(ball([0, 0, 0], 0.3, 28), [1, 0.12, 1]), [0, 0.715, 0])));
  if (look.has("saucer", "tea", "cappuccino", "espresso")) {
    parts.push(part("Saucer", look.second("#e9e4da", "ceramic"), moved(lathe(profileCurve([[0.001, -0.02], [0.3, -0.02], [0.5, 0.03], [0.62, 0.09], [0.61, 0.105], [0.48, 0.06], [0.3, 0.005], [0.001, 0.005]], 4), 56), [0, -0.006, 0])));
  }
  return parts;
}

const VASES: readonly [readonly Vec2[], ...(readonly Vec2[])[]] = [
  [[0.15, 0], [0.18, 0.02], [0.3, 0.28], [0.33, 0.48], [0.26, 0.7], [0.13, 0.84], [0.12, 0.92], [0.19, 1]],
  [[0.2, 0], [0.22, 0.02], [0.2, 0.1], [0.33, 0.36], [0.3, 0.6], [0.14, 0.76], [0.13, 0.9], [0.24, 1]],
  [[0.17, 0], [0.19, 0.02], [0.2, 0.2], [0.24, 0.5], [0.33, 0.8], [0.3, 0.94], [0.26, 1]],
  [[0.12, 0], [0.16, 0.02], [0.34, 0.22], [0.36, 0.34], [0.24, 0.5], [0.1, 0.62], [0.085, 0.86], [0.14, 1]],
];

function buildVase(look: Look): readonly Part[] {
  const profile = profileCurve(look.random.pick(VASES), 7);
  const isRibbed = look.random.below(3) === 0;
  const shape = lathe(hollow(profile, 0.022, 0.04), 72);
  const ribbed = isRibbed
    ? bent(shape, ([x, y, z]) => {
        const swell = 1 + 0.035 * Math.abs(Math.sin(9 * Math.atan2(x, z)));
        return [x * swell, y, z * swell];
      })
    : shape;
  const bands = [0.34, 0.4].map((share) => {
    const [r, y] = profile[Math.round(share * (profile.length - 1))] ?? [0.3, 0.4];
    return ring([0, y, 0], r * (isRibbed ? 1.03 : 1) + 0.001, 0.009, 56, 8);
  });
  const parts = [
    part("Vase", look.main("#3f78b5", "glaze"), ribbed),
    part("Bands", look.second("#e2b64a", "gold"), ...bands),
  ];
  if (!look.has("flower", "flowers", "bouquet", "roses", "tulips", "rose", "tulip")) return parts;
  return [...parts, ...bouquet(look)];
}

/** Half of the flowers have the first colour. */
const HEADS = [0, 1, 0, 2];

function bouquet(look: Look): readonly Part[] {
  const stems: Shape[] = [];
  const heads: Shape[][] = [[], [], []];
  for (let index = 0; index < 12; index += 1) {
    const [angle, lean] = [index * 2.39996, 0.08 + 0.028 * index];
    const tip: Vec3 = [lean * Math.sin(angle), 1.55 - 0.03 * index + look.roll(-0.04, 0.04), lean * Math.cos(angle)];
    stems.push(tube(curve([[0, 0.1, 0], [lean * 0.18 * Math.sin(angle), 1, lean * 0.18 * Math.cos(angle)], tip], 6), 0.01, { sides: 6 }));
    const bloom = around(moved(scaled(ball([0, 0, 0], 1, 10), [0.036, 0.022, 0.062]), [0, 0.012, 0.055]), 7);
    const head = merged([bloom, moved(rotated(scaled(bloom, 0.72), UP, 25), [0, 0.026, 0]), ball([0, 0.04, 0], [0.03, 0.024, 0.03], 10)]);
    const tilt = rotated(rotated(head, [1, 0, 0], 20 + 4 * index), UP, (angle * 180) / Math.PI);
    heads[HEADS[index % HEADS.length] ?? 0]?.push(moved(tilt, tip));
  }
  const colours = ["#e0557f", "#f2a33c", "#fdf4ea"];
  return [
    part("Stems", look.fixed("#4d8f3c", "skin"), ...stems),
    ...heads.map((shapes, index) => part(`Flowers ${index + 1}`, (index === 0 ? look.content : look.fixed)(colours[index] ?? "#ffffff", "skin"), ...shapes)),
  ];
}

function buildBottle(look: Look): readonly Part[] {
  const profile = profileCurve([[0.15, 0], [0.165, 0.02], [0.17, 0.12], [0.17, 0.52], [0.15, 0.64], [0.07, 0.75], [0.055, 0.82], [0.055, 0.94]], 6);
  const lip = ring([0, 0.925, 0], 0.06, 0.012, 32, 8);
  const label = lathe([[0.1712, 0.2], [0.1722, 0.202], [0.1722, 0.448], [0.1712, 0.45]], 56);
  const cork = lathe([[0.001, 0.88], [0.045, 0.88], [0.05, 0.98], [0.046, 0.995], [0.001, 0.995]], 24);
  return [
    part("Bottle", look.main("#2f7a4a", "glass"), lathe(hollow(profile, 0.012, 0.03), 56), lip),
    part("Label", look.second("#f3ead6", "plaster"), label),
    part("Cork", look.fixed("#b98a55", "wood"), cork),
  ];
}

function buildTeapot(look: Look): readonly Part[] {
  const belly = profileCurve([[0.001, 0.0], [0.2, 0.0], [0.24, 0.03], [0.37, 0.18], [0.4, 0.34], [0.34, 0.5], [0.22, 0.58], [0.2, 0.6]], 6);
  const lid = profileCurve([[0.24, 0.585], [0.245, 0.6], [0.2, 0.64], [0.1, 0.68], [0.03, 0.695], [0.028, 0.72], [0.055, 0.75], [0.05, 0.79], [0.001, 0.8]], 5);
  const spout = tube(curve([[0.3, 0.2, 0], [0.48, 0.26, 0], [0.54, 0.42, 0], [0.66, 0.57, 0]], 7), (share) => 0.098 - 0.058 * share, { sides: 24, ends: "flat" });
  const handle = tube(curve([[-0.32, 0.48, 0], [-0.5, 0.52, 0], [-0.62, 0.38, 0], [-0.54, 0.2, 0], [-0.36, 0.16, 0]], 8), 0.042, { sides: 16 });
  const band = ring([0, 0.34, 0], 0.4, 0.009, 64, 8);
  return [
    part("Teapot", look.main("#c9543f", "ceramic"), lathe(belly, 64), spout, handle),
    part("Lid", look.main("#c9543f", "ceramic"), lathe(lid, 48)),
    part("Band", look.second("#f2e4c8", "ceramic"), band, ring([0, 0.6, 0], 0.205, 0.012, 48, 8)),
  ];
}

function buildBowl(look: Look): readonly Part[] {
  const profile = profileCurve([[0.2, 0], [0.22, 0.05], [0.21, 0.07], [0.38, 0.2], [0.5, 0.42]], 7);
  const fruits: readonly (readonly [Vec3, number, Colour])[] = [[[0.02, 0.33, 0.16], 0.17, "#c9252c"], [[-0.18, 0.34, -0.06], 0.17, "#f08a24"], [[0.2, 0.34, -0.1], 0.165, "#7fb23a"], [[0.0, 0.5, -0.02], 0.15, "#e8b02e"]];
  const parts = [part("Bowl", look.main("#5d8f9c", "glaze"), lathe(hollow(profile, 0.028, 0.09), 64))];
  if (!look.has("fruit", "fruits", "apples", "oranges", "filled")) return parts;
  return [...parts, ...fruits.map(([at, size, colour], index) => part(`Fruit ${index + 1}`, look.fixed(colour, "plastic"), ball(at, size, 24)))];
}

function buildGoblet(look: Look): readonly Part[] {
  const foot = profileCurve([[0.001, 0], [0.24, 0], [0.245, 0.015], [0.1, 0.045], [0.035, 0.09], [0.028, 0.3], [0.03, 0.42]], 5);
  const cup = profileCurve([[0.03, 0.42], [0.14, 0.47], [0.235, 0.6], [0.245, 0.76], [0.2, 1]], 6);
  const inside = cup.map(([r, y]) => [Math.max(0.001, r - 0.014), y + 0.012] as const).toReversed();
  return [
    part("Goblet", look.main("#eaf6f6", "glass"), lathe([...foot, ...cup.slice(1), ...inside], 56)),
    part("Wine", look.second("#6d0f2a", "eye"), lathe([...profileCurve([[0.001, 0.445], [0.1, 0.465], [0.2, 0.57], [0.226, 0.67]], 5), [0.001, 0.672]], 48)),
  ];
}

function buildTumbler(look: Look): readonly Part[] {
  const profile: readonly Vec2[] = [[0.24, 0], [0.255, 0.02], [0.27, 0.3], [0.29, 0.74]];
  return [
    part("Glass", look.main("#eaf6f6", "glass"), lathe(hollow(profileCurve(profile, 4), 0.02, 0.07), 56)),
    part("Water", look.second("#a9d6ea", "eye"), lathe([[0.001, 0.075], [0.225, 0.075], [0.24, 0.3], [0.252, 0.52], [0.001, 0.522]], 48)),
  ];
}

function buildTrophy(look: Look): readonly Part[] {
  const cup = profileCurve([[0.03, 0.38], [0.06, 0.42], [0.2, 0.55], [0.25, 0.72], [0.27, 0.94]], 6);
  const foot = profileCurve([[0.001, 0.2], [0.16, 0.2], [0.15, 0.225], [0.06, 0.26], [0.03, 0.32], [0.055, 0.345], [0.03, 0.38]], 5);
  const inside = cup.map(([r, y]) => [Math.max(0.001, r - 0.02), y + 0.006] as const).toReversed();
  const handle = tube(curve([[0.25, 0.86, 0], [0.4, 0.88, 0], [0.43, 0.74, 0], [0.33, 0.6, 0], [0.2, 0.56, 0]], 8), 0.022, { sides: 12 });
  const star = around(moved(rotated(lathe([[0.001, 0], [0.026, 0.0], [0.001, 0.075]], 4, 10), [1, 0, 0], 90), [0, 0, 0]), 1);
  const rays = merged(Array.from({ length: 5 }, (_, index) => rotated(rotated(star, [1, 0, 0], -90), [0, 0, 1], 72 * index)));
  return [
    part("Cup", look.main("#ffc95c", "gold"), lathe([...foot, ...cup.slice(1), ...inside], 56), handle, scaled(handle, [-1, 1, 1])),
    part("Star", look.second("#fff1cf", "silver"), moved(rays, [0, 0.74, 0.25])),
    part("Base", look.fixed("#2b2422", "marble"), box([0, 0.05, 0], [0.46, 0.1, 0.46], 0.016), box([0, 0.15, 0], [0.36, 0.11, 0.36], 0.014)),
    part("Plate", look.fixed("#ffc95c", "gold"), box([0, 0.15, 0.18], [0.2, 0.06, 0.012], 0.004)),
  ];
}

function buildBell(look: Look): readonly Part[] {
  const outside = profileCurve([[0.42, 0], [0.4, 0.04], [0.32, 0.16], [0.27, 0.4], [0.22, 0.55], [0.1, 0.63], [0.001, 0.65]], 6);
  const inside = profileCurve([[0.001, 0.6], [0.09, 0.58], [0.19, 0.51], [0.24, 0.38], [0.29, 0.15], [0.38, 0]], 6);
  return [
    part("Bell", look.main("#d8a04a", "brass"), lathe([...inside, ...outside], 64)),
    part("Clapper", look.second("#6b5436", "iron"), rod([0, 0.58, 0], [0, 0.1, 0], 0.02), ball([0, 0.07, 0], 0.075, 20)),
    part("Handle", look.fixed("#7a4a2c", "wood"), lathe(profileCurve([[0.001, 0.64], [0.05, 0.64], [0.035, 0.7], [0.065, 0.84], [0.06, 0.96], [0.001, 1]], 5), 28)),
  ];
}

function buildCandle(look: Look): readonly Part[] {
  const wax = profileCurve([[0.001, 0.05], [0.15, 0.05], [0.152, 0.1], [0.15, 0.62], [0.145, 0.66], [0.12, 0.65], [0.05, 0.63], [0.001, 0.63]], 4);
  const drips = Array.from({ length: 7 }, (_, index) => {
    const angle = index * 0.9 + look.roll(0, 0.3);
    const [x, z] = [0.148 * Math.sin(angle), 0.148 * Math.cos(angle)];
    return tube([[x, 0.64, z], [x, 0.64 - look.roll(0.08, 0.3), z]], (share) => 0.016 + 0.008 * share, { sides: 8 });
  });
  const flame = lathe(profileCurve([[0.001, 0.68], [0.035, 0.72], [0.045, 0.77], [0.025, 0.86], [0.001, 0.93]], 6), 20);
  const holder = profileCurve([[0.001, 0], [0.26, 0], [0.34, 0.05], [0.335, 0.065], [0.24, 0.025], [0.19, 0.03], [0.175, 0.1], [0.16, 0.1], [0.155, 0.05], [0.001, 0.05]], 4);
  return [
    part("Wax", look.main("#f3ead6", "wax"), lathe(wax, 44), ...drips),
    part("Flame", look.fixed("#ffb347", "neon"), flame),
    part("Wick", look.fixed("#2a2018", "matt"), rod([0, 0.62, 0], [0, 0.7, 0], 0.008)),
    part("Holder", look.second("#c9a15f", "brass"), lathe(holder, 48), moved(rotated(ring([0, 0, 0], 0.075, 0.016, 28, 10), [1, 0, 0], 90), [0.4, 0.07, 0])),
  ];
}

function buildLantern(look: Look): readonly Part[] {
  const frame = [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([x = 0, z = 0]) => rod([0.17 * x, 0.1, 0.17 * z], [0.17 * x, 0.62, 0.17 * z], 0.016));
  const roof = lathe([[0.27, 0.62], [0.28, 0.64], [0.09, 0.8], [0.09, 0.84], [0.05, 0.88], [0.001, 0.88]], 4, 30);
  const panes = [0, 90, 180, 270].map((turn) => rotated(box([0, 0.36, 0.17], [0.31, 0.5, 0.008], 0), UP, turn));
  const hook = moved(rotated(ring([0, 0, 0], 0.1, 0.012, 32, 8), [1, 0, 0], 90), [0, 0.97, 0]);
  return [
    part("Frame", look.main("#3a3d44", "iron"), box([0, 0.05, 0], [0.44, 0.1, 0.44], 0.02), ...frame, rotated(roof, UP, 45), hook),
    part("Panes", look.fixed("#fff2d0", "glass"), ...panes),
    part("Candle", look.fixed("#f6ecd8", "wax"), rod([0, 0.1, 0], [0, 0.34, 0], 0.06)),
    part("Flame", look.second("#ffb347", "neon"), lathe(profileCurve([[0.001, 0.35], [0.035, 0.4], [0.04, 0.45], [0.02, 0.53], [0.001, 0.58]], 5), 18)),
  ];
}

function buildBarrel(look: Look): readonly Part[] {
  const staves = 16;
  const body = bent(lathe(profileCurve([[0.001, 0.03], [0.27, 0.03], [0.3, 0.0], [0.355, 0.22], [0.38, 0.45], [0.355, 0.68], [0.3, 0.9], [0.27, 0.87], [0.001, 0.87]], 5), staves * 6), ([x, y, z]) => {
    const groove = Math.abs(Math.sin((staves / 2) * Math.atan2(x, z))) < 0.14 ? 0.982 : 1;
    return [x * groove, y, z * groove];
  });
  const hoops = [0.08, 0.26, 0.64, 0.82].map((y) => {
    const r = 0.3 + 0.08 * Math.sin((Math.PI * y) / 0.9);
    return lathe([[r, y - 0.034], [r + 0.014, y - 0.03], [r + 0.014, y + 0.03], [r, y + 0.034]], 48);
  });
  return [
    part("Staves", look.main("#9c6b3f", "wood"), body),
    part("Hoops", look.second("#5b5e66", "iron"), ...hoops),
    part("Bung", look.fixed(darker("#9c6b3f", 0.3), "wood"), rod([0, 0.45, 0.36], [0, 0.45, 0.41], 0.04)),
  ];
}

function buildChess(look: Look, kind: "pawn" | "king" | "queen"): readonly Part[] {
  const top = kind === "pawn" ? 0.6 : 1.0;
  const base: readonly Vec2[] = [[0.001, 0], [0.27, 0], [0.28, 0.05], [0.26, 0.09], [0.2, 0.12], [0.21, 0.16], [0.13, 0.24]];
  const column: readonly Vec2[] = kind === "pawn" ? [[0.08, 0.42], [0.075, 0.5], [0.15, 0.53], [0.15, 0.56], [0.07, 0.58]] : [[0.095, 0.55], [0.08, 0.74], [0.18, 0.78], [0.18, 0.82], [0.1, 0.84], [0.11, 0.88], [0.19, 1.02], [0.17, 1.06]];
  const shapes = [lathe([...profileCurve([...base, ...column], 4), [0.001, top + (kind === "pawn" ? 0 : 0.08)]], 48)];
  if (kind === "pawn") shapes.push(ball([0, 0.7, 0], 0.14, 32));
  if (kind === "queen") shapes.push(around(ball([0, 1.06, 0.15], 0.04, 12), 8), ball([0, 1.13, 0], 0.07, 20));
  if (kind === "king") shapes.push(ball([0, 1.08, 0], [0.14, 0.07, 0.14], 24), box([0, 1.22, 0], [0.045, 0.2, 0.045], 0.01), box([0, 1.24, 0], [0.15, 0.045, 0.045], 0.01));
  const colour: Colour = look.has("black", "dark") ? "#2b2422" : "#e8d6b0";
  return [
    part("Piece", look.main(colour, "ceramic"), ...shapes),
    part("Felt", look.fixed("#2f6a45", "plush"), lathe([[0.001, -0.012], [0.255, -0.012], [0.26, 0], [0.001, 0]], 40)),
  ];
}
