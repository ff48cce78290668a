/** Plain forms. */
import { moved, rotated, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, lathe, ring, surface } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const SHAPES: Readonly<Record<string, Thing>> = {
  cube: {
    metres: 1,
    picture: "sides",
    build: (look) => [part("Cube", look.main("#4f7fd0", "paint"), box([0, 0.5, 0], [1, 1, 1], 0.06))],
  },
  sphere: {
    metres: 1,
    picture: "around",
    build: (look) => [part("Sphere", look.main("#d8543f", "paint"), ball([0, 0.5, 0], 0.5, 72))],
  },
  cylinder: {
    metres: 1,
    picture: "around",
    build: (look) => [
      part(
        "Cylinder",
        look.main("#3fa07a", "paint"),
        lathe(
          [
            [0.001, 0],
            [0.4, 0],
            [0.43, 0.012],
            [0.44, 0.04],
            [0.44, 0.96],
            [0.43, 0.988],
            [0.4, 1],
            [0.001, 1],
          ],
          80,
        ),
      ),
    ],
  },
  pyramid: { metres: 1, picture: "sides", build: buildPyramid },
  torus: {
    metres: 0.4,
    picture: "sides",
    build: (look) => [
      part("Torus", look.main("#e0a52c", "paint"), moved(ring([0, 0, 0], 0.5, 0.2, 96, 40), [0, 0.2, 0])),
    ],
  },
  heart: { metres: 0.5, picture: "sides", build: buildHeart },
  star: { metres: 0.5, build: buildStar },
  dice: { metres: 0.02, build: buildDice },
  ball: { metres: 0.22, build: buildBall },
};

function buildPyramid(look: Look): readonly Part[] {
  const isStone = look.finish === null;
  const steps = 14;
  const courses = Array.from({ length: steps }, (_, index) => {
    const [size, high] = [1.5 * (1 - index / steps), 1 / steps];
    return box([0, high * (index + 0.5), 0], [size, high, size], 0.012);
  });
  if (isStone && !look.has("smooth", "glass")) return [part("Pyramid", look.main("#d8b878", "blocks"), ...courses)];
  return [
    part(
      "Pyramid",
      look.main("#d8b878", "sand"),
      rotated(
        lathe(
          [
            [0.001, 0],
            [1.06, 0],
            [0.001, 1],
          ],
          4,
          20,
        ),
        UP,
        45,
      ),
    ),
  ];
}

function buildHeart(look: Look): readonly Part[] {
  const outline: Vec2[] = [];
  for (let index = 0; index < 72; index += 1) {
    const t = (2 * Math.PI * index) / 72;
    const x = (16 * Math.sin(t) ** 3) / 34;
    const y = (13 * Math.cos(t) - 5 * Math.cos(2 * t) - 2 * Math.cos(3 * t) - Math.cos(4 * t)) / 34;
    const [bx, by] = outline.at(-1) ?? [9, 9];
    // Near the tip the formula's points crowd together.
    if (index === 36 || (Math.hypot(x - bx, y - by) > 0.012 && index !== 37)) outline.push([x, y]);
  }
  return [
    part(
      "Heart",
      look.main("#d8203c", "paint"),
      moved(prism(outline.toReversed(), { depth: 0.16, bevel: 0.03, bulge: 0.16 }), [0, 0.5, 0]),
    ),
  ];
}

function buildStar(look: Look): readonly Part[] {
  const outline: Vec2[] = Array.from({ length: 10 }, (_, index) => {
    const [reach, angle] = [index % 2 === 0 ? 0.55 : 0.25, (index * Math.PI) / 5];
    return [-reach * Math.sin(angle), reach * Math.cos(angle)];
  });
  const rounded = outline.flatMap((point, index): Vec2[] => {
    const [before, after] = [outline[(index + 9) % 10] ?? point, outline[(index + 1) % 10] ?? point];
    const near = (other: Vec2, share: number): Vec2 => [
      point[0] + (other[0] - point[0]) * share,
      point[1] + (other[1] - point[1]) * share,
    ];
    return [near(before, 0.14), near(before, 0.03), near(after, 0.03), near(after, 0.14)];
  });
  return [
    part(
      "Star",
      look.main("#f6c62e", "paint"),
      moved(prism(rounded, { depth: 0.14, bevel: 0.02, bulge: 0.13 }), [0, 0.45, 0]),
    ),
  ];
}

function buildDice(look: Look): readonly Part[] {
  const body = box([0, 0.5, 0], [1, 1, 1], 0.14);
  const faces: readonly (readonly [count: number, axis: Vec3, degrees: number])[] = [
    [1, UP, 0],
    [6, UP, 180],
    [3, UP, 90],
    [4, UP, -90],
    [2, [1, 0, 0], -90],
    [5, [1, 0, 0], 90],
  ];
  const spots: Readonly<Record<number, readonly Vec2[]>> = {
    1: [[0, 0]],
    2: [
      [-1, -1],
      [1, 1],
    ],
    3: [
      [-1, -1],
      [0, 0],
      [1, 1],
    ],
    4: [
      [-1, -1],
      [-1, 1],
      [1, -1],
      [1, 1],
    ],
    5: [
      [-1, -1],
      [-1, 1],
      [1, -1],
      [1, 1],
      [0, 0],
    ],
    6: [
      [-1, -1],
      [-1, 0],
      [-1, 1],
      [1, -1],
      [1, 0],
      [1, 1],
    ],
  };
  const dots = faces.flatMap(([count, axis, degrees]) =>
    (spots[count] ?? []).map(([x, y]) =>
      moved(rotated(ball([0.25 * x, 0.25 * y, 0.494], [0.085, 0.085, 0.014], 20), axis, degrees), [0, 0.5, 0]),
    ),
  );
  return [part("Dice", look.main("#f4efe2", "ceramic"), body), part("Spots", look.second("#1f2024", "eye"), ...dots)];
}

function buildBall(look: Look): readonly Part[] {
  const isBasket = look.has("basketball");
  const globe = ball([0, 0.5, 0], 0.5, 64);
  const great = (axis: Vec3, degrees: number): Shape =>
    moved(rotated(ring([0, 0, 0], 0.498, 0.012, 96, 6), axis, degrees), [0, 0.5, 0]);
  if (isBasket) {
    const small = (side: number): Shape =>
      moved(rotated(ring([0, 0, 0], 0.4, 0.012, 80, 6), [1, 0, 0], 90), [0, 0.5, side * 0.3]);
    return [
      part("Ball", look.main("#d9722a", "leather"), globe),
      part("Seams", look.second("#2a211d", "rubber"), great(UP, 0), great([0, 0, 1], 90), small(1), small(-1)),
    ];
  }
  // Twelve black caps of an icosahedron's corners.
  const golden = (1 + Math.sqrt(5)) / 2;
  const corners = [-1, 1].flatMap((a) =>
    [-golden, golden].flatMap((b): Vec3[] => [
      [0, a, b],
      [a, b, 0],
      [b, 0, a],
    ]),
  );
  const caps = corners.map(([x, y, z]) => {
    const size = Math.hypot(x, y, z);
    const [dx, dy, dz] = [x / size, y / size, z / size];
    const cap = pentagon();
    const tilt = (Math.acos(dy) * 180) / Math.PI;
    const axis: Vec3 = Math.hypot(dx, dz) > 1e-6 ? [dz / Math.hypot(dx, dz), 0, -dx / Math.hypot(dx, dz)] : [1, 0, 0];
    return moved(rotated(cap, axis, tilt), [0, 0.5, 0]);
  });
  return [
    part("Ball", look.main("#f6f5f1", "plastic"), globe),
    part("Patches", look.second("#1f2024", "plastic"), ...caps),
  ];
}

/** Five corners on the top of the ball. */
function pentagon(): Shape {
  return surface(
    40,
    5,
    (u, v) => {
      const angle = 2 * Math.PI * u;
      const side = (angle % ((2 * Math.PI) / 5)) - Math.PI / 5;
      const reach = (1 - v) * 0.37 * (Math.cos(Math.PI / 5) / Math.cos(side));
      const size = 0.504 / Math.hypot(reach, 1);
      return [reach * size * Math.sin(angle), size, reach * size * Math.cos(angle)];
    },
    { around: true },
  );
}
