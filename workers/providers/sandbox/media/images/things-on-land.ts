/** What grows, stands or walks on land. */
import { darker, lighter, mix } from "./colours.ts";
import { circle, ellipse, line, path, rect } from "./svg.ts";
import { eye, wood, night, type Thing } from "./thing.ts";

export const ON_LAND: Readonly<Record<string, Thing>> = {
  tree: {
    where: "ground",
    colour: "#3f9a4b",
    size: 1.7,
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
  house: {
    where: "ground",
    colour: "#e7c9a0",
    size: 1.45,
    draw: (c) =>
      rect(68, 18, 9, 24, "#8b5a49") +
      rect(18, 46, 64, 54, c) +
      path("M8 50L50 12L92 50Z", mix("#a8433a", c, 0.15)) +
      rect(42, 68, 16, 32, wood, { rx: 2 }) +
      circle(54, 85, 1.5, "#f0cf62") +
      [24, 62].map((x) => rect(x, 58, 14, 14, "#bfe3f2", { stroke: "#fff", "stroke-width": 2 })).join(""),
  },
  castle: {
    where: "ground",
    colour: "#b9b4c3",
    size: 1.8,
    draw: (c) =>
      rect(24, 44, 52, 56, c) +
      [10, 70]
        .map(
          (x) =>
            rect(x, 30, 20, 70, darker(c, 0.08)) +
            path(`M${x - 3} 30L${x + 10} 6L${x + 23} 30Z`, "#5a4a86") +
            rect(x + 7, 44, 6, 12, night, { rx: 3 }),
        )
        .join("") +
      [28, 42, 56].map((x) => rect(x, 36, 8, 8, c)).join("") +
      path("M40 100V78A10 10 0 0 1 60 78V100Z", "#4c3526"),
  },
  lighthouse: {
    where: "ground",
    colour: "#d8433b",
    size: 1.8,
    draw: (c) =>
      path("M38 30L62 30L68 100L32 100Z", "#f6f4ee") +
      [40, 62, 84]
        .map((y) =>
          path(
            `M${38 - (y - 30) / 11.7} ${y}L${62 + (y - 30) / 11.7} ${y}L${63 + (y - 30) / 11.7} ${y + 11}L${37 - (y - 30) / 11.7} ${y + 11}Z`,
            c,
          ),
        )
        .join("") +
      rect(34, 26, 32, 5, night) +
      rect(41, 12, 18, 14, "#ffe38a") +
      path("M38 13L50 2L62 13Z", c),
  },
  tent: {
    where: "ground",
    colour: "#e08a34",
    size: 1.1,
    draw: (c) =>
      path("M50 22L96 100L4 100Z", c) +
      path("M50 22L96 100L62 100Z", darker(c, 0.25)) +
      path("M50 44L64 100L36 100Z", "#3b2f2a"),
  },
  flower: {
    where: "ground",
    colour: "#ec5f8c",
    size: 0.8,
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
  cat: {
    where: "ground",
    colour: "#dd8b3e",
    size: 1,
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
    draw: (c) =>
      [38, 62].map((x) => ellipse(x, 20, 8, 20, c) + ellipse(x, 20, 4, 15, "#f3b9bd")).join("") +
      ellipse(50, 78, 28, 23, c) +
      circle(50, 48, 21, c) +
      eye(42, 45, 2.8) +
      eye(58, 45, 2.8) +
      path("M47 52L53 52L50 56Z", "#e5838a") +
      circle(80, 86, 8, lighter(c, 0.6)),
  },
  horse: {
    where: "ground",
    colour: "#8a5a34",
    size: 1.5,
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
