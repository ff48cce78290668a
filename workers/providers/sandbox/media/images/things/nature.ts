/** What grows. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, path, rect } from "../svg.ts";
import { wood, type Thing } from "../thing.ts";

export const NATURE: Readonly<Record<string, Thing>> = {
  tree: {
    where: "ground",
    colour: "#3f9a4b",
    size: 1.7,
    top: 24,
    draw: (c) =>
      path("M45 100L47 58L53 58L56 100Z", wood) +
      circle(34, 46, 21, darker(c, 0.18)) +
      circle(66, 46, 21, darker(c, 0.1)) +
      circle(50, 30, 26, c) +
      circle(42, 22, 12, lighter(c, 0.22)),
  },
  pine: {
    where: "ground",
    colour: "#2f7a52",
    size: 1.7,
    wide: 0.7,
    draw: (c) =>
      rect(46, 84, 8, 16, wood) +
      [0, 1, 2]
        .map((step) =>
          path(
            `M50 ${4 + 24 * step}L${78 + 3 * step} ${42 + 24 * step}L${22 - 3 * step} ${42 + 24 * step}Z`,
            lighter(c, 0.16 - 0.08 * step),
          ),
        )
        .join(""),
  },
  palm: {
    where: "ground",
    colour: "#3aa655",
    size: 1.7,
    draw: (c) =>
      line("M56 100C50 76 46 60 50 36", wood, 6) +
      [
        [-44, 4],
        [-34, -20],
        [0, -32],
        [36, -20],
        [46, 6],
      ]
        .map(([x = 0, y = 0]) =>
          path(`M50 36Q${50 + x * 0.5} ${28 + y} ${50 + x} ${40 + y}Q${50 + x * 0.5} ${40 + y * 0.6} 50 36Z`, c),
        )
        .join("") +
      circle(47, 39, 3.6, "#6b3f22") +
      circle(54, 40, 3.6, "#6b3f22"),
  },
  flower: {
    where: "ground",
    colour: "#ec5f8c",
    size: 0.8,
    wide: 0.6,
    draw: (c) =>
      line("M50 48L50 100", "#3c9150", 4) +
      path("M50 84C34 82 28 70 28 66C42 66 50 74 50 84ZM50 90C66 88 74 78 74 72C60 72 50 80 50 90Z", "#4fa863") +
      Array.from({ length: 7 }, (_, index) =>
        ellipse(50, 18, 9.5, 17, index % 2 === 0 ? c : lighter(c, 0.15), {
          transform: `rotate(${(index * 360) / 7} 50 38)`,
        }),
      ).join("") +
      circle(50, 38, 9.5, "#f8cf4a"),
  },
  mushroom: {
    where: "ground",
    colour: "#d93a35",
    size: 0.8,
    draw: (c) =>
      path("M40 58C42 78 36 92 34 100L66 100C64 92 58 78 60 58Z", "#f4ead8") +
      path("M6 60C8 24 34 12 50 12C66 12 92 24 94 60C76 68 24 68 6 60Z", c) +
      circle(34, 38, 7, "#fff") +
      circle(62, 32, 8, "#fff") +
      circle(78, 50, 5, "#fff") +
      circle(20, 54, 4, "#fff"),
  },
  cactus: {
    where: "ground",
    colour: "#4f9a55",
    size: 1.3,
    wide: 0.6,
    home: "desert",
    draw: (c) =>
      path("M39 100V18A11 11 0 0 1 61 18V100Z", c) +
      line("M50 66H24V44M50 74H76V34", darker(c, 0.08), 13) +
      line("M44 96V20M56 96V20M50 96V14M24 62V46M76 70V36", darker(c, 0.24), 1.3) +
      circle(50, 7, 5, "#ef6a8d") +
      circle(76, 27, 4, "#ef6a8d"),
  },
  volcano: {
    where: "ground",
    colour: "#6b5250",
    size: 2.2,
    draw: (c) =>
      [
        [50, 4, 11],
        [38, -6, 9],
        [62, -8, 12],
      ]
        .map(([x = 0, y = 0, r = 0]) => circle(x, y, r, "#8d8590"))
        .join("") +
      path("M46 22L40 2L50 14L54 -2L58 14L64 6L56 22Z", "#f9a632") +
      path("M38 20L62 20C70 54 86 84 100 100L0 100C14 84 30 54 38 20Z", c) +
      path("M62 20C70 54 86 84 100 100L68 100C66 70 60 44 54 20Z", darker(c, 0.2)) +
      path("M38 20L62 20C64 30 64 40 60 44C56 40 56 54 52 66C48 56 48 42 44 46C40 58 38 50 36 28Z", "#f0582a") +
      path("M42 20L58 20C57 28 54 30 52 40C49 32 45 30 42 20Z", "#fdc94a"),
  },
  waterfall: {
    where: "ground",
    colour: "#58b4e0",
    size: 2.1,
    draw: (c) =>
      path("M0 30C10 20 30 24 38 22L40 100L-4 100Z", "#6d6a72") +
      path("M100 26C88 18 72 24 62 22L60 100L104 100Z", "#5b5862") +
      path(
        "M0 30C10 20 30 24 38 22L38 32C26 34 10 32 -1 42ZM100 26C88 18 72 24 62 22L62 32C76 34 90 30 101 38Z",
        "#5c9c4c",
      ) +
      path("M36 22L64 22L66 94L34 94Z", c) +
      line("M41 24V92M47 24V92M53 24V92M59 24V92", lighter(c, 0.55), 2) +
      ellipse(50, 96, 42, 6, lighter(c, 0.25)) +
      [32, 42, 52, 62, 70].map((x, index) => circle(x, 92 + (index % 2) * 3, 6, "#ffffff", { opacity: 0.8 })).join(""),
  },
};
