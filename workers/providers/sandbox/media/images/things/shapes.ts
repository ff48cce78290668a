/** Plain forms. */
import { lighter } from "../colours.ts";
import { circle, path, rect } from "../svg.ts";
import { type Thing } from "../thing.ts";

export const SHAPES: Readonly<Record<string, Thing>> = {
  circle: { where: "ground", colour: "#f0b13c", size: 1, home: "studio", draw: (c) => circle(50, 52, 46, c) },
  square: {
    where: "ground",
    colour: "#3c82d6",
    size: 1,
    home: "studio",
    top: 10,
    draw: (c) => rect(6, 10, 88, 88, c, { rx: 4 }),
  },
  triangle: { where: "ground", colour: "#3fae6a", size: 1, home: "studio", draw: (c) => path("M50 8L98 98L2 98Z", c) },
  diamond: {
    where: "ground",
    colour: "#4fc3e8",
    size: 0.9,
    home: "studio",
    draw: (c) =>
      path("M26 20L74 20L98 46L50 98L2 46Z", c) +
      path("M26 20L38 46L2 46ZM74 20L62 46L98 46Z", lighter(c, 0.35)) +
      path("M38 46L62 46L50 98Z", lighter(c, 0.5)) +
      path("M26 20L74 20L62 46L38 46Z", lighter(c, 0.65)),
  },
};
