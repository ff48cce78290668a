/** Colours by name, and what is mixed from them. */
import type { Random } from "../../random.ts";

/** `#rrggbb` */
export type Colour = string;

export const COLOURS: Readonly<Record<string, Colour>> = {
  red: "#d92b3a",
  crimson: "#b3122d",
  scarlet: "#e8391d",
  orange: "#f08a24",
  amber: "#f5b02e",
  gold: "#e3b130",
  golden: "#e3b130",
  yellow: "#f7d433",
  lime: "#9bd130",
  green: "#35a24c",
  emerald: "#149b6c",
  olive: "#7c8433",
  mint: "#8fdcb9",
  teal: "#1a8f91",
  turquoise: "#2ec5c0",
  cyan: "#29c4e0",
  blue: "#2a6bd8",
  navy: "#1c2f6b",
  indigo: "#43389f",
  violet: "#8146d0",
  purple: "#7d39a8",
  lavender: "#b9a4e6",
  magenta: "#d12b9c",
  pink: "#f285ae",
  rose: "#e8668c",
  coral: "#f47a66",
  peach: "#fbbd94",
  brown: "#82532f",
  beige: "#e6d5b4",
  cream: "#f6ecd2",
  white: "#f7f7f4",
  silver: "#bfc5cc",
  gray: "#868c94",
  grey: "#868c94",
  black: "#23252b",
};

export interface Palette {
  /** From dark to light, related in hue. */
  readonly shades: readonly [Colour, Colour, Colour, Colour, Colour];
  /** Stands out from them. */
  readonly accent: Colour;
}

/** Colours named in the prompt lead; where there are none the seed chooses. */
export function choosePalette(named: readonly Colour[], random: Random): Palette {
  const hue = random.below(360);
  const [first, second] = named;
  if (first !== undefined) {
    return {
      shades: [
        mix(first, "#0d1024", 0.55),
        mix(first, "#0d1024", 0.25),
        first,
        mix(first, "#ffffff", 0.4),
        mix(first, "#ffffff", 0.72),
      ],
      accent: second ?? mix(first, hsl(hue, 70, 60), 0.75),
    };
  }
  const turn = 18 + random.below(30);
  return {
    shades: [
      hsl(hue, 48, 20),
      hsl(hue + turn, 50, 36),
      hsl(hue + 2 * turn, 56, 54),
      hsl(hue + 3 * turn, 62, 70),
      hsl(hue + 4 * turn, 66, 86),
    ],
    accent: hsl(hue + 180, 78, 60),
  };
}

/** @param share of the second colour, 0 to 1 */
export function mix(one: Colour, other: Colour, share: number): Colour {
  const [a, b] = [channels(one), channels(other)];
  return `#${a.map((value, index) => hex(value + ((b[index] ?? 0) - value) * share)).join("")}`;
}

export const lighter = (colour: Colour, share: number): Colour => mix(colour, "#ffffff", share);
export const darker = (colour: Colour, share: number): Colour => mix(colour, "#0d1024", share);

/** Degrees, per cent, per cent. */
export function hsl(hue: number, saturation: number, lightness: number): Colour {
  const light = lightness / 100;
  const range = (saturation / 100) * Math.min(light, 1 - light);
  const channel = (offset: number): string => {
    const step = (offset + (((hue % 360) + 360) % 360) / 30) % 12;
    return hex(255 * (light - range * Math.max(-1, Math.min(step - 3, 9 - step, 1))));
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function channels(colour: Colour): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function hex(value: number): string {
  return Math.round(Math.max(0, Math.min(255, value)))
    .toString(16)
    .padStart(2, "0");
}
