/** What people play with and carry. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, group, line, path, rect } from "../svg.ts";
import { night, wood, type Thing } from "../thing.ts";

export const BELONGINGS: Readonly<Record<string, Thing>> = {
  book: {
    where: "ground",
    colour: "#345f9e",
    size: 0.95,
    home: "studio",
    top: 34,
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
  ball: {
    where: "ground",
    colour: "#2f7fd6",
    size: 0.8,
    home: "studio",
    top: 20,
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
    home: "studio",
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
  piano: {
    where: "ground",
    colour: "#2b2a33",
    size: 1.6,
    home: "room",
    top: 26,
    draw: (c) =>
      rect(6, 26, 88, 64, c, { rx: 3 }) +
      rect(3, 24, 94, 6, lighter(c, 0.18), { rx: 2 }) +
      rect(12, 34, 76, 18, lighter(c, 0.1), { rx: 2 }) +
      rect(2, 56, 96, 12, lighter(c, 0.2), { rx: 2 }) +
      rect(6, 56, 88, 8, "#fdfbf4") +
      Array.from({ length: 15 }, (_, key) => rect(11.4 + 5.5 * key, 56, 0.7, 8, "#b9b4aa")).join("") +
      [9.8, 15.3, 26.3, 31.8, 37.3, 48.3, 53.8, 64.8, 70.3, 75.8, 86.8]
        .map((x) => rect(x, 56, 3.2, 5, "#15151b"))
        .join("") +
      [8, 84].map((x) => rect(x, 66, 8, 34, lighter(c, 0.12), { rx: 2 })).join("") +
      [44, 50, 56].map((x) => rect(x - 1.4, 92, 2.8, 6, "#d9a441")).join("") +
      path("M38 36L62 36L60 50L40 50Z", "#fbf6e9"),
  },
  violin: {
    where: "ground",
    colour: "#a85a2a",
    size: 1,
    home: "studio",
    draw: (c) =>
      group(
        { transform: "rotate(16 50 50)" },
        rect(47, -4, 6, 50, "#241a16") +
          path("M46 -8C46 -14 54 -14 54 -8L56 4L44 4Z", "#5d3319") +
          path(
            "M50 38C64 38 67 48 63 56C60 62 66 64 69 72C74 88 64 98 50 98C36 98 26 88 31 72C34 64 40 62 37 56C33 48 36 38 50 38Z",
            c,
          ) +
          line("M40 66C37 70 43 74 40 78M60 66C63 70 57 74 60 78", "#3a1f12", 1.8) +
          rect(42, 72, 16, 2.4, "#f0dfba") +
          path("M46 80L54 80L53 96L47 96Z", "#241a16") +
          line("M48.5 0V84M51.5 0V84", "#efe7d8", 0.6) +
          line("M80 4L72 98", "#6b4226", 2),
      ),
  },
  drum: {
    where: "ground",
    colour: "#c9352f",
    size: 0.95,
    top: 36,
    home: "studio",
    draw: (c) =>
      rect(8, 40, 84, 48, c) +
      path("M8 88C8 102 92 102 92 88Z", c) +
      line("M10 46L24 92L38 48L52 96L66 48L78 92L90 46", "#f6e3b4", 2.4) +
      ellipse(50, 40, 42, 12, "#e0b04a") +
      ellipse(50, 38, 38, 9.6, "#fbf4e2") +
      line("M20 8L56 34M86 10L48 36", wood, 3.4) +
      circle(57, 35, 4, wood) +
      circle(47, 37, 4, wood),
  },
  gift: {
    where: "ground",
    colour: "#4a86d8",
    size: 0.85,
    top: 32,
    home: "studio",
    draw: (c) =>
      rect(12, 48, 76, 51, c, { rx: 3 }) +
      rect(6, 34, 88, 17, lighter(c, 0.16), { rx: 3 }) +
      rect(43, 34, 14, 65, "#f6c945") +
      path("M50 34C30 34 18 24 24 14C32 4 46 20 50 34ZM50 34C70 34 82 24 76 14C68 4 54 20 50 34Z", "#f6c945") +
      path("M48 30C40 28 32 22 33 18C38 16 46 24 48 30ZM52 30C60 28 68 22 67 18C62 16 54 24 52 30Z", "#d9a52a"),
  },
  camera: {
    where: "ground",
    colour: "#3a3f4c",
    size: 0.85,
    home: "studio",
    draw: (c) =>
      path("M32 34L40 22L62 22L70 34Z", lighter(c, 0.16)) +
      rect(4, 32, 92, 64, c, { rx: 9 }) +
      rect(4, 46, 92, 30, darker(c, 0.35)) +
      rect(12, 26, 14, 8, "#d8463c", { rx: 3 }) +
      circle(50, 63, 26, "#c9ced6") +
      circle(50, 63, 21.5, night) +
      circle(50, 63, 14, "#3f6fae") +
      circle(50, 63, 7, "#17203c") +
      circle(44, 56, 4, "#fff", { opacity: 0.7 }) +
      rect(76, 38, 12, 6, "#fbe79a", { rx: 2 }),
  },
  crown: {
    where: "ground",
    colour: "#f0b92f",
    size: 0.85,
    home: "studio",
    draw: (c) =>
      path("M10 84L4 34L28 56L50 18L72 56L96 34L90 84Z", c) +
      path("M50 18L72 56L96 34L90 84L50 84Z", darker(c, 0.12)) +
      rect(9, 82, 82, 15, darker(c, 0.2), { rx: 4 }) +
      [4, 96].map((x) => circle(x, 32, 5, "#e0465a")).join("") +
      circle(50, 15, 6, "#4f9fe0") +
      [26, 50, 74].map((x, index) => circle(x, 89.5, 4.4, index === 1 ? "#e0465a" : "#4fbf8a")).join("") +
      path("M50 50L60 64L50 78L40 64Z", "#e0465a"),
  },
  hat: {
    where: "ground",
    colour: "#8a5a34",
    size: 0.8,
    home: "studio",
    draw: (c) =>
      ellipse(50, 84, 48, 13, darker(c, 0.16)) +
      path("M24 82C22 54 26 34 38 36C46 40 54 40 62 36C74 34 78 54 76 82C64 90 36 90 24 82Z", c) +
      path("M24 74C40 82 60 82 76 74L76 83C62 91 38 91 24 83Z", darker(c, 0.55)),
  },
  shoe: {
    where: "ground",
    colour: "#e5483d",
    size: 0.85,
    home: "studio",
    draw: (c) =>
      path("M8 44C18 50 30 48 38 40C46 54 60 64 78 66C92 68 98 76 97 86L6 86C2 70 4 56 8 44Z", c) +
      path("M8 44C18 50 30 48 38 40L44 48C34 60 18 62 6 58Z", darker(c, 0.2)) +
      path("M70 65C88 66 98 74 97 86L74 86C70 80 68 72 70 65Z", "#fdf8ee") +
      rect(3, 84, 95, 13, "#fdf8ee", { rx: 6 }) +
      rect(3, 91, 95, 4, darker(c, 0.1)) +
      line("M46 54L54 46M53 60L61 51M60 64L68 56", "#fdf8ee", 3.4),
  },
  key: {
    where: "ground",
    colour: "#d9a836",
    size: 0.8,
    home: "studio",
    draw: (c) =>
      circle(26, 62, 18, "none", { stroke: c, "stroke-width": 10 }) +
      rect(44, 57, 52, 10, c, { rx: 3 }) +
      rect(76, 64, 8, 18, c, { rx: 2 }) +
      rect(88, 64, 8, 13, c, { rx: 2 }) +
      rect(46, 58.5, 46, 2.6, lighter(c, 0.45)),
  },
  telescope: {
    where: "ground",
    colour: "#3f5f9a",
    size: 1.1,
    draw: (c) =>
      line("M48 58L26 99M48 58L50 99M48 58L74 99", wood, 4) +
      group(
        { transform: "rotate(-28 48 50)" },
        rect(8, 42, 44, 15, c, { rx: 3 }) +
          rect(50, 39, 46, 21, lighter(c, 0.12), { rx: 3 }) +
          rect(0, 45, 10, 9, "#d9a836", { rx: 2 }) +
          rect(48, 38, 5, 23, "#d9a836") +
          rect(92, 37, 6, 25, "#d9a836", { rx: 2 }),
      ),
  },
};
