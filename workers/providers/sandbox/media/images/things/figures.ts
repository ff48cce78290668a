/** Who walks upright. */
import { darker, lighter } from "../colours.ts";
import { circle, line, path, rect, starPath } from "../svg.ts";
import { eye, night, wood, type Thing } from "../thing.ts";

export const FIGURES: Readonly<Record<string, Thing>> = {
  person: {
    where: "ground",
    colour: "#3b79c4",
    size: 1.25,
    wide: 0.6,
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
    home: "studio",
    wide: 0.8,
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
  woman: {
    where: "ground",
    colour: "#c84f7c",
    size: 1.25,
    wide: 0.6,
    draw: (c) =>
      path("M32 20C30 46 26 50 26 54L74 54C74 50 70 46 68 20C66 0 34 0 32 20Z", "#5a3420") +
      rect(40, 80, 8, 20, "#e8b48c", { rx: 3 }) +
      rect(52, 80, 8, 20, "#e8b48c", { rx: 3 }) +
      rect(24, 38, 8, 28, "#e8b48c", { rx: 4, transform: "rotate(8 28 38)" }) +
      rect(68, 38, 8, 28, "#e8b48c", { rx: 4, transform: "rotate(-8 72 38)" }) +
      path("M34 36C42 32 58 32 66 36L64 56L78 86L22 86L36 56Z", c) +
      rect(36, 54, 28, 5, darker(c, 0.25)) +
      circle(50, 20, 13.6, "#e8b48c") +
      path("M36 22C34 2 66 2 64 22C58 16 54 12 50 9C46 14 42 18 36 22Z", "#5a3420") +
      eye(45, 21, 1.7) +
      eye(55, 21, 1.7) +
      line("M46 27C48 29.5 52 29.5 54 27", "#a8434f", 1.5),
  },
  astronaut: {
    where: "ground",
    colour: "#f2f4f7",
    size: 1.25,
    draw: (c) =>
      rect(26, 36, 48, 36, "#9aa4b4", { rx: 8 }) +
      rect(35, 68, 13, 30, c, { rx: 5 }) +
      rect(52, 68, 13, 30, c, { rx: 5 }) +
      rect(33, 92, 16, 8, "#8b95a6", { rx: 3 }) +
      rect(51, 92, 16, 8, "#8b95a6", { rx: 3 }) +
      rect(17, 40, 14, 32, darker(c, 0.08), { rx: 7, transform: "rotate(14 24 42)" }) +
      rect(69, 40, 14, 32, darker(c, 0.08), { rx: 7, transform: "rotate(-14 76 42)" }) +
      rect(30, 38, 40, 38, c, { rx: 10 }) +
      rect(39, 50, 22, 13, "#8b95a6", { rx: 3 }) +
      circle(44, 56, 2.4, "#e8453c") +
      circle(50, 56, 2.4, "#f4c53d") +
      circle(56, 56, 2.4, "#55b56a") +
      rect(30, 68, 40, 3.4, "#e8833a") +
      circle(50, 22, 21, c) +
      rect(34, 10, 32, 24, "#24345c", { rx: 12 }) +
      path("M38 22C38 14 44 12.5 50 12.500C44 16 42 20 42 27C40 27 38 25 38 22Z", "#8fb9ea"),
  },
  knight: {
    where: "ground",
    colour: "#aab4c0",
    size: 1.3,
    draw: (c) =>
      line("M84 6L84 92M77 62L91 62", "#dfe5ec", 4) +
      rect(82, 62, 4, 14, wood) +
      rect(37, 70, 11, 30, darker(c, 0.2), { rx: 4 }) +
      rect(52, 70, 11, 30, darker(c, 0.2), { rx: 4 }) +
      rect(70, 40, 12, 30, darker(c, 0.12), { rx: 5, transform: "rotate(-16 74 42)" }) +
      rect(29, 36, 42, 40, c, { rx: 9 }) +
      rect(29, 64, 42, 5, "#7a4f2e") +
      path("M10 44L40 44L40 66C40 76 32 82 25 86C18 82 10 76 10 66Z", "#c03a3a") +
      path("M22 44H28V86L25 86L22 84ZM10 56H40V62H10Z", "#f4ead8") +
      path("M32 34C30 8 70 8 68 34Z", c) +
      path("M48 10C46 0 58 -6 70 0C62 2 58 6 54 12Z", "#c03a3a") +
      rect(36, 20, 28, 7, night, { rx: 3 }) +
      rect(48.6, 24, 2.8, 11, darker(c, 0.4)),
  },
  wizard: {
    where: "ground",
    colour: "#4b3f9a",
    size: 1.3,
    draw: (c) =>
      line("M84 30L80 99", wood, 4) +
      circle(84, 24, 7, "#7fe0ee") +
      circle(82, 22, 2.4, "#fff") +
      path("M34 44C26 66 20 84 18 100L82 100C80 84 74 66 66 44Z", c) +
      path("M66 48L84 62L80 72L62 66Z", darker(c, 0.15)) +
      path("M34 48L18 66L24 74L40 64Z", darker(c, 0.15)) +
      circle(50, 36, 13, "#e8b48c") +
      path("M36 38C38 62 44 76 50 80C56 76 62 62 64 38C60 46 54 43 50 46C46 43 40 46 36 38Z", "#f4f2ec") +
      path("M24 32C36 26 64 26 76 32C66 38 34 38 24 32Z", darker(c, 0.2)) +
      path("M34 30C40 14 48 4 60 -4C58 8 64 20 66 30C56 27 44 27 34 30Z", c) +
      path(starPath(52, 18, 5, 2.2, 5), "#f6d04a") +
      path(starPath(34, 84, 4, 1.8, 5), "#f6d04a") +
      path(starPath(64, 90, 4, 1.8, 5), "#f6d04a") +
      eye(45, 37, 1.6) +
      eye(55, 37, 1.6),
  },
};
