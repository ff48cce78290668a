/** What treasures lie and stand in, and stones they are set with. */
import type { Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { surface } from "../kit/surface.ts";
import type { Vec2 } from "../kit/vector.ts";
import { part, type Look, type Part } from "./thing.ts";

/** Upright in a small block, so that it stands. */
export function stand(look: Look, wide: number): Part {
  return part(
    "Stand",
    look.fixed("#4a3526", "wood"),
    box([0, 0.05, 0], [wide, 0.1, wide * 0.62], 0.02),
    box([0, 0.11, 0], [wide * 0.6, 0.05, wide * 0.36], 0.015),
  );
}

/** A cut stone: table, crown, girdle, pavilion; every second ring is turned by half a facet. */
export function brilliant(radius: number, sides = 8): Shape {
  const rings: readonly Vec2[] = [
    [0.001, -0.86],
    [0.52, -0.42],
    [1, 0],
    [1, 0.05],
    [0.8, 0.24],
    [0.55, 0.36],
    [0.001, 0.36],
  ];
  const count = rings.length - 1;
  return surface(
    sides,
    count,
    (u, v) => {
      const index = Math.round(v * count);
      const [reach, height] = rings[index] ?? [0, 0];
      const angle = 2 * Math.PI * (u + ([1, 4].includes(index) ? 0.5 / sides : 0));
      return [radius * reach * Math.sin(angle), radius * height, radius * reach * Math.cos(angle)];
    },
    { around: true, creaseDegrees: 5 },
  );
}
