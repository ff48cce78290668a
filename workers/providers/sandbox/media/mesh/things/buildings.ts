/** Houses, castles, towers. */
import { darker, lighter } from "../../images/colours.ts";
import { around, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, rod, surface, tube } from "../kit/surface.ts";
import { boxProjected } from "../kit/project.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const BUILDINGS: Readonly<Record<string, Thing>> = {
  house: { metres: 6, picture: "sides", build: buildHouse },
  castle: { metres: 18, build: buildCastle },
  tower: { metres: 14, build: buildTower },
  lighthouse: { metres: 16, build: buildLighthouse },
  windmill: { metres: 10, build: buildWindmill },
  church: { metres: 14, build: buildChurch },
  skyscraper: { metres: 60, picture: "sides", build: buildSkyscraper },
  tent: { metres: 2, build: buildTent },
  igloo: { metres: 2, build: buildIgloo },
  well: { metres: 2, build: buildWell },
  bridge: { metres: 4, build: buildBridge },
  temple: { metres: 8, build: buildTemple },
};

/** A window that looks along z: frame, pane, bars. */
function window(at: Vec3, wide: number, high: number): { readonly frame: Shape; readonly pane: Shape } {
  const [x, y, z] = at;
  const t = 0.022;
  const bars = [box([x - wide / 2, y, z], [t, high + t, 0.035], 0.004), box([x + wide / 2, y, z], [t, high + t, 0.035], 0.004), box([x, y - high / 2, z + 0.008], [wide + 0.06, t, 0.055], 0.004), box([x, y + high / 2, z], [wide + t, t, 0.035], 0.004), box([x, y, z], [t * 0.6, high, 0.026], 0.002), box([x, y, z], [wide, t * 0.6, 0.026], 0.002)];
  return { frame: merged(bars), pane: box([x, y, z - 0.004], [wide, high, 0.02], 0) };
}

/** A roof over a rectangle, its ridge along x. */
function gable(wide: number, deep: number, low: number, high: number, over: number, thick = 0.045): Shape {
  const slope = Math.atan2(high - low, deep / 2);
  const reach = Math.hypot(high - low, deep / 2) + over;
  const side = (sign: 1 | -1): Shape => {
    const slab = box([0, 0, 0], [wide + 2 * over, thick, reach], 0.008);
    const tilted = rotated(moved(slab, [0, 0, reach / 2]), [1, 0, 0], (slope * 180) / Math.PI);
    return rotated(moved(tilted, [0, high, 0]), UP, sign > 0 ? 0 : 180);
  };
  return merged([side(1), side(-1), rod([-wide / 2 - over, high + 0.01, 0], [wide / 2 + over, high + 0.01, 0], thick * 0.62)]);
}

function wallsWithGable(wide: number, deep: number, low: number, high: number): Shape {
  const outline: Vec2[] = [[-deep / 2, 0], [deep / 2, 0], [deep / 2, low], [0, high], [-deep / 2, low]];
  return boxProjected(rotated(prism(outline, { depth: wide }), UP, 90));
}

function buildHouse(look: Look): readonly Part[] {
  const wall = look.main("#ecdcc0", "plaster");
  const [wide, deep, low, high] = [1.2, 0.9, 0.62, 1.02];
  const panes: Shape[] = [];
  const frames: Shape[] = [];
  const add = (shape: (shape: Shape) => Shape, at: Vec3, w: number, h: number): void => {
    const { frame, pane } = window(at, w, h);
    frames.push(shape(frame));
    panes.push(shape(pane));
  };
  const same = (shape: Shape): Shape => shape;
  const back = (shape: Shape): Shape => rotated(shape, UP, 180);
  const left = (shape: Shape): Shape => rotated(shape, UP, 90);
  const right = (shape: Shape): Shape => rotated(shape, UP, -90);
  for (const x of [-0.36, 0.36]) {
    add(same, [x, 0.36, deep / 2 + 0.008], 0.2, 0.22);
    add(back, [x, 0.36, deep / 2 + 0.008], 0.2, 0.22);
  }
  add(back, [0, 0.36, deep / 2 + 0.008], 0.2, 0.22);
  for (const side of [left, right]) {
    add(side, [0, 0.34, wide / 2 + 0.008], 0.22, 0.22);
    add(side, [0, 0.74, wide / 2 + 0.008], 0.15, 0.15);
  }
  const door = box([0, 0.205, deep / 2 + 0.012], [0.2, 0.41, 0.04], 0.008);
  const doorFrame = [box([-0.115, 0.22, deep / 2 + 0.012], [0.03, 0.44, 0.055], 0.006), box([0.115, 0.22, deep / 2 + 0.012], [0.03, 0.44, 0.055], 0.006), box([0, 0.425, deep / 2 + 0.012], [0.26, 0.03, 0.055], 0.006)];
  const chimney = boxProjected(box([0.34, 0.98, -0.16], [0.13, 0.44, 0.13], 0.006));
  const shrubs = [-0.52, -0.3, 0.3, 0.5].map((x, index) => ball([x, 0.07, deep / 2 + 0.1], [0.1 + 0.012 * (index % 2), 0.1, 0.085], 18));
  return [
    part("Walls", wall, wallsWithGable(wide, deep, low, high)),
    part("Roof", look.second("#a8483a", "tiles"), boxProjected(gable(wide, deep, low, high, 0.11))),
    part("Chimney", look.fixed("#9a5a46", "brick"), chimney, boxProjected(box([0.34, 1.2, -0.16], [0.16, 0.035, 0.16], 0.006))),
    part("Frames", look.fixed("#fbf8f0", "matt"), ...frames, ...doorFrame),
    part("Panes", look.fixed("#8fb8cf", "eye"), ...panes),
    part("Door", look.fixed("#5f7f5a", "wood"), door),
    part("Knob", look.fixed("#d8b060", "brass"), ball([0.07, 0.2, deep / 2 + 0.04], 0.014, 12)),
    part("Step", look.fixed("#a5a29b", "stone"), box([0, 0.015, deep / 2 + 0.1], [0.32, 0.05, 0.16], 0.012)),
    part("Shrubs", look.fixed("#4f8f42", "leaves"), ...shrubs),
  ];
}

/** A ring of teeth on a round wall. */
function battlements(radius: number, at: number, count: number, size: number): Shape {
  return around(box([0, at + size * 0.5, radius - size * 0.3], [((2 * Math.PI * radius) / count) * 0.55, size, size * 0.6], 0.006), count);
}

function roundTower(radius: number, height: number, teeth = 10): Shape {
  const wall = lathe([[0.001, 0], [radius * 1.08, 0], [radius * 1.02, 0.12], [radius, 0.16], [radius, height - 0.12], [radius * 1.18, height - 0.06], [radius * 1.18, height], [radius * 0.92, height], [radius * 0.92, height - 0.05], [0.001, height - 0.05]], 36, 30);
  return merged([wall, battlements(radius * 1.18, height, teeth, radius * 0.36)]);
}

function coneRoof(at: Vec3, radius: number, height: number): Shape {
  return moved(lathe([[0.001, 0], [radius, 0], [radius * 1.02, 0.012], [radius * 0.5, height * 0.46], [radius * 0.2, height * 0.8], [0.001, height]], 36), at);
}

function flag(at: Vec3, size: number): { readonly pole: Shape; readonly cloth: Shape } {
  const cloth = surface(8, 4, (u, v) => [at[0] + size * u, at[1] + size * 1.35 - size * 0.55 * (1 - v), at[2] + 0.14 * size * Math.sin(u * 6) * u]);
  return { pole: rod(at, [at[0], at[1] + size * 1.4, at[2]], size * 0.04), cloth };
}

function slit(at: Vec3, turn: number, radius: number): Shape {
  return rotated(moved(box([0, 0, radius], [0.035, 0.12, 0.03], 0.012), at), UP, turn);
}

function buildCastle(look: Look): readonly Part[] {
  const wall = look.main("#b0aaa0", "blocks");
  const half = 0.62;
  const towers = [[-half, -half], [half, -half], [-half, half], [half, half]].map(([x = 0, z = 0]) => ({ x, z }));
  const sides = [0, 90, 180, 270].map((turn) => {
    const teeth = Array.from({ length: 7 }, (_, index) => box([-0.42 + 0.14 * index, 0.545, half], [0.075, 0.09, 0.11], 0.006));
    return rotated(merged([box([0, 0.25, half], [2 * half, 0.5, 0.12], 0.004), ...teeth]), UP, turn);
  });
  const keep = [boxProjected(box([0, 0.5, -0.08], [0.56, 1.0, 0.5], 0.006)), ...[-1, 1].flatMap((x) => [-1, 1].map((z) => moved(roundTower(0.085, 1.2, 8), [x * 0.28, 0, -0.08 + z * 0.25])))];
  const gate = [box([-0.17, 0.3, half + 0.02], [0.16, 0.62, 0.2], 0.006), box([0.17, 0.3, half + 0.02], [0.16, 0.62, 0.2], 0.006), box([0, 0.53, half + 0.02], [0.5, 0.16, 0.2], 0.006)];
  const flags = [...towers.map(({ x, z }) => flag([x, 1.24, z], 0.16)), flag([0, 1.0, -0.08], 0.3)];
  const slits = towers.flatMap(({ x, z }) => [0, 90, 180, 270].map((turn) => moved(slit([0, 0.52, 0], turn, 0.178), [x, 0, z])));
  const keepSlits = [0.5, 0.76].flatMap((y) => [-0.12, 0.12].flatMap((x) => [box([x, y, 0.172], [0.05, 0.13, 0.02], 0.008), box([x, y, -0.332], [0.05, 0.13, 0.02], 0.008)]));
  return [
    part("Walls", wall, ...sides.map((shape) => boxProjected(shape)), ...towers.map(({ x, z }) => moved(roundTower(0.18, 0.86), [x, 0, z])), ...gate.map((shape) => boxProjected(shape))),
    part("Keep", wall, ...keep),
    part("Roofs", look.second("#4f5f94", "tiles"), ...towers.map(({ x, z }) => coneRoof([x, 0.86, z], 0.19, 0.4)), ...[-1, 1].flatMap((x) => [-1, 1].map((z) => coneRoof([x * 0.28, 1.2, -0.08 + z * 0.25], 0.1, 0.26)))),
    part("Gate", look.fixed("#5f4029", "planks"), box([0, 0.22, half + 0.03], [0.2, 0.46, 0.05], 0.01)),
    part("Slits", look.fixed("#2b2a2c", "matt"), ...slits, ...keepSlits),
    part("Poles", look.fixed("#6b5436", "wood"), ...flags.map(({ pole }) => pole)),
    part("Flags", sheet(look.fixed("#c9303a", "cloth")), ...flags.map(({ cloth }) => cloth)),
    part("Ground", look.fixed("#6f9a4c", "grass"), lathe([[0.001, -0.04], [1.04, -0.04], [1.08, -0.02], [1.0, 0.006], [0.001, 0.006]], 48)),
  ];
}

function buildTower(look: Look): readonly Part[] {
  const wall = look.main("#aaa59b", "blocks");
  const pole = flag([0, 1.96, 0], 0.2);
  const windows = [0.5, 0.85, 1.12].flatMap((y, row) => [0, 120, 240].map((turn) => slit([0, y, 0], turn + 40 * row, 0.292)));
  return [
    part("Wall", wall, roundTower(0.29, 1.4, 12)),
    part("Roof", look.second("#4f5f94", "tiles"), coneRoof([0, 1.44, 0], 0.36, 0.56)),
    part("Windows", look.fixed("#2b2a2c", "matt"), ...windows),
    part("Door", look.fixed("#6b4a2c", "planks"), doorArch([0, 0, 0.3], 0.2, 0.36)),
    part("Pole", look.fixed("#6b5436", "wood"), pole.pole),
    part("Flag", sheet(look.fixed("#c9303a", "cloth")), pole.cloth),
    part("Ground", look.fixed("#6f9a4c", "grass"), lathe([[0.001, -0.04], [0.6, -0.04], [0.64, -0.02], [0.56, 0.008], [0.001, 0.008]], 48)),
  ];
}

function doorArch(at: Vec3, wide: number, high: number): Shape {
  const half = wide / 2;
  const arch = Array.from({ length: 9 }, (_, index): Vec2 => [half * Math.cos((Math.PI * index) / 8), high - half + half * Math.sin((Math.PI * index) / 8)]);
  return moved(prism([[-half, 0], [half, 0], ...arch], { depth: 0.06, bevel: 0.012 }), at);
}

function buildLighthouse(look: Look): readonly Part[] {
  const bands = 5;
  const radius = (y: number): number => 0.27 - 0.11 * (y / 1.3);
  const pieces = Array.from({ length: bands }, (_, index) => {
    const [low, high] = [(1.3 * index) / bands, (1.3 * (index + 1)) / bands];
    return lathe([[radius(low), low], [radius(high), high]], 48);
  });
  const rail = [ring3([0, 1.48, 0], 0.235), ring3([0, 1.42, 0], 0.235), ...Array.from({ length: 14 }, (_, index) => {
    const angle = (index * 2 * Math.PI) / 14;
    return rod([0.235 * Math.sin(angle), 1.35, 0.235 * Math.cos(angle)], [0.235 * Math.sin(angle), 1.48, 0.235 * Math.cos(angle)], 0.007, 0.007, 6);
  })];
  const posts = Array.from({ length: 8 }, (_, index) => rotated(rod([0, 1.35, 0.13], [0, 1.62, 0.13], 0.012, 0.012, 8), UP, 45 * index));
  return [
    part("Bands", look.main("#d23a34", "plaster"), ...pieces.filter((_, index) => index % 2 === 0)),
    part("Wall", look.second("#f6f3ea", "plaster"), ...pieces.filter((_, index) => index % 2 === 1)),
    part("Gallery", look.fixed("#33363d", "iron"), lathe([[0.15, 1.26], [0.25, 1.31], [0.255, 1.35], [0.001, 1.35]], 48), ...rail, ...posts, lathe([[0.001, 1.62], [0.19, 1.62], [0.195, 1.64], [0.1, 1.76], [0.03, 1.8], [0.03, 1.84], [0.001, 1.87]], 40)),
    part("Lamp", look.fixed("#ffdf7a", "neon"), lathe([[0.001, 1.36], [0.06, 1.38], [0.085, 1.48], [0.06, 1.58], [0.001, 1.6]], 24)),
    part("Panes", look.fixed("#dff1f7", "glass"), lathe([[0.125, 1.35], [0.125, 1.62]], 32)),
    part("Door", look.fixed("#5f4029", "planks"), doorArch([0, 0, 0.255], 0.14, 0.26), ...[0.5, 0.9].map((y) => moved(rotated(doorArch([0, 0, radius(y) - 0.01], 0.07, 0.11), UP, 15), [0, y, 0]))),
    part("Rocks", look.fixed("#7f7b74", "stone"), ...Array.from({ length: 13 }, (_, index) => rotated(moved(rotated(box([0, 0, 0], [look.roll(0.16, 0.26), look.roll(0.1, 0.2), look.roll(0.14, 0.24)], 0.05), [1, 0.2, 0], look.roll(0, 80)), [0, 0.02, look.roll(0.28, 0.42)]), UP, index * 27.7 + 14))),
  ];
}

function ring3(at: Vec3, radius: number): Shape {
  return tube(Array.from({ length: 41 }, (_, index): Vec3 => [at[0] + radius * Math.sin((index % 40) * (Math.PI / 20)), at[1], at[2] + radius * Math.cos((index % 40) * (Math.PI / 20))]), 0.009, { sides: 6 });
}

function buildWindmill(look: Look): readonly Part[] {
  const body = lathe([[0.001, 0], [0.34, 0], [0.2, 0.95], [0.001, 0.95]], 8, 30);
  const blades = Array.from({ length: 4 }, (_, index) => {
    const spar = rod([0, 0, 0], [0, 0.66, 0], 0.016, 0.01);
    const slats = Array.from({ length: 8 }, (_, at) => box([0.055, 0.16 + 0.065 * at, 0], [0.1, 0.01, 0.012], 0));
    const rails = [box([0.105, 0.39, 0], [0.01, 0.48, 0.012], 0), box([0.05, 0.39, -0.004], [0.1, 0.48, 0.003], 0)];
    return rotated(merged([spar, ...slats, ...rails]), [0, 0, 1], 90 * index + 22);
  });
  return [
    part("Body", look.main("#e9dfcb", "plaster"), body),
    part("Cap", look.second("#7a4a3a", "tiles"), lathe([[0.001, 0.93], [0.25, 0.93], [0.25, 0.96], [0.2, 1.08], [0.1, 1.18], [0.001, 1.2]], 24)),
    part("Sails", look.fixed("#6b4a2c", "wood"), ...blades.map((blade) => moved(blade, [0, 1.02, 0.33])), rod([0, 1.02, 0], [0, 1.02, 0.36], 0.03)),
    part("Door", look.fixed("#5f4029", "planks"), doorArch([0, 0, 0.3], 0.16, 0.28)),
    part("Windows", look.fixed("#8fb8cf", "eye"), ...[0, 90, 180, 270].map((turn) => rotated(box([0, 0.6, 0.246], [0.09, 0.12, 0.03], 0.006), UP, turn))),
  ];
}

function buildChurch(look: Look): readonly Part[] {
  const wall = look.main("#ece5d6", "plaster");
  const nave = rotated(wallsWithGable(1.0, 0.6, 0.5, 0.86), UP, 90);
  const arches = [-0.28, 0, 0.28].flatMap((z) => [rotated(doorArch([0, 0, 0.3], 0.11, 0.28), UP, 90), rotated(doorArch([0, 0, 0.3], 0.11, 0.28), UP, -90)].map((shape) => moved(shape, [0, 0.16, z])));
  const tower = boxProjected(box([0, 0.6, 0.56], [0.36, 1.2, 0.36], 0.006));
  const spire = rotated(lathe([[0.001, 1.2], [0.3, 1.2], [0.3, 1.22], [0.001, 1.86]], 4, 20), UP, 45);
  return [
    part("Walls", wall, nave, moved(tower, [0, 0, 0])),
    part("Roof", look.second("#5a6470", "tiles"), boxProjected(rotated(gable(1.0, 0.6, 0.5, 0.86, 0.05), UP, 90)), moved(spire, [0, 0, 0.56])),
    part("Windows", look.fixed("#6f9fc4", "eye"), ...arches, moved(doorArch([0, 0, 0], 0.1, 0.2), [0, 0.84, 0.73])),
    part("Door", look.fixed("#6b4326", "planks"), doorArch([0, 0, 0.735], 0.2, 0.36)),
    part("Cross", look.fixed("#e2b64a", "gold"), box([0, 1.95, 0.56], [0.03, 0.22, 0.03], 0.006), box([0, 1.98, 0.56], [0.13, 0.03, 0.03], 0.006)),
  ];
}

function buildSkyscraper(look: Look): readonly Part[] {
  const tiers = [[0.62, 0, 1.1], [0.48, 1.1, 0.62], [0.32, 1.72, 0.36]] as const;
  const core = tiers.map(([size, low, high]) => box([0, low + high / 2, 0], [size, high, size], 0.01));
  const ribs: Shape[] = [];
  const glass: Shape[] = [];
  for (const [size, low, high] of tiers) {
    glass.push(box([0, low + high / 2, 0], [size + 0.012, high - 0.05, size + 0.012], 0));
    const count = Math.round(size / 0.07);
    for (let index = 0; index <= count; index += 1) {
      const x = -size / 2 + (size * index) / count;
      ribs.push(around(box([x, low + high / 2, size / 2 + 0.008], [0.014, high, 0.022], 0), 4));
    }
    for (let y = low + 0.06; y < low + high - 0.01; y += 0.075) ribs.push(box([0, y, 0], [size + 0.026, 0.016, size + 0.026], 0));
  }
  return [
    part("Frame", look.main("#cfd3d8", "matt"), ...core, ...ribs),
    part("Glass", look.second("#4f86ad", "chrome"), ...glass),
    part("Mast", look.fixed("#c4c9d0", "steel"), rod([0, 2.08, 0], [0, 2.6, 0], 0.022, 0.006), box([0, 2.1, 0], [0.16, 0.05, 0.16], 0.01)),
    part("Entrance", look.fixed("#3a3f47", "eye"), box([0, 0.06, 0.318], [0.16, 0.12, 0.03], 0.004)),
  ];
}

function buildTent(look: Look): readonly Part[] {
  const side = box([0, 0, 0], [1.2, 0.02, 1.0], 0.008);
  const slabs = [1, -1].map((sign) => moved(rotated(side, [0, 0, 1], sign * -57), [sign * 0.27, 0.42, 0]));
  const roof = slabs.map((shape) => scaled(shape, [0.82, 0.86, 1]));
  const back = prism([[-0.46, 0], [0.46, 0], [0, 0.82]], { depth: 0.02 });
  const flap = prism([[0.1, 0], [0.46, 0], [0.0, 0.82], [0.0, 0.78]], { depth: 0.02 });
  return [
    part("Canvas", look.main("#e08a34", "cloth"), ...roof, moved(back, [0, 0, -0.46])),
    part("Flaps", look.second("#f0b35c", "cloth"), moved(twice(flap), [0, 0, 0.46])),
    part("Floor", look.fixed("#4a5a66", "cloth"), box([0, 0.01, 0], [0.96, 0.02, 0.96], 0.004)),
    part("Poles", look.fixed("#8c6a48", "wood"), rod([0, 0, 0.5], [0, 0.92, 0.5], 0.018), rod([0, 0, -0.5], [0, 0.92, -0.5], 0.018), rod([0, 0.86, -0.5], [0, 0.86, 0.5], 0.014)),
  ];
}

function buildIgloo(look: Look): readonly Part[] {
  const dome = surface(48, 24, (u, v) => {
    const [angle, rise] = [2 * Math.PI * u, (Math.PI / 2) * v];
    const row = Math.floor(v * 6);
    const joint = Math.min(Math.abs(((v * 6) % 1) - 0.5) * 2 > 0.84 ? 1 : 0, 1) || Math.abs((((u * 12 + (row % 2) * 0.5) % 1) - 0.5) * 2) > 0.9 ? 0.985 : 1;
    const ring = v === 1 ? 0 : Math.cos(rise);
    return [0.6 * joint * ring * Math.sin(angle), 0.56 * joint * Math.sin(rise), 0.6 * joint * ring * Math.cos(angle)];
  }, { around: true });
  const arch = (radius: number, depth: number): Shape => {
    const half = Array.from({ length: 13 }, (_, index): Vec2 => [radius * Math.cos((Math.PI * index) / 12), radius * Math.sin((Math.PI * index) / 12)]);
    return prism(half, { depth, bevel: 0.015 });
  };
  return [
    part("Dome", look.main("#eef4f8", "snow"), dome, moved(arch(0.25, 0.34), [0, 0, 0.62])),
    part("Entrance", look.fixed("#3f5a72", "matt"), moved(arch(0.17, 0.02), [0, 0, 0.795])),
    part("Ground", look.fixed("#f4f8fc", "snow"), lathe([[0.001, -0.03], [0.86, -0.03], [0.9, -0.015], [0.8, 0.006], [0.001, 0.006]], 48)),
  ];
}

function buildWell(look: Look): readonly Part[] {
  const wall = lathe([[0.3, 0], [0.36, 0], [0.36, 0.34], [0.38, 0.35], [0.38, 0.4], [0.28, 0.4], [0.28, 0.1], [0.001, 0.1]], 40, 30);
  return [
    part("Wall", look.main("#9a958c", "blocks"), wall),
    part("Water", look.fixed("#2f6f9a", "water"), lathe([[0.285, 0.22], [0.001, 0.222]], 32)),
    part("Frame", look.fixed("#7a5230", "wood"), twice(box([0.33, 0.62, 0], [0.06, 0.8, 0.07], 0.012)), rod([-0.34, 0.78, 0], [0.34, 0.78, 0], 0.045), rod([0.34, 0.78, 0], [0.46, 0.78, 0], 0.014), rod([0.45, 0.78, 0], [0.45, 0.66, 0], 0.014)),
    part("Roof", look.second("#a0503c", "tiles"), boxProjected(gable(0.78, 0.62, 0.96, 1.22, 0.06, 0.035))),
    part("Bucket", look.fixed("#8c6238", "planks"), moved(lathe([[0.001, 0], [0.07, 0], [0.09, 0.14], [0.08, 0.14], [0.062, 0.012], [0.001, 0.012]], 24), [0, 0.42, 0]), rod([0, 0.54, 0], [0, 0.76, 0], 0.007)),
  ];
}

function buildBridge(look: Look): readonly Part[] {
  const arc = (x: number): number => 0.34 * (1 - (x / 0.9) ** 2);
  const under: Vec2[] = Array.from({ length: 21 }, (_, index) => {
    const x = -0.62 + (1.24 * index) / 20;
    return [x, 0.3 * Math.sqrt(Math.max(0, 1 - (x / 0.62) ** 2))] as const;
  });
  const over: Vec2[] = Array.from({ length: 21 }, (_, index) => {
    const x = 1.0 - (2.0 * index) / 20;
    return [x, 0.1 + arc(Math.max(-0.9, Math.min(0.9, x)))] as const;
  });
  const body = prism([[-1.0, 0], ...under, [1.0, 0], ...over], { depth: 0.46 });
  const rail = curve(over.filter((_, index) => index % 2 === 0).map(([x, y]) => [x, y + 0.13, 0.21] as const), 3);
  const posts = over.filter((_, index) => index % 2 === 0).map(([x, y]) => box([x, y + 0.05, 0.21], [0.035, 0.17, 0.035], 0.006));
  const side = merged([tube(rail, 0.018, { sides: 10 }), ...posts]);
  return [
    part("Bridge", look.main("#a8a29a", "blocks"), boxProjected(body)),
    part("Railing", look.second("#b0463c", "wood"), side, scaled(side, [1, 1, -1])),
  ];
}

function buildTemple(look: Look): readonly Part[] {
  const stone = look.main("#e9e2d2", "marble");
  const column = lathe([[0.001, 0.16], [0.075, 0.16], [0.075, 0.2], [0.058, 0.22], [0.05, 0.68], [0.07, 0.72], [0.075, 0.76], [0.001, 0.76]], 28, 30);
  const places: readonly Vec2[] = [...[-0.5, -0.3, -0.1, 0.1, 0.3, 0.5].flatMap((x): Vec2[] => [[x, 0.32], [x, -0.32]]), [-0.5, 0], [0.5, 0]];
  const steps = [0, 1, 2].map((index) => box([0, 0.027 + 0.053 * index, 0], [1.36 - 0.1 * index, 0.054, 0.96 - 0.1 * index], 0.006));
  const front = prism([[-0.62, 0.86], [0.62, 0.86], [0, 1.12]], { depth: 0.74 });
  return [
    part("Steps", stone, ...steps.map((shape) => boxProjected(shape))),
    part("Columns", stone, ...places.map(([x, z]) => moved(column, [x, 0, z]))),
    part("Beam", stone, boxProjected(box([0, 0.81, 0], [1.2, 0.1, 0.8], 0.008))),
    part("Roof", look.second(lighter("#c9835a", 0.1), "tiles"), boxProjected(gable(1.18, 0.82, 0.86, 1.12, 0.06, 0.035))),
    part("Gable", look.fixed(darker("#e9e2d2", 0.06), "marble"), boxProjected(scaled(rotated(front, UP, 90), [1.5, 1, 0.6]))),
    part("Hall", look.fixed("#cfc4ae", "plaster"), boxProjected(box([0, 0.46, 0], [0.72, 0.6, 0.4], 0.004))),
  ];
}
