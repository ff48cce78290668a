/** Animals of field, savannah and pond. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, group, line, mirrored, path, rect, starPath } from "../svg.ts";
import { eye, eyes, type Thing } from "../thing.ts";

const legs = (places: readonly number[], top: number, width: number, colour: string, hoof: string): string =>
  places
    .map(
      (x, index) =>
        rect(x, top, width, 98 - top, index % 2 === 0 ? colour : darker(colour, 0.14), { rx: width / 2.6 }) +
        rect(x, 94, width, 6, hoof, { rx: 1.6 }),
    )
    .join("");

/** The face of a big cat that sits, before a body. */
const drawBigCat = (c: string, mane: string): string =>
  line("M76 92C98 92 98 66 88 62", c, 6) +
  circle(88, 61, 5.5, darker(c, 0.5)) +
  path("M24 100C20 72 34 58 50 58C66 58 80 72 76 100Z", c) +
  ellipse(50, 84, 12, 16, lighter(c, 0.5)) +
  mane +
  mirrored(circle(28, 18, 8.5, c) + circle(28, 18, 4.5, darker(c, 0.3))) +
  circle(50, 38, 26, c) +
  mirrored(ellipse(43, 49, 9, 7.5, lighter(c, 0.65)) + line("M40 50L24 48M40 52L26 55", "#fff", 0.9)) +
  path("M44 42L56 42L50 48Z", "#4a2c25") +
  line("M50 47L50 51C50 56 43 56 42 53M50 51C50 56 57 56 58 53", "#4a2c25", 1.5) +
  eyes(39, 34, 3);

export const FARM_ANIMALS: Readonly<Record<string, Thing>> = {
  elephant: {
    where: "ground",
    colour: "#8d97a6",
    size: 1.7,
    top: 30,
    draw: (c) =>
      line("M8 50C2 58 3 66 6 72", darker(c, 0.2), 3) +
      [18, 34, 52, 64]
        .map((x, index) => rect(x, 62, 14, 38, darker(c, index % 2 === 0 ? 0.16 : 0.04), { rx: 4 }))
        .join("") +
      [18, 34, 52, 64].map((x) => rect(x + 1.5, 96, 11, 4, "#efe9dc", { rx: 2 })).join("") +
      path("M6 56C6 36 24 28 44 29C62 30 76 40 78 56C78 72 70 78 58 79L24 79C12 78 6 70 6 56Z", c) +
      path("M62 30C72 16 96 20 97 42C98 56 100 70 97 84C95 91 88 90 88 84C90 74 88 66 85 62C74 64 62 54 62 42Z", c) +
      path("M82 62C86 68 94 68 99 62C98 72 86 74 81 67Z", "#fdf8ea") +
      path("M66 34C54 26 44 34 46 48C47 62 58 68 66 62C72 56 72 42 66 34Z", darker(c, 0.16)) +
      eye(84, 40, 2.4),
  },
  lion: {
    where: "ground",
    colour: "#dba04a",
    size: 1.25,
    draw: (c) =>
      drawBigCat(c, path(starPath(50, 40, 45, 37, 18), darker(c, 0.38)) + circle(50, 40, 36, darker(c, 0.3))),
  },
  tiger: {
    where: "ground",
    colour: "#e8882c",
    size: 1.25,
    draw: (c) =>
      drawBigCat(c, "") +
      mirrored(
        path("M24 36L36 38L25 42ZM27 46L36 46L29 51Z", "#2a2320") +
          path("M27 74L38 76L25 81ZM24 86L36 87L24 93Z", "#2a2320"),
      ) +
      path("M47 13L50 26L53 13ZM38 15L43 25L43 14ZM62 15L57 25L57 14Z", "#2a2320"),
  },
  giraffe: {
    where: "ground",
    colour: "#edbd5c",
    size: 1.9,
    wide: 0.7,
    draw: (c) =>
      line("M22 62C16 66 15 74 17 80", darker(c, 0.5), 2) +
      [25, 33, 50, 57]
        .map((x, index) =>
          path(`M${x} 70L${x + 6} 70L${x + 4.6} 100L${x + 1} 100Z`, darker(c, index % 2 === 0 ? 0.2 : 0.06)),
        )
        .join("") +
      path("M21 70C20 58 34 56 46 55C54 52 58 30 62 10L72 12C72 34 70 62 64 74L30 77C24 76 21 74 21 70Z", c) +
      path("M60 14C60 6 66 3 72 5L88 14C90 18 86 21 82 20L70 20Z", c) +
      line("M66 6L65 0M70 6L71 0", "#7c5423", 1.8) +
      [
        [30, 66, 4.6],
        [41, 63, 4.2],
        [52, 64, 4.6],
        [35, 73, 3],
        [47, 72, 3.4],
        [58, 52, 3.2],
        [63, 42, 2.8],
        [61, 62, 3],
        [64, 30, 2.6],
        [67, 20, 2.2],
      ]
        .map(([x = 0, y = 0, r = 0]) => path(starPath(x, y, r, r * 0.85, 4, x), "#a8682c"))
        .join("") +
      ellipse(86, 17, 1.6, 1.2, "#5d3b1a") +
      eye(73, 11, 1.6),
  },
  cow: {
    where: "ground",
    colour: "#f6f3ec",
    size: 1.45,
    top: 36,
    draw: (c) =>
      line("M10 46C4 54 4 66 6 74", darker(c, 0.2), 2.6) +
      legs([16, 27, 56, 67], 66, 8, darker(c, 0.08), "#4a3d38") +
      ellipse(46, 80, 8, 6, "#f0aeb0") +
      path("M8 54C8 40 18 37 32 37L66 37C78 38 82 46 80 60C78 74 72 78 60 78L22 78C12 77 8 68 8 54Z", c) +
      path("M22 38C36 34 44 44 38 54C30 62 20 54 22 38ZM56 78C52 64 62 56 72 62C76 70 72 76 62 78Z", "#3a3230") +
      path("M70 34C70 26 78 22 86 26L97 38C99 46 94 50 87 49L76 50C71 46 70 40 70 34Z", c) +
      path("M70 34C72 26 78 23 84 25C84 34 78 42 71 42Z", "#3a3230") +
      path("M72 28L60 26L66 35Z", "#3a3230") +
      path("M75 24L73 15L80 22Z", "#e5d3ac") +
      path("M86 38C92 36 99 40 98 46C96 51 88 51 86 48C84 45 84 40 86 38Z", "#f0aeb0") +
      eye(84, 33, 2.2),
  },
  sheep: {
    where: "ground",
    colour: "#f7f3e8",
    size: 1.05,
    top: 30,
    draw: (c) =>
      legs([26, 36, 56, 65], 74, 6, "#3f3a40", "#2b272c") +
      [
        [28, 56, 18],
        [44, 46, 18],
        [62, 48, 17],
        [70, 62, 16],
        [52, 68, 19],
        [32, 68, 15],
      ]
        .map(([x = 0, y = 0, r = 0], index) => circle(x, y, r, index < 3 ? c : darker(c, 0.05)))
        .join("") +
      ellipse(82, 50, 11, 14, "#3f3a40", { transform: "rotate(-14 82 50)" }) +
      ellipse(71, 46, 7, 3.6, "#3f3a40", { transform: "rotate(24 71 46)" }) +
      circle(77, 36, 8, c) +
      eye(84, 47, 2.4),
  },
  pig: {
    where: "ground",
    colour: "#f2a6b2",
    size: 1,
    top: 34,
    draw: (c) =>
      line("M10 52C2 48 4 60 9 56C14 52 6 44 2 50", darker(c, 0.2), 2.4) +
      legs([20, 32, 58, 68], 74, 9, darker(c, 0.12), darker(c, 0.5)) +
      ellipse(46, 60, 38, 25, c) +
      circle(76, 50, 19, lighter(c, 0.08)) +
      path("M64 38L62 22L76 34ZM84 34L92 24L92 42Z", darker(c, 0.2)) +
      ellipse(88, 55, 9, 8, darker(c, 0.16)) +
      ellipse(85.6, 55, 1.6, 2.6, darker(c, 0.55)) +
      ellipse(91.4, 55, 1.6, 2.6, darker(c, 0.55)) +
      eye(76, 46, 2.4),
  },
  chicken: {
    where: "ground",
    colour: "#fbf6ea",
    size: 0.8,
    draw: (c) =>
      line("M44 86L44 99M44 99L38 100M44 99L50 100M58 86L58 99M58 99L52 100M58 99L64 100", "#eaa23a", 2.6) +
      path(
        "M10 40C2 46 6 72 26 84C44 92 70 90 78 72C84 56 84 44 82 34C80 24 64 22 62 36C60 50 46 56 34 54C22 52 16 46 10 40Z",
        c,
      ) +
      path("M32 58C44 54 56 58 60 66C54 78 38 78 32 58Z", darker(c, 0.12)) +
      path("M64 28C62 16 68 14 70 20C72 12 78 14 78 20C82 16 86 22 80 30Z", "#d9352f") +
      path("M82 36L94 40L82 44Z", "#eaa23a") +
      path("M80 44C84 46 84 54 80 56C76 54 76 48 80 44Z", "#d9352f") +
      eye(75, 35, 2.4),
  },
  frog: {
    where: "ground",
    colour: "#55ad4a",
    size: 0.75,
    draw: (c) =>
      mirrored(
        path("M34 70C8 56 0 84 12 98L38 98Z", darker(c, 0.14)) +
          ellipse(38, 97, 10, 3.6, darker(c, 0.26)) +
          circle(30, 28, 13, c) +
          circle(30, 27, 8.6, "#fdfbe9") +
          ellipse(31, 27, 3.4, 5, "#1d1d26"),
      ) +
      ellipse(50, 72, 30, 27, c) +
      ellipse(50, 80, 20, 18, lighter(c, 0.55)) +
      ellipse(50, 46, 35, 21, c) +
      line("M22 48C34 60 66 60 78 48", darker(c, 0.6), 2) +
      mirrored(circle(46, 41, 1.2, darker(c, 0.6)) + circle(24, 52, 4, "#f2938f", { opacity: 0.5 })),
  },
  turtle: {
    where: "ground",
    colour: "#4f9a52",
    size: 0.85,
    draw: (c) =>
      [24, 62].map((x) => path(`M${x} 80L${x + 16} 80L${x + 14} 99L${x + 2} 99Z`, "#9fbf63")).join("") +
      path("M6 84L16 76L20 86Z", "#9fbf63") +
      path("M74 76C76 60 84 54 92 56C101 60 99 74 92 76C86 80 80 84 74 86Z", "#9fbf63") +
      path("M10 84C12 44 70 38 80 84Z", c) +
      path("M45 54L58 62L54 76L38 76L33 62Z", lighter(c, 0.25)) +
      path("M24 62L30 65L34 78L20 79C19 72 21 66 24 62ZM66 62L61 65L58 78L71 79C72 72 70 66 66 62Z", lighter(c, 0.14)) +
      rect(8, 81, 74, 6, darker(c, 0.3), { rx: 3 }) +
      eye(91, 63, 2.4) +
      line("M98 70C94 73 91 72 90 71", "#5c7433", 1.4),
  },
  mouse: {
    where: "ground",
    colour: "#a9a5ab",
    size: 0.6,
    draw: (c) =>
      line("M72 92C92 98 98 84 94 74", "#e3a6a8", 3) +
      mirrored(circle(24, 26, 17, c) + circle(24, 26, 11, "#f2bdc0")) +
      ellipse(50, 78, 26, 22, c) +
      ellipse(50, 84, 15, 14, lighter(c, 0.55)) +
      path("M26 42C28 24 72 24 74 42C72 58 58 66 50 68C42 66 28 58 26 42Z", c) +
      circle(50, 65, 4, "#e5838a") +
      group({}, line("M42 60L24 56M42 62L26 66M58 60L76 56M58 62L74 66", "#fff", 1)) +
      eyes(41, 46, 3.4),
  },
};
