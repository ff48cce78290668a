/** What is built. */
import { darker, lighter, mix } from "../colours.ts";
import { circle, ellipse, group, line, path, rect } from "../svg.ts";
import { night, wood, type Thing } from "../thing.ts";

export const BUILDINGS: Readonly<Record<string, Thing>> = {
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
    wide: 0.5,
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
    wide: 1,
    draw: (c) =>
      path("M50 22L96 100L4 100Z", c) +
      path("M50 22L96 100L62 100Z", darker(c, 0.25)) +
      path("M50 44L64 100L36 100Z", "#3b2f2a"),
  },
  church: {
    where: "ground",
    colour: "#f1ead8",
    size: 1.75,
    draw: (c) =>
      rect(22.6, 0, 2.6, 12, "#8a6a2c") +
      rect(19, 3.4, 10, 2.4, "#8a6a2c") +
      path("M8 36L24 10L40 36Z", "#7b4a44") +
      rect(10, 36, 28, 64, c) +
      path("M38 62L52 42L86 42L98 62Z", "#8f5850") +
      rect(38, 62, 56, 38, darker(c, 0.08)) +
      circle(24, 48, 6, "#5a7fa8", { stroke: "#fff", "stroke-width": 1.6 }) +
      path("M17 100V80A7 7 0 0 1 31 80V100Z", wood) +
      [48, 64, 80].map((x) => path(`M${x} 90V76A5 5 0 0 1 ${x + 10} 76V90Z`, "#5a7fa8")).join(""),
  },
  windmill: {
    where: "ground",
    colour: "#e8dcc2",
    size: 1.8,
    draw: (c) =>
      path("M37 46L63 46L72 100L28 100Z", c) +
      path("M55 46L63 46L72 100L58 100Z", darker(c, 0.12)) +
      path("M34 48C36 32 64 32 66 48Z", "#8c4a3c") +
      path("M44 100V86A6 6 0 0 1 56 86V100Z", wood) +
      rect(46, 62, 8, 9, "#6c95b5", { stroke: "#fff", "stroke-width": 1.4 }) +
      [20, 110, 200, 290]
        .map((turn) =>
          group(
            { transform: `rotate(${turn} 50 42)` },
            rect(49, 0, 2, 42, "#5b4030") +
              rect(51, 2, 10, 30, "#fbf6e8", { stroke: "#a08a6a", "stroke-width": 1 }) +
              line("M51 9H61M51 16H61M51 23H61", "#a08a6a", 0.9),
          ),
        )
        .join("") +
      circle(50, 42, 3.4, "#5b4030"),
  },
  bridge: {
    where: "water",
    colour: "#b5553f",
    size: 2.2,
    top: 66,
    draw: (c) =>
      [22, 72].map((x) => rect(x, 22, 6, 78, darker(c, 0.1), { rx: 1 })).join("") +
      line("M0 62C10 50 18 38 25 24C38 66 62 66 75 24C82 38 90 50 100 62", darker(c, 0.2), 1.8) +
      [6, 12, 18, 31, 37, 43, 50, 57, 63, 69, 82, 88, 94]
        .map((x) => {
          const near = Math.min(Math.abs(x - 25), Math.abs(x - 75));
          const sag = x > 25 && x < 75 ? 55 - 30 * (Math.abs(x - 50) / 25) ** 2 : 25 + 1.5 * near;
          return line(`M${x} ${Math.round(sag)}L${x} 66`, darker(c, 0.2), 0.8);
        })
        .join("") +
      rect(20, 36, 10, 4, c) +
      rect(70, 36, 10, 4, c) +
      rect(-4, 66, 108, 7, c) +
      rect(-4, 66, 108, 2, lighter(c, 0.3)) +
      [19, 69].map((x) => rect(x, 90, 12, 10, "#8d8a86", { rx: 2 })).join(""),
  },
  tower: {
    where: "ground",
    colour: "#7a6a5c",
    size: 2,
    wide: 0.5,
    draw: (c) =>
      line("M50 12L50 1", c, 1.6) +
      path("M47 10L53 10L56 40L44 40Z", c) +
      path("M43 44L57 44L63 68L37 68Z", darker(c, 0.08)) +
      path("M36 72L64 72C66 84 72 94 78 100L64 100C62 88 38 88 36 100L22 100C28 94 34 84 36 72Z", c) +
      rect(41, 39, 18, 5, darker(c, 0.2)) +
      rect(33, 67, 34, 5, darker(c, 0.2)) +
      line(
        "M46 22L54 28M54 22L46 28M45 30L55 37M55 30L45 37M42 48L60 58M58 48L40 58M40 59L62 66M60 59L38 66",
        lighter(c, 0.45),
        1,
      ) +
      line("M34 76L42 86M66 76L58 86M42 76L34 86M58 76L66 86", lighter(c, 0.45), 1),
  },
  skyscraper: {
    where: "ground",
    colour: "#5f7f9f",
    size: 2,
    wide: 0.5,
    draw: (c) =>
      line("M50 10L50 0", darker(c, 0.3), 1.6) +
      rect(40, 8, 20, 12, darker(c, 0.14)) +
      rect(34, 18, 32, 82, c) +
      rect(54, 18, 12, 82, darker(c, 0.18)) +
      [24, 33, 42, 51, 60, 69, 78]
        .map((y) => [38, 45, 57].map((x) => rect(x, y, 4.6, 5.4, (x + y) % 4 === 0 ? "#ffe79a" : "#d6ecf7")).join(""))
        .join("") +
      rect(46, 89, 9, 11, night),
  },
  pyramid: {
    where: "ground",
    colour: "#dcae62",
    size: 1.6,
    home: "desert",
    draw: (c) =>
      path("M50 18L98 100L2 100Z", c) +
      path("M50 18L98 100L66 100Z", darker(c, 0.22)) +
      [34, 50, 66, 82]
        .map((y) => line(`M${50 - (y - 18) * 0.585} ${y}L${50 + (y - 18) * 0.195} ${y}`, darker(c, 0.14), 1.2))
        .join(""),
  },
  temple: {
    where: "ground",
    colour: "#c23b33",
    size: 1.7,
    draw: (c) =>
      rect(48.6, 0, 2.8, 14, "#e0b04a") +
      [0, 1, 2]
        .map((level) => {
          const [y, half] = [14 + 28 * level, 16 + 8 * level];
          return (
            rect(50 - half, y + 10, 2 * half, 20, c) +
            [-0.6, 0, 0.6].map((at) => rect(50 + at * half - 3, y + 15, 6, 13, "#f7e6b5")).join("") +
            path(
              `M${50 - half - 14} ${y + 12}C${50 - half} ${y + 10} ${50 - half + 4} ${y + 6} ${50 - half + 6} ${y}L${50 + half - 6} ${y}C${50 + half - 4} ${y + 6} ${50 + half} ${y + 10} ${50 + half + 14} ${y + 12}Z`,
              "#3c5a55",
            )
          );
        })
        .join("") +
      rect(10, 96, 80, 4, "#a9a39a"),
  },
  igloo: {
    where: "ground",
    colour: "#e6f2fa",
    size: 1.2,
    draw: (c) =>
      path("M8 100C8 56 30 42 52 42C76 42 94 58 94 100Z", c) +
      line("M12 80H90M20 62H82M34 48H70M40 62V80M62 62V80M28 80V99M76 80V99M52 44V62", darker(c, 0.18), 1.6) +
      path("M30 100V86C30 70 66 70 66 86V100Z", darker(c, 0.12)) +
      path("M37 100V88C37 78 59 78 59 88V100Z", "#3b5672"),
  },
  fountain: {
    where: "ground",
    colour: "#b9bcc4",
    size: 1.3,
    draw: (c) =>
      line(
        "M50 40C46 16 34 12 28 34M50 40C54 16 66 12 72 34M50 40V8M50 40C42 6 18 20 14 62M50 40C58 6 82 20 86 62",
        "#9fd8f2",
        3,
        {
          opacity: 0.85,
        },
      ) +
      path("M28 42L72 42C70 52 60 54 54 54L46 54C40 54 30 52 28 42Z", c) +
      rect(45, 52, 10, 30, darker(c, 0.14)) +
      ellipse(50, 80, 44, 7, "#7cc4e6") +
      path("M4 78C10 88 90 88 96 78L90 98L10 98Z", c) +
      path("M4 78C10 88 90 88 96 78L95 82C88 92 12 92 5 82Z", lighter(c, 0.35)),
  },
};
