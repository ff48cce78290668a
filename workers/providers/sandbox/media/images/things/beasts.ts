/** Large animals. */
import { darker } from "../colours.ts";
import { ellipse, line, path, rect } from "../svg.ts";
import { eye, type Thing } from "../thing.ts";

export const BEASTS: Readonly<Record<string, Thing>> = {
  horse: {
    where: "ground",
    colour: "#8a5a34",
    size: 1.5,
    top: 62,
    draw: (c) =>
      [26, 38, 62, 72].map((x) => rect(x, 66, 7, 34, darker(c, 0.12), { rx: 3 })).join("") +
      line("M20 54C8 60 8 74 12 84", darker(c, 0.5), 6) +
      ellipse(48, 58, 30, 17, c) +
      path("M60 58C64 36 68 22 78 14L88 22L98 34C98 40 92 42 88 38L80 34C80 46 78 58 72 66Z", c) +
      line("M62 46C64 30 68 20 78 12", darker(c, 0.5), 6) +
      path("M76 16L78 5L84 16Z", c) +
      eye(84, 25, 2),
  },
};
