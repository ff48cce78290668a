/** Backdrops of water: the sea with its shores and cliffs, and what is below. */
import type { Painted, Painter } from "./backdrops.ts";
import { darker, lighter, mix } from "./colours.ts";
import { drawSky, landColour, skyColours, sunSpot, type Stage } from "./sky.ts";
import { ellipse, group, line, n, path, rect, ridge } from "./svg.ts";
import { THINGS } from "./things.ts";

export const WATERS = {
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
    const sun = stage.motif.light === "sunset" ? sunOnWater(stage) : "";
    const open = drawSky(stage) + rect(0, height * 0.55, width, height * 0.45, "url(#water)") + waves + sun + glints;
    if (stage.motif.foreland === "cliff") return { ...cliff(stage), svg: open + cliff(stage).svg };
    if (stage.motif.foreland !== "shore" && !hasFeet(stage)) return { svg: open, ground: height * 0.78 };
    // A house needs a shore to stand on.
    const sand = stage.motif.light === "night" ? "#4d4a55" : "#e8cf9c";
    const shore = [0.8, 0.83]
      .map((y, index) =>
        path(ridge(random, width, height, height * y, height * 0.012, 4), index === 0 ? lighter(sand, 0.35) : sand),
      )
      .join("");
    return { svg: open + shore, ground: height * 0.88 };
  },
  underwater: (stage) => {
    const { width, height, random, palette, motif } = stage;
    const deep = motif.light === "night" ? "#06122f" : "#0b3a6b";
    const sand = mix(motif.light === "night" ? "#5d5a66" : "#d9c08a", deep, 0.25);
    const bubbles = Array.from({ length: Math.round(22 * stage.detail) }, () => {
      const radius = 3 + random.below(10);
      return ellipse(random.below(width), random.below(Math.round(height * 0.8)), radius, radius, "#d9f3fb", {
        "fill-opacity": 0.16,
        stroke: "#e6f8fd",
        "stroke-width": 1.4,
        opacity: 0.8,
      });
    }).join("");
    const shafts = Array.from({ length: 5 }, (_, index) => {
      const [x, wide] = [width * (0.04 + 0.2 * index + random.below(80) / 1_000), 30 + random.below(60)];
      return path(
        `M${n(x)} 0L${n(x + wide)} 0L${n(x + wide * 2 - 90)} ${n(height * 0.8)}L${n(x - 120)} ${n(height * 0.8)}Z`,
        "#ffffff",
        { opacity: 0.07 },
      );
    }).join("");
    const rocks = path(ridge(random, width, height, height * 0.76, height * 0.07, 5), mix(deep, "#2f7fae", 0.35));
    const floor = path(ridge(random, width, height, height * 0.84, height * 0.015, 4), sand);
    const weeds = Array.from({ length: Math.round(width / 70) }, (_, index) => {
      const [x, tall] = [random.below(width), height * (0.08 + random.below(120) / 1_000)];
      const sway = 12 + random.below(18);
      const y = height * (0.86 + random.below(80) / 1_000);
      const colour = [mix("#2f8f5f", deep, 0.15), mix("#57a64a", deep, 0.2), palette.accent][index % 3] ?? sand;
      return line(
        `M${n(x)} ${n(y)}q${n(sway)} ${n(-tall * 0.25)} 0 ${n(-tall * 0.5)}t0 ${n(-tall * 0.5)}`,
        colour,
        index % 3 === 2 ? 13 : 9,
      );
    }).join("");
    const water = rect(0, 0, width, height, "url(#depths)");
    return { svg: water + bubbles + shafts + rocks + floor + weeds, ground: height * 0.88 };
  },
} as const satisfies Record<string, Painter>;

function hasFeet({ motif }: Stage): boolean {
  return motif.wishes.some(({ thing, at }) => {
    const host = at === null || at.how === "beside" ? undefined : motif.wishes[at.whom]?.thing;
    return THINGS[thing]?.where === "ground" && THINGS[host ?? ""]?.where !== "water";
  });
}

/** The glitter below a low sun. */
function sunOnWater(stage: Stage): string {
  const { width, height, random } = stage;
  const { x } = sunSpot(stage);
  return Array.from({ length: 16 }, (_, index) => {
    const y = height * (0.562 + 0.019 * index);
    const wide = width * (0.05 + random.below(50) / 1_000 + 0.003 * index);
    const from = x - wide / 2 + (random.below(41) - 20);
    return line(`M${n(from)} ${n(y)}h${n(wide)}`, "#ffe3a3", 5, { opacity: 0.75 - 0.035 * index });
  }).join("");
}

/** Green on top, rock down to the water on one side. */
function cliff(stage: Stage): Painted {
  const { width, height, palette, motif } = stage;
  const isLeft = Number.parseInt(palette.accent.slice(-1), 16) % 2 === 0;
  const light = { day: 0, sunset: 0.25, night: 0.6 }[motif.light];
  const rock = darker("#8f8577", light);
  const turf = landColour(stage);
  const edge = width * 0.76;
  const top = height * 0.72;
  const at = (x: number, y: number): string => `${n(isLeft ? x : width - x)} ${n(y)}`;
  const shape = (points: readonly (readonly [number, number])[]): string =>
    `M${points.map(([x, y]) => at(x, y)).join("L")}Z`;
  const face: readonly (readonly [number, number])[] = [
    [edge, top],
    [edge - 18, top + height * 0.05],
    [edge + 8, top + height * 0.11],
    [edge - 12, top + height * 0.19],
    [edge + 24, height],
  ];
  const strata = [0.1, 0.16, 0.22]
    .map((y, index) =>
      path(
        shape([
          [-10, top + height * y],
          [edge * (0.5 - 0.1 * index), top + height * (y + 0.012)],
          [edge - 12, top + height * (y - 0.004)],
          [edge - 8, top + height * (y + 0.012)],
          [edge * 0.4, top + height * (y + 0.03)],
          [-10, top + height * (y + 0.02)],
        ]),
        darker(rock, 0.18),
      ),
    )
    .join("");
  const foam = [0, 1, 2]
    .map((index) =>
      ellipse(
        isLeft ? edge + 30 + 34 * index : width - edge - 30 - 34 * index,
        height * (0.955 + 0.012 * (index % 2)),
        44 - 8 * index,
        8,
        "#ffffff",
        { opacity: 0.65 },
      ),
    )
    .join("");
  const svg = group(
    {},
    foam +
      path(shape([[-10, top], ...face, [-10, height]]), rock) +
      path(
        shape([
          ...face,
          [edge * 0.9, height],
          [edge * 0.93, top + height * 0.18],
          [edge * 0.88, top + height * 0.1],
          [edge * 0.92, top],
        ]),
        darker(rock, 0.25),
      ) +
      strata +
      path(
        shape([
          [-10, top - 14],
          [edge * 0.3, top - 26],
          [edge * 0.7, top - 18],
          [edge + 10, top - 4],
          [edge + 4, top + 20],
          [edge * 0.86, top + 46],
          [edge * 0.74, top + 28],
          [edge * 0.56, top + 52],
          [edge * 0.4, top + 34],
          [edge * 0.2, top + 56],
          [-10, top + 36],
        ]),
        turf,
      ) +
      path(
        shape([
          [-10, top - 14],
          [edge * 0.3, top - 26],
          [edge * 0.7, top - 18],
          [edge + 10, top - 4],
          [edge * 0.7, top - 4],
          [edge * 0.3, top - 12],
          [-10, top],
        ]),
        lighter(turf, 0.16),
      ),
  );
  return { svg, ground: top + height * 0.015, footing: isLeft ? [0.02, 0.7] : [0.3, 0.98] };
}
