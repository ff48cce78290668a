/** What is eaten and drunk, and what from. */
import { darker, lighter } from "../colours.ts";
import { circle, ellipse, line, path, rect } from "../svg.ts";
import { type Thing } from "../thing.ts";

export const FOOD: Readonly<Record<string, Thing>> = {
  cup: {
    where: "ground",
    colour: "#e9e4da",
    size: 0.85,
    home: "studio",
    top: 42,
    inside: 72,
    draw: (c) =>
      line("M40 32C34 24 46 20 40 10M58 32C52 24 64 20 58 10", "#fff", 2.6, { opacity: 0.6 }) +
      line("M76 54C94 52 94 78 72 78", darker(c, 0.1), 6) +
      path("M18 42L80 42C80 74 72 94 60 96L38 96C26 94 18 74 18 42Z", c) +
      ellipse(49, 42, 31, 7, darker(c, 0.12)) +
      ellipse(49, 42.5, 27, 5.2, "#5b3a24"),
  },
  cake: {
    where: "ground",
    colour: "#f3a6bd",
    size: 1,
    home: "studio",
    top: 36,
    draw: (c) =>
      rect(48, 16, 4, 20, "#6fb6e0") +
      path("M50 4C54 10 54 15 50 16C46 15 46 10 50 4Z", "#f9b233") +
      rect(14, 52, 72, 44, "#c98a52", { rx: 5 }) +
      rect(14, 70, 72, 6, "#fbeedd") +
      path(
        "M14 54C14 38 22 34 50 34C78 34 86 38 86 54L86 60C80 68 76 56 70 62C64 70 58 58 50 64C42 70 38 57 31 62C24 68 20 56 14 61Z",
        c,
      ) +
      [28, 44, 60, 74]
        .map((x, index) =>
          circle(x, 44 + (index % 2) * 4, 2.6, ["#e5484d", "#fff", "#f6d743", "#5ab0e0"][index] ?? "#fff"),
        )
        .join(""),
  },
  bowl: {
    where: "ground",
    colour: "#4d86b8",
    size: 1,
    top: 50,
    inside: 66,
    home: "studio",
    draw: (c) =>
      path("M34 92L66 92L70 99L30 99Z", darker(c, 0.3)) +
      path("M4 50L96 50C94 78 76 94 50 94C24 94 6 78 4 50Z", c) +
      path("M4 50L96 50C95 56 94 60 92 65L8 65C6 60 5 56 4 50Z", lighter(c, 0.55)) +
      path("M10 68C14 80 24 90 38 93C24 84 18 76 16 68Z", lighter(c, 0.35)),
  },
  basket: {
    where: "ground",
    colour: "#b98444",
    size: 1.05,
    top: 54,
    inside: 70,
    home: "studio",
    draw: (c) =>
      line("M14 56C14 8 86 8 86 56", darker(c, 0.15), 5) +
      path("M6 54L94 54L84 99L16 99Z", c) +
      [62, 74, 86]
        .map((y) => line(`M${8 + (y - 54) / 5} ${y}L${92 - (y - 54) / 5} ${y}`, darker(c, 0.28), 2.6))
        .join("") +
      [22, 36, 50, 64, 78].map((x) => line(`M${x} 56L${50 + (x - 50) * 0.84} 98`, lighter(c, 0.25), 2.6)).join("") +
      rect(3, 51, 94, 8, darker(c, 0.12), { rx: 4 }),
  },
  teapot: {
    where: "ground",
    colour: "#d9655c",
    size: 0.95,
    home: "studio",
    draw: (c) =>
      line("M22 52C2 46 2 80 24 80", darker(c, 0.16), 6) +
      path("M72 74C84 72 84 54 97 44L99 50C92 58 92 82 74 86Z", darker(c, 0.1)) +
      path("M18 68C18 46 32 36 49 36C66 36 80 46 80 68C80 86 68 97 49 97C30 97 18 86 18 68Z", c) +
      path("M30 38C36 28 62 28 68 38C60 42 38 42 30 38Z", darker(c, 0.16)) +
      circle(49, 27, 5, lighter(c, 0.4)) +
      ellipse(34, 58, 5, 11, "#fff", { opacity: 0.35, transform: "rotate(20 34 58)" }) +
      circle(52, 68, 6, lighter(c, 0.6)) +
      [0, 72, 144, 216, 288]
        .map((turn) => ellipse(52, 58, 4, 6, lighter(c, 0.75), { transform: `rotate(${turn} 52 68)` }))
        .join("") +
      circle(52, 68, 4, "#f6d04a"),
  },
  bottle: {
    where: "ground",
    colour: "#2f6b4a",
    size: 1.05,
    wide: 0.4,
    home: "studio",
    draw: (c) =>
      path(
        "M43 12L57 12L57 34C58 42 68 44 68 56L68 94C68 98 66 100 62 100L38 100C34 100 32 98 32 94L32 56C32 44 42 42 43 34Z",
        c,
      ) +
      rect(42, 2, 16, 12, "#8a2f3a", { rx: 2 }) +
      rect(32, 62, 36, 24, "#f5ecd6") +
      line("M38 70L62 70M42 77L58 77", "#8a2f3a", 2) +
      path("M36 54C37 48 42 46 44 40L45 56L37 58Z", "#fff", { opacity: 0.3 }),
  },
  glass: {
    where: "ground",
    colour: "#a52a45",
    size: 0.95,
    wide: 0.5,
    home: "studio",
    draw: (c) =>
      path("M28 6L72 6C76 38 68 54 50 56C32 54 24 38 28 6Z", "#e6f1f5", { opacity: 0.75 }) +
      path("M27 24C40 28 60 20 73 24C73 42 66 53 50 54C34 53 27 42 27 24Z", c) +
      path("M48.4 55L51.6 55L52 90L48 90Z", "#d5e4ea") +
      path("M28 98C34 88 66 88 72 98Z", "#d5e4ea") +
      line("M33 12C32 24 33 36 37 44", "#ffffff", 2.2, { opacity: 0.7 }),
  },
  pizza: {
    where: "ground",
    colour: "#f4c14e",
    size: 1,
    home: "studio",
    draw: (c) =>
      path("M4 22C30 2 70 2 96 22L90 32C68 18 32 18 10 32Z", "#c9843c") +
      path("M12 30C34 18 66 18 88 30L50 99Z", c) +
      path("M30 60C32 66 28 72 34 74L40 82L38 72ZM62 76L58 86L66 70Z", lighter(c, 0.35)) +
      [
        [34, 40, 7.5],
        [62, 38, 8],
        [48, 58, 7],
        [54, 78, 4.5],
      ]
        .map(([x = 0, y = 0, r = 0]) => circle(x, y, r, "#c8382e") + circle(x - r / 4, y - r / 4, r * 0.4, "#e0604c"))
        .join("") +
      [
        [48, 32],
        [72, 46],
        [40, 52],
        [56, 66],
      ]
        .map(([x = 0, y = 0], index) =>
          ellipse(x, y, 4.4, 2, "#4f9d45", { transform: `rotate(${50 * index} ${x} ${y})` }),
        )
        .join(""),
  },
  burger: {
    where: "ground",
    colour: "#dd9a4a",
    size: 0.95,
    home: "studio",
    draw: (c) =>
      path("M8 80L92 80C92 94 84 98 74 98L26 98C16 98 8 94 8 80Z", c) +
      rect(6, 68, 88, 14, "#6b3a22", { rx: 7 }) +
      path("M6 62L94 62L82 68L76 78L66 68L6 68Z", "#f7c93f") +
      path(
        "M4 56C14 50 86 50 96 56C94 66 86 60 80 64C74 68 68 60 60 64C52 68 46 60 38 64C30 68 24 60 16 64C10 66 6 62 4 56Z",
        "#63b14c",
      ) +
      rect(9, 48, 82, 7, "#d8453a", { rx: 3.5 }) +
      path("M8 48C8 22 28 12 50 12C72 12 92 22 92 48Z", c) +
      [
        [32, 28],
        [46, 21],
        [60, 26],
        [72, 34],
        [42, 36],
        [58, 38],
      ]
        .map(([x = 0, y = 0], index) =>
          ellipse(x, y, 2.8, 1.7, "#fbeccb", { transform: `rotate(${37 * index} ${x} ${y})` }),
        )
        .join(""),
  },
  icecream: {
    where: "ground",
    colour: "#f5a3bd",
    size: 0.95,
    wide: 0.6,
    home: "studio",
    draw: (c) =>
      path("M28 48L72 48L50 100Z", "#d99b52") +
      line("M34 60L62 48M40 76L68 54M60 76L32 54M66 62L40 48", "#b87a38", 1.8) +
      circle(38, 40, 17, "#f6e7c4") +
      circle(62, 40, 17, "#7c4a2f") +
      circle(50, 24, 18, c) +
      path("M24 44C28 56 36 46 42 52C48 58 54 46 60 52C66 56 74 52 76 44Z", lighter(c, 0.2)) +
      circle(52, 6, 5.5, "#d3263a") +
      line("M53 2C55 -2 58 -3 61 -3", "#4b7c35", 1.8) +
      circle(43, 18, 4, "#fff", { opacity: 0.5 }),
  },
  donut: {
    where: "ground",
    colour: "#ec7fb0",
    size: 0.85,
    home: "studio",
    draw: (c) =>
      path("M50 14A42 42 0 1 0 50 98A42 42 0 1 0 50 14ZM50 42A14 14 0 1 1 50 70A14 14 0 1 1 50 42Z", "#cf9450", {
        "fill-rule": "evenodd",
      }) +
      path(
        "M50 16C76 14 92 36 90 54C88 62 84 58 82 64C80 76 72 72 68 82C62 92 54 86 48 90C40 94 34 84 28 82C20 80 20 68 14 64C8 56 10 44 14 38C20 26 32 17 50 16ZM50 40A16 16 0 1 0 50 72A16 16 0 1 0 50 40Z",
        c,
        { "fill-rule": "evenodd" },
      ) +
      Array.from({ length: 14 }, (_, index) => {
        const turn = index * 26 + (index % 3) * 9;
        return rect(
          48,
          index % 2 === 0 ? 24 : 31,
          5,
          2.2,
          ["#fff", "#f7d743", "#5ab0e0", "#7ccf6f"][index % 4] ?? "#fff",
          {
            rx: 1.1,
            transform: `rotate(${turn} 50 56)`,
          },
        );
      }).join(""),
  },
  bread: {
    where: "ground",
    colour: "#d39a53",
    size: 0.95,
    home: "studio",
    draw: (c) =>
      path("M6 98C2 98 2 92 3 84C-2 66 8 44 26 46C38 36 56 36 66 46C86 40 102 60 97 82C98 92 98 98 94 98Z", c) +
      path("M6 98C2 98 2 92 3 84C24 92 76 92 97 82C98 92 98 98 94 98Z", darker(c, 0.22)) +
      [26, 46, 66]
        .map((x) =>
          path(`M${x} 72C${x - 2} 62 ${x + 4} 54 ${x + 10} 50C${x + 14} 56 ${x + 10} 66 ${x} 72Z`, lighter(c, 0.45)),
        )
        .join(""),
  },
};
