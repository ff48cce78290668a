/** Backdrops without a sky: a room, a studio, a composition of shapes. */
import type { Painter } from "./backdrops.ts";
import { darker, lighter, mix } from "./colours.ts";
import { skyColours, type Stage } from "./sky.ts";
import { circle, ellipse, group, line, n, path, rect, ridge, starPath } from "./svg.ts";

export const INDOORS = {
  studio: (stage) => {
    const { width, height } = stage;
    return {
      svg:
        rect(0, 0, width, height, "url(#wall)") +
        circle(width * 0.5, height * 0.42, Math.max(width, height) * 0.55, "url(#glow)") +
        rect(0, height * 0.74, width, height * 0.26, "url(#floor)") +
        (stage.motif.wishes.length === 0 ? solids(stage, height * 0.84) : ""),
      ground: height * 0.84,
    };
  },
  room: (stage) => {
    const { width, height, random, palette, motif } = stage;
    const isNight = motif.light === "night";
    const plank = mix(isNight ? "#6b4f3d" : "#b98a5e", palette.shades[2], 0.15);
    const line_ = darker(plank, 0.22);
    const floorTop = height * 0.76;
    const joints = Array.from({ length: Math.round(width / 95) }, (_, index) => {
      const x = (index + 0.5) * 95;
      const slant = (x - width / 2) * 0.35;
      return line(`M${n(x)} ${n(floorTop)}L${n(x + slant)} ${n(height)}`, line_, 2, { opacity: 0.6 });
    }).join("");
    const onLeft = random.below(2) === 0;
    const windowX = width * (onLeft ? 0.12 : 0.6);
    const rug = ellipse(width / 2, height * 0.89, width * 0.42, height * 0.07, mix(palette.accent, plank, 0.25));
    return {
      svg:
        rect(0, 0, width, height, "url(#wall)") +
        circle(width * 0.5, height * 0.3, Math.max(width, height) * 0.5, "url(#glow)", {
          opacity: isNight ? 0.25 : 0.7,
        }) +
        (isNight ? rect(0, 0, width, height, "#141830", { opacity: 0.35 }) : "") +
        view(stage, windowX, height * 0.12, width * 0.28, height * 0.34) +
        painting(stage, width * (onLeft ? 0.62 : 0.16), height * 0.15, Math.min(width, height) * 0.2) +
        rect(0, floorTop - 16, width, 18, lighter(palette.shades[4], 0.5)) +
        group({}, rect(0, floorTop, width, height - floorTop, plank) + joints + rug + inner(stage, plank)),
      ground: height * 0.885,
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
} as const satisfies Record<string, Painter>;

function inner({ width, height, palette }: Stage, plank: string): string {
  return ellipse(width / 2, height * 0.89, width * 0.36, height * 0.055, "none", {
    stroke: mix(lighter(palette.accent, 0.5), plank, 0.2),
    "stroke-width": 5,
  });
}

/** A window, and what is to be seen in it. */
function view(stage: Stage, x: number, y: number, wide: number, tall: number): string {
  const [top, , low] = skyColours(stage);
  const land = stage.motif.weather === "snow" ? "#eaf2f8" : stage.motif.light === "night" ? "#22382f" : "#6fae5c";
  const sill = "#fbf8f1";
  const hill = `M${n(x)} ${n(y + tall)}V${n(y + tall * 0.74)}Q${n(x + wide * 0.3)} ${n(y + tall * 0.55)} ${n(x + wide * 0.6)} ${n(y + tall * 0.72)}T${n(x + wide)} ${n(y + tall * 0.7)}V${n(y + tall)}Z`;
  const light = stage.motif.light === "night" ? "#f3ecd0" : stage.motif.light === "sunset" ? "#ffb45e" : "#fff3b8";
  return group(
    {},
    rect(x - 14, y - 14, wide + 28, tall + 28, sill, { rx: 6 }) +
      rect(x, y, wide, tall, mix(top, low, 0.4)) +
      circle(x + wide * 0.72, y + tall * 0.28, wide * 0.09, light) +
      path(hill, land) +
      rect(x + wide / 2 - 5, y, 10, tall, sill) +
      rect(x, y + tall * 0.48, wide, 10, sill) +
      rect(x - 26, y + tall + 10, wide + 52, 16, lighter(sill, 0.5), { rx: 4 }),
  );
}

/** Something small and framed on the wall. */
function painting({ random, palette }: Stage, x: number, y: number, side: number): string {
  const wide = side * (0.8 + random.below(40) / 100);
  const [a, b, c] = [palette.shades[1], palette.accent, palette.shades[2]];
  const mount = side * 0.1;
  const [innerX, innerY, innerWide, innerTall] = [x + mount, y + mount, wide - 2 * mount, side - 2 * mount];
  return group(
    {},
    rect(x - 7, y - 7, wide + 14, side + 14, "#5b4030", { rx: 3 }) +
      rect(x, y, wide, side, "#fbf7ec") +
      rect(innerX, innerY, innerWide, innerTall, lighter(c, 0.45)) +
      circle(innerX + innerWide * 0.65, innerY + innerTall * 0.35, innerTall * 0.2, b) +
      path(
        `M${n(innerX)} ${n(innerY + innerTall)}L${n(innerX + innerWide * 0.35)} ${n(innerY + innerTall * 0.4)}L${n(innerX + innerWide * 0.6)} ${n(innerY + innerTall * 0.8)}L${n(innerX + innerWide * 0.78)} ${n(innerY + innerTall * 0.6)}L${n(innerX + innerWide)} ${n(innerY + innerTall)}Z`,
        a,
      ),
  );
}

/** A still life of plain solids, for a studio in which nothing known was asked for. */
function solids({ width, random, palette }: Stage, ground: number): string {
  const unit = Math.min(width * 0.2, ground * 0.22);
  const shades = [palette.accent, palette.shades[1], palette.shades[2], lighter(palette.accent, 0.35)];
  const kinds = ["ball", "block", "cone", "arch"] as const;
  const first = random.below(kinds.length);
  return Array.from({ length: 4 }, (_, index) => {
    const kind = kinds[(first + index) % kinds.length] ?? "ball";
    const colour = shades[index] ?? palette.accent;
    const x = width / 2 + (index - 1.5) * unit * 1.12;
    const tall = unit * (0.9 + random.below(80) / 100) * (kind === "ball" ? 0.62 : 1);
    const [left, right] = [x - unit / 2, x + unit / 2];
    const shadow = ellipse(x + unit * 0.1, ground, unit * 0.62, unit * 0.08, "#0d1024", { opacity: 0.2 });
    const plinth = rect(left, ground - unit * 0.5, unit, unit * 0.5, lighter(palette.shades[3], 0.5));
    const shaded = rect(
      x + unit * 0.22,
      ground - unit * 0.5,
      unit * 0.28,
      unit * 0.5,
      darker(palette.shades[3], 0.12),
      {
        opacity: 0.5,
      },
    );
    const foot = kind === "ball" ? ground - unit * 0.5 : ground;
    const body = {
      ball:
        plinth +
        shaded +
        circle(x, foot - unit * 0.42, unit * 0.42, colour) +
        circle(x - unit * 0.12, foot - unit * 0.55, unit * 0.17, lighter(colour, 0.4), { opacity: 0.7 }),
      block:
        rect(left, foot - tall, unit, tall, colour) +
        path(`M${n(x + unit * 0.2)} ${n(foot)}V${n(foot - tall)}H${n(right)}V${n(foot)}Z`, darker(colour, 0.22)),
      cone:
        path(`M${n(x)} ${n(foot - tall)}L${n(right)} ${n(foot)}L${n(left)} ${n(foot)}Z`, colour) +
        path(
          `M${n(x)} ${n(foot - tall)}L${n(right)} ${n(foot)}L${n(x + unit * 0.12)} ${n(foot)}Z`,
          darker(colour, 0.22),
        ),
      arch: path(
        `M${n(left)} ${n(foot)}V${n(foot - tall * 0.6)}A${n(unit / 2)} ${n(unit / 2)} 0 0 1 ${n(right)} ${n(foot - tall * 0.6)}V${n(foot)}H${n(right - unit * 0.27)}V${n(foot - tall * 0.6)}A${n(unit * 0.23)} ${n(unit * 0.23)} 0 0 0 ${n(left + unit * 0.27)} ${n(foot - tall * 0.6)}V${n(foot)}Z`,
        colour,
      ),
    }[kind];
    return group({}, shadow + body);
  }).join("");
}
