/** What surfaces look like up close: grain, stones, threads. Each fits to itself on all sides. */
import { clamp, step } from "../kit/vector.ts";
import type { Noise } from "./noise.ts";

/** One point of a pattern. */
export interface Texel {
  /** -1 the dark shade of the colour, 0 the colour, 1 its light shade. */
  shade: number;
  /** 0 to 1, in a thousandth of a repeat for a pattern of depth 1. */
  height: number;
  /** 0 to 1: how much of the second colour shows. */
  second: number;
}

/** x and y from 0 to 1, y downwards. */
export type Pattern = (noise: Noise, x: number, y: number) => Texel;

export const PATTERNS = {
  wood: (noise, x, y) => {
    const bend = x + 0.035 * noise.cloud(x, y, 2, 1, 2) + 0.01 * noise.cloud(x, y, 4, 6, 2);
    const rings = Math.sin(2 * Math.PI * (7 * bend + 0.7 * noise.cloud(x, y, 4, 1, 2)));
    const fibre = noise.cloud(x, y, 70, 3, 3);
    return texel(0.26 * rings + 0.5 * fibre, 0.5 + 0.1 * rings + 0.35 * fibre);
  },
  planks: (noise, x, y) => {
    const [count, row] = [5, Math.floor(x * 5)];
    const edge = Math.abs(((x * count) % 1) - 0.5) * 2;
    const gap = step(0.93, 0.985, edge);
    const own = noise.wave(row / count + 0.03, 0.5, 64) * 0.9;
    const fibre = noise.cloud(x, y, 60, 3, 3);
    const knot = noise.cloud(x, y, 10, 2, 2);
    return texel(own * 0.5 + 0.4 * fibre + 0.25 * knot - 1.4 * gap, 0.75 + 0.15 * fibre - 0.7 * gap);
  },
  bark: (noise, x, y) => {
    const ridge = 1 - Math.abs(noise.cloud(x + 0.03 * noise.cloud(x, y, 4), y, 14, 3, 3)) * 2.2;
    const fine = noise.cloud(x, y, 40, 20, 2);
    return texel(-0.8 + 1.2 * ridge + 0.25 * fine, clamp(0.15 + 0.75 * ridge + 0.1 * fine, 0, 1));
  },
  leaves: (noise, x, y) => {
    const { near, next, id } = noise.cells(x + 0.01 * noise.wave(x, y, 20), y, 22);
    const vein = step(0, 0.25, next - near);
    const light = noise.cloud(x, y, 3, 3, 2);
    return texel((id - 0.5) * 1.3 + 0.35 * light - 0.7 * (1 - vein), clamp(1 - near * 1.1, 0, 1));
  },
  grass: (noise, x, y) => {
    const blades = noise.cloud(x + 0.02 * noise.wave(x, y, 12), y, 90, 26, 2);
    return texel(0.7 * blades + 0.4 * noise.cloud(x, y, 5, 5, 3), 0.5 + 0.5 * blades);
  },
  stone: (noise, x, y) => {
    const rough = noise.cloud(x, y, 5, 5, 5);
    const { near, next } = noise.cells(x + 0.02 * noise.cloud(x, y, 6), y + 0.02 * noise.cloud(y, x, 6), 5);
    const crack = 1 - step(0, 0.05, next - near);
    const grain = noise.wave(x, y, 120);
    return texel(
      0.6 * rough + 0.25 * grain - 0.35 * crack,
      clamp(0.55 + 0.4 * rough - 0.25 * crack + 0.06 * grain, 0, 1),
    );
  },
  blocks: (noise, x, y) => masonry(noise, x, y, 5, 3, 0.045),
  brick: (noise, x, y) => masonry(noise, x, y, 8, 4, 0.035),
  marble: (noise, x, y) => {
    const bend = noise.cloud(x, y, 3, 3, 5);
    const vein = 1 - Math.abs(Math.sin(Math.PI * (2 * x + 2 * y + 1.6 * bend)));
    const thin = step(0.8, 1, vein) * (0.5 + 0.5 * noise.cloud(y, x, 4, 4, 2));
    const faint = step(0.75, 1, 1 - Math.abs(noise.cloud(x, y, 5, 5, 4)) * 1.5);
    return texel(0.35 - 0.35 * bend - 0.25 * faint - thin, 0.5, clamp(0.75 * thin + 0.2 * faint, 0, 1));
  },
  plaster: (noise, x, y) => {
    const rough = noise.cloud(x, y, 24, 24, 3);
    return texel(0.18 * rough + 0.2 * noise.cloud(x, y, 3, 3, 3), 0.5 + 0.4 * rough);
  },
  tiles: (noise, x, y) => {
    const rows = 8;
    const row = Math.floor(y * rows);
    const across = (x * 8 + (row & 1) * 0.5) % 1;
    const down = (y * rows) % 1;
    const column = Math.floor(x * 8 + (row & 1) * 0.5) % 8;
    const arch = 0.78 + 0.2 * Math.sqrt(Math.max(0, 1 - (2 * across - 1) ** 2));
    const gap = Math.max(step(0.9, 1, Math.abs(across - 0.5) * 2), step(arch - 0.02, arch + 0.03, down));
    const own = noise.wave(column / 8 + 0.06, row / rows + 0.06, 37) * 0.8;
    return texel(
      own * 0.6 + 0.4 * down - 0.9 * gap + 0.15 * noise.wave(x, y, 60),
      clamp(0.25 + 0.7 * down - 0.8 * gap, 0, 1),
    );
  },
  fur: (noise, x, y) => {
    const strands = noise.cloud(x + 0.03 * noise.cloud(x, y, 5), y, 80, 22, 3);
    return texel(0.55 * strands + 0.15 * noise.cloud(x, y, 4, 4, 2), 0.5 + 0.5 * strands);
  },
  scales: (noise, x, y) => {
    const rows = 20;
    const row = Math.floor(y * rows);
    const across = ((x * 16 + (row & 1) * 0.5) % 1) * 2 - 1;
    const down = (y * rows) % 1;
    const round = Math.hypot(across, down * 1.1);
    return texel(0.5 - 0.9 * down + 0.2 * noise.wave(x, y, 16), clamp(1 - round * 0.6, 0, 1));
  },
  cloth: (noise, x, y) => {
    const [across, along] = [Math.sin(2 * Math.PI * 48 * x), Math.sin(2 * Math.PI * 48 * y)];
    const weave = across * along;
    return texel(0.28 * weave + 0.2 * noise.cloud(x, y, 8, 8, 3), 0.5 + 0.3 * weave);
  },
  knit: (noise, x, y) => {
    const column = (x * 16) % 1;
    const lean = Math.abs(column - 0.5) * 0.09;
    const row = Math.sin(2 * Math.PI * 20 * (y + lean));
    const strand = Math.sin(2 * Math.PI * column) ** 2;
    const fluff = noise.cloud(x, y, 60, 60, 2);
    return texel(
      -0.5 + 0.5 * row * strand + 0.6 * strand + 0.2 * fluff,
      clamp(0.6 * strand + 0.3 * row * strand + 0.1, 0, 1),
    );
  },
  leather: (noise, x, y) => {
    const { near, next } = noise.cells(x + 0.01 * noise.cloud(x, y, 9), y, 38);
    const crease = 1 - step(0, 0.3, next - near);
    return texel(0.3 * noise.cloud(x, y, 4, 4, 3) - 0.5 * crease, 1 - 0.7 * crease);
  },
  brushed: (noise, x, y) => {
    const lines = noise.cloud(x, y, 3, 140, 2);
    return texel(0.16 * lines, 0.5 + 0.1 * lines);
  },
  rust: (noise, x, y) => {
    const spread = noise.cloud(x, y, 3, 3, 5);
    const eaten = step(-0.05, 0.18, spread);
    const grain = noise.cloud(x, y, 40, 40, 2);
    return texel(0.4 * grain * eaten + 0.2 * spread, 0.55 - 0.3 * eaten + 0.3 * grain * eaten, eaten);
  },
  sand: (noise, x, y) => {
    const ripple = Math.sin(2 * Math.PI * (9 * y + 0.9 * noise.cloud(x, y, 2, 2, 3)));
    return texel(0.22 * ripple + 0.3 * noise.wave(x, y, 160), 0.5 + 0.35 * ripple + 0.1 * noise.wave(x, y, 160));
  },
  snow: (noise, x, y) => texel(0.2 * noise.cloud(x, y, 6, 6, 5), 0.5 + 0.35 * noise.cloud(x, y, 8, 8, 4)),
  ice: (noise, x, y) => {
    const { near, next } = noise.cells(x + 0.05 * noise.cloud(x, y, 3), y, 6);
    const crack = 1 - step(0, 0.035, next - near);
    return texel(0.3 * noise.cloud(x, y, 3, 3, 4) + 0.9 * crack, 0.5 + 0.2 * noise.cloud(x, y, 6));
  },
  lava: (noise, x, y) => {
    const bend = 0.05 * noise.cloud(x, y, 5, 5, 3);
    const { near, next } = noise.cells(x + bend, y - bend, 7);
    const gap = 1 - step(0, 0.22, next - near);
    return texel(0.4 * noise.cloud(x, y, 20, 20, 3) - 0.3, clamp(0.8 - gap, 0, 1), gap);
  },
  stripes: (noise, x, y) => {
    const wave = Math.sin(2 * Math.PI * (7 * y + 0.9 * noise.cloud(x, y, 3, 2, 3)));
    return texel(0.12 * noise.cloud(x, y, 50, 20, 2), 0.5, step(0.05, 0.3, wave));
  },
  spots: (noise, x, y) => {
    const { near, id } = noise.cells(x + 0.012 * noise.wave(x, y, 18), y + 0.012 * noise.wave(y, x, 18), 9);
    return texel(0.12 * noise.cloud(x, y, 40, 40, 2), 0.5, 1 - step(0.2 + 0.14 * id, 0.26 + 0.14 * id, near));
  },
  camouflage: (noise, x, y) => {
    const [one, two] = [noise.cloud(x, y, 4, 4, 3), noise.cloud(y, x, 5, 5, 3)];
    return texel(two > 0.1 ? -0.9 : two < -0.3 ? 0.8 : 0, 0.5 + 0.05 * noise.wave(x, y, 90), one > 0.14 ? 0.85 : 0);
  },
  panels: (noise, x, y) => {
    const [column, row] = [Math.floor(x * 4), Math.floor(y * 4)];
    const halved = noise.wave(column / 4 + 0.1, row / 4 + 0.1, 29) > 0;
    const [across, down] = [(x * (halved ? 8 : 4)) % 1, (y * 4) % 1];
    const edge = Math.max(Math.abs(across - 0.5) * (halved ? 1 : 1), Math.abs(down - 0.5)) * 2;
    const gap = step(halved ? 0.93 : 0.955, 0.985, edge);
    const own = noise.wave(Math.floor(x * (halved ? 8 : 4)) / 8 + 0.03, row / 4 + 0.03, 53);
    return texel(0.3 * own - 1.1 * gap + 0.1 * noise.cloud(x, y, 30, 30, 2), 0.8 - 0.7 * gap);
  },
  checks: (noise, x, y) => {
    const isOdd = (Math.floor(x * 8) + Math.floor(y * 8)) % 2 === 1;
    return texel(0.1 * noise.cloud(x, y, 20, 20, 2), 0.5, isOdd ? 1 : 0);
  },
  crumb: (noise, x, y) => {
    const { near } = noise.cells(x, y, 26);
    const hole = 1 - step(0.15, 0.4, near);
    return texel(0.4 * noise.cloud(x, y, 12, 12, 3) - 0.5 * hole, 0.8 - 0.6 * hole);
  },
} satisfies Readonly<Record<string, Pattern>>;

export type PatternName = keyof typeof PATTERNS;

/** Rows of stones, every second one set off by half a stone; the mortar is the second colour. */
function masonry(noise: Noise, x: number, y: number, rows: number, columns: number, joint: number): Texel {
  const bend = 0.006 * noise.cloud(x, y, 8, 8, 2);
  const row = Math.floor(y * rows);
  const shift = (row & 1) * 0.5;
  const [across, down] = [((x + bend) * columns + shift + columns) % 1, ((y + bend) * rows + rows) % 1];
  const column = (Math.floor((x + bend) * columns + shift) + columns) % columns;
  const edge = Math.min(Math.min(across, 1 - across) / columns, Math.min(down, 1 - down) / rows) * rows;
  const stone = step(joint * 0.6, joint * 2.2, edge);
  const own = noise.wave(column / columns + 0.11, (row % rows) / rows + 0.07, 41);
  const rough = noise.cloud(x, y, 20, 20, 3);
  return texel(
    stone * (0.75 * own + 0.35 * rough) - 0.2 * (1 - stone),
    clamp(stone * (0.75 + 0.2 * rough + 0.1 * own), 0, 1),
    0.75 * (1 - stone),
  );
}

function texel(shade: number, height: number, second = 0): Texel {
  return { shade: clamp(shade, -1, 1), height: clamp(height, 0, 1), second };
}
