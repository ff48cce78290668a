/** What flies, shines or floats. */
import { darker, lighter } from "./colours.ts";
import { circle, ellipse, group, line, path, rect, starPath } from "./svg.ts";
import { eye, wood, night, type Thing } from "./thing.ts";

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
      path("M62 12A40 40 0 1 0 90 66A33 33 0 0 1 62 12Z", c) +
      circle(38, 58, 5, darker(c, 0.12)) +
      circle(52, 74, 3.5, darker(c, 0.12)),
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
    draw: (c) =>
      path("M50 92C20 68 4 50 8 30C12 12 38 8 50 30C62 8 88 12 92 30C96 50 80 68 50 92Z", c) +
      ellipse(28, 32, 8, 11, "#fff", { opacity: 0.35, transform: "rotate(-24 28 32)" }),
  },
};
