/** Small pieces of SVG. Numbers are cut to two digits: no machine writes them differently. */
import type { Random } from "../../random.ts";

export const n = (value: number): string => String(Math.round(value * 100) / 100);

type Attributes = Readonly<Record<string, string | number>>;

function tag(name: string, attributes: Attributes, content = ""): string {
  const list = Object.entries(attributes).map(
    ([key, value]) => `${key}="${typeof value === "number" ? n(value) : value}"`,
  );
  return `<${name} ${list.join(" ")}${content === "" ? "/>" : `>${content}</${name}>`}`;
}

export const circle = (cx: number, cy: number, r: number, fill: string, more: Attributes = {}): string =>
  tag("circle", { cx, cy, r, fill, ...more });
export const ellipse = (cx: number, cy: number, rx: number, ry: number, fill: string, more: Attributes = {}): string =>
  tag("ellipse", { cx, cy, rx, ry, fill, ...more });
export const rect = (
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  more: Attributes = {},
): string => tag("rect", { x, y, width, height, fill, ...more });
export const path = (d: string, fill: string, more: Attributes = {}): string => tag("path", { d, fill, ...more });
export const line = (d: string, stroke: string, width: number, more: Attributes = {}): string =>
  tag("path", {
    d,
    fill: "none",
    stroke,
    "stroke-width": width,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
    ...more,
  });
export const group = (attributes: Attributes, content: string): string => tag("g", attributes, content);

/** In a box of 100: as it is, and once more as a mirror on the other side shows it. */
export const mirrored = (content: string): string =>
  content + group({ transform: "translate(100 0) scale(-1 1)" }, content);

/** For clip-path: measured by the box of what is cut, so numbers are shares of it. */
export const clipOutline = (id: string, shapes: string): string =>
  tag("clipPath", { id, clipPathUnits: "objectBoundingBox" }, shapes);

/** A gradient from top to bottom, with stops as [offset, colour, opacity]. */
export function verticalGradient(id: string, stops: readonly (readonly [number, string, number?])[]): string {
  return tag("linearGradient", { id, x1: 0, y1: 0, x2: 0, y2: 1 }, stopsOf(stops));
}

export function radialGradient(id: string, stops: readonly (readonly [number, string, number?])[]): string {
  return tag("radialGradient", { id }, stopsOf(stops));
}

function stopsOf(stops: readonly (readonly [number, string, number?])[]): string {
  return stops
    .map(([offset, colour, opacity = 1]) => tag("stop", { offset, "stop-color": colour, "stop-opacity": opacity }))
    .join("");
}

/** A ridge from the left edge to the right, filled to the bottom. `rough` is how far it goes up and down. */
export function ridge(
  random: Random,
  width: number,
  bottom: number,
  y: number,
  rough: number,
  steps: number,
  isSharp = false,
): string {
  const points = Array.from({ length: steps + 3 }, (_, index) => ({
    x: ((index - 1) / steps) * width,
    y: y + (random.below(2_001) / 1_000 - 1) * rough * (isSharp && index % 2 === 0 ? 0.35 : 1),
  }));
  let d = `M${n(points[0]?.x ?? 0)} ${n(points[0]?.y ?? y)}`;
  for (let index = 1; index < points.length; index += 1) {
    const [before, here] = [points[index - 1], points[index]];
    if (before === undefined || here === undefined) continue;
    const middle = { x: (before.x + here.x) / 2, y: (before.y + here.y) / 2 };
    d += isSharp ? `L${n(here.x)} ${n(here.y)}` : `Q${n(before.x)} ${n(before.y)} ${n(middle.x)} ${n(middle.y)}`;
  }
  return `${d}L${n(width * 1.2)} ${n(y)}L${n(width * 1.2)} ${n(bottom)}L${n(-width * 0.2)} ${n(bottom)}Z`;
}

/** A closed line with points at two radii in turn. */
export function starPath(cx: number, cy: number, outer: number, inner: number, points: number, turn = 0): string {
  const corners = Array.from({ length: points * 2 }, (_, index) => {
    const radius = index % 2 === 0 ? outer : inner;
    const angle = (Math.PI * index) / points - Math.PI / 2 + turn;
    return `${n(cx + radius * Math.cos(angle))} ${n(cy + radius * Math.sin(angle))}`;
  });
  return `M${corners.join("L")}Z`;
}

/** Text as the content of an element. Control characters are no XML. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
