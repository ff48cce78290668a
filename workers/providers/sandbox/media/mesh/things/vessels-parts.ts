/** What makes a vessel hollow. */
import type { Vec2 } from "../kit/vector.ts";

/** Outside from the foot to the rim, then a wall's thickness inwards and down again. */
export function hollow(outside: readonly Vec2[], wall: number, floor: number): Vec2[] {
  const rim = outside.at(-1) ?? [0, 0];
  const inside = outside
    .filter(([r, y]) => y > floor && r > 2 * wall)
    .map(([r, y]) => [r - wall, y] as const)
    .toReversed();
  return [
    [0.001, outside[0]?.[1] ?? 0],
    ...outside,
    [rim[0] - wall * 0.3, rim[1] + wall * 0.4],
    [rim[0] - wall * 0.7, rim[1] + wall * 0.4],
    ...inside,
    [0.001, floor],
  ];
}
