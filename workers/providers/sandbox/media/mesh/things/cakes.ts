/** Sweet things that were baked. */
import type { Colour } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { UP, type Vec3 } from "../kit/vector.ts";
import { part, sheet, type Look, type Part, type Thing } from "./thing.ts";

export const CAKES: Readonly<Record<string, Thing>> = {
  donut: { metres: 0.05, build: buildDonut },
  cake: { metres: 0.2, build: buildCake },
  cupcake: { metres: 0.09, build: buildCupcake },
};

function sprinkles(
  look: Look,
  count: number,
  place: (turn: number, share: number) => { readonly at: Vec3; readonly turn: number },
): readonly Part[] {
  const colours: readonly Colour[] = ["#f7f4ea", "#5fc8e8", "#f6d24a", "#8fd05f"];
  const bits: Shape[][] = colours.map(() => []);
  for (let index = 0; index < count; index += 1) {
    const { at, turn } = place(look.roll(0, 2 * Math.PI), look.roll(0, 1));
    const bit = rotated(
      tube(
        [
          [-0.022, 0, 0],
          [0.022, 0, 0],
        ],
        0.009,
        { sides: 6 },
      ),
      UP,
      turn,
    );
    bits[index % colours.length]?.push(moved(bit, at));
  }
  return bits.map((shapes, index) =>
    part(`Sprinkles ${index + 1}`, look.fixed(colours[index] ?? "#ffffff", "plastic"), ...shapes),
  );
}

function buildDonut(look: Look): readonly Part[] {
  const dough = ring([0, 0.19, 0], 0.34, 0.19, 64, 28);
  const icing = surface(
    96,
    22,
    (u, v) => {
      const angle = 2 * Math.PI * u;
      const edge = 0.12 * Math.sin(7 * angle + 0.6) + 0.07 * Math.sin(11 * angle);
      const turn = -0.28 + edge * 0.6 + (Math.PI + 0.56 - edge * 0.3) * v;
      const swell = 0.2 + 0.012 * Math.sin(Math.PI * v);
      const reach = 0.34 + swell * Math.cos(turn);
      return [reach * Math.sin(angle), 0.19 + swell * Math.sin(turn), reach * Math.cos(angle)];
    },
    { around: true },
  );
  const bits = sprinkles(look, 90, (turn, share) => {
    const lift = 0.5 + 2.1 * share;
    const reach = 0.34 + 0.214 * Math.cos(lift);
    return {
      at: [reach * Math.sin(turn), 0.19 + 0.214 * Math.sin(lift), reach * Math.cos(turn)],
      turn: (turn * 1_237) % 360,
    };
  });
  return [
    part("Dough", look.fixed("#d39a55", "crumb"), dough),
    part("Icing", sheet(look.main(look.finish === "chocolate" ? "#53301d" : "#f07fae", "ceramic")), icing),
    ...bits,
  ];
}

function buildCake(look: Look): readonly Part[] {
  const icing = look.main("#f7b8cc", "ceramic");
  const tier = (low: number, radius: number, high: number): Shape =>
    lathe(
      [
        [0.001, low],
        [radius, low],
        [radius, low + high - 0.03],
        [radius - 0.025, low + high],
        [0.001, low + high],
      ],
      64,
      50,
    );
  const drip = (level: number, radius: number, count: number): Shape =>
    merged(
      Array.from({ length: count }, (_, index) => {
        const angle = (index * 2 * Math.PI) / count;
        const [x, z] = [radius * Math.sin(angle), radius * Math.cos(angle)];
        return tube(
          [
            [x, level - 0.01, z],
            [x, level - look.roll(0.05, 0.14), z],
          ],
          0.026,
          { sides: 8 },
        );
      }),
    );
  const swirls = (level: number, radius: number, count: number): Shape =>
    around(
      moved(
        lathe(
          profileCurve(
            [
              [0.001, 0],
              [0.05, 0],
              [0.052, 0.025],
              [0.03, 0.06],
              [0.001, 0.09],
            ],
            4,
          ),
          14,
        ),
        [0, level, radius],
      ),
      count,
    );
  const candles = Array.from({ length: 5 }, (_, index) => {
    const angle = index * 1.2566;
    return [0.15 * Math.sin(angle), 0.15 * Math.cos(angle)] as const;
  });
  return [
    part("Lower tier", look.fixed("#fff3e2", "ceramic"), tier(0.05, 0.48, 0.34)),
    part(
      "Upper tier",
      icing,
      tier(0.39, 0.32, 0.28),
      lathe(
        [
          [0.001, 0.385],
          [0.485, 0.385],
          [0.49, 0.375],
          [0.47, 0.36],
          [0.001, 0.36],
        ],
        64,
      ),
      drip(0.385, 0.478, 22),
    ),
    part(
      "Cream",
      look.second("#ffffff", "ceramic"),
      swirls(0.39, 0.4, 18),
      swirls(0.67, 0.26, 13),
      drip(0.668, 0.318, 16),
      lathe(
        [
          [0.001, 0.665],
          [0.325, 0.665],
          [0.33, 0.655],
          [0.31, 0.645],
          [0.001, 0.645],
        ],
        56,
      ),
    ),
    part("Candles", look.fixed("#5fb8e8", "wax"), ...candles.map(([x, z]) => rod([x, 0.66, z], [x, 0.86, z], 0.018))),
    part(
      "Flames",
      look.fixed("#ffb347", "neon"),
      ...candles.map(([x, z]) =>
        moved(
          lathe(
            profileCurve(
              [
                [0.001, 0],
                [0.02, 0.025],
                [0.001, 0.075],
              ],
              4,
            ),
            12,
          ),
          [x, 0.87, z],
        ),
      ),
    ),
    part(
      "Plate",
      look.fixed("#f2efe8", "ceramic"),
      lathe(
        profileCurve(
          [
            [0.001, 0],
            [0.3, 0],
            [0.58, 0.035],
            [0.6, 0.05],
            [0.001, 0.05],
          ],
          4,
        ),
        56,
      ),
    ),
  ];
}

function buildCupcake(look: Look): readonly Part[] {
  const pleats = 30;
  const paper = bent(
    lathe(
      [
        [0.001, 0],
        [0.24, 0],
        [0.34, 0.36],
        [0.325, 0.36],
        [0.001, 0.34],
      ],
      pleats * 4,
    ),
    ([x, y, z]) => {
      const fold = y < 0.34 || Math.hypot(x, z) > 0.2 ? 1 + 0.03 * Math.cos(pleats * Math.atan2(x, z)) : 1;
      return [x * fold, y, z * fold];
    },
  );
  const swirl = tube(
    Array.from({ length: 120 }, (_, index): Vec3 => {
      const share = index / 119;
      const [angle, reach] = [share * 2 * Math.PI * 3.6, 0.24 * (1 - share) ** 0.8];
      return [reach * Math.sin(angle), 0.42 + 0.42 * share, reach * Math.cos(angle)];
    }),
    (share) => 0.125 * (1 - share) ** 0.5 + 0.02,
    { sides: 14 },
  );
  const bits = sprinkles(look, 44, (turn, share) => {
    const reach = 0.36 * (1 - share) ** 0.9 + 0.01;
    return { at: [reach * Math.sin(turn), 0.44 + 0.4 * share, reach * Math.cos(turn)], turn: (turn * 991) % 360 };
  });
  return [
    part("Paper", look.second("#6fb8c9", "matt"), paper),
    part(
      "Sponge",
      look.fixed("#c98f4e", "crumb"),
      lathe(
        profileCurve(
          [
            [0.001, 0.33],
            [0.33, 0.34],
            [0.34, 0.4],
            [0.22, 0.46],
            [0.001, 0.48],
          ],
          4,
        ),
        44,
      ),
    ),
    part("Cream", look.main("#f7a8c4", "ceramic"), swirl),
    ...bits,
    part(
      "Cherry",
      look.fixed("#c4162a", "ceramic"),
      ball([0, 0.93, 0], 0.075, 24),
      tube(
        curve(
          [
            [0, 0.99, 0],
            [0.02, 1.08, 0],
            [0.08, 1.14, 0],
          ],
          4,
        ),
        0.008,
        { sides: 6 },
      ),
    ),
  ];
}
