/** Who swims. */
import { darker, lighter } from "../colours.ts";
import { circle, line, path } from "../svg.ts";
import { eye, type Thing } from "../thing.ts";

export const SWIMMERS: Readonly<Record<string, Thing>> = {
  fish: {
    where: "water",
    colour: "#f08a2e",
    size: 0.9,
    home: "underwater",
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
  octopus: {
    where: "water",
    colour: "#b65aa8",
    size: 1.1,
    home: "underwater",
    draw: (c) =>
      line(
        "M34 66C28 82 10 76 8 90M42 70C40 90 26 86 24 98M58 70C60 90 74 86 76 98M66 66C72 82 90 76 92 90M50 72C50 84 46 90 50 99",
        darker(c, 0.1),
        8,
      ) +
      path("M50 4C80 4 88 30 80 50C76 62 72 66 70 74L30 74C28 66 24 62 20 50C12 30 20 4 50 4Z", c) +
      [
        [34, 20, 5],
        [46, 14, 3.4],
        [66, 20, 4.4],
      ]
        .map(([x = 0, y = 0, r = 0]) => circle(x, y, r, lighter(c, 0.35)))
        .join("") +
      circle(38, 46, 8, "#fff") +
      circle(62, 46, 8, "#fff") +
      eye(39, 47, 4) +
      eye(61, 47, 4) +
      line("M44 61C47 64 53 64 56 61", darker(c, 0.55), 2),
  },
  swan: {
    where: "water",
    colour: "#fbfaf6",
    size: 1.1,
    draw: (c) =>
      line("M66 70C84 54 58 38 68 22C72 15 80 15 83 20", c, 9) +
      path("M82 14L98 24L80 27Z", "#ee8a34") +
      path("M79 12L86 16L81 19Z", "#22222a") +
      path("M4 56C20 60 28 54 44 54C62 54 78 60 78 76C78 90 64 96 44 96C20 96 8 78 4 56Z", c) +
      path("M10 58C24 66 40 58 56 64C62 72 56 84 40 84C24 84 14 72 10 58Z", darker(c, 0.1)) +
      eye(81, 20, 1.7),
  },
  shark: {
    where: "water",
    colour: "#64798f",
    size: 1.5,
    home: "underwater",
    draw: (c) =>
      path("M78 52L99 24L95 54L99 80Z", darker(c, 0.1)) +
      path("M42 38L58 12L64 38Z", darker(c, 0.1)) +
      path("M2 54C14 34 46 30 84 52C60 76 26 78 2 60Z", c) +
      path("M4 60C26 66 56 66 80 55C58 76 26 77 4 60Z", lighter(c, 0.65)) +
      path("M40 66L34 86L56 68Z", darker(c, 0.16)) +
      line("M32 46L30 60M38 45L36 60", darker(c, 0.35), 1.6) +
      path("M8 62L26 66L22 70L12 67Z", "#fff") +
      eye(18, 50, 2.6),
  },
};
