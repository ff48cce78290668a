/**
 * Generates a mesh from a prompt and a seed. The mesh is one of eight shapes in a seeded size, textured by the caller's image or a pattern.
 */
import { createRandom, hashText, type Random } from "../../random.ts";
import { addGeometry, encodeGlb, type Geometry, type MeshParams, newDocument, texturedMaterial } from "./document.ts";
import { imageTexture, patternTexture } from "./texture.ts";

/**
 * Returns a binary glTF 2.0 file. Equal parameters and images produce equal bytes.
 * @param image texture
 * @throws MediaError unsupported, too_large, corrupt for the image
 */
export async function makeMesh(params: MeshParams, image?: Uint8Array): Promise<Uint8Array> {
  const { prompt, seed } = params;
  const random = createRandom(hashText(prompt.toLowerCase(), seed >>> 0));
  const [name, { surfaces }] = choosePrimitive(prompt, random);
  const [width, height] = [0.8 + random.below(50) / 100, 0.8 + random.below(50) / 100];
  const texture = await (image === undefined ? patternTexture(prompt, random) : imageTexture(image, "The image"));
  const document = newDocument(params);
  const material = texturedMaterial(document, texture, random);
  addGeometry(document, name, tessellated(surfaces.map((surface) => sized(surface, width, height))), material);
  return encodeGlb(document);
}

/** Chooses a shape by the first matching word in the prompt, or by the seed without a match. */
function choosePrimitive(prompt: string, random: Random): readonly [string, Primitive] {
  const all = Object.entries(PRIMITIVES) as [[string, Primitive], ...[string, Primitive][]];
  const chosen = random.pick(all);
  const placeOf = ([, { keywords }]: readonly [string, Primitive]): number => prompt.search(keywords);
  return all.filter((one) => placeOf(one) >= 0).toSorted((a, b) => placeOf(a) - placeOf(b))[0] ?? chosen;
}

function sized({ at, ...surface }: Surface, width: number, height: number): Surface {
  return {
    ...surface,
    at: (u, v) => {
      const [x, y, z] = at(u, v);
      return [width * x, height * y, width * z];
    },
  };
}

// Eight shapes of about one metre, and their keywords.

interface Primitive {
  readonly keywords: RegExp;
  readonly surfaces: readonly Surface[];
}

/** Returns radius and height of a profile at `t`, from 0 to 1. A profile runs from the lower centre outwards and up to the upper centre. */
type Profile = (t: number) => readonly [radius: number, height: number];

const TURN = 2 * Math.PI;
const SEGMENTS = 48;

export const PRIMITIVES: Readonly<Record<string, Primitive>> = {
  box: {
    keywords: /\b(?:box|cube|crate|block|brick|chest|house|building|tower|book|dice)\b/i,
    surfaces: [
      face([1, 0, 0], [0, 1, 0]),
      face([-1, 0, 0], [0, 1, 0]),
      face([0, 0, 1], [0, 1, 0]),
      face([0, 0, -1], [0, 1, 0]),
      face([0, 1, 0], [0, 0, -1]),
      face([0, -1, 0], [0, 0, 1]),
    ],
  },
  sphere: {
    keywords: /\b(?:sphere|ball|globe|planet|moon|sun|earth|bubble|apple|marble|pearl)\b/i,
    surfaces: [lathe((t) => [sin(t / 2) / 2, -cos(t / 2) / 2], 24)],
  },
  torus: {
    keywords: /\b(?:torus|ring|donut|doughnut|tyre|tire|wheel|hoop|bagel)\b/i,
    surfaces: [lathe((t) => [0.35 + 0.15 * cos(t), 0.15 * sin(t)], 24)],
  },
  cylinder: {
    keywords: /\b(?:cylinder|can|drum|barrel|pillar|column|coin|pipe|log|stump)\b/i,
    surfaces: [disc(0.4, -0.5, "down"), lathe((t) => [0.4, t - 0.5], 8), disc(0.4, 0.5, "up")],
  },
  cone: {
    keywords: /\b(?:cone|pyramid|tree|fir|mountain|volcano|tent|hat|spike|rocket)\b/i,
    surfaces: [disc(0.45, -0.5, "down"), lathe((t) => [0.45 * (1 - t), t - 0.5], 16)],
  },
  capsule: {
    keywords: /\b(?:capsule|pill|person|man|woman|robot|figure|bean|sausage|bottle)\b/i,
    surfaces: [
      lathe((t) => [0.25 * cos((t - 1) / 4), 0.25 * sin((t - 1) / 4) - 0.25], 10),
      lathe((t) => [0.25, t / 2 - 0.25], 4),
      lathe((t) => [0.25 * cos(t / 4), 0.25 * sin(t / 4) + 0.25], 10),
    ],
  },
  star: { keywords: /\b(?:star|badge|snowflake|flower|sparkle)\b/i, surfaces: star() },
  vase: {
    keywords: /\b(?:vase|pot|urn|jar|cup|mug|bowl|goblet|amphora|chalice|teapot)\b/i,
    surfaces: [
      disc(vase(0), 0, "down"),
      lathe((t) => [vase(t), t], 32),
      lathe((t) => [vase(1) - 0.03 * t, 1], 1),
      lathe((t) => [vase(1 - t) - 0.03, 1 - 0.96 * t], 32),
      disc(vase(0) - 0.03, 0.04, "up"),
    ],
  },
};

function sin(turns: number): number {
  return Math.sin(TURN * turns);
}

function cos(turns: number): number {
  return Math.cos(TURN * turns);
}

/** Returns the surface of a profile that is rotated around the vertical axis. */
function lathe(profile: Profile, rows: number): Surface {
  const at = (u: number, v: number): Vector => {
    const [radius, height] = profile(v);
    return [radius * cos(u), height, -radius * sin(u)];
  };
  return { at, columns: SEGMENTS, rows };
}

function disc(radius: number, height: number, faces: "up" | "down"): Surface {
  return {
    ...lathe((t) => [radius * (faces === "up" ? 1 - t : t), height], 4),
    textureAt: ([x, , z]) => [0.5 + x / (2 * radius), 0.5 + z / (2 * radius)],
  };
}

/** Returns a square of one metre, at a distance of half a metre from the origin along `normal`. */
function face(normal: Vector, up: Vector): Surface {
  const right = cross(up, normal);
  const coordinate = (u: number, v: number, axis: 0 | 1 | 2): number =>
    normal[axis] / 2 + right[axis] * (u - 0.5) + up[axis] * (v - 0.5);
  return {
    at: (u, v) => [coordinate(u, v, 0), coordinate(u, v, 1), coordinate(u, v, 2)],
    columns: 6,
    rows: 6,
  };
}

/** Returns the radius of the vase's wall at a height: a belly below, a neck and a lip above. */
function vase(height: number): number {
  return 0.26 + 0.13 * Math.sin(5.2 * height + 0.2);
}

/** Returns an upright prism with a five-pointed star as base. */
function star(): readonly Surface[] {
  const corners = Array.from({ length: 10 }, (_, at): readonly [number, number] => {
    const radius = at % 2 === 0 ? 0.5 : 0.22;
    return [-radius * sin(at / 10), radius * cos(at / 10)];
  });
  const onEdge = (edge: number, share: number): readonly [number, number] => {
    const [from, to] = [corners.at(edge % 10) ?? [0, 0], corners.at((edge + 1) % 10) ?? [0, 0]];
    return [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
  };
  const depth = 0.12;
  const side = (edge: number): Surface => ({
    at: (u, v) => [...onEdge(edge, u), depth * (2 * v - 1)],
    columns: 4,
    rows: 2,
  });
  const front = (z: number): Surface => ({
    at: (u, v) => {
      const [edge, share] = [Math.floor(10 * u), 10 * u - Math.floor(10 * u)];
      const [x, y] = onEdge(edge, share);
      const reach = z > 0 ? 1 - v : v;
      return [reach * x, reach * y, z];
    },
    columns: 40,
    rows: 4,
    textureAt: ([x, y]) => [0.5 + x, 0.5 - y],
  });
  return [...corners.map((_, edge) => side(edge)), front(depth), front(-depth)];
}

// Converts surfaces given by formulas to triangles with normals and texture coordinates.

type Vector = readonly [number, number, number];

interface Surface {
  /** Returns the point of the surface at u and v, each from 0 to 1. Seen from outside, u points right and v points up. */
  readonly at: (u: number, v: number) => Vector;
  readonly columns: number;
  readonly rows: number;
  /** Returns the texture position of a point. Default: derived from u and v. */
  readonly textureAt?: (point: Vector) => readonly [number, number];
}

/** Difference of u and v by which the slope of a surface is computed. */
const STEP = 1e-4;

/** Returns all surfaces as one geometry. Triangles without area are omitted. They occur at a pole, where a whole row is one point. */
function tessellated(surfaces: readonly Surface[]): Geometry {
  const [positions, normals, uvs, indices]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const { at, columns, rows, textureAt } of surfaces) {
    const start = positions.length / 3;
    const isPole = (row: number): boolean => length(minus(at(0.25, row / rows), at(0.75, row / rows))) < STEP;
    for (let row = 0; row <= rows; row += 1) {
      for (let column = 0; column <= columns; column += 1) {
        const [u, v] = [column / columns, row / rows];
        const point = at(u, v);
        positions.push(...point.map(rounded));
        normals.push(...normalAt(at, u, v));
        uvs.push(...(textureAt?.(point) ?? [u, 1 - v]));
        if (row === rows || column === columns) continue;
        const below = start + row * (columns + 1) + column;
        const above = below + columns + 1;
        if (!isPole(row)) indices.push(below, below + 1, above);
        if (!isPole(row + 1)) indices.push(below + 1, above + 1, above);
      }
    }
  }
  return {
    positions: Float32Array.from(positions),
    normals: Float32Array.from(normals),
    uvs: Float32Array.from(uvs),
    indices: Uint32Array.from(indices),
  };
}

/** Returns the normal of a surface at u and v. At a pole, returns the normal of an adjacent point. */
function normalAt(at: Surface["at"], u: number, v: number): Vector {
  const along = minus(at(u + STEP, v), at(u - STEP, v));
  if (length(along) < STEP * STEP) return normalAt(at, u, v < 0.5 ? v + 0.01 : v - 0.01);
  const normal = cross(along, minus(at(u, v + STEP), at(u, v - STEP)));
  const size = length(normal);
  return [normal[0] / size, normal[1] / size, normal[2] / size];
}

/** Rounds a coordinate to a micrometre and removes -0, so that points where surfaces meet are equal. */
function rounded(metres: number): number {
  return Math.round(metres * 1e6) / 1e6 + 0;
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const length = (a: Vector): number => Math.hypot(...a);
