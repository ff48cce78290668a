/** Planets and moons, painted all around. */
import { darker, lighter, type Colour } from "../../images/colours.ts";
import type { Picture, Skin } from "../finishes.ts";
import { bent, moved, rotated, type Shape } from "../kit/shape.ts";
import { ball, lathe } from "../kit/surface.ts";
import { clamp, step, unit, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const WORLDS: Readonly<Record<string, Thing>> = {
  planet: { metres: 1, picture: "around", build: buildPlanet },
  moon: { metres: 1, picture: "around", build: buildMoon },
};

interface World {
  /** From low to high, or across the bands. */
  readonly colours: readonly Colour[];
  readonly isBanded?: boolean;
  readonly hasRing?: boolean;
  /** With seas, ice at the poles and clouds. */
  readonly isWet?: boolean;
}

const EARTH: World = {
  colours: ["#10305f", "#1b4f8a", "#2c6ca8", "#3f86bd", "#d8c690", "#5d9448", "#3f7238", "#8f8066"],
  isWet: true,
};
const KNOWN: Readonly<Record<string, World>> = {
  earth: EARTH,
  mars: { colours: ["#6d2f1c", "#a8492a", "#c9683c", "#d98a58", "#e0a878"] },
  jupiter: { colours: ["#a8764c", "#e3c9a0", "#c9935f", "#f0e0c4", "#b5693f", "#ead2ac"], isBanded: true },
  saturn: { colours: ["#c9a86a", "#ead6a4", "#d8bb80", "#f3e6c4"], isBanded: true, hasRing: true },
  uranus: { colours: ["#8fd0d8", "#a8e0e6", "#9ad8de"], isBanded: true, hasRing: true },
  neptune: { colours: ["#2f4fb5", "#3f6fd8", "#5f8fe8"], isBanded: true },
  venus: { colours: ["#b58a4a", "#d8b070", "#ecd09a"], isBanded: true },
  mercury: { colours: ["#6b655f", "#857e76", "#a39c92"] },
};

/** Pixels around and from pole to pole. */
const [WIDE, HIGH] = [1_024, 512];
const SIDES = 120;

function buildPlanet(look: Look): readonly Part[] {
  const names = Object.keys(KNOWN);
  const named = names.find((name) => look.has(name));
  const chosen = look.main("", "matt");
  const world = KNOWN[named ?? look.random.pick(["earth", "saturn", "jupiter", "mars", "neptune"])] ?? EARTH;
  const isOwn = chosen.colour === "";
  const colours = isOwn ? world.colours : shades(chosen.colour);
  const isPainted = chosen.finish === "matt";
  const radius = 0.5;
  const globe = bent(ball([0, 0, 0], radius, SIDES), (point) => {
    if (world.isBanded === true || !isPainted) return point;
    const rise = Math.max(0, heightAt(look, unit(point)) - (world.isWet === true ? 0.08 : -0.2)) * 0.04;
    return [point[0] * (1 + rise), point[1] * (1 + rise), point[2] * (1 + rise)];
  });
  const paint = (): Picture => painted("globe", worldPaint(look, { ...world, colours }, isOwn));
  const skin: Skin = isPainted ? { finish: "skin", colour: "#ffffff", isMain: true, picture: paint() } : chosen;
  const tilt = (shape: Shape): Shape => moved(rotated(shape, [0, 0, 1], -18), [0, 0.66, 0]);
  const parts = [part("Globe", skin, tilt(isPainted ? fromPoleToPole(globe) : globe)), ...rings(look, world, tilt)];
  const stand = lathe(
    [
      [0.001, 0],
      [0.26, 0],
      [0.27, 0.025],
      [0.1, 0.05],
      [0.03, 0.09],
      [0.026, 0.18],
      [0.001, 0.18],
    ],
    44,
  );
  return [...parts, part("Stand", look.fixed("#b88746", "brass"), stand)];
}

const shades = (colour: Colour): readonly Colour[] => [
  darker(colour, 0.45),
  darker(colour, 0.2),
  colour,
  lighter(colour, 0.35),
];

function rings(look: Look, { hasRing }: World, tilt: (shape: Shape) => Shape): readonly Part[] {
  if (hasRing !== true && !look.has("ring", "rings", "ringed")) return [];
  const bands = [
    [0.62, 0.74, "#cdb58a"],
    [0.755, 0.86, "#e8d8b4"],
    [0.875, 0.92, "#a8906a"],
  ] as const;
  return bands.map(([from, to, colour], index) => {
    const flat = lathe(
      [
        [from, -0.004],
        [to, -0.004],
        [to, 0.004],
        [from, 0.004],
        [from, -0.004],
      ],
      96,
      40,
    );
    return part(`Ring ${index + 1}`, look.second(colour, "matt"), tilt(flat));
  });
}

function heightAt({ noise }: Look, [x, y, z]: Vec3): number {
  return noise.solid(x * 1.7 + 3, y * 1.7, z * 1.7, 6);
}

/** Colours as bytes of a picture have them, for each direction. */
type Paint = (direction: Vec3) => Vec3;

function worldPaint(look: Look, world: World, isOwn: boolean): Paint {
  const { noise } = look;
  const ramp = world.colours.map(bytes);
  const isWet = world.isWet === true && isOwn;
  return ([x, y, z]) => {
    const height =
      world.isBanded === true
        ? 0.5 +
          0.5 * Math.sin(15 * y + 0.9 * noise.solid(x * 1.6, y * 6, z * 1.6, 4) + 1.6 * noise.solid(1, y * 5, 1, 2))
        : clamp(0.5 + 0.62 * heightAt(look, [x, y, z]), 0, 1);
    const at = height * (ramp.length - 1);
    const [low, high] = [ramp[Math.floor(at)] ?? WHITE, ramp[Math.ceil(at)] ?? WHITE];
    const colour = mixed(low, high, world.isBanded === true ? at % 1 : step(0.25, 0.75, at % 1));
    if (!isWet) return colour;
    const ice = step(0.84, 0.89, Math.abs(y) + 0.05 * noise.solid(x * 6, y * 6, z * 6, 3));
    const cloud = step(0.16, 0.5, noise.solid(x * 2.2 + 0.6 * y + 9, y * 3.8, z * 2.2, 5));
    return mixed(mixed(colour, WHITE, ice), WHITE, 0.85 * cloud);
  };
}

const WHITE: Vec3 = [247, 249, 252];
const mixed = (a: Vec3, b: Vec3, share: number): Vec3 => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];

function bytes(colour: Colour): Vec3 {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as unknown as Vec3;
}

/** Every direction once: around from left to right, from the north pole down. */
function painted(name: string, paint: Paint): Picture {
  const pixels = new Uint8Array(3 * WIDE * HIGH);
  for (let row = 0; row < HIGH; row += 1) {
    const rise = Math.PI * (0.5 - (row + 0.5) / HIGH);
    for (let column = 0; column < WIDE; column += 1) {
      const angle = (2 * Math.PI * (column + 0.5)) / WIDE;
      const colour = paint([Math.cos(rise) * Math.sin(angle), Math.sin(rise), Math.cos(rise) * Math.cos(angle)]);
      pixels.set(
        colour.map((value) => Math.round(clamp(value, 0, 255))),
        3 * (row * WIDE + column),
      );
    }
  }
  return { name, width: WIDE, height: HIGH, pixels };
}

/** Texture coordinates of a ball from 0 to 1, v downwards. */
function fromPoleToPole(shape: Shape): Shape {
  let [wide, low] = [0, 0];
  for (let at = 0; at < shape.uvs.length; at += 2) {
    wide = Math.max(wide, shape.uvs[at] ?? 0);
    low = Math.min(low, shape.uvs[at + 1] ?? 0);
  }
  return { ...shape, uvs: shape.uvs.map((value, at) => (at % 2 === 0 ? value / wide : 1 - value / low)) };
}

function buildMoon(look: Look): readonly Part[] {
  const { noise, random, roll } = look;
  const craters = Array.from({ length: 46 }, () => {
    const [y, angle] = [roll(-1, 1), roll(0, 2 * Math.PI)];
    const out = Math.sqrt(1 - y * y);
    const size = random.below(4) === 0 ? roll(0.16, 0.3) : roll(0.05, 0.14);
    return { x: out * Math.sin(angle), y, z: out * Math.cos(angle), size };
  });
  const depth = ([x, y, z]: Vec3): number => {
    let sum = 0.02 * noise.solid(x * 5, y * 5, z * 5, 4);
    for (const crater of craters) {
      const far = Math.sqrt((x - crater.x) ** 2 + (y - crater.y) ** 2 + (z - crater.z) ** 2) / crater.size;
      if (far >= 1.4) continue;
      sum += crater.size * (far < 0.85 ? -0.22 + 0.2 * (far / 0.85) ** 4 : 0.1 * (1 - (far - 0.85) / 0.55) ** 2);
    }
    return sum;
  };
  const globe = bent(ball([0, 0.5, 0], 0.5, SIDES), ([x, y, z]) => {
    const direction = unit([x, y - 0.5, z]);
    const reach = 0.5 * (1 + 0.6 * depth(direction));
    return [direction[0] * reach, 0.5 + direction[1] * reach, direction[2] * reach];
  });
  const chosen = look.main("#c9c6be", "matt");
  const tone = bytes(chosen.colour);
  const paint: Paint = (direction) => {
    const [x, y, z] = direction;
    const sea = step(0.05, 0.35, noise.solid(x * 1.4 + 2, y * 1.4, z * 1.4, 4));
    const light =
      (1 - 0.3 * sea) *
      (1 + 2.6 * clamp(depth(direction), -0.06, 0.03)) *
      (1 + 0.05 * noise.solid(x * 16, y * 16, z * 16, 2));
    return [tone[0] * light, tone[1] * light, tone[2] * light];
  };
  if (chosen.finish !== "matt") return [part("Moon", chosen, globe)];
  const skin: Skin = { finish: "matt", colour: "#ffffff", isMain: true, picture: painted("moon", paint) };
  return [part("Moon", skin, fromPoleToPole(globe))];
}
