/** Animals of the woods and of cold countries. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, mirrored, path } from "../svg.ts";
import { eye, eyes, night, type Thing } from "../thing.ts";

/** Sits, with a pointed face and a brush of a tail. */
const drawFox = (c: string): string =>
  path("M66 99C96 102 106 72 92 46C90 62 80 70 68 76Z", darker(c, 0.08)) +
  path("M92 46C98 56 100 66 97 76C91 72 87 66 84 65C88 60 91 54 92 46Z", "#fbf3e6") +
  path("M28 100C22 74 34 54 50 54C66 54 78 74 72 100Z", c) +
  path("M36 66C42 62 58 62 64 66C62 82 55 92 50 94C45 92 38 82 36 66Z", "#fbf3e6") +
  mirrored(
    ellipse(41, 97, 7, 4, darker(c, 0.62)) +
      path("M22 36L18 4L46 22Z", c) +
      path("M26 29L23 13L38 22Z", darker(c, 0.6)),
  ) +
  path("M14 34C24 14 76 14 86 34C82 48 64 58 50 67C36 58 18 48 14 34Z", c) +
  mirrored(path("M14 34C28 34 42 42 50 67C36 58 18 48 14 34Z", "#fbf3e6")) +
  eyes(37, 37, 3.2) +
  ellipse(50, 64.5, 4.6, 3.4, "#1d1d26");

/** Sits upright on its haunches. */
const drawBear = (c: string): string =>
  mirrored(
    circle(28, 14, 10, c) +
      circle(28, 14, 5.5, darker(c, 0.3)) +
      ellipse(30, 92, 15, 9, darker(c, 0.14)) +
      ellipse(22, 68, 9, 17, darker(c, 0.14), { transform: "rotate(18 22 68)" }),
  ) +
  ellipse(50, 74, 31, 26, c) +
  ellipse(50, 78, 19, 19, lighter(c, 0.3)) +
  circle(50, 32, 27, c) +
  ellipse(50, 42, 13, 10, lighter(c, 0.45)) +
  ellipse(50, 37.5, 5.4, 4, "#1d1d26") +
  line("M50 41L50 46M44 46C46 50 50 49 50 46C50 49 54 50 56 46", "#3a2a22", 1.5) +
  eyes(39, 29, 3);

export const FOREST_ANIMALS: Readonly<Record<string, Thing>> = {
  fox: { where: "ground", colour: "#e2712b", size: 1, draw: drawFox },
  wolf: { where: "ground", colour: "#7f8894", size: 1.1, draw: drawFox },
  bear: { where: "ground", colour: "#8a5a38", size: 1.3, draw: drawBear },
  panda: {
    where: "ground",
    colour: "#f6f4ef",
    size: 1.2,
    draw: (c) =>
      mirrored(
        circle(26, 14, 10.5, "#26262e") +
          ellipse(30, 93, 14, 8, "#26262e") +
          ellipse(22, 68, 9.5, 18, "#26262e", { transform: "rotate(18 22 68)" }),
      ) +
      ellipse(50, 74, 30, 25, c) +
      path("M21 66C28 52 72 52 79 66C72 60 28 60 21 66Z", "#26262e") +
      circle(50, 34, 27, c) +
      mirrored(ellipse(38, 33, 7.5, 9.5, "#26262e", { transform: "rotate(24 38 33)" }) + circle(39, 32, 2.6, "#fff")) +
      ellipse(50, 43, 5, 3.6, "#1d1d26") +
      line("M50 46C50 51 44 51 43 48M50 46C50 51 56 51 57 48", "#3a3a42", 1.4),
  },
  deer: {
    where: "ground",
    colour: "#b0763f",
    size: 1.4,
    draw: (c) =>
      [27, 36, 58, 66]
        .map((x, index) =>
          path(`M${x} 66L${x + 6} 66L${x + 4} 100L${x + 1} 100Z`, darker(c, index % 2 === 0 ? 0.2 : 0.06)),
        )
        .join("") +
      path("M20 52C16 48 14 52 17 60L26 60Z", "#fbf3e6") +
      path(
        "M20 62C18 48 30 46 44 48C54 49 58 48 62 40L68 26L80 30L76 50C74 66 66 72 54 70L28 71C22 70 20 66 20 62Z",
        c,
      ) +
      path("M66 34C64 24 70 17 78 17L94 27C95 32 90 34 86 33L78 34Z", c) +
      path("M68 22L58 17L62 26Z", darker(c, 0.15)) +
      line("M74 18C70 10 70 4 74 0M71 11L64 6M78 18C82 12 86 8 86 2M82 11L90 8", "#6b4a2b", 2.4) +
      [32, 40, 48].map((x, index) => circle(x, 54 + (index % 2) * 5, 2, "#f7e6cf")).join("") +
      ellipse(93.5, 27.5, 2.6, 2.2, night) +
      eye(80, 23, 2),
  },
  squirrel: {
    where: "ground",
    colour: "#b8612c",
    size: 0.8,
    draw: (c) =>
      path("M60 96C98 98 100 58 84 44C96 30 82 8 62 18C76 26 70 42 62 54Z", darker(c, 0.12)) +
      path("M26 100C22 76 32 56 46 56C64 56 70 80 66 100Z", c) +
      path("M36 100C33 82 37 68 45 68C54 68 56 84 54 100Z", "#fbeedb") +
      path("M28 24L26 8L40 20Z", c) +
      circle(40, 38, 20, c) +
      ellipse(30, 46, 11, 8, "#fbeedb") +
      ellipse(21, 42, 3, 2.4, "#1d1d26") +
      eye(36, 34, 3) +
      line("M48 74C40 72 34 74 30 78", darker(c, 0.3), 5) +
      ellipse(27, 78, 6, 7, "#8a5a2e") +
      path("M20 76C22 70 32 70 34 76Z", "#5e3b1d"),
  },
  hedgehog: {
    where: "ground",
    colour: "#7a5a40",
    size: 0.75,
    draw: (c) =>
      path(
        "M20 96L10 84L16 78L8 66L18 62L14 48L26 48L26 34L38 38L44 24L52 34L64 26L66 40L78 36L76 52L90 56L80 66L92 80L84 96Z",
        darker(c, 0.25),
      ) +
      path("M24 94C20 58 62 40 80 64L84 94Z", c) +
      path("M2 82C8 66 24 60 36 68C44 78 40 94 34 97L16 97C8 95 3 88 2 82Z", "#e8c9a2") +
      circle(4, 82, 4, "#1d1d26") +
      eye(20, 76, 3) +
      ellipse(34, 97, 7, 3.4, "#c79e72") +
      ellipse(68, 97, 7, 3.4, "#c79e72"),
  },
  owl: {
    where: "ground",
    colour: "#8b6a48",
    size: 0.85,
    draw: (c) =>
      mirrored(path("M20 10L42 20L26 36Z", c)) +
      path("M20 40C20 18 80 18 80 40L82 70C82 90 68 97 50 97C32 97 18 90 18 70Z", c) +
      mirrored(path("M19 44C10 62 14 84 28 90C32 76 28 56 19 44Z", darker(c, 0.28))) +
      ellipse(50, 74, 18, 20, lighter(c, 0.5)) +
      [64, 72, 80].map((y) => line(`M40 ${y}l4 4l4 -4M52 ${y}l4 4l4 -4`, darker(c, 0.1), 1.6)).join("") +
      mirrored(
        circle(36, 40, 14, lighter(c, 0.6)) +
          circle(36, 40, 9, "#f4c53d") +
          circle(37, 40, 5, "#1d1d26") +
          circle(35.4, 38, 1.6, "#fff") +
          line("M40 96l-4 4M43 96l0 4", "#e59a35", 2.6),
      ) +
      path("M50 44L56 52L50 60L44 52Z", "#e59a35"),
  },
  penguin: {
    where: "ground",
    colour: "#2c3242",
    size: 0.95,
    draw: (c) =>
      mirrored(
        ellipse(39, 97, 11, 4, "#f0a23a") + path("M27 44C14 56 12 72 18 80C26 74 30 62 31 54Z", darker(c, 0.2)),
      ) +
      path("M50 4C70 4 74 22 74 36C78 56 80 96 50 97C20 96 22 56 26 36C26 22 30 4 50 4Z", c) +
      path("M50 30C58 18 70 26 67 40C72 62 72 92 50 92C28 92 28 62 33 40C30 26 42 18 50 30Z", "#fbfaf5") +
      eyes(41, 31, 3) +
      path("M42 39L58 39L50 48Z", "#f0a23a"),
  },
};
