/** A painted backdrop taken apart into what lies behind each other, so that a camera can pass along it. */
import { n } from "../images/svg.ts";
import { elementsOf } from "./drawing.ts";

export interface Part {
  readonly svg: string;
  /** 0 does not move with the camera, 1 is as near as the ground under its feet. */
  readonly depth: number;
  readonly kind: "air" | "land" | "shape";
}

export interface BackdropParts {
  /** What stands still behind all: the colour of the sky and its light. */
  readonly base: string;
  /** From far to near. */
  readonly parts: readonly Part[];
}

/** Against the ground: clouds and stars, the farthest range of hills. */
const AIR_DEPTH = 0.12;
const FARTHEST_LAND = 0.3;
/** Shapes that float in front of a composition are in so many groups. */
const SHAPE_GROUPS = 3;

/**
 * @param svg a backdrop as painted: a ground of one colour, then what is in the air, then land from far to near
 * @param width of the drawing, as is the height in its own units
 */
export function takeApart(svg: string, width: number, height: number): BackdropParts {
  const elements = elementsOf(svg);
  const hasGlow = elements[1]?.includes("url(#glow)") === true;
  const baseLength = hasGlow ? 2 : 1;
  let landStart = baseLength;
  while (/^<(circle|ellipse)/.test(elements[landStart] ?? "")) landStart += 1;
  const { bands, rest } = bandsOf(elements.slice(landStart), width, height);
  const shapes = Array.from({ length: rest.length > 0 ? SHAPE_GROUPS : 0 }, (_, group) => ({
    svg: rest.filter((_element, index) => index % SHAPE_GROUPS === group).join(""),
    depth: 0.4 + 0.3 * group,
    kind: "shape" as const,
  }));
  return {
    base: elements.slice(0, baseLength).join(""),
    parts: [
      ...airOf(elements.slice(baseLength, landStart)),
      ...bands.map((band, index): Part => ({
        svg: band.join(""),
        depth: FARTHEST_LAND + ((1 - FARTHEST_LAND) * (index + 1)) / bands.length,
        kind: "land",
      })),
      ...shapes.filter((shape) => shape.svg !== ""),
    ],
  };
}

/** Mist before stars. */
function airOf(elements: readonly string[]): Part[] {
  return ["<ellipse", "<circle"].flatMap((tag, index): Part[] => {
    const found = elements.filter((element) => element.startsWith(tag));
    return found.length === 0 ? [] : [{ svg: found.join(""), depth: AIR_DEPTH * (index + 1), kind: "air" }];
  });
}

/** A band ends with a ridge that reaches from edge to edge, or before a wall or floor that begins at the left edge. */
function bandsOf(
  elements: readonly string[],
  width: number,
  height: number,
): { readonly bands: readonly string[][]; readonly rest: readonly string[] } {
  const ridgeEnd = `L${n(-width * 0.2)} ${n(height)}Z"`;
  const bands: string[][] = [];
  let open: string[] = [];
  const close = (): void => {
    if (open.length > 0) bands.push(open);
    open = [];
  };
  for (const element of elements) {
    // Blades of grass and glints on the water belong to what they were painted on.
    const isLine = element.includes('fill="none"') && element.startsWith("<path");
    if (isLine && open.length === 0 && bands.length > 0) {
      bands.at(-1)?.push(element);
      continue;
    }
    if (/^<rect x="(?:0|-\d+)"/.test(element)) close();
    open.push(element);
    if (element.includes(ridgeEnd)) close();
  }
  const isFloating = bands.length > 0 && open.some((element) => element.startsWith("<circle"));
  if (!isFloating) close();
  return { bands, rest: isFloating ? open : [] };
}
