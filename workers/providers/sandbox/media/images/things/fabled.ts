/** Who lives in tales, in the past or for a winter. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, mirrored, path, rect } from "../svg.ts";
import { eye, eyes, wood, type Thing } from "../thing.ts";
import { BEASTS } from "./beasts.ts";

export const FABLED: Readonly<Record<string, Thing>> = {
  unicorn: {
    where: "ground",
    colour: "#f4f0f7",
    size: 1.5,
    top: 62,
    draw: (c) =>
      (BEASTS["horse"]?.draw(c) ?? "") +
      path("M80 12L90 -8L86 15Z", "#f2c14a") +
      line("M61 50C62 32 68 20 77 11", "#e58bc0", 5) +
      line("M57 52C59 38 63 26 70 18", "#8f9be8", 4) +
      line("M20 54C8 60 8 74 12 84", "#e58bc0", 5) +
      line("M22 56C13 62 13 72 17 80", "#8f9be8", 3),
  },
  dragon: {
    where: "ground",
    colour: "#3f9d62",
    size: 1.7,
    draw: (c) =>
      path("M30 52C20 30 8 20 0 18C10 28 6 36 8 44C14 40 18 46 18 54C24 50 28 54 34 60Z", darker(c, 0.3)) +
      path("M52 46C44 22 30 6 14 0C22 12 20 22 24 30C30 26 34 32 35 40C41 36 46 42 48 54Z", lighter(c, 0.22)) +
      line("M44 12L14 0M50 40L14 0", darker(c, 0.2), 1.4) +
      path("M30 70C14 72 4 82 2 96C8 90 14 88 20 88C16 92 16 96 18 99C26 92 34 90 42 90Z", c) +
      path("M2 96L0 84L10 86Z", darker(c, 0.25)) +
      path(
        "M28 86C24 64 38 50 54 50C58 40 60 28 70 22L82 40C78 52 76 66 72 80C70 92 60 97 50 97C38 97 30 94 28 86Z",
        c,
      ) +
      path("M50 96C42 82 50 64 62 56C68 50 72 44 76 40L80 44C78 54 76 66 72 80C70 92 60 97 50 96Z", "#f0dc96") +
      line("M52 86L71 84M52 77L73 74M56 68L75 64M64 58L77 55", "#d6b968", 1.4) +
      path("M62 30C62 18 70 12 80 14L96 24C100 28 98 34 92 35L78 38C68 42 62 38 62 30Z", c) +
      path("M66 18L56 6L72 13ZM74 14L70 1L80 12Z", "#f0dc96") +
      line("M78 36C84 35 90 33 95 30", darker(c, 0.5), 1.5) +
      circle(93, 24.5, 1.3, darker(c, 0.6)) +
      ellipse(78, 22, 3.4, 3.8, "#f6e25a") +
      ellipse(78.6, 22, 1.2, 3.2, "#1d1d26") +
      ellipse(42, 96, 11, 4, darker(c, 0.18)) +
      ellipse(64, 96, 11, 4, darker(c, 0.18)),
  },
  dinosaur: {
    where: "ground",
    colour: "#6fae4e",
    size: 1.8,
    top: 48,
    draw: (c) =>
      [34, 60].map((x) => rect(x - 4, 66, 10, 34, darker(c, 0.2), { rx: 4 })).join("") +
      path(
        "M0 82C10 74 14 54 34 48C46 44 56 46 62 44C70 40 70 26 72 16C74 6 84 2 92 6C100 10 100 18 94 20L84 22C82 32 84 50 76 62C70 74 60 78 48 78L34 78C22 78 12 82 0 82Z",
        c,
      ) +
      path("M30 74C40 80 58 79 66 72C62 78 54 79 48 79L34 79Z", lighter(c, 0.5)) +
      [26, 52].map((x) => rect(x, 68, 11, 32, c, { rx: 4 })).join("") +
      [26, 52].map((x) => rect(x + 1, 96, 9, 4, lighter(c, 0.6), { rx: 2 })).join("") +
      [
        [18, 57],
        [27, 50],
        [37, 46],
        [47, 45],
        [57, 45],
        [66, 39],
      ]
        .map(([x = 0, y = 0]) => path(`M${x - 5} ${y + 2}L${x - 1} ${y - 8}L${x + 5} ${y + 1}Z`, "#e39a3f"))
        .join("") +
      [
        [34, 58],
        [44, 64],
        [54, 57],
        [24, 64],
      ]
        .map(([x = 0, y = 0]) => circle(x, y, 3, darker(c, 0.16)))
        .join("") +
      line("M95 15C92 17 88 17 86 16", darker(c, 0.55), 1.5) +
      eye(86, 10, 2.4),
  },
  snowman: {
    where: "ground",
    colour: "#f8fbff",
    size: 1.2,
    wide: 0.8,
    draw: (c) =>
      line("M30 52L8 38M12 41L8 46M14 42L12 34M70 52L92 36M88 39L93 44M86 40L87 32", wood, 2.6) +
      circle(50, 77, 24, c) +
      path("M30 90C40 100 62 100 72 86C70 104 34 106 30 90Z", darker(c, 0.1)) +
      circle(50, 49, 17, c) +
      circle(50, 28, 13, c) +
      rect(33, 15, 34, 4, "#2b2f45", { rx: 2 }) +
      rect(39, 0, 22, 16, "#2b2f45", { rx: 2 }) +
      rect(39, 11, 22, 4, "#d9352f") +
      eyes(45, 26, 1.9) +
      path("M49 29L66 32L49 33.5Z", "#f08a2e") +
      line("M44 35C47 38 53 38 56 35", "#33384a", 1.3) +
      path("M37 37C44 43 56 43 63 37L64 43C56 48 44 48 36 43ZM58 43L66 58L58 60L53 46Z", "#d9352f") +
      [52, 60, 70, 79].map((y) => circle(50, y, 1.8, "#33384a")).join(""),
  },
  ghost: {
    where: "ground",
    colour: "#f3f2fa",
    size: 1,
    draw: (c) =>
      path(
        "M50 4C76 4 84 26 84 46L86 92C78 86 72 98 64 92C58 86 54 98 48 92C42 86 36 98 30 92C24 86 20 96 14 92L16 46C16 26 24 4 50 4Z",
        c,
      ) +
      path("M66 8C84 20 82 40 84 60L86 92C80 88 76 92 72 95C78 60 80 30 66 8Z", darker(c, 0.1)) +
      mirrored(
        ellipse(38, 36, 5.4, 7.6, "#262838") + circle(36.4, 33, 1.8, "#fff") + ellipse(28, 48, 5, 3, "#f3a9b8"),
      ) +
      ellipse(50, 54, 5, 6.4, "#262838"),
  },
};
