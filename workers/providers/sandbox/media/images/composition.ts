/** A picture for a prompt that names nothing known: forms in its colours, around its initials. */
import { darker, lighter, mix } from "./colours.ts";
import type { Stage } from "./sky.ts";
import { circle, escapeText, group, line, n, path, rect, ridge, starPath } from "./svg.ts";

export function drawComposition(stage: Stage, text: string): string {
  const initials = initialsOf(text);
  return stage.random.pick([tiles, poster, rings])(stage, initials);
}

type Composer = (stage: Stage, initials: string) => string;

/** Quarter circles, arcs and bars in a grid. */
const tiles: Composer = (stage, initials) => {
  const { width, height, random } = stage;
  const columns = Math.max(2, Math.round(width / 170));
  const rows = Math.max(2, Math.round(height / 170));
  const [wide, tall] = [width / columns, height / rows];
  const colours = coloursOf(stage);
  const draw = (column: number, row: number): string => {
    const ground = random.below(colours.length);
    const form = (ground + 1 + random.below(colours.length - 1)) % colours.length;
    const [back, front] = [colours[ground] ?? "#ffffff", colours[form] ?? "#000000"];
    const turn = 90 * random.below(4);
    const tile = TILES[random.below(TILES.length)] ?? TILES[0];
    return group(
      {
        transform: `translate(${n(column * wide)} ${n(row * tall)}) scale(${n((wide + 0.6) / 100)} ${n((tall + 0.6) / 100)})`,
      },
      rect(0, 0, 100, 100, back) + group({ transform: `rotate(${turn} 50 50)` }, tile(front, back)),
    );
  };
  const all = Array.from({ length: columns * rows }, (_, index) => draw(index % columns, Math.floor(index / columns)));
  return all.join("") + plate(stage, initials, Math.min(wide, tall) * 0.98);
};

const TILES: readonly [Tile, ...Tile[]] = [
  (front) => path("M0 0H100A100 100 0 0 1 0 100Z", front),
  (front, back) => path("M0 0H100A100 100 0 0 1 0 100Z", front) + path("M0 0H50A50 50 0 0 1 0 50Z", back),
  (front) => path("M0 0A100 100 0 0 1 100 100A100 100 0 0 1 0 0Z", front),
  (front, back) => circle(50, 50, 38, front) + circle(50, 50, 16, back),
  (front) => path("M0 0H100V50A50 50 0 0 1 0 50Z", front),
  (front) => path("M0 0L100 0L0 100Z", front),
  (front) => [4, 38, 72].map((y) => rect(0, y, 100, 18, front)).join(""),
  (front) => [20, 50, 80].flatMap((y) => [20, 50, 80].map((x) => circle(x, y, 8, front))).join(""),
  (front) => path("M50 0A50 50 0 0 0 50 100ZM100 0A50 50 0 0 0 100 100Z", front),
];
type Tile = (front: string, back: string) => string;

/** Hills under a large sun, in a mount. */
const poster: Composer = (stage, initials) => {
  const { width, height, random, palette } = stage;
  const shorter = Math.min(width, height);
  const mount = shorter * 0.07;
  const [x, y] = [width * (0.36 + random.below(29) / 100), height * 0.42];
  const sun = [0.34, 0.27, 0.2]
    .map((share, index) => circle(x, y, shorter * share, mix(palette.accent, palette.shades[3], 0.55 - 0.25 * index)))
    .join("");
  const hills = Array.from({ length: 5 }, (_, index) =>
    path(
      ridge(random, width, height, height * (0.5 + 0.085 * index), height * 0.05, 3 + random.below(3)),
      mix(palette.shades[3], palette.shades[0], 0.15 + 0.19 * index),
    ),
  ).join("");
  const paper = lighter(palette.shades[4], 0.45);
  const frame = path(
    `M0 0H${n(width)}V${n(height)}H0ZM${n(mount)} ${n(mount)}V${n(height - mount)}H${n(width - mount)}V${n(mount)}Z`,
    paper,
  );
  const rim = rect(mount, mount, width - 2 * mount, height - 2 * mount, "none", {
    stroke: darker(palette.shades[1], 0.2),
    "stroke-width": 4,
  });
  return rect(0, 0, width, height, "url(#sky)") + sun + hills + plate(stage, initials, shorter * 0.17) + frame + rim;
};

/** Rings around one middle and ribbons through them. */
const rings: Composer = (stage, initials) => {
  const { width, height, random, palette } = stage;
  const shorter = Math.min(width, height);
  const [x, y] = [width / 2, height * 0.47];
  const colours = coloursOf(stage);
  const first = random.below(colours.length);
  const all = Array.from({ length: 7 }, (_, index) =>
    circle(x, y, shorter * (0.62 - 0.082 * index), colours[(first + index) % colours.length] ?? palette.accent),
  ).join("");
  const ribbons = Array.from({ length: 4 }, (_, index) => {
    const from = height * (0.12 + 0.24 * index + random.below(80) / 1_000);
    const bend = height * (0.1 + random.below(160) / 1_000) * (index % 2 === 0 ? 1 : -1);
    const d = `M-40 ${n(from)}C${n(width * 0.3)} ${n(from + bend)} ${n(width * 0.7)} ${n(from - bend)} ${n(width + 40)} ${n(from)}`;
    return line(d, colours[(first + 2 * index + 1) % colours.length] ?? palette.accent, 16 + random.below(26), {
      opacity: 0.9,
    });
  }).join("");
  const sparks = Array.from({ length: Math.round(12 * stage.detail) }, () => {
    const [atX, atY, size] = [random.below(width), random.below(height), 10 + random.below(22)];
    return path(starPath(atX, atY, size, size * 0.4, 4), palette.shades[4]);
  }).join("");
  return rect(0, 0, width, height, "url(#sky)") + all + ribbons + sparks + plate(stage, initials, shorter * 0.17);
};

function coloursOf({ palette }: Stage): string[] {
  const { shades, accent } = palette;
  return [shades[0], shades[1], shades[2], shades[3], shades[4], accent, mix(accent, shades[4], 0.5)];
}

/** The initials on a disc; a star where there are none that can be written. */
function plate({ width, height, palette }: Stage, initials: string, radius: number): string {
  const [x, y] = [width / 2, height * 0.47];
  const size = radius * (initials.length > 1 ? 0.86 : 1.2);
  const ink = darker(palette.shades[0], 0.3);
  const sign =
    initials === ""
      ? path(starPath(x, y, radius * 0.62, radius * 0.27, 5), ink)
      : `<text x="${n(x)}" y="${n(y + size * 0.36)}" text-anchor="middle" font-family="DejaVu Sans" font-weight="bold" font-size="${n(size)}" fill="${ink}">${escapeText(initials)}</text>`;
  return (
    circle(x, y, radius * 1.06, ink) +
    circle(x, y, radius, lighter(palette.shades[4], 0.5)) +
    circle(x, y, radius * 0.9, "none", { stroke: palette.accent, "stroke-width": radius * 0.05 }) +
    sign
  );
}

const SMALL_WORDS = /^(a|an|the|of|in|on|at|and|or|with|to|for|by|de|la|le|el|der|die|das|ein|eine)$/;

/** Of the first two words that say something, in scripts that the picture's font has. */
function initialsOf(text: string): string {
  const words = (text.toLowerCase().match(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+/gu) ?? []).filter(
    (word, _, all) => all.length === 1 || !SMALL_WORDS.test(word),
  );
  return words
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
}
