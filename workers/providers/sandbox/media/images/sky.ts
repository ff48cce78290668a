/** Light, sky and weather of a picture, and what all painters of it share. */
import type { Random } from "../../random.ts";
import { darker, mix, type Palette } from "./colours.ts";
import type { Motif } from "./prompt.ts";
import type { Scenery } from "./settings.ts";
import { circle, clipOutline, ellipse, line, rect } from "./svg.ts";

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
  const grey = motif.weather === "clear" ? 0 : motif.weather === "rain" ? 0.6 : 0.3;
  return [
    mix(mix("#3f8fd8", palette.shades[2], 0.3), "#6f7c8c", grey),
    mix(mix("#8cc6ee", palette.shades[3], 0.3), "#98a4b1", grey),
    mix(mix("#e8f4fb", palette.shades[4], 0.4), "#cdd4db", grey),
  ];
}

/** Where a low sun stands, so that what it lights agrees. Half of it is below the horizon of the sea. */
export function sunSpot({ width, height, palette, motif }: Stage): { x: number; y: number; radius: number } {
  // From the colours rather than from chance: it may be asked for more than once.
  const chance = Number.parseInt(palette.accent.slice(1), 16);
  // To one side: in the middle stands what the picture is about.
  const share = 0.14 + (chance % 17) / 100;
  const x = width * (chance % 2 === 0 ? share : 1 - share);
  return { x, y: height * (LOW_SUN[motif.scenery] ?? 0.42), radius: Math.min(width, height) * 0.085 };
}

const LOW_SUN: Partial<Record<Scenery, number>> = {
  sea: 0.53,
  hills: 0.5,
  desert: 0.55,
  mountains: 0.3,
  forest: 0.33,
  city: 0.3,
};

export function drawSky(stage: Stage): string {
  const { width, height, random, motif } = stage;
  const isNight = motif.light === "night";
  const isLow = motif.light === "sunset" && motif.weather === "clear";
  const glowX = width * (0.2 + random.below(60) / 100);
  const sun = sunSpot(stage);
  const light =
    rect(0, 0, width, height, "url(#sky)") +
    circle(isLow ? sun.x : glowX, isLow ? sun.y : height * 0.3, height * 0.42, "url(#glow)", {
      opacity: isNight ? 0.25 : 0.7,
    });
  if (isNight) return light + starField(stage, 70, height * 0.6);
  const hasOwnSun = motif.wishes.some(({ thing }) => thing === "sun");
  const disc =
    isLow && !hasOwnSun
      ? ellipse(sun.x, sun.y, sun.radius * 1.5, sun.radius * 1.5, "#fff0c2", { opacity: 0.35 }) +
        ellipse(sun.x, sun.y, sun.radius, sun.radius, "#ffdf8e")
      : "";
  return light + disc + clouds(stage);
}

/** Each in a part of the sky of its own, so that none lies over another. */
function clouds({ width, height, random, motif }: Stage): string {
  const parts = Math.max(1, Math.round(width / 330));
  const room = width / parts;
  const colour = motif.weather === "clear" ? (motif.light === "sunset" ? "#ffe9dc" : "#ffffff") : "#c9d0da";
  return Array.from({ length: parts }, (_, index) => {
    const radius = Math.min(height * 0.26, room * (0.42 + random.below(18) / 100));
    const free = Math.max(0, room - 2 * radius * CLOUD_SHARE);
    const x = room * index + room / 2 + (random.below(101) / 100 - 0.5) * free;
    const y = height * (0.09 + 0.1 * (index % 2) + random.below(70) / 1_000);
    // An ellipse cut to the outline of a cloud: films take for air what is drawn with ellipses.
    return ellipse(x, y, radius, radius, colour, {
      "clip-path": `url(#cloud${random.below(CLOUDS.length)})`,
      opacity: motif.light === "sunset" ? 0.6 : 0.82,
    });
  }).join("");
}

/** Of the square around it, how wide a cloud is. */
const CLOUD_SHARE = 0.76;
/** Puffs as x, y and radius, in a square of 1; below is a flat foot. */
const CLOUDS = [
  [
    [0.3, 0.52, 0.09],
    [0.45, 0.46, 0.13],
    [0.62, 0.49, 0.11],
    [0.76, 0.54, 0.07],
  ],
  [
    [0.24, 0.54, 0.07],
    [0.37, 0.5, 0.1],
    [0.54, 0.45, 0.13],
    [0.7, 0.52, 0.09],
  ],
  [
    [0.26, 0.53, 0.08],
    [0.42, 0.48, 0.1],
    [0.56, 0.5, 0.09],
    [0.7, 0.51, 0.1],
  ],
] as const;

/** One outline each, whatever it is put together from: nothing shines through where puffs meet. */
export function cloudOutlines(): string {
  return CLOUDS.map((puffs, index) =>
    clipOutline(
      `cloud${index}`,
      puffs.map(([x, y, radius]) => circle(x, y, radius, "#000000")).join("") +
        rect(0.14, 0.52, 0.72, 0.09, "#000000", { rx: 0.045 }),
    ),
  ).join("");
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
  const drops = Array.from({ length: Math.round(150 * detail) }, () => ({
    x: random.below(width),
    y: random.below(height),
  }));
  // Rain as one path: it is drawn at once, and where drops cross it is no brighter.
  return motif.weather === "rain"
    ? line(drops.map(({ x, y }) => `M${x} ${y}l-9 34`).join(""), "#dcecf8", 2, { opacity: 0.5 })
    : drops.map(({ x, y }) => circle(x, y, 2 + random.below(5), "#ffffff", { opacity: 0.85 })).join("");
}
