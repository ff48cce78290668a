/** Figures that were alive once. */
import { lighter } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, lathe } from "../kit/surface.ts";
import { UP } from "../kit/vector.ts";
import { body, coat, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const SPIRITS: Readonly<Record<string, Thing>> = {
  ghost: { metres: 1.2, build: buildGhost },
  skull: { metres: 0.22, build: buildSkull },
};

function buildGhost(look: Look): readonly Part[] {
  const own = coat(look, "#f4f5f8", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.75, 0], to: [0, 0.32, 0], radius: 0.3, radiusTo: 0.34, colour: own.plain },
    ...Array.from({ length: 8 }, (_, index): Lump => {
      const angle = (index * Math.PI) / 4;
      return {
        at: [0.25 * Math.sin(angle), 0.2, 0.25 * Math.cos(angle)],
        to: [0.3 * Math.sin(angle), 0.09, 0.3 * Math.cos(angle)],
        radius: 0.1,
        radiusTo: 0.06,
        colour: own.plain,
        blend: 0.05,
      };
    }),
    ...pair({
      at: [0.26, 0.6, 0.06],
      to: [0.44, 0.68, 0.16],
      radius: 0.09,
      radiusTo: 0.06,
      colour: own.plain,
      blend: 0.08,
    }),
  ];
  return [
    body("Ghost", own, lumps, { cell: 0.018 }),
    part(
      "Eyes",
      look.fixed("#1d1d24", "eye"),
      twice(moved(rotated(ball([0, 0, 0], [0.055, 0.08, 0.03], 20), UP, 16), [0.105, 0.82, 0.27])),
    ),
    part("Mouth", look.fixed("#3a2a36", "eye"), ball([0, 0.65, 0.3], [0.06, 0.075, 0.03], 20)),
  ];
}

function buildSkull(look: Look): readonly Part[] {
  const own = coat(look, "#e8dfc8", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.58, -0.06], radius: [0.3, 0.3, 0.36], colour: own.plain },
    { at: [0, 0.36, 0.14], radius: [0.2, 0.17, 0.16], colour: own.plain, blend: 0.1 },
    ...pair({
      at: [0.19, 0.36, 0.14],
      to: [0.26, 0.4, -0.02],
      radius: 0.05,
      radiusTo: 0.05,
      colour: own.plain,
      blend: 0.06,
    }),
    { at: [0, 0.12, 0.14], radius: [0.155, 0.075, 0.13], colour: own.plain, blend: 0.04 },
    ...pair({
      at: [0.15, 0.13, 0.06],
      to: [0.2, 0.3, -0.06],
      radius: 0.05,
      radiusTo: 0.045,
      colour: own.plain,
      blend: 0.05,
    }),
    ...pair({ at: [0.12, 0.565, 0.2], radius: [0.12, 0.045, 0.09], colour: own.plain, blend: 0.05 }),
  ];
  const teeth = (y: number, count: number): Shape[] =>
    Array.from({ length: count }, (_, index) => {
      const angle = (index - (count - 1) / 2) * 0.24;
      return box([0.165 * Math.sin(angle), y, 0.13 + 0.15 * Math.cos(angle)], [0.034, 0.058, 0.03], 0.012);
    });
  const socket = moved(rotated(ball([0, 0, 0], [0.092, 0.085, 0.06], 24), UP, 18), [0.125, 0.48, 0.232]);
  return [
    body("Skull", own, lumps, { cell: 0.0155 }),
    part(
      "Sockets",
      look.fixed("#1d1714", "matt"),
      twice(socket),
      moved(
        rotated(
          lathe(
            [
              [0.001, 0],
              [0.045, 0],
              [0.001, 0.09],
            ],
            3,
          ),
          [1, 0, 0],
          0,
        ),
        [0, 0.3, 0.275],
      ),
    ),
    part("Teeth", look.fixed(lighter("#e8dfc8", 0.4), "ceramic"), ...teeth(0.205, 7), ...teeth(0.158, 6)),
  ];
}
