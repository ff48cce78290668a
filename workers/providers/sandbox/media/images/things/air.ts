/** What flies, shines or floats. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, group, line, path, rect, starPath } from "../svg.ts";
import { eye, night, wood, type Thing } from "../thing.ts";

export const IN_AIR: Readonly<Record<string, Thing>> = {
  sun: {
    where: "sky",
    colour: "#fdc83b",
    size: 1,
    draw: (c) =>
      path(starPath(50, 50, 48, 33, 16), lighter(c, 0.35), { opacity: 0.7 }) +
      circle(50, 50, 30, c) +
      circle(44, 44, 18, lighter(c, 0.35), { opacity: 0.5 }),
  },
  moon: {
    where: "sky",
    colour: "#f3ecd0",
    size: 0.9,
    draw: (c) =>
      circle(50, 50, 50, lighter(c, 0.5), { opacity: 0.14 }) +
      circle(50, 50, 39, c) +
      path("M62 13A39 39 0 0 1 62 87A52 52 0 0 0 62 13Z", darker(c, 0.07)) +
      [
        [38, 38, 8],
        [58, 28, 4.5],
        [64, 54, 7],
        [42, 66, 5],
        [28, 54, 3.5],
        [56, 74, 4],
      ]
        .map(
          ([x = 0, y = 0, r = 0]) =>
            circle(x, y, r, darker(c, 0.11)) + circle(x + 0.8, y + 0.8, r * 0.72, darker(c, 0.06)),
        )
        .join(""),
  },
  star: {
    where: "sky",
    colour: "#ffe08a",
    size: 0.6,
    draw: (c) =>
      path(starPath(50, 52, 46, 19, 5), c) + path(starPath(50, 52, 30, 12, 5), lighter(c, 0.4), { opacity: 0.7 }),
  },
  cloud: {
    where: "sky",
    colour: "#ffffff",
    size: 1.1,
    draw: (c) =>
      circle(30, 62, 20, darker(c, 0.06)) +
      circle(52, 50, 26, c) +
      circle(74, 64, 18, darker(c, 0.04)) +
      rect(22, 60, 60, 22, c, { rx: 11 }),
  },
  rainbow: {
    where: "sky",
    colour: "#e2463f",
    size: 2.2,
    draw: (c) =>
      [c, "#f29a34", "#f6d743", "#46b15c", "#3d7ddd", "#7a4cc2"]
        .map((ring, index) =>
          line(`M${4 + 5 * index} 96A${46 - 5 * index} ${46 - 5 * index} 0 0 1 ${96 - 5 * index} 96`, ring, 5.4),
        )
        .join(""),
  },
  balloon: {
    where: "sky",
    colour: "#e04848",
    size: 1.25,
    inside: 94,
    wide: 0.7,
    draw: (c) =>
      path("M50 4C24 4 14 24 17 40C20 56 36 66 42 76L58 76C64 66 80 56 83 40C86 24 76 4 50 4Z", c) +
      path("M50 4C40 20 38 56 45 76L55 76C62 56 60 20 50 4Z", lighter(c, 0.45)) +
      line("M43 76L45 86M57 76L55 86", "#5d4632", 1.4) +
      rect(42, 86, 16, 12, wood, { rx: 3 }),
  },
  bird: {
    where: "sky",
    colour: "#37598f",
    size: 0.7,
    draw: (c) =>
      ellipse(52, 56, 26, 17, c) +
      circle(76, 44, 13, c) +
      path("M87 42L99 46L87 50Z", "#f2a63b") +
      path("M56 54C40 20 22 16 10 20C14 40 28 60 52 64Z", darker(c, 0.25)) +
      path("M28 58L4 72L32 68Z", darker(c, 0.15)) +
      eye(79, 41),
  },
  butterfly: {
    where: "sky",
    colour: "#e8833a",
    size: 0.7,
    draw: (c) =>
      [1, -1]
        .map((side) =>
          group(
            { transform: `translate(50 0) scale(${side} 1)` },
            path("M2 50C14 14 46 8 48 30C49 48 20 54 2 54Z", c) +
              path("M2 54C20 54 42 62 36 80C28 94 8 78 2 58Z", darker(c, 0.18)) +
              circle(32, 30, 6, lighter(c, 0.6)) +
              circle(24, 74, 4, lighter(c, 0.5)),
          ),
        )
        .join("") +
      rect(47.5, 34, 5, 46, night, { rx: 2.5 }) +
      line("M50 36C46 26 42 22 38 20M50 36C54 26 58 22 62 20", night, 1.5),
  },
  kite: {
    where: "sky",
    colour: "#d9448b",
    size: 0.8,
    draw: (c) =>
      path("M52 4L86 40L52 78L22 40Z", c) +
      path("M52 4L86 40L52 40Z", lighter(c, 0.3)) +
      path("M52 78L22 40L52 40Z", darker(c, 0.2)) +
      line("M52 78C40 86 64 90 46 99", night, 1.6),
  },
  plane: {
    where: "sky",
    colour: "#dfe5ec",
    size: 1.1,
    draw: (c) =>
      path("M50 60L26 88L38 88L68 58Z", darker(c, 0.3)) +
      path("M6 42C10 38 18 40 22 50L80 44C92 44 98 52 94 57C88 62 74 62 30 62C16 62 10 56 6 42Z", c) +
      path("M46 50L36 24L46 24L66 48Z", darker(c, 0.2)) +
      [66, 74, 82].map((x) => circle(x, 51, 2.2, "#3f6fa8")).join(""),
  },
  rocket: {
    where: "sky",
    colour: "#e6483d",
    size: 1.3,
    home: "space",
    draw: (c) =>
      path("M40 78C42 92 48 96 50 100C52 96 58 92 60 78Z", "#f9a632") +
      path("M44 78C46 88 49 90 50 94C51 90 54 88 56 78Z", "#fde26a") +
      path("M34 52L18 76L36 72ZM66 52L82 76L64 72Z", darker(c, 0.15)) +
      path("M50 2C66 18 70 44 64 76L36 76C30 44 34 18 50 2Z", "#f1f3f6") +
      path("M50 2C58 10 62 18 64 27L36 27C38 18 42 10 50 2Z", c) +
      circle(50, 42, 9, "#2d4b74") +
      circle(50, 42, 6.4, "#8fd0ee") +
      rect(36, 70, 28, 6, c),
  },
  heart: {
    where: "sky",
    colour: "#e0335a",
    size: 0.9,
    home: "studio",
    draw: (c) =>
      path("M50 92C20 68 4 50 8 30C12 12 38 8 50 30C62 8 88 12 92 30C96 50 80 68 50 92Z", c) +
      ellipse(28, 32, 8, 11, "#fff", { opacity: 0.35, transform: "rotate(-24 28 32)" }),
  },
  crescent: {
    where: "sky",
    colour: "#f3ecd0",
    size: 0.9,
    draw: (c) =>
      path("M62 12A40 40 0 1 0 90 66A33 33 0 0 1 62 12Z", c) +
      circle(38, 58, 5, darker(c, 0.12)) +
      circle(52, 74, 3.5, darker(c, 0.12)),
  },
  helicopter: {
    where: "sky",
    colour: "#d8463c",
    size: 1.1,
    draw: (c) =>
      line("M14 26L94 26", "#4a4f5e", 3) +
      rect(52, 26, 4, 12, "#4a4f5e") +
      path("M2 38L8 36L12 50L40 52L40 62L10 58C6 54 4 46 2 38Z", darker(c, 0.15)) +
      line("M2 30L10 52", "#4a4f5e", 2.4) +
      path("M34 58C34 44 44 38 58 38C80 38 94 50 96 64C96 74 88 78 76 78L52 78C40 78 34 70 34 58Z", c) +
      path("M64 43C78 44 88 52 91 62L64 62Z", "#bfe4f3") +
      rect(46, 45, 12, 16, "#bfe4f3", { rx: 3 }) +
      line("M46 78L44 90M78 78L80 90M34 92C50 92 70 92 92 90", "#4a4f5e", 3),
  },
  ufo: {
    where: "sky",
    colour: "#9aa7bd",
    size: 1.1,
    draw: (c) =>
      path("M34 56L66 56L86 100L14 100Z", "#d8f59a", { opacity: 0.4 }) +
      path("M28 44C28 16 72 16 72 44Z", "#a8e6ec") +
      path("M44 44C42 30 58 30 56 44Z", "#6fbf5a") +
      path("M36 28C40 22 46 21 50 21C44 24 40 30 38 38Z", "#fff", { opacity: 0.6 }) +
      ellipse(50, 48, 48, 13, c) +
      ellipse(50, 43, 34, 7, lighter(c, 0.3)) +
      [14, 32, 50, 68, 86].map((x) => circle(x, 52 - Math.abs(x - 50) / 14, 3.2, "#f9dc5c")).join(""),
  },
  bee: {
    where: "sky",
    colour: "#f6c331",
    size: 0.55,
    draw: (c) =>
      ellipse(40, 30, 13, 22, "#e3f1f8", { opacity: 0.9, transform: "rotate(-24 40 30)" }) +
      ellipse(60, 28, 13, 22, "#f2f9fc", { opacity: 0.9, transform: "rotate(14 60 28)" }) +
      ellipse(48, 60, 34, 22, c) +
      path(
        "M32 42C27 52 27 68 32 78L42 81C36 68 36 52 42 39ZM54 38C50 52 50 68 54 81L64 79C60 66 60 52 64 41Z",
        "#2a2724",
      ) +
      circle(82, 56, 13, "#2a2724") +
      circle(86, 52, 4, "#fff") +
      circle(87, 52, 2, "#1d1d26") +
      line("M84 44C86 36 92 34 96 36M80 43C80 34 84 30 88 30", "#2a2724", 2) +
      path("M14 60L2 62L14 66Z", "#2a2724"),
  },
};
