/** Backdrops of land: hills, mountains, forest, city, desert, and the space above all land. */
import type { Painter } from "./backdrops.ts";
import { darker, lighter, mix } from "./colours.ts";
import { drawSky, landColour, skyColours, starField, type Stage } from "./sky.ts";
import { circle, ellipse, group, line, n, path, rect, ridge } from "./svg.ts";

export const LANDSCAPES = {
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
        path(
          ridge(random, width, height, height * y, height * 0.15, 7, true),
          mix(mix(rock, "#666c82", 0.5), haze, 0.5 - 0.3 * index),
        ),
      )
      .join("");
    return { svg: drawSky(stage) + peaks + ranges(stage, 0.68, 2, landColour(stage), 0.03), ground: height * 0.88 };
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
      const wall = mix(mix(palette.shades[1], "#3f4a63", 0.6), skyColours(stage)[2], 0.45 - 0.35 * row);
      let walls = "";
      // One path for all: 800 rectangles, each with its opacity, took 300 ms.
      let windows = "";
      for (let x = -20; x < width;) {
        const wide = 60 + random.below(70);
        const tall = height * (0.2 + 0.08 * row + random.below(26) / 100);
        const top = height * 0.8 - tall;
        walls += rect(x, top, wide, tall + height, wall);
        for (let y = top + 16; y < height * 0.8 - 20; y += 26) {
          for (let at = x + 10; at < x + wide - 14; at += 22) {
            if (random.below(100) < 55 * stage.detail) windows += `M${n(at)} ${n(y)}h10v13h-10Z`;
          }
        }
        x += wide + 4 + random.below(12);
      }
      return walls + path(windows, lit, { opacity: 0.3 + 0.5 * row });
    });
    return {
      svg:
        drawSky(stage) +
        rows.join("") +
        rect(0, height * 0.8, width, height, mix(palette.shades[0], "#343846", 0.7)) +
        line(`M0 ${n(height * 0.9)}H${n(width)}`, "#e9e3c8", 5, { "stroke-dasharray": "46 38", opacity: 0.7 }),
      ground: height * 0.87,
    };
  },
  desert: (stage) => {
    const day = mix("#dfa961", stage.palette.shades[3], 0.25);
    const sand = stage.motif.light === "night" ? darker(day, 0.55) : day;
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
    const open = rect(0, 0, width, height, "url(#deep)") + clouds + starField(stage, 160, height) + globe;
    const { foreland } = stage.motif;
    if (foreland !== "moon" && foreland !== "mars") return { svg: open, ground: height * 0.66 };
    return { svg: open + cratered(stage, foreland === "mars" ? "#c0643c" : "#a9abb5"), ground: height * 0.87 };
  },
} as const satisfies Record<string, Painter>;

function cratered({ width, height, random }: Stage, soil: string): string {
  const land = [0.7, 0.77]
    .map((y, index) =>
      path(ridge(random, width, height, height * y, height * 0.02, 5), index === 0 ? darker(soil, 0.3) : soil),
    )
    .join("");
  const craters = Array.from({ length: Math.round(width / 110) }, () => {
    const [x, y] = [random.below(width), height * (0.81 + random.below(150) / 1_000)];
    const wide = 24 + random.below(46);
    return group(
      {},
      ellipse(x, y, wide, wide * 0.26, darker(soil, 0.22)) +
        ellipse(x, y + wide * 0.06, wide * 0.86, wide * 0.19, darker(soil, 0.34)),
    );
  });
  return land + craters.join("");
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
