/** Fruit, alone and in a bowl. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, path } from "../svg.ts";
import { wood, type Thing } from "../thing.ts";

export const FRUIT: Readonly<Record<string, Thing>> = {
  apple: {
    where: "ground",
    colour: "#d8343a",
    size: 0.85,
    home: "studio",
    wide: 0.85,
    draw: (c) =>
      line("M50 30C50 18 54 12 58 8", wood, 4) +
      path("M54 20C62 6 78 8 84 12C78 24 64 28 54 20Z", "#56a94f") +
      path("M50 30C36 16 8 24 10 56C12 84 32 100 42 98C47 96 53 96 58 98C68 100 88 84 90 56C92 24 64 16 50 30Z", c) +
      ellipse(30, 48, 7, 12, "#fff", { opacity: 0.35, transform: "rotate(18 30 48)" }),
  },
  orange: {
    where: "ground",
    colour: "#f28c1e",
    size: 0.75,
    wide: 0.85,
    home: "studio",
    draw: (c) =>
      circle(50, 58, 41, c) +
      path("M22 86C44 98 86 88 90 50C94 80 74 99 50 99C38 99 28 94 22 86Z", darker(c, 0.16)) +
      line("M50 20L52 12", "#6b4a25", 3.4) +
      path("M53 16C62 4 80 6 86 12C78 24 62 26 53 16Z", "#56a94f") +
      ellipse(34, 40, 9, 12, "#fff", { opacity: 0.3, transform: "rotate(30 34 40)" }) +
      [
        [60, 48],
        [70, 62],
        [46, 70],
        [60, 82],
        [32, 64],
      ]
        .map(([x = 0, y = 0]) => circle(x, y, 1.3, darker(c, 0.22)))
        .join(""),
  },
  lemon: {
    where: "ground",
    colour: "#f6d83b",
    size: 0.75,
    home: "studio",
    draw: (c) =>
      path(
        "M4 64C10 58 12 34 44 30C74 26 88 44 90 54C98 56 98 66 92 68C88 88 68 96 46 96C22 96 14 80 12 74C6 74 2 68 4 64Z",
        c,
      ) +
      path("M14 78C40 92 78 86 90 58C96 66 90 96 46 96C24 96 16 84 14 78Z", darker(c, 0.14)) +
      path("M60 28C62 12 80 8 90 12C88 26 74 34 60 28Z", "#56a94f") +
      ellipse(36, 46, 10, 6, "#fff", { opacity: 0.4, transform: "rotate(-24 36 46)" }),
  },
  banana: {
    where: "ground",
    colour: "#f7cf3a",
    size: 0.95,
    home: "studio",
    draw: (c) =>
      path("M76 10C80 6 86 8 86 14C92 46 78 88 34 97C22 99 10 96 6 90C40 92 66 60 76 10Z", darker(c, 0.14)) +
      path("M74 12C72 42 56 74 22 86C12 90 6 88 4 82C28 78 52 54 66 12Z", c) +
      path("M70 20C64 50 42 78 14 87C40 82 64 54 74 18Z", lighter(c, 0.4), { opacity: 0.7 }) +
      path("M66 13L68 3L78 3L86 13C80 10 72 10 66 13Z", "#7c5a23") +
      path("M4 82C2 84 2 90 7 91L10 84Z", "#5a4320"),
  },
  pear: {
    where: "ground",
    colour: "#b7c94a",
    size: 0.85,
    wide: 0.75,
    home: "studio",
    draw: (c) =>
      line("M50 22C50 12 54 8 58 4", wood, 4) +
      path("M52 16C60 4 76 6 82 10C76 20 62 24 52 16Z", "#56a94f") +
      path(
        "M50 18C62 18 64 30 66 42C70 52 84 60 82 78C80 92 66 99 50 99C34 99 20 92 18 78C16 60 30 52 34 42C36 30 38 18 50 18Z",
        c,
      ) +
      path("M66 42C70 52 84 60 82 78C80 92 66 99 50 99C72 92 74 68 62 50Z", darker(c, 0.13)) +
      ellipse(34, 68, 6, 13, "#fff", { opacity: 0.35, transform: "rotate(14 34 68)" }),
  },
  strawberry: {
    where: "ground",
    colour: "#dd2f3f",
    size: 0.7,
    wide: 0.8,
    home: "studio",
    draw: (c) =>
      path("M50 24C74 14 92 28 88 50C84 76 64 98 50 99C36 98 16 76 12 50C8 28 26 14 50 24Z", c) +
      [
        [30, 44],
        [50, 46],
        [70, 44],
        [40, 60],
        [60, 60],
        [50, 76],
        [34, 74],
        [66, 74],
      ]
        .map(([x = 0, y = 0]) => ellipse(x, y, 1.9, 3, "#f9d77e"))
        .join("") +
      path("M50 30L26 32L34 22L18 16L40 14L50 2L60 14L82 16L66 22L74 32Z", "#4b9d45"),
  },
  grapes: {
    where: "ground",
    colour: "#6d3f94",
    size: 0.85,
    wide: 0.75,
    home: "studio",
    draw: (c) =>
      line("M50 24L52 6L60 4", wood, 4) +
      path("M52 22C58 4 82 8 88 20C80 32 62 32 52 22Z", "#5aa547") +
      [
        [50, 88],
        [40, 76],
        [60, 76],
        [30, 62],
        [50, 62],
        [70, 62],
        [24, 46],
        [42, 46],
        [60, 46],
        [76, 46],
        [34, 32],
        [52, 32],
        [68, 33],
      ]
        .map(
          ([x = 0, y = 0], index) =>
            circle(x, y, 11, index % 2 === 0 ? c : darker(c, 0.16)) + circle(x - 3.4, y - 3.6, 2.6, lighter(c, 0.5)),
        )
        .join(""),
  },
  fruit: {
    where: "ground",
    colour: "#4d86b8",
    size: 1.2,
    home: "studio",
    draw: (c) =>
      path("M22 46C16 22 36 10 52 12C44 22 46 34 54 46Z", "#f7cf3a") +
      path("M28 44C24 28 36 16 52 12C40 20 38 32 44 46Z", darker("#f7cf3a", 0.12)) +
      circle(34, 46, 17, "#f28c1e") +
      circle(76, 46, 15, "#8fbf3f") +
      circle(56, 42, 18, "#d8343a") +
      line("M56 28C56 22 58 19 61 17", wood, 2.4) +
      path("M58 24C63 17 70 18 73 21C69 27 62 28 58 24Z", "#56a94f") +
      circle(28, 40, 4, "#fff", { opacity: 0.35 }) +
      ellipse(48, 36, 4, 6, "#fff", { opacity: 0.35, transform: "rotate(20 48 36)" }) +
      [
        [84, 52],
        [90, 46],
        [92, 56],
        [88, 61],
        [14, 54],
      ]
        .map(([x = 0, y = 0], index) => circle(x, y, 6.4, index === 4 ? "#d8343a" : "#6d3f94"))
        .join("") +
      path("M34 92L66 92L70 99L30 99Z", darker(c, 0.3)) +
      path("M4 56L96 56C93 80 76 94 50 94C24 94 7 80 4 56Z", c) +
      path("M4 56L96 56C95.4 60 94.5 63 93 67L7 67C5.5 63 4.6 60 4 56Z", lighter(c, 0.5)) +
      path("M11 70C15 82 25 90 38 93C25 84 19 78 17 70Z", lighter(c, 0.35)),
  },
};
