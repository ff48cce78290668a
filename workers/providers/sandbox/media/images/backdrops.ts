/** What stands behind the things: sky, land, water, a studio, or a composition of shapes. */
import { darker, hsl, lighter, mix } from "./colours.ts";
import type { Scenery } from "./prompt.ts";
import { drawSky, landColour, skyColours, starField, weather, type Stage } from "./sky.ts";
import { THINGS } from "./things.ts";
import {
  circle,
  ellipse,
  group,
  line,
  n,
  path,
  radialGradient,
  rect,
  ridge,
  starPath,
  verticalGradient,
} from "./svg.ts";

export interface Backdrop {
  readonly svg: string;
  /** Drawn over the things: falling snow, a hint of haze. */
  readonly front: string;
  /** Where feet stand, from the top. */
  readonly ground: number;
}

export function drawBackdrop(stage: Stage): Backdrop {
  const { svg, ground } = BACKDROPS[stage.motif.scenery](stage);
  return { svg, ground, front: weather(stage) };
}

type Painter = (stage: Stage) => { readonly svg: string; readonly ground: number };

const BACKDROPS: Readonly<Record<Scenery, Painter>> = {
  hills: (stage) => {
    const land = landColour(stage);
    const { height } = stage;
    return {
      svg: drawSky(stage) + ranges(stage, 0.56, 3, land, 0.035) + layer(stage, 0.74, land, 0.02) + grass(stage, land),
      ground: height * 0.86,
    };
  },
  mountains: (stage) => {
    const { width, height, random, palette } = stage;
    const rock = palette.shades[1];
    const haze = skyColours(stage)[2];
    const peaks = [0.42, 0.54]
      .map((y, index) =>
        path(ridge(random, width, height, height * y, height * 0.15, 7, true), mix(rock, haze, 0.5 - 0.3 * index)),
      )
      .join("");
    return { svg: drawSky(stage) + peaks + ranges(stage, 0.68, 2, landColour(stage), 0.03), ground: height * 0.88 };
  },
  sea: (stage) => {
    const { width, height, random } = stage;
    const [top, , low] = skyColours(stage);
    const water = mix(stage.palette.shades[2], stage.motif.light === "night" ? "#0a1838" : "#1f6fae", 0.6);
    const waves = Array.from({ length: 7 }, (_, index) => {
      const y = height * (0.56 + 0.062 * index);
      return path(
        ridge(random, width, height, y, height * 0.008 * (1 + index * 0.5), 9 + (index % 3)),
        mix(mix(water, low, 0.3), darker(water, 0.35), index / 6),
        { opacity: 0.85 },
      );
    }).join("");
    const glints = Array.from({ length: Math.round(26 * stage.detail) }, () => {
      const [x, y] = [random.below(width), height * (0.58 + random.below(380) / 1_000)];
      return line(`M${n(x)} ${n(y)}h${n(18 + random.below(50))}`, lighter(top, 0.7), 2.4, { opacity: 0.35 });
    }).join("");
    const open = drawSky(stage) + rect(0, height * 0.55, width, height * 0.45, "url(#water)") + waves + glints;
    if (!hasFeet(stage)) return { svg: open, ground: height * 0.78 };
    // A house needs a shore to stand on.
    const sand = stage.motif.light === "night" ? "#4d4a55" : "#e8cf9c";
    const shore = [0.8, 0.83]
      .map((y, index) =>
        path(ridge(random, width, height, height * y, height * 0.012, 4), index === 0 ? lighter(sand, 0.35) : sand),
      )
      .join("");
    return { svg: open + shore, ground: height * 0.88 };
  },
  forest: (stage) => {
    const { width, height, random } = stage;
    const land = landColour(stage);
    const haze = skyColours(stage)[2];
    const rows = [0, 1, 2].map((row) => {
      const share = 0.6 - 0.25 * row;
      const count = Math.round((width / 1_000) * (13 - 2 * row));
      const trees = Array.from({ length: count }, (_, index) => {
        const x = ((index + random.below(100) / 100) / count) * width * 1.1 - width * 0.05;
        const tall = height * (0.22 + 0.09 * row) * (0.8 + random.below(40) / 100);
        const foot = height * (0.66 + 0.08 * row);
        return path(
          `M${n(x)} ${n(foot - tall)}L${n(x + tall * 0.24)} ${n(foot)}L${n(x - tall * 0.24)} ${n(foot)}Z`,
          mix(darker(land, 0.25), haze, share),
        );
      });
      return (
        trees.join("") +
        path(ridge(random, width, height, height * (0.655 + 0.08 * row), height * 0.01, 6), mix(land, haze, share))
      );
    });
    return { svg: drawSky(stage) + rows.join("") + layer(stage, 0.84, land, 0.015), ground: height * 0.9 };
  },
  city: (stage) => {
    const { width, height, random, palette } = stage;
    const lit = stage.motif.light === "day" ? "#dff1fb" : "#ffd983";
    const rows = [0, 1].map((row) => {
      const wall = mix(darker(palette.shades[1], 0.35), skyColours(stage)[2], 0.45 - 0.35 * row);
      let svg = "";
      for (let x = -20; x < width;) {
        const wide = 60 + random.below(70);
        const tall = height * (0.2 + 0.08 * row + random.below(26) / 100);
        const top = height * 0.8 - tall;
        svg += rect(x, top, wide, tall + height, wall);
        for (let y = top + 16; y < height * 0.8 - 20; y += 26) {
          for (let at = x + 10; at < x + wide - 14; at += 22) {
            if (random.below(100) < 55 * stage.detail) svg += rect(at, y, 10, 13, lit, { opacity: 0.3 + 0.5 * row });
          }
        }
        x += wide + 4 + random.below(12);
      }
      return svg;
    });
    return {
      svg:
        drawSky(stage) +
        rows.join("") +
        rect(0, height * 0.8, width, height, darker(palette.shades[0], 0.3)) +
        line(`M0 ${n(height * 0.9)}H${n(width)}`, "#e9e3c8", 5, { "stroke-dasharray": "46 38", opacity: 0.7 }),
      ground: height * 0.87,
    };
  },
  desert: (stage) => {
    const sand = mix("#dfa961", stage.palette.shades[3], 0.25);
    return { svg: drawSky(stage) + ranges(stage, 0.62, 3, sand, 0.05), ground: stage.height * 0.87 };
  },
  space: (stage) => {
    const { width, height, random, palette } = stage;
    const clouds = Array.from({ length: 6 }, (_, index) =>
      ellipse(
        random.below(width),
        random.below(height),
        200 + random.below(260),
        120 + random.below(180),
        `url(#${index % 2 === 0 ? "nebulaA" : "nebulaB"})`,
        { transform: `rotate(${random.below(60) - 30} ${n(width / 2)} ${n(height / 2)})` },
      ),
    ).join("");
    const planet = 90 + random.below(70);
    const [x, y] = [width * (0.15 + random.below(70) / 100), height * (0.18 + random.below(22) / 100)];
    const globe = group(
      { transform: `translate(${n(x)} ${n(y)}) rotate(-18)` },
      circle(0, 0, planet, "url(#planet)") +
        ellipse(0, 0, planet * 1.75, planet * 0.3, "none", {
          stroke: lighter(palette.accent, 0.4),
          "stroke-width": 9,
          opacity: 0.75,
        }) +
        path(`M${n(-planet)} 0A${planet} ${planet} 0 0 1 ${planet} 0Z`, "url(#planet)"),
    );
    return {
      svg: rect(0, 0, width, height, "url(#deep)") + clouds + starField(stage, 160, height) + globe,
      ground: height * 0.82,
    };
  },
  studio: (stage) => {
    const { width, height } = stage;
    return {
      svg:
        rect(0, 0, width, height, "url(#wall)") +
        circle(width * 0.5, height * 0.42, Math.max(width, height) * 0.55, "url(#glow)") +
        rect(0, height * 0.74, width, height * 0.26, "url(#floor)"),
      ground: height * 0.84,
    };
  },
  abstract: (stage) => {
    const { width, height, random, palette } = stage;
    const bands = Array.from({ length: 6 }, (_, index) => {
      const colour =
        [palette.shades[3], palette.accent, palette.shades[2], palette.shades[4], palette.shades[1], palette.shades[2]][
          index
        ] ?? palette.accent;
      return path(
        ridge(random, width, height, height * (0.22 + 0.13 * index), height * 0.11, 3 + random.below(3)),
        colour,
        { opacity: 0.82 },
      );
    }).join("");
    const discs = Array.from({ length: Math.round(9 * stage.detail) }, (_, index) => {
      const radius = 22 + random.below(110);
      const fill = [palette.accent, palette.shades[4], palette.shades[1]][index % 3] ?? palette.accent;
      const [x, y] = [random.below(width), random.below(height)];
      return index % 4 === 3
        ? path(starPath(x, y, radius, radius * 0.5, 4 + random.below(4), random.below(90)), fill, { opacity: 0.55 })
        : circle(x, y, radius, index % 3 === 2 ? "none" : fill, {
            opacity: 0.5,
            stroke: palette.shades[4],
            "stroke-width": index % 3 === 2 ? 7 : 0,
          });
    }).join("");
    return { svg: rect(0, 0, width, height, "url(#sky)") + bands + discs, ground: height * 0.8 };
  },
};

function hasFeet({ motif }: Stage): boolean {
  return motif.wishes.some(({ thing }) => THINGS[thing]?.where === "ground");
}

/** Gradients that the painters name; all are there, whether a picture uses them or not. */
export function definitions(stage: Stage): string {
  const { palette, random } = stage;
  const [top, middle, low] = skyColours(stage);
  const hue = random.below(360);
  return [
    verticalGradient("sky", [
      [0, top],
      [0.55, middle],
      [1, low],
    ]),
    verticalGradient("water", [
      [0, mix(low, palette.shades[2], 0.5)],
      [1, darker(palette.shades[1], 0.3)],
    ]),
    verticalGradient("wall", [
      [0, palette.shades[3]],
      [0.74, palette.shades[4]],
      [1, palette.shades[3]],
    ]),
    verticalGradient("floor", [
      [0, mix(palette.shades[3], palette.shades[2], 0.6)],
      [1, palette.shades[3]],
    ]),
    verticalGradient("deep", [
      [0, "#070a1c"],
      [0.6, mix("#141a3d", palette.shades[1], 0.45)],
      [1, "#0b0d22"],
    ]),
    radialGradient("glow", [
      [0, "#ffffff", 0.75],
      [1, "#ffffff", 0],
    ]),
    radialGradient("nebulaA", [
      [0, palette.accent, 0.4],
      [1, palette.accent, 0],
    ]),
    radialGradient("nebulaB", [
      [0, palette.shades[2], 0.5],
      [1, palette.shades[2], 0],
    ]),
    verticalGradient("planet", [
      [0, hsl(hue, 65, 68)],
      [0.5, palette.shades[2]],
      [1, darker(palette.shades[1], 0.5)],
    ]),
  ].join("");
}

/** Ranges of hills, paler with distance. */
function ranges(stage: Stage, from: number, count: number, colour: string, rough: number): string {
  const { width, height, random } = stage;
  const haze = skyColours(stage)[2];
  return Array.from({ length: count }, (_, index) =>
    path(
      ridge(random, width, height, height * (from + 0.085 * index), height * rough, 4 + random.below(3)),
      mix(colour, haze, 0.55 - (0.5 * index) / count),
    ),
  ).join("");
}

function layer({ width, height, random }: Stage, y: number, colour: string, rough: number): string {
  return path(ridge(random, width, height, height * y, height * rough, 4), darker(colour, 0.08));
}

function grass({ width, height, random, detail, motif }: Stage, colour: string): string {
  if (motif.weather === "snow") return "";
  return Array.from({ length: Math.round(70 * detail) }, () => {
    const [x, y] = [random.below(width), height * (0.79 + random.below(200) / 1_000)];
    return line(
      `M${n(x)} ${n(y)}q${random.below(9) - 4} -10 ${random.below(15) - 7} -${12 + random.below(12)}`,
      random.below(2) === 0 ? darker(colour, 0.22) : lighter(colour, 0.18),
      2.4,
    );
  }).join("");
}
