/** What holds something. */
import { darker } from "../../images/colours.ts";
import { around, bent, merged, moved, rotated, scaled, type Shape } from "../kit/shape.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";
import { hollow } from "./vessels-parts.ts";

export const VESSELS: Readonly<Record<string, Thing>> = {
  vase: { metres: 0.35, picture: "around", build: buildVase },
  bottle: { metres: 0.3, picture: "around", build: buildBottle },
  barrel: { metres: 0.9, picture: "around", build: buildBarrel },
};

const VASES: readonly [readonly Vec2[], ...(readonly Vec2[])[]] = [
  [
    [0.15, 0],
    [0.18, 0.02],
    [0.3, 0.28],
    [0.33, 0.48],
    [0.26, 0.7],
    [0.13, 0.84],
    [0.12, 0.92],
    [0.19, 1],
  ],
  [
    [0.2, 0],
    [0.22, 0.02],
    [0.2, 0.1],
    [0.33, 0.36],
    [0.3, 0.6],
    [0.14, 0.76],
    [0.13, 0.9],
    [0.24, 1],
  ],
  [
    [0.17, 0],
    [0.19, 0.02],
    [0.2, 0.2],
    [0.24, 0.5],
    [0.33, 0.8],
    [0.3, 0.94],
    [0.26, 1],
  ],
  [
    [0.12, 0],
    [0.16, 0.02],
    [0.34, 0.22],
    [0.36, 0.34],
    [0.24, 0.5],
    [0.1, 0.62],
    [0.085, 0.86],
    [0.14, 1],
  ],
];

function buildVase(look: Look): readonly Part[] {
  const profile = profileCurve(look.random.pick(VASES), 7);
  const isRibbed = look.random.below(3) === 0;
  const shape = lathe(hollow(profile, 0.022, 0.04), 72);
  const ribbed = isRibbed
    ? bent(shape, ([x, y, z]) => {
        const swell = 1 + 0.035 * Math.abs(Math.sin(9 * Math.atan2(x, z)));
        return [x * swell, y, z * swell];
      })
    : shape;
  const bands = [0.34, 0.4].map((share) => {
    const [r, y] = profile[Math.round(share * (profile.length - 1))] ?? [0.3, 0.4];
    return ring([0, y, 0], r * (isRibbed ? 1.03 : 1) + 0.001, 0.009, 56, 8);
  });
  const parts = [
    part("Vase", look.main("#3f78b5", "glaze"), ribbed),
    part("Bands", look.second("#e2b64a", "gold"), ...bands),
  ];
  if (!look.has("flower", "flowers", "bouquet", "roses", "tulips", "rose", "tulip")) return parts;
  return [...parts, ...bouquet(look)];
}

/** Half of the flowers have the first colour. */
const HEADS = [0, 1, 0, 2];

function bouquet(look: Look): readonly Part[] {
  const stems: Shape[] = [];
  const heads: Shape[][] = [[], [], []];
  for (let index = 0; index < 12; index += 1) {
    const [angle, lean] = [index * 2.39996, 0.08 + 0.028 * index];
    const tip: Vec3 = [lean * Math.sin(angle), 1.55 - 0.03 * index + look.roll(-0.04, 0.04), lean * Math.cos(angle)];
    stems.push(
      tube(curve([[0, 0.1, 0], [lean * 0.18 * Math.sin(angle), 1, lean * 0.18 * Math.cos(angle)], tip], 6), 0.01, {
        sides: 6,
      }),
    );
    const bloom = around(moved(scaled(ball([0, 0, 0], 1, 10), [0.036, 0.022, 0.062]), [0, 0.012, 0.055]), 7);
    const head = merged([
      bloom,
      moved(rotated(scaled(bloom, 0.72), UP, 25), [0, 0.026, 0]),
      ball([0, 0.04, 0], [0.03, 0.024, 0.03], 10),
    ]);
    const tilt = rotated(rotated(head, [1, 0, 0], 20 + 4 * index), UP, (angle * 180) / Math.PI);
    heads[HEADS[index % HEADS.length] ?? 0]?.push(moved(tilt, tip));
  }
  const colours = ["#e0557f", "#f2a33c", "#fdf4ea"];
  return [
    part("Stems", look.fixed("#4d8f3c", "skin"), ...stems),
    ...heads.map((shapes, index) =>
      part(
        `Flowers ${index + 1}`,
        (index === 0 ? look.content : look.fixed)(colours[index] ?? "#ffffff", "skin"),
        ...shapes,
      ),
    ),
  ];
}

function buildBottle(look: Look): readonly Part[] {
  const profile = profileCurve(
    [
      [0.15, 0],
      [0.165, 0.02],
      [0.17, 0.12],
      [0.17, 0.52],
      [0.15, 0.64],
      [0.07, 0.75],
      [0.055, 0.82],
      [0.055, 0.94],
    ],
    6,
  );
  const lip = ring([0, 0.925, 0], 0.06, 0.012, 32, 8);
  const label = lathe(
    [
      [0.1712, 0.2],
      [0.1722, 0.202],
      [0.1722, 0.448],
      [0.1712, 0.45],
    ],
    56,
  );
  const cork = lathe(
    [
      [0.001, 0.88],
      [0.045, 0.88],
      [0.05, 0.98],
      [0.046, 0.995],
      [0.001, 0.995],
    ],
    24,
  );
  return [
    part("Bottle", look.main("#2f7a4a", "glass"), lathe(hollow(profile, 0.012, 0.03), 56), lip),
    part("Label", look.second("#f3ead6", "plaster"), label),
    part("Cork", look.fixed("#b98a55", "wood"), cork),
  ];
}

function buildBarrel(look: Look): readonly Part[] {
  const staves = 16;
  const body = bent(
    lathe(
      profileCurve(
        [
          [0.001, 0.03],
          [0.27, 0.03],
          [0.3, 0.0],
          [0.355, 0.22],
          [0.38, 0.45],
          [0.355, 0.68],
          [0.3, 0.9],
          [0.27, 0.87],
          [0.001, 0.87],
        ],
        5,
      ),
      staves * 6,
    ),
    ([x, y, z]) => {
      const groove = Math.abs(Math.sin((staves / 2) * Math.atan2(x, z))) < 0.14 ? 0.982 : 1;
      return [x * groove, y, z * groove];
    },
  );
  const hoops = [0.08, 0.26, 0.64, 0.82].map((y) => {
    const r = 0.3 + 0.08 * Math.sin((Math.PI * y) / 0.9);
    return lathe(
      [
        [r, y - 0.034],
        [r + 0.014, y - 0.03],
        [r + 0.014, y + 0.03],
        [r, y + 0.034],
      ],
      48,
    );
  });
  return [
    part("Staves", look.main("#9c6b3f", "wood"), body),
    part("Hoops", look.second("#5b5e66", "iron"), ...hoops),
    part("Bung", look.fixed(darker("#9c6b3f", 0.3), "wood"), rod([0, 0.45, 0.36], [0, 0.45, 0.41], 0.04)),
  ];
}
