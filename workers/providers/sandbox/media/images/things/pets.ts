/** Small animals. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, path } from "../svg.ts";
import { eye, type Thing } from "../thing.ts";

export const PETS: Readonly<Record<string, Thing>> = {
  cat: {
    where: "ground",
    colour: "#dd8b3e",
    size: 1,
    wide: 0.75,
    draw: (c) =>
      line("M76 92C98 92 96 62 86 58", c, 7) +
      path("M26 100C22 70 34 54 50 54C66 54 80 70 78 100Z", c) +
      path("M24 40L22 10L42 24ZM76 40L78 10L58 24Z", c) +
      path("M27 32L26 17L36 25ZM73 32L74 17L64 25Z", "#f4b7b1") +
      ellipse(50, 40, 29, 24, c) +
      path("M40 30L44 20L47 31ZM53 31L56 20L60 30Z", darker(c, 0.25), { opacity: 0.5 }) +
      ellipse(39, 39, 5.4, 6.4, "#cfe887") +
      ellipse(61, 39, 5.4, 6.4, "#cfe887") +
      ellipse(39, 39, 1.9, 5.4, "#1b1b22") +
      ellipse(61, 39, 1.9, 5.4, "#1b1b22") +
      path("M46 48L54 48L50 53Z", "#e5796f") +
      line("M50 53C50 58 43 59 41 56M50 53C50 58 57 59 59 56", darker(c, 0.6), 1.4) +
      line("M34 50L14 46M34 53L15 56M66 50L86 46M66 53L85 56", "#fff", 1, { opacity: 0.85 }) +
      ellipse(50, 82, 13, 18, lighter(c, 0.45)),
  },
  dog: {
    where: "ground",
    colour: "#b98149",
    size: 1.05,
    wide: 0.75,
    draw: (c) =>
      line("M78 84C92 80 94 68 90 62", c, 7) +
      path("M26 100C22 72 34 58 50 58C68 58 82 74 80 100Z", c) +
      ellipse(50, 40, 27, 25, c) +
      path("M26 26C10 24 8 48 18 58C26 58 30 44 32 32ZM74 26C90 24 92 48 82 58C74 58 70 44 68 32Z", darker(c, 0.35)) +
      ellipse(50, 51, 15, 12, lighter(c, 0.5)) +
      ellipse(50, 46, 5.6, 4, "#222") +
      line("M50 50C50 57 43 58 41 55M50 50C50 57 57 58 59 55", "#4a3527", 1.5) +
      path("M46 58C46 66 54 66 54 58Z", "#ea7c86") +
      eye(40, 36, 3) +
      eye(60, 36, 3) +
      ellipse(50, 86, 13, 15, lighter(c, 0.5)),
  },
  rabbit: {
    where: "ground",
    colour: "#d9d2c9",
    size: 0.9,
    wide: 0.65,
    draw: (c) =>
      [38, 62].map((x) => ellipse(x, 20, 8, 20, c) + ellipse(x, 20, 4, 15, "#f3b9bd")).join("") +
      ellipse(50, 78, 28, 23, c) +
      circle(50, 48, 21, c) +
      eye(42, 45, 2.8) +
      eye(58, 45, 2.8) +
      path("M47 52L53 52L50 56Z", "#e5838a") +
      circle(80, 86, 8, lighter(c, 0.6)),
  },
};
