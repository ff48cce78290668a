/** Light, sky and weather of a picture, and what all painters of it share. */
import type { Random } from "../../random.ts";
import { darker, mix, type Palette } from "./colours.ts";
import type { Motif } from "./prompt.ts";
import { circle, ellipse, line, rect } from "./svg.ts";

export interface Stage {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  readonly motif: Motif;
  readonly random: Random;
  /** How much small detail: stars, drops, windows. 1 is usual. */
  readonly detail: number;
}

/** Top, middle, horizon. The palette tints the light, it does not replace it. */
export function skyColours({ palette, motif }: Stage): readonly [string, string, string] {
  if (motif.scenery === "abstract") return [palette.shades[1], palette.shades[2], palette.shades[3]];
  if (motif.light === "night")
    return [
      mix("#0b1030", palette.shades[0], 0.3),
      mix("#1b2555", palette.shades[1], 0.3),
      mix("#3a4a86", palette.shades[2], 0.3),
    ];
  if (motif.light === "sunset")
    return [
      mix("#40346f", palette.shades[1], 0.3),
      mix("#e0705c", palette.shades[2], 0.25),
      mix("#ffd08a", palette.shades[4], 0.25),
    ];
  return [
    mix("#3f8fd8", palette.shades[2], 0.3),
    mix("#8cc6ee", palette.shades[3], 0.3),
    mix("#e8f4fb", palette.shades[4], 0.4),
  ];
}

export function drawSky(stage: Stage): string {
  const { width, height, random, motif } = stage;
  const light =
    rect(0, 0, width, height, "url(#sky)") +
    circle(width * (0.2 + random.below(60) / 100), height * 0.3, height * 0.42, "url(#glow)", {
      opacity: motif.light === "night" ? 0.25 : 0.7,
    });
  if (motif.light === "night") return light + starField(stage, 70, height * 0.6);
  const wisps = Array.from({ length: 3 + random.below(3) }, () => {
    const [x, y, wide] = [random.below(width), height * (0.06 + random.below(300) / 1_000), 70 + random.below(130)];
    return [0, 1, 2]
      .map((part) =>
        ellipse(
          x + (part - 1) * wide * 0.6,
          y + (part === 1 ? -wide * 0.12 : 0),
          wide * (part === 1 ? 0.75 : 0.55),
          wide * 0.2,
          "#ffffff",
          { opacity: 0.45 },
        ),
      )
      .join("");
  });
  return light + wisps.join("");
}

export function starField({ width, random, detail }: Stage, count: number, depth: number): string {
  return Array.from({ length: Math.round(count * detail) }, () =>
    circle(random.below(width), random.below(Math.max(1, Math.round(depth))), 0.8 + random.below(26) / 10, "#ffffff", {
      opacity: 0.35 + random.below(60) / 100,
    }),
  ).join("");
}

export function landColour({ palette, motif }: Stage): string {
  if (motif.weather === "snow") return mix("#e9f1f8", palette.shades[4], 0.15);
  const green = mix("#5aa653", palette.shades[2], motif.colours.length > 0 ? 0.15 : 0.3);
  return motif.light === "night" ? darker(green, 0.6) : motif.light === "sunset" ? mix(green, "#8a4a4f", 0.35) : green;
}

export function weather({ width, height, random, detail, motif }: Stage): string {
  if (motif.weather === "clear") return "";
  return Array.from({ length: Math.round(150 * detail) }, () => {
    const [x, y] = [random.below(width), random.below(height)];
    return motif.weather === "snow"
      ? circle(x, y, 2 + random.below(5), "#ffffff", { opacity: 0.85 })
      : line(`M${x} ${y}l-9 34`, "#dcecf8", 2, { opacity: 0.5 });
  }).join("");
}
