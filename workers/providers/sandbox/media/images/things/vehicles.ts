/** What people ride. */
import { darker, lighter } from "../colours.ts";
import { circle, line, path, rect } from "../svg.ts";
import { night, wood, type Thing } from "../thing.ts";

export const VEHICLES: Readonly<Record<string, Thing>> = {
  car: {
    where: "ground",
    colour: "#d63c3c",
    size: 1.3,
    top: 38,
    inside: 62,
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
    top: 62,
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
    top: 74,
    draw: (c) =>
      rect(48.5, 8, 3, 62, wood) +
      path("M54 10C78 26 84 46 84 62L54 62Z", "#fbf7ec") +
      path("M46 16C30 30 24 46 22 62L46 62Z", lighter(c, 0.55)) +
      path("M6 68L94 68C90 88 80 96 72 97L28 97C18 94 10 84 6 68Z", c) +
      path("M6 68L94 68L92 75L8 75Z", lighter(c, 0.25)),
  },
  train: {
    where: "ground",
    colour: "#b8322f",
    size: 1.9,
    draw: (c) =>
      [circle(80, 6, 7, "#ffffff", { opacity: 0.75 }), circle(66, 0, 9, "#ffffff", { opacity: 0.6 })].join("") +
      path("M74 34L72 16L68 12L90 12L86 16L84 34Z", night) +
      rect(2, 26, 34, 52, c, { rx: 3 }) +
      rect(-1, 20, 40, 8, darker(c, 0.35), { rx: 3 }) +
      rect(9, 34, 20, 18, "#bfe4f3", { rx: 2 }) +
      rect(34, 38, 60, 36, darker(c, 0.55), { rx: 8 }) +
      [46, 62, 76].map((x) => rect(x, 38, 3.4, 36, "#d9a441")).join("") +
      path("M50 38C50 28 62 28 62 38Z", "#d9a441") +
      circle(94, 52, 5, "#ffe79a") +
      rect(2, 74, 92, 8, c) +
      path("M90 82L100 97L88 97Z", "#d9a441") +
      [14, 34, 54]
        .map((x) => circle(x, 88, 11, night) + circle(x, 88, 6, "#d9a441") + circle(x, 88, 2, night))
        .join("") +
      circle(76, 91, 8, night) +
      circle(76, 91, 4, "#d9a441") +
      line("M14 90L54 90", "#c9ced6", 3) +
      rect(-4, 98, 108, 2.4, "#6b625c"),
  },
  bus: {
    where: "ground",
    colour: "#e0a92e",
    size: 1.6,
    draw: (c) =>
      rect(2, 30, 96, 56, c, { rx: 8 }) +
      [8, 26, 44, 62].map((x) => rect(x, 38, 14, 20, "#bfe4f3", { rx: 2.4 })).join("") +
      path("M80 38L92 38C95 38 97 41 97 46L97 62L80 62Z", "#bfe4f3") +
      rect(2, 66, 96, 4, darker(c, 0.35)) +
      circle(95, 76, 3, "#fff3c0") +
      [24, 76].map((x) => circle(x, 87, 12, night) + circle(x, 87, 5.6, "#c9ced6")).join(""),
  },
  truck: {
    where: "ground",
    colour: "#3a7bbf",
    size: 1.6,
    draw: (c) =>
      rect(2, 28, 62, 54, "#f1efe8", { rx: 3 }) +
      rect(2, 46, 62, 8, c) +
      path("M66 82L66 42L82 42C88 42 92 50 96 60C98 62 99 66 99 70L99 82Z", c) +
      path("M72 48L81 48C85 48 88 54 90 60L72 60Z", "#bfe4f3") +
      rect(2, 80, 97, 5, night) +
      circle(97, 72, 2.6, "#ffe79a") +
      [18, 40, 82].map((x) => circle(x, 88, 11, night) + circle(x, 88, 5, "#c9ced6")).join(""),
  },
  motorcycle: {
    where: "ground",
    colour: "#c8372f",
    size: 1.15,
    top: 52,
    draw: (c) =>
      [20, 80]
        .map((x) => circle(x, 81, 15, "none", { stroke: night, "stroke-width": 7 }) + circle(x, 81, 4, "#c9ced6"))
        .join("") +
      line("M80 81L68 44L60 40", "#8b93a0", 4) +
      line("M20 81L46 78", "#8b93a0", 5) +
      path("M34 64L66 62L62 82L42 84Z", "#8b93a0") +
      path("M46 54C52 46 66 46 72 54L66 66L46 66Z", c) +
      path("M12 54C22 50 36 54 48 56L46 66L34 66C26 66 18 60 12 54Z", night) +
      line("M66 46L56 38", night, 4) +
      circle(75, 51, 5, "#ffe79a"),
  },
  tractor: {
    where: "ground",
    colour: "#3f9a45",
    size: 1.4,
    draw: (c) =>
      rect(76, 26, 4, 22, night) +
      path("M22 22L52 22L56 50L22 50Z", "#bfe4f3") +
      line("M22 50L22 22L52 22L57 52", c, 4) +
      rect(16, 16, 42, 6, darker(c, 0.2), { rx: 3 }) +
      path("M14 50L58 50L94 52C97 52 98 56 98 60L96 78L20 78Z", c) +
      [66, 74, 82].map((x) => rect(x, 58, 3, 14, darker(c, 0.35))).join("") +
      circle(30, 74, 26, night) +
      circle(30, 74, 14, "#f2c53d") +
      circle(30, 74, 5, night) +
      circle(84, 85, 15, night) +
      circle(84, 85, 7.6, "#f2c53d"),
  },
  submarine: {
    where: "water",
    colour: "#f0bd3a",
    size: 1.4,
    home: "underwater",
    draw: (c) =>
      line("M50 30L50 12L62 12", "#8b93a0", 5) +
      path("M36 44L40 28L62 28L66 44Z", darker(c, 0.14)) +
      path("M12 66C4 54 0 52 0 52L0 84C0 84 4 80 12 72Z", darker(c, 0.25)) +
      path("M8 68C12 44 36 40 52 40C78 40 98 50 98 68C98 86 78 96 52 96C36 96 12 92 8 68Z", c) +
      path("M9 74C16 90 40 90 54 90C76 90 94 84 98 72C96 88 76 96 52 96C36 96 14 92 9 74Z", darker(c, 0.18)) +
      [34, 56, 78]
        .map((x) => circle(x, 66, 8.6, "#8a6a24") + circle(x, 66, 6.2, "#a8e0f2") + circle(x - 2, 64, 1.8, "#fff"))
        .join(""),
  },
};
