/** What people make, ride and eat, and what swims. */
import { darker, lighter } from "./colours.ts";
import { circle, ellipse, group, line, path, rect } from "./svg.ts";
import { eye, wood, night, type Thing } from "./thing.ts";

export const MADE: Readonly<Record<string, Thing>> = {
  person: {
    where: "ground",
    colour: "#3b79c4",
    size: 1.25,
    draw: (c) =>
      rect(38, 66, 10, 34, night, { rx: 4 }) +
      rect(52, 66, 10, 34, night, { rx: 4 }) +
      rect(22, 38, 9, 32, darker(c, 0.1), { rx: 4.5 }) +
      rect(69, 38, 9, 32, darker(c, 0.1), { rx: 4.5 }) +
      rect(30, 34, 40, 38, c, { rx: 9 }) +
      circle(50, 19, 14, "#e8b48c") +
      path("M35 19C33 4 67 4 65 19C60 10 42 10 35 19Z", "#4b3226") +
      eye(45, 20, 1.7) +
      eye(55, 20, 1.7) +
      line("M46 26C48 28 52 28 54 26", "#8f4c3b", 1.3),
  },
  robot: {
    where: "ground",
    colour: "#8fa6b8",
    size: 1.2,
    draw: (c) =>
      line("M50 14L50 4", night, 2.4) +
      circle(50, 4, 3.6, "#e84d4d") +
      rect(38, 84, 9, 16, darker(c, 0.35)) +
      rect(53, 84, 9, 16, darker(c, 0.35)) +
      rect(12, 54, 12, 28, darker(c, 0.2), { rx: 5 }) +
      rect(76, 54, 12, 28, darker(c, 0.2), { rx: 5 }) +
      rect(26, 50, 48, 36, c, { rx: 6 }) +
      rect(24, 14, 52, 34, lighter(c, 0.15), { rx: 9 }) +
      rect(30, 21, 40, 16, night, { rx: 7 }) +
      circle(41, 29, 4.4, "#5ce1e6") +
      circle(59, 29, 4.4, "#5ce1e6") +
      rect(40, 41, 20, 3, darker(c, 0.5)) +
      circle(38, 62, 4, "#f2b33d") +
      circle(50, 62, 4, "#5ac06f") +
      rect(34, 72, 32, 6, darker(c, 0.3), { rx: 2 }),
  },
  car: {
    where: "ground",
    colour: "#d63c3c",
    size: 1.3,
    draw: (c) =>
      path("M22 62C28 42 34 38 44 38L62 38C72 38 78 48 82 62Z", darker(c, 0.12)) +
      path("M29 60C33 46 37 43 45 43L50 43L50 60ZM54 43L62 43C68 43 72 50 75 60L54 60Z", "#bfe4f3") +
      path("M4 84L4 70C6 60 16 60 22 60L82 60C92 60 98 68 97 84Z", c) +
      rect(4, 76, 93, 4, darker(c, 0.25)) +
      circle(94, 69, 3.4, "#ffe79a") +
      [26, 74].map((x) => circle(x, 86, 13, "#23242c") + circle(x, 86, 6.4, "#c9ced6")).join(""),
  },
  bicycle: {
    where: "ground",
    colour: "#2f8f83",
    size: 1.1,
    draw: (c) =>
      [24, 76]
        .map((x) => circle(x, 78, 20, "none", { stroke: "#2a2c34", "stroke-width": 4 }) + circle(x, 78, 3, "#2a2c34"))
        .join("") +
      line("M24 78L40 46L68 46L48 78L24 78M48 78L38 40M76 78L66 38L74 34", c, 4.4) +
      line("M32 39L44 39", "#2a2c34", 5),
  },
  boat: {
    where: "water",
    colour: "#c8503c",
    size: 1.4,
    draw: (c) =>
      rect(48.5, 8, 3, 62, wood) +
      path("M54 10C78 26 84 46 84 62L54 62Z", "#fbf7ec") +
      path("M46 16C30 30 24 46 22 62L46 62Z", lighter(c, 0.55)) +
      path("M6 68L94 68C90 88 80 96 72 97L28 97C18 94 10 84 6 68Z", c) +
      path("M6 68L94 68L92 75L8 75Z", lighter(c, 0.25)),
  },
  fish: {
    where: "water",
    colour: "#f08a2e",
    size: 0.9,
    draw: (c) =>
      path("M72 52L98 30L94 52L98 74Z", darker(c, 0.15)) +
      path("M4 52C18 26 52 22 78 52C52 82 18 78 4 52Z", c) +
      path("M40 34C46 18 60 20 64 36Z", darker(c, 0.2)) +
      line("M38 38C44 48 44 58 38 68M54 40C58 48 58 58 54 66", lighter(c, 0.55), 3) +
      circle(20, 47, 5, "#fff") +
      eye(20, 47, 2.8),
  },
  whale: {
    where: "water",
    colour: "#3f6f9f",
    size: 1.7,
    draw: (c) =>
      line("M38 30C36 16 26 14 22 18M38 30C40 16 50 14 54 18", "#bfe6f7", 3) +
      path(
        "M4 66C4 40 26 32 46 34C66 36 72 56 84 50C82 44 78 38 80 32C86 34 90 38 91 42C94 38 97 37 99 38C99 48 94 56 88 62C84 84 62 92 40 92C20 92 4 84 4 66Z",
        c,
      ) +
      path("M6 74C20 84 46 84 60 78C54 90 40 92 36 92C20 92 9 86 6 74Z", lighter(c, 0.65)) +
      eye(22, 62, 2.8),
  },
  duck: {
    where: "water",
    colour: "#f6d13d",
    size: 0.9,
    draw: (c) =>
      path(
        "M14 66C10 58 12 52 18 48C24 60 34 60 44 58C40 48 44 26 62 26C78 26 84 42 76 52C88 60 88 92 54 92C30 92 18 82 14 66Z",
        c,
      ) +
      path("M36 66C44 60 60 62 66 70C60 82 42 82 36 66Z", darker(c, 0.15)) +
      path("M79 38L97 42L79 50Z", "#f08a2e") +
      eye(68, 38, 3),
  },
  apple: {
    where: "ground",
    colour: "#d8343a",
    size: 0.85,
    draw: (c) =>
      line("M50 30C50 18 54 12 58 8", wood, 4) +
      path("M54 20C62 6 78 8 84 12C78 24 64 28 54 20Z", "#56a94f") +
      path("M50 30C36 16 8 24 10 56C12 84 32 100 42 98C47 96 53 96 58 98C68 100 88 84 90 56C92 24 64 16 50 30Z", c) +
      ellipse(30, 48, 7, 12, "#fff", { opacity: 0.35, transform: "rotate(18 30 48)" }),
  },
  cup: {
    where: "ground",
    colour: "#e9e4da",
    size: 0.85,
    draw: (c) =>
      line("M40 32C34 24 46 20 40 10M58 32C52 24 64 20 58 10", "#fff", 2.6, { opacity: 0.6 }) +
      line("M76 54C94 52 94 78 72 78", darker(c, 0.1), 6) +
      path("M18 42L80 42C80 74 72 94 60 96L38 96C26 94 18 74 18 42Z", c) +
      ellipse(49, 42, 31, 7, darker(c, 0.12)) +
      ellipse(49, 42.5, 27, 5.2, "#5b3a24"),
  },
  book: {
    where: "ground",
    colour: "#345f9e",
    size: 0.95,
    draw: (c) =>
      path("M4 34L50 44L96 34L96 88L50 99L4 88Z", c) +
      path("M9 30C24 26 40 30 50 40C60 30 76 26 91 30L91 82C76 79 60 82 50 91C40 82 24 79 9 82Z", "#fbf6e9") +
      line("M50 40L50 91", "#cfc5ae", 1.6) +
      [44, 53, 62, 71]
        .map((y) =>
          line(
            `M16 ${y - 4}C26 ${y - 6} 36 ${y - 3} 44 ${y + 1}M84 ${y - 4}C74 ${y - 6} 64 ${y - 3} 56 ${y + 1}`,
            "#b9b09a",
            1.5,
          ),
        )
        .join(""),
  },
  cake: {
    where: "ground",
    colour: "#f3a6bd",
    size: 1,
    draw: (c) =>
      rect(48, 16, 4, 20, "#6fb6e0") +
      path("M50 4C54 10 54 15 50 16C46 15 46 10 50 4Z", "#f9b233") +
      rect(14, 52, 72, 44, "#c98a52", { rx: 5 }) +
      rect(14, 70, 72, 6, "#fbeedd") +
      path(
        "M14 54C14 38 22 34 50 34C78 34 86 38 86 54L86 60C80 68 76 56 70 62C64 70 58 58 50 64C42 70 38 57 31 62C24 68 20 56 14 61Z",
        c,
      ) +
      [28, 44, 60, 74]
        .map((x, index) =>
          circle(x, 44 + (index % 2) * 4, 2.6, ["#e5484d", "#fff", "#f6d743", "#5ab0e0"][index] ?? "#fff"),
        )
        .join(""),
  },
  ball: {
    where: "ground",
    colour: "#2f7fd6",
    size: 0.8,
    draw: (c) =>
      circle(50, 58, 41, c) +
      path("M50 17C66 30 66 86 50 99C34 86 34 30 50 17Z", "#fdf6e6") +
      path("M9 58C30 50 70 50 91 58C70 66 30 66 9 58Z", "#f2b63d") +
      ellipse(36, 38, 9, 12, "#fff", { opacity: 0.3 }),
  },
  umbrella: {
    where: "ground",
    colour: "#c23b6a",
    size: 1.1,
    draw: (c) =>
      line("M50 14L50 86C50 98 36 98 36 88", wood, 4) +
      path(
        "M4 52C6 22 30 8 50 8C70 8 94 22 96 52C88 44 76 44 69 52C62 44 56 44 50 52C44 44 38 44 31 52C24 44 12 44 4 52Z",
        c,
      ) +
      path("M31 52C32 30 42 14 50 8C58 14 68 30 69 52C62 44 56 44 50 52C44 44 38 44 31 52Z", lighter(c, 0.28)),
  },
  guitar: {
    where: "ground",
    colour: "#c07a35",
    size: 1.1,
    draw: (c) =>
      group(
        { transform: "rotate(18 50 50)" },
        rect(46.5, 0, 7, 52, "#4a3020") +
          rect(44, -4, 12, 12, "#33211a", { rx: 2 }) +
          path("M50 42C64 42 66 52 62 58C76 64 74 98 50 98C26 98 24 64 38 58C34 52 36 42 50 42Z", c) +
          circle(50, 70, 8, "#3a251a") +
          rect(41, 84, 18, 3.4, "#3a251a") +
          line("M48 2L48 85M50 2L50 85M52 2L52 85", "#efe7d8", 0.6),
      ),
  },
  circle: { where: "ground", colour: "#f0b13c", size: 1, draw: (c) => circle(50, 52, 46, c) },
  square: { where: "ground", colour: "#3c82d6", size: 1, draw: (c) => rect(6, 10, 88, 88, c, { rx: 4 }) },
  triangle: { where: "ground", colour: "#3fae6a", size: 1, draw: (c) => path("M50 8L98 98L2 98Z", c) },
  diamond: {
    where: "ground",
    colour: "#4fc3e8",
    size: 0.9,
    draw: (c) =>
      path("M26 20L74 20L98 46L50 98L2 46Z", c) +
      path("M26 20L38 46L2 46ZM74 20L62 46L98 46Z", lighter(c, 0.35)) +
      path("M38 46L62 46L50 98Z", lighter(c, 0.5)) +
      path("M26 20L74 20L62 46L38 46Z", lighter(c, 0.65)),
  },
};
