/** What can be eaten. */
import { darker, lighter, type Colour } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, scaled, tinted, type Shape } from "../kit/shape.ts";
import { refined } from "../kit/refine.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { step, UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { petal } from "./plants.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const FOOD: Readonly<Record<string, Thing>> = {
  apple: { metres: 0.08, isAlive: true, build: buildApple },
  pumpkin: { metres: 0.3, isAlive: true, build: buildPumpkin },
  banana: { metres: 0.12, isAlive: true, build: buildBanana },
  strawberry: { metres: 0.04, isAlive: true, build: buildStrawberry },
  carrot: { metres: 0.15, isAlive: true, build: buildCarrot },
  donut: { metres: 0.05, build: buildDonut },
  cake: { metres: 0.2, build: buildCake },
  cupcake: { metres: 0.09, build: buildCupcake },
  cone: { metres: 0.2, build: buildIceCream },
  burger: { metres: 0.1, build: buildBurger },
  egg: { metres: 0.06, picture: "around", build: buildEgg },
  cheese: { metres: 0.1, build: buildCheese },
};

function buildApple(look: Look): readonly Part[] {
  const isGreen = look.has("green");
  const shape = bent(lathe(profileCurve([[0.001, 0.07], [0.1, 0.03], [0.2, 0.02], [0.36, 0.2], [0.43, 0.46], [0.38, 0.7], [0.24, 0.8], [0.1, 0.77], [0.001, 0.68]], 7), 60), ([x, y, z]) => {
    const lobe = 1 + 0.022 * Math.cos(5 * Math.atan2(x, z)) * (y < 0.3 ? 1.5 : 0.7);
    return [x * lobe, y, z * lobe];
  });
  const blushed = tinted(shape, ([x, y, z]) => {
    const blush = step(-0.2, 0.7, look.noise.solid(x * 2, y * 2 + 5, z * 2, 3) + 0.3 * (0.6 - y));
    return isGreen ? [0.8 + 0.2 * blush, 1, 0.8] : [1, 1 - 0.35 * blush, 1 - 0.45 * blush];
  });
  return [
    part("Apple", look.main("#d0332f", "ceramic"), blushed),
    part("Stem", look.fixed("#5b3a22", "bark"), tube(curve([[0, 0.68, 0], [0.01, 0.82, 0], [0.06, 0.94, 0.01]], 5), (share) => 0.018 + 0.008 * share, { sides: 10 })),
    part("Leaf", sheet(look.fixed("#4f9a3e", "skin")), rotated(moved(petal(0.3, 0.16, 0.32), [0, 0.8, 0.02]), UP, 70)),
  ];
}

function buildPumpkin(look: Look): readonly Part[] {
  const ribs = 10;
  const shape = bent(lathe(profileCurve([[0.001, 0.05], [0.16, 0.01], [0.36, 0.08], [0.5, 0.3], [0.47, 0.54], [0.3, 0.68], [0.12, 0.67], [0.001, 0.6]], 7), ribs * 10), ([x, y, z]) => {
    const swell = 0.9 + 0.13 * Math.abs(Math.sin((ribs / 2) * Math.atan2(x, z))) ** 0.7;
    return [x * swell, y, z * swell];
  });
  const parts = [
    part("Pumpkin", look.main("#e0752a", "skin"), shape),
    part("Stem", look.fixed("#5f7a35", "bark"), tube(curve([[0, 0.58, 0], [0.01, 0.74, 0], [0.09, 0.84, 0.02]], 5), (share) => 0.075 - 0.035 * share, { sides: 10 })),
    part("Leaf", sheet(look.fixed("#4f8a3a", "skin")), rotated(moved(petal(0.34, 0.28, 0.16), [0, 0.62, 0.06]), UP, 60)),
  ];
  if (!look.has("halloween", "lantern", "jack", "scary", "carved", "face")) return parts;
  const cut = (outline: readonly Vec2[]): Shape => bent(refined(prism(outline, { depth: 0.02 }), 0.025), ([x, y, z]) => wrapped(x, y, z));
  const eye = cut([[0.1, 0.4], [0.24, 0.4], [0.18, 0.53]]);
  const nose = cut([[-0.035, 0.33], [0.035, 0.33], [0, 0.39]]);
  const mouth = cut([[-0.27, 0.29], [-0.18, 0.2], [-0.09, 0.16], [-0.07, 0.21], [0, 0.2], [0.02, 0.15], [0.12, 0.16], [0.2, 0.21], [0.27, 0.29], [0.17, 0.26], [0.14, 0.22], [0.09, 0.24], [-0.06, 0.25], [-0.09, 0.27], [-0.14, 0.24]]);
  return [...parts, part("Face", look.fixed("#ffd24a", "neon"), eye, scaled(eye, [-1, 1, 1]), nose, mouth)];
}

/** A flat face laid onto the pumpkin's front. */
function wrapped(x: number, y: number, z: number): Vec3 {
  const radius = 0.47 * Math.sqrt(Math.max(0, 1 - ((y - 0.36) / 0.36) ** 2)) ** 0.8;
  const angle = x / 0.48;
  const swell = 0.9 + 0.13 * Math.abs(Math.sin(5 * angle)) ** 0.7;
  const out = (radius + 0.036) * swell + z;
  return [out * Math.sin(angle), y, out * Math.cos(angle)];
}

function buildBanana(look: Look): readonly Part[] {
  const fruit = (turn: number): Shape => {
    const path = Array.from({ length: 21 }, (_, index): Vec3 => {
      const angle = -0.35 + 1.75 * (index / 20);
      return [0, 0.62 - 0.55 * Math.cos(angle), 0.55 * Math.sin(angle)];
    });
    return rotated(tube(path, (share) => 0.11 * Math.sin(Math.PI * (0.1 + 0.82 * share)) ** 0.55, { sides: 10 }), UP, turn);
  };
  const fruits = [-22, 0, 22].map(fruit);
  const ends = [-22, 0, 22].map((turn) => rotated(ball([0, 0.525, 0.56], [0.028, 0.03, 0.028], 10), UP, turn));
  return [
    part("Bananas", look.main("#f4d03a", "skin"), ...fruits),
    part("Stems", look.fixed("#6b5a2a", "bark"), ball([0, 0.12, -0.21], [0.09, 0.05, 0.07], 16), ...ends),
  ];
}

function buildStrawberry(look: Look): readonly Part[] {
  const shape = lathe(profileCurve([[0.001, 0], [0.08, 0.03], [0.28, 0.34], [0.36, 0.62], [0.3, 0.8], [0.12, 0.86], [0.001, 0.86]], 7), 48);
  const seeds: Shape[] = [];
  for (let row = 0; row < 7; row += 1) {
    const y = 0.12 + 0.1 * row;
    const radius = [0.125, 0.2, 0.26, 0.31, 0.345, 0.36, 0.335][row] ?? 0.3;
    const count = 5 + row * 2;
    for (let index = 0; index < count; index += 1) {
      const angle = ((index + (row % 2) / 2) * 2 * Math.PI) / count;
      seeds.push(ball([radius * Math.sin(angle), y, radius * Math.cos(angle)], [0.012, 0.02, 0.012], 6));
    }
  }
  return [
    part("Berry", look.main("#d6232f", "ceramic"), shape),
    part("Seeds", look.fixed("#f2d47a", "matt"), ...seeds),
    part("Leaves", sheet(look.fixed("#4f9a3e", "skin")), around(moved(petal(0.3, 0.15, 0.12), [0, 0.865, 0.02]), 7), rod([0, 0.85, 0], [0.02, 1.02, 0], 0.018)),
  ];
}

function buildCarrot(look: Look): readonly Part[] {
  const root = lathe(Array.from({ length: 41 }, (_, index): Vec2 => {
    const share = index / 40;
    return [index === 0 || index === 40 ? 0.001 : 0.04 + 0.17 * share ** 0.7 - (index % 6 === 0 ? 0.008 : 0) - (share > 0.93 ? 0.06 : 0), 0.85 * share];
  }), 32);
  const fronds = Array.from({ length: 12 }, (_, index) => {
    const angle = index * 2.39996;
    const lean = 0.08 + 0.02 * index;
    return tube(curve([[0, 0.84, 0], [lean * 0.5 * Math.sin(angle), 1.02, lean * 0.5 * Math.cos(angle)], [lean * 1.3 * Math.sin(angle), 1.16 + 0.04 * (index % 3), lean * 1.3 * Math.cos(angle)]], 5), (share) => 0.012 + 0.03 * Math.sin(Math.PI * Math.min(1, share * 1.1)) * share, { sides: 8 });
  });
  return [part("Carrot", look.main("#ee7f22", "skin"), root), part("Leaves", look.fixed("#4f9a3e", "skin"), ...fronds)];
}

function sprinkles(look: Look, count: number, place: (turn: number, share: number) => { readonly at: Vec3; readonly turn: number }): readonly Part[] {
  const colours: readonly Colour[] = ["#f7f4ea", "#5fc8e8", "#f6d24a", "#8fd05f"];
  const bits: Shape[][] = colours.map(() => []);
  for (let index = 0; index < count; index += 1) {
    const { at, turn } = place(look.roll(0, 2 * Math.PI), look.roll(0, 1));
    const bit = rotated(tube([[-0.022, 0, 0], [0.022, 0, 0]], 0.009, { sides: 6 }), UP, turn);
    bits[index % colours.length]?.push(moved(bit, at));
  }
  return bits.map((shapes, index) => part(`Sprinkles ${index + 1}`, look.fixed(colours[index] ?? "#ffffff", "plastic"), ...shapes));
}

function buildDonut(look: Look): readonly Part[] {
  const dough = ring([0, 0.19, 0], 0.34, 0.19, 64, 28);
  const icing = surface(96, 22, (u, v) => {
    const angle = 2 * Math.PI * u;
    const edge = 0.12 * Math.sin(7 * angle + 0.6) + 0.07 * Math.sin(11 * angle);
    const turn = -0.28 + edge * 0.6 + (Math.PI + 0.56 - edge * 0.3) * v;
    const swell = 0.2 + 0.012 * Math.sin(Math.PI * v);
    const reach = 0.34 + swell * Math.cos(turn);
    return [reach * Math.sin(angle), 0.19 + swell * Math.sin(turn), reach * Math.cos(angle)];
  }, { around: true });
  const bits = sprinkles(look, 90, (turn, share) => {
    const lift = 0.5 + 2.1 * share;
    const reach = 0.34 + 0.214 * Math.cos(lift);
    return { at: [reach * Math.sin(turn), 0.19 + 0.214 * Math.sin(lift), reach * Math.cos(turn)], turn: (turn * 1_237) % 360 };
  });
  return [part("Dough", look.fixed("#d39a55", "crumb"), dough), part("Icing", sheet(look.main(look.finish === "chocolate" ? "#53301d" : "#f07fae", "ceramic")), icing), ...bits];
}

function buildCake(look: Look): readonly Part[] {
  const icing = look.main("#f7b8cc", "ceramic");
  const tier = (low: number, radius: number, high: number): Shape => lathe([[0.001, low], [radius, low], [radius, low + high - 0.03], [radius - 0.025, low + high], [0.001, low + high]], 64, 50);
  const drip = (level: number, radius: number, count: number): Shape => merged(Array.from({ length: count }, (_, index) => {
    const angle = (index * 2 * Math.PI) / count;
    const [x, z] = [radius * Math.sin(angle), radius * Math.cos(angle)];
    return tube([[x, level - 0.01, z], [x, level - look.roll(0.05, 0.14), z]], 0.026, { sides: 8 });
  }));
  const swirls = (level: number, radius: number, count: number): Shape => around(moved(lathe(profileCurve([[0.001, 0], [0.05, 0], [0.052, 0.025], [0.03, 0.06], [0.001, 0.09]], 4), 14), [0, level, radius]), count);
  const candles = Array.from({ length: 5 }, (_, index) => {
    const angle = index * 1.2566;
    return [0.15 * Math.sin(angle), 0.15 * Math.cos(angle)] as const;
  });
  return [
    part("Lower tier", look.fixed("#fff3e2", "ceramic"), tier(0.05, 0.48, 0.34)),
    part("Upper tier", icing, tier(0.39, 0.32, 0.28), lathe([[0.001, 0.385], [0.485, 0.385], [0.49, 0.375], [0.47, 0.36], [0.001, 0.36]], 64), drip(0.385, 0.478, 22)),
    part("Cream", look.second("#ffffff", "ceramic"), swirls(0.39, 0.4, 18), swirls(0.67, 0.26, 13), drip(0.668, 0.318, 16), lathe([[0.001, 0.665], [0.325, 0.665], [0.33, 0.655], [0.31, 0.645], [0.001, 0.645]], 56)),
    part("Candles", look.fixed("#5fb8e8", "wax"), ...candles.map(([x, z]) => rod([x, 0.66, z], [x, 0.86, z], 0.018))),
    part("Flames", look.fixed("#ffb347", "neon"), ...candles.map(([x, z]) => moved(lathe(profileCurve([[0.001, 0], [0.02, 0.025], [0.001, 0.075]], 4), 12), [x, 0.87, z]))),
    part("Plate", look.fixed("#f2efe8", "ceramic"), lathe(profileCurve([[0.001, 0], [0.3, 0], [0.58, 0.035], [0.6, 0.05], [0.001, 0.05]], 4), 56)),
  ];
}

function buildCupcake(look: Look): readonly Part[] {
  const pleats = 30;
  const paper = bent(lathe([[0.001, 0], [0.24, 0], [0.34, 0.36], [0.325, 0.36], [0.001, 0.34]], pleats * 4), ([x, y, z]) => {
    const fold = y < 0.34 || Math.hypot(x, z) > 0.2 ? 1 + 0.03 * Math.cos(pleats * Math.atan2(x, z)) : 1;
    return [x * fold, y, z * fold];
  });
  const swirl = tube(Array.from({ length: 120 }, (_, index): Vec3 => {
    const share = index / 119;
    const [angle, reach] = [share * 2 * Math.PI * 3.6, 0.24 * (1 - share) ** 0.8];
    return [reach * Math.sin(angle), 0.42 + 0.42 * share, reach * Math.cos(angle)];
  }), (share) => 0.125 * (1 - share) ** 0.5 + 0.02, { sides: 14 });
  const bits = sprinkles(look, 44, (turn, share) => {
    const reach = 0.36 * (1 - share) ** 0.9 + 0.01;
    return { at: [reach * Math.sin(turn), 0.44 + 0.4 * share, reach * Math.cos(turn)], turn: (turn * 991) % 360 };
  });
  return [
    part("Paper", look.second("#6fb8c9", "matt"), paper),
    part("Sponge", look.fixed("#c98f4e", "crumb"), lathe(profileCurve([[0.001, 0.33], [0.33, 0.34], [0.34, 0.4], [0.22, 0.46], [0.001, 0.48]], 4), 44)),
    part("Cream", look.main("#f7a8c4", "ceramic"), swirl),
    ...bits,
    part("Cherry", look.fixed("#c4162a", "ceramic"), ball([0, 0.93, 0], 0.075, 24), tube(curve([[0, 0.99, 0], [0.02, 1.08, 0], [0.08, 1.14, 0]], 4), 0.008, { sides: 6 })),
  ];
}

function buildIceCream(look: Look): readonly Part[] {
  const wafer = bent(lathe([[0.001, 0], [0.03, 0.02], [0.24, 0.72], [0.25, 0.76], [0.23, 0.76], [0.001, 0.7]], 64), ([x, y, z]) => {
    const angle = Math.atan2(x, z);
    const grid = Math.max(Math.cos(8 * angle + 22 * y), Math.cos(8 * angle - 22 * y));
    const swell = y < 0.74 ? 1 + 0.035 * step(0.75, 1, grid) : 1;
    return [x * swell, y, z * swell];
  });
  const scoop = (at: Vec3, size: number): Shape => bent(ball(at, size, 48), (point) => {
    const [x, y, z] = point;
    const rough = 1 + 0.05 * look.noise.solid(x * 7, y * 7, z * 7, 2);
    const hem = y < at[1] - size * 0.35 ? 1 + 0.1 * Math.abs(Math.sin(6 * Math.atan2(x - at[0], z - at[2]))) : 1;
    return [at[0] + (x - at[0]) * rough * hem, Math.max(y, at[1] - size * 0.55), at[2] + (z - at[2]) * rough * hem];
  });
  const flavour = look.has("chocolate") ? "#6b4026" : look.has("strawberry") ? "#f59ab5" : look.has("mint", "pistachio") ? "#a8dcb4" : "#fbeecb";
  return [
    part("Wafer", look.fixed("#d9a055", "crumb"), wafer),
    part("Lower scoop", look.main(flavour, "matt"), scoop([0, 0.86, 0], 0.25)),
    part("Upper scoop", look.second("#f59ab5", "matt"), scoop([0.01, 1.15, 0], 0.21)),
    part("Cherry", look.fixed("#c4162a", "ceramic"), ball([0.02, 1.4, 0], 0.06, 20)),
    part("Holder", look.fixed("#8d9298", "steel"), ring([0, 0.46, 0], 0.175, 0.014, 44, 8), around(tube(curve([[0, 0.46, 0.18], [0, 0.3, 0.26], [0, 0.0, 0.3]], 5), 0.014, { sides: 8 }), 3), ring([0, 0.014, 0], 0.3, 0.014, 48, 8)),
  ];
}

function buildBurger(look: Look): readonly Part[] {
  const wavy = (level: number, radius: number, high: number, waves: number, thick: number): Shape => surface(120, 10, (u, v) => {
    const [angle, turn] = [2 * Math.PI * u, 2 * Math.PI * v];
    const lift = high * Math.sin(waves * angle);
    const reach = radius * (0.84 + 0.16 * Math.cos(turn));
    return [reach * Math.sin(angle), level + lift * (0.5 + 0.5 * Math.cos(turn)) + thick * Math.sin(turn), reach * Math.cos(angle)];
  }, { around: true });
  const seeds = Array.from({ length: 46 }, (_, index) => {
    const [share, angle] = [Math.sqrt((index + 0.5) / 46) * 0.86, index * 2.39996];
    const reach = 0.44 * share;
    return moved(rotated(ball([0, 0, 0], [0.014, 0.01, 0.022], 8), UP, (angle * 300) % 360), [reach * Math.sin(angle), 0.46 + 0.29 * Math.sqrt(Math.max(0, 1 - share * share)), reach * Math.cos(angle)]);
  });
  const slice = bent(box([0, 0.315, 0], [0.82, 0.022, 0.82], 0.006), ([x, y, z]) => [x, y - 0.12 * Math.max(0, Math.hypot(x, z) - 0.44), z]);
  return [
    part("Bun", look.main("#d0893f", "glaze"), lathe(profileCurve([[0.001, 0.455], [0.4, 0.45], [0.455, 0.49], [0.42, 0.6], [0.28, 0.71], [0.001, 0.755]], 6), 56), lathe(profileCurve([[0.001, 0], [0.38, 0], [0.44, 0.04], [0.45, 0.13], [0.42, 0.155], [0.001, 0.155]], 4), 56)),
    part("Seeds", look.fixed("#f8ecc8", "matt"), ...seeds),
    part("Patty", look.fixed("#5b3420", "earth"), lathe(profileCurve([[0.001, 0.2], [0.42, 0.2], [0.465, 0.245], [0.42, 0.3], [0.001, 0.3]], 4), 56)),
    part("Cheese", look.second("#f6b42a", "plastic"), rotated(slice, UP, 20)),
    part("Lettuce", look.fixed("#7fbf45", "skin"), wavy(0.175, 0.47, 0.03, 13, 0.012)),
    part("Tomato", look.fixed("#d23a2c", "ceramic"), lathe(profileCurve([[0.001, 0.335], [0.41, 0.335], [0.43, 0.36], [0.41, 0.385], [0.001, 0.385]], 3), 48)),
    part("Onion", look.fixed(lighter("#c48fc0", 0.5), "ceramic"), wavy(0.415, 0.42, 0.012, 9, 0.014)),
  ];
}

function buildEgg(look: Look): readonly Part[] {
  const isEaster = look.has("easter", "painted", "decorated");
  const shell = lathe(profileCurve([[0.001, 0.08], [0.16, 0.1], [0.33, 0.3], [0.37, 0.5], [0.3, 0.82], [0.14, 1.04], [0.001, 1.08]], 8), 60);
  const cup = lathe(profileCurve([[0.001, 0], [0.22, 0], [0.23, 0.03], [0.1, 0.08], [0.1, 0.12], [0.3, 0.2], [0.355, 0.34], [0.335, 0.35], [0.27, 0.22], [0.001, 0.14]], 5), 48);
  const bands = [0.42, 0.58, 0.74].map((y, index) => {
    const radius = [0.362, 0.365, 0.326][index] ?? 0.3;
    return tube(Array.from({ length: 97 }, (_, at): Vec3 => {
      const angle = (2 * Math.PI * (at % 96)) / 96;
      return [radius * 1.012 * Math.sin(angle), y + 0.025 * Math.sin(10 * angle), radius * 1.012 * Math.cos(angle)];
    }), 0.012, { sides: 8 });
  });
  return [
    part("Egg", look.main(isEaster ? "#6fc0d8" : "#f2dcc2", "ceramic"), shell),
    part("Cup", look.second("#7f9fb8", "ceramic"), cup),
    ...(isEaster ? [part("Bands", look.fixed("#f6d24a", "ceramic"), ...bands)] : []),
  ];
}

function buildCheese(look: Look): readonly Part[] {
  const half = 0.44;
  const rind: Vec2[] = Array.from({ length: 13 }, (_, index) => {
    const angle = -half + (2 * half * index) / 12;
    return [1.1 * Math.sin(angle), 1.1 * Math.cos(angle)] as const;
  });
  // Lying down, its point to the front.
  const wedge = moved(rotated(prism([[0, 0], ...rind.toReversed()], { depth: 0.5, bevel: 0.02 }), [1, 0, 0], -90), [0, 0.25, 0.6]);
  const holes = Array.from({ length: 8 }, (_, index) => {
    const along = 0.24 + 0.1 * index;
    const at: Vec3 = [along * Math.sin(half), 0.1 + 0.3 * ((index * 0.618) % 1), 0.6 - along * Math.cos(half)];
    const size = 0.035 + 0.025 * ((index * 0.37) % 1);
    return moved(rotated(ball([0, 0, 0], [size, size, 0.012], 20), UP, 90 - (half * 180) / Math.PI + 50.4), at);
  });
  const skin = look.main("#f4c142", "plastic");
  return [part("Cheese", skin, wedge), part("Holes", look.fixed(darker("#f4c142", 0.3), "matt"), ...holes, ...holes.map((shape) => scaled(shape, [-1, 1, 1])))];
}
