/** What stands in a room. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, mirrored, path, rect } from "../svg.ts";
import { night, wood, type Thing } from "../thing.ts";

export const HOME: Readonly<Record<string, Thing>> = {
  table: {
    where: "ground",
    colour: "#a8713f",
    size: 1.75,
    top: 44,
    home: "room",
    draw: (c) =>
      mirrored(path("M22 50L30 50L27 92L23 92Z", darker(c, 0.4)) + path("M7 50L17 50L14 100L9 100Z", darker(c, 0.18))) +
      rect(8, 48, 84, 9, darker(c, 0.26)) +
      rect(1, 42, 98, 8, c, { rx: 2.5 }) +
      rect(1, 42, 98, 2.6, lighter(c, 0.22), { rx: 1.3 }),
  },
  chair: {
    where: "ground",
    colour: "#b5763f",
    size: 1.25,
    top: 60,
    wide: 0.6,
    home: "room",
    draw: (c) =>
      [26, 70].map((x) => rect(x, 6, 5, 92, darker(c, 0.25), { rx: 2 })).join("") +
      [12, 24, 36].map((y) => rect(29, y, 43, 7, darker(c, 0.1), { rx: 3 })).join("") +
      path("M26 58L75 58L82 66L19 66Z", lighter(c, 0.14)) +
      rect(18, 65, 65, 6, c, { rx: 2.5 }) +
      [20, 76].map((x) => rect(x, 68, 5.5, 32, c, { rx: 2 })).join("") +
      rect(24, 84, 54, 3.4, darker(c, 0.2)),
  },
  sofa: {
    where: "ground",
    colour: "#3f7f8c",
    size: 1.95,
    top: 72,
    home: "room",
    draw: (c) =>
      mirrored(rect(14, 92, 6, 8, wood, { rx: 1.5 })) +
      rect(12, 34, 76, 44, darker(c, 0.16), { rx: 9 }) +
      mirrored(rect(17, 39, 32, 32, darker(c, 0.04), { rx: 6 })) +
      rect(10, 78, 80, 16, darker(c, 0.3), { rx: 4 }) +
      mirrored(rect(15, 67, 34.6, 15, lighter(c, 0.16), { rx: 5 }) + rect(3, 52, 15, 42, c, { rx: 7 })),
  },
  bed: {
    where: "ground",
    colour: "#5c7fc0",
    size: 2,
    top: 62,
    home: "room",
    draw: (c) =>
      rect(2, 36, 8, 64, wood, { rx: 3 }) +
      rect(92, 56, 6, 44, wood, { rx: 3 }) +
      rect(6, 80, 88, 8, darker(wood, 0.25)) +
      rect(9, 66, 84, 15, "#f6f1e6", { rx: 4 }) +
      path("M34 62C50 58 76 58 94 64L94 84L34 84Z", c) +
      path("M34 62C40 60 46 59 52 60L50 84L34 84Z", lighter(c, 0.3)) +
      path("M11 64C10 52 34 52 33 64C33 68 11 68 11 64Z", "#ffffff"),
  },
  lamp: {
    where: "ground",
    colour: "#f2c45f",
    size: 1.35,
    wide: 0.7,
    home: "room",
    draw: (c) =>
      circle(50, 26, 48, lighter(c, 0.5), { opacity: 0.16 }) +
      circle(50, 28, 34, lighter(c, 0.5), { opacity: 0.2 }) +
      rect(48, 36, 4, 58, "#5d4a3a") +
      path("M32 100C34 92 66 92 68 100Z", "#5d4a3a") +
      path("M36 8L64 8L76 40L24 40Z", c) +
      path("M36 8L46 8L40 40L24 40Z", lighter(c, 0.4)) +
      line("M66 40L66 52", "#5d4a3a", 1) +
      circle(66, 53, 1.8, "#5d4a3a"),
  },
  clock: {
    where: "ground",
    colour: "#c94f43",
    size: 0.85,
    home: "studio",
    draw: (c) =>
      mirrored(
        line("M30 86L22 98", darker(c, 0.4), 6) +
          path("M14 24C14 10 30 4 40 12L20 34C16 32 14 28 14 24Z", lighter(c, 0.25)),
      ) +
      rect(47, 6, 6, 10, darker(c, 0.4), { rx: 2 }) +
      circle(50, 56, 38, c) +
      circle(50, 56, 31, "#fdf9ee") +
      Array.from({ length: 12 }, (_, hour) =>
        rect(49, 28, 2, hour % 3 === 0 ? 6 : 3.4, night, { transform: `rotate(${30 * hour} 50 56)` }),
      ).join("") +
      line("M50 56L38 46", night, 3.4) +
      line("M50 56L64 36", night, 2.4) +
      circle(50, 56, 3, c),
  },
  candle: {
    where: "ground",
    colour: "#f4ead2",
    size: 0.8,
    wide: 0.5,
    home: "studio",
    draw: (c) =>
      circle(50, 22, 30, "#ffd76b", { opacity: 0.18 }) +
      circle(50, 22, 19, "#ffd76b", { opacity: 0.28 }) +
      path("M50 2C60 14 60 30 50 32C40 30 40 14 50 2Z", "#f9a632") +
      path("M50 14C55 20 55 29 50 30C45 29 45 20 50 14Z", "#fdeb9a") +
      line("M50 30L50 38", night, 2) +
      rect(38, 38, 24, 50, c, { rx: 3 }) +
      path(
        "M38 42C42 36 58 36 62 42L62 54C59 58 58 46 55 46C52 46 53 56 50 54C47 50 46 44 42 46C40 48 41 62 38 60Z",
        lighter(c, 0.5),
      ) +
      path("M24 86L76 86C76 96 66 99 50 99C34 99 24 96 24 86Z", "#b98a3f"),
  },
  vase: {
    where: "ground",
    colour: "#3f7fb5",
    size: 1,
    inside: 52,
    wide: 0.6,
    home: "studio",
    draw: (c) =>
      path("M38 44L62 44C60 56 76 62 74 78C73 92 64 99 50 99C36 99 27 92 26 78C24 62 40 56 38 44Z", c) +
      path("M40 48C42 58 32 64 31 78C31 86 34 92 38 95C28 78 44 62 44 48Z", lighter(c, 0.4)) +
      line("M27 74C40 80 60 80 73 74M28 82C42 88 58 88 72 82", lighter(c, 0.6), 1.6) +
      rect(35, 41, 30, 5, darker(c, 0.2), { rx: 2.5 }),
  },
  mirror: {
    where: "ground",
    colour: "#c79a44",
    size: 1.3,
    wide: 0.6,
    home: "room",
    draw: (c) =>
      mirrored(line("M40 88L30 99", darker(c, 0.4), 4)) +
      ellipse(50, 47, 31, 46, c) +
      ellipse(50, 47, 26, 41, "#cfe6ef") +
      path("M36 20L50 10L30 62L27 46Z", "#ffffff", { opacity: 0.6 }) +
      path("M66 40L70 46L52 82L46 84Z", "#ffffff", { opacity: 0.45 }),
  },
  television: {
    where: "ground",
    colour: "#3a3d4a",
    size: 1.2,
    home: "room",
    draw: (c) =>
      mirrored(line("M42 88L32 99", darker(c, 0.3), 5) + line("M49 26L30 4", darker(c, 0.2), 2.4)) +
      rect(4, 24, 92, 66, c, { rx: 8 }) +
      rect(12, 32, 64, 50, "#7cc6df", { rx: 5 }) +
      path("M12 66C28 54 44 74 76 58L76 77C76 80 74 82 71 82L17 82C14 82 12 80 12 77Z", "#5aa85c") +
      circle(60, 45, 7, "#fbd75a") +
      circle(86, 42, 4.4, "#c9ced6") +
      circle(86, 56, 4.4, "#c9ced6") +
      [68, 73, 78].map((y) => rect(81, y, 10, 2, "#8b90a0")).join(""),
  },
  computer: {
    where: "ground",
    colour: "#c9ced8",
    size: 1,
    home: "studio",
    draw: (c) =>
      rect(12, 18, 76, 58, darker(c, 0.55), { rx: 5 }) +
      rect(16, 22, 68, 48, "#25304d", { rx: 2 }) +
      [30, 38, 46, 54]
        .map((y, index) =>
          rect(
            22 + (index % 3) * 5,
            y,
            18 + ((index * 13) % 23),
            3.6,
            ["#6fd3c7", "#f2b84b", "#e77f9b", "#8fb4f2"][index] ?? "#fff",
            { rx: 1.8 },
          ),
        )
        .join("") +
      path("M12 76L88 76L99 96C99 99 97 99 95 99L5 99C3 99 1 99 1 96Z", c) +
      path("M18 80L82 80L88 90L12 90Z", darker(c, 0.3)) +
      path("M42 92L58 92L60 97L40 97Z", darker(c, 0.14)),
  },
};
