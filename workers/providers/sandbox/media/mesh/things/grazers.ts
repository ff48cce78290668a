/** Animals that graze, and what has their build. */
import { darker, lighter, mix } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { curve, lathe, rod, surface, tube } from "../kit/surface.ts";
import { moved, rotated, tinted, twice } from "../kit/shape.ts";
import { add, step, type Vec3 } from "../kit/vector.ts";
import type { Coat } from "./coat.ts";
import { part, type Look, type Part } from "./thing.ts";
import type { Beast } from "./beast.ts";

export const GRAZERS: Readonly<Record<string, Beast>> = {
  cow: {
    metres: 1.5,
    colour: "#f3f0ea",
    belly: "#f0dcd2",
    paws: "#4a3c36",
    trunk: [0.36, 0.22, 0.56],
    leg: [0.065, 0.13],
    head: [0.14, 0.26, 0.14],
    neck: 0.14,
    muzzle: [0.18, 0.1, 0.08],
    ears: "floppy",
    tail: [
      [0, 0.02, -0.05],
      [0, -0.2, -0.1],
      [0, -0.38, -0.09],
    ],
    tailRadius: [0.022, 0.03],
    tailTip: "#3a302c",
    nose: "#e3b0a2",
    marks: ({ noise }, [x, y, z]) =>
      1 - 0.93 * step(0.08, 0.16, noise.solid(x * 3.4 + 3, y * 3.4, z * 3.4, 1)) * step(0.2, 0.3, y),
    more: (look, _coat, head) => ({
      parts: [
        part(
          "Horns",
          look.fixed("#e8dcc0", "ceramic"),
          twice(
            tube(
              curve(
                [
                  [head[0] + 0.08, head[1] + 0.1, head[2] - 0.03],
                  [head[0] + 0.17, head[1] + 0.14, head[2] - 0.02],
                  [head[0] + 0.19, head[1] + 0.24, head[2] + 0.02],
                ],
                6,
              ),
              (share) => 0.026 * (1 - 0.85 * share),
              { sides: 10 },
            ),
          ),
        ),
      ],
    }),
  },
  pig: {
    metres: 0.7,
    colour: "#eda7a2",
    belly: "#f5c4bd",
    paws: "#b97a72",
    finish: "skin",
    trunk: [0.27, 0.22, 0.4],
    leg: [0.065, 0.12],
    head: [0.06, 0.22, 0.19],
    neck: 0.16,
    muzzle: [0.21, 0.085, 0.03],
    snout: true,
    ears: "pointed",
    tail: [
      [0, 0.08, -0.04],
      [0.05, 0.12, -0.08],
      [0, 0.17, -0.08],
      [-0.04, 0.13, -0.1],
      [0, 0.09, -0.13],
    ],
    tailRadius: [0.02, 0.012],
    nose: "#d57f7a",
  },
  sheep: {
    metres: 0.8,
    colour: "#f2ede2",
    belly: "#f2ede2",
    paws: "#3b3332",
    face: "#3b3332",
    trunk: [0.25, 0.23, 0.48],
    leg: [0.05, 0.11],
    head: [0.12, 0.24, 0.13],
    neck: 0.12,
    muzzle: [0.13, 0.075, 0.06],
    ears: "floppy",
    tail: [[0, 0.02, -0.04]],
    tailRadius: [0.06, 0.05],
    nose: "#2a2424",
    more: (_look, own, head) => ({ lumps: [...curls(own, head)] }),
  },
  horse: {
    metres: 1.7,
    colour: "#8a5a34",
    belly: "#9c6a42",
    paws: "#2f2622",
    trunk: [0.34, 0.19, 0.68],
    leg: [0.05, 0.1],
    head: [0.38, 0.27, 0.11],
    neck: 0.115,
    muzzle: [0.25, 0.075, 0.17],
    ears: "pointed",
    tail: [
      [0, 0.04, -0.06],
      [0, -0.08, -0.17],
      [0, -0.34, -0.2],
      [0, -0.5, -0.17],
    ],
    tailRadius: [0.05, 0.035],
    tailTip: "#2c201a",
    nose: "#4a332a",
    more: (look, own, head) => horseParts(look, own, head),
  },
  elephant: {
    metres: 3,
    colour: "#8b8d94",
    belly: "#9a9ca2",
    finish: "skin",
    trunk: [0.3, 0.28, 0.58],
    leg: [0.105, 0.16],
    head: [0.16, 0.28, 0.21],
    neck: 0.19,
    muzzle: [0.12, 0.11, 0.08],
    ears: "fan",
    tail: [
      [0, 0.0, -0.05],
      [0, -0.16, -0.1],
      [0, -0.28, -0.08],
    ],
    tailRadius: [0.024, 0.02],
    nose: "#8b8d94",
    more: (look, own, head) => ({
      lumps: [
        {
          at: add(head, [0, -0.08, 0.16]),
          to: add(head, [0, -0.3, 0.26]),
          radius: 0.085,
          radiusTo: 0.065,
          colour: own.plain,
          blend: 0.08,
        },
        {
          at: add(head, [0, -0.3, 0.26]),
          to: add(head, [0, -0.46, 0.27]),
          radius: 0.065,
          radiusTo: 0.052,
          colour: own.plain,
          blend: 0.05,
        },
        {
          at: add(head, [0, -0.46, 0.27]),
          to: add(head, [0, -0.52, 0.36]),
          radius: 0.052,
          radiusTo: 0.044,
          colour: own.dark,
          blend: 0.05,
        },
      ],
      parts: [
        part(
          "Tusks",
          look.fixed("#f2ead6", "ceramic"),
          twice(
            tube(
              curve([add(head, [0.1, -0.14, 0.14]), add(head, [0.13, -0.28, 0.24]), add(head, [0.12, -0.26, 0.38])], 6),
              (share) => 0.03 * (1 - 0.75 * share),
              { sides: 12 },
            ),
          ),
        ),
      ],
    }),
  },
  rabbit: {
    metres: 0.3,
    colour: "#cfc3b4",
    belly: "#f5efe6",
    paws: "#f5efe6",
    trunk: [0.2, 0.17, 0.27],
    leg: [0.055, 0.09],
    head: [0.2, 0.14, 0.155],
    neck: 0.11,
    muzzle: [0.1, 0.075, 0.05],
    ears: "long",
    tail: [[0, 0.05, -0.02]],
    tailRadius: [0.07, 0.07],
    tailTip: "#fbf8f2",
    nose: "#e08c92",
  },
  dragon: {
    metres: 2,
    colour: "#3f8f5a",
    belly: "#e6cf8a",
    finish: "scales",
    trunk: [0.3, 0.2, 0.5],
    leg: [0.075, 0.14],
    head: [0.42, 0.24, 0.15],
    neck: 0.115,
    muzzle: [0.2, 0.09, 0.05],
    ears: "none",
    tail: [
      [0, -0.08, -0.16],
      [0.05, -0.24, -0.36],
      [0.16, -0.36, -0.56],
      [0.34, -0.4, -0.68],
    ],
    tailRadius: [0.13, 0.025],
    nose: "#2a4a38",
    eye: "#f2c230",
    more: (look, own, head) => dragonParts(look, own, head),
  },
};

/** Wool: balls all over the back. */
function curls(own: Coat, head: Vec3): Lump[] {
  const lumps: Lump[] = [];
  for (let index = 0; index < 62; index += 1) {
    const share = (index + 0.5) / 62;
    const [rise, turn] = [1 - 1.75 * share, index * 2.39996];
    const ring = Math.sqrt(1 - Math.min(1, rise * rise));
    lumps.push({
      at: [0.235 * ring * Math.sin(turn), 0.49 + 0.225 * rise, 0.42 * ring * Math.cos(turn)],
      radius: 0.072,
      colour: own.plain,
      blend: 0.025,
    });
  }
  for (let index = 0; index < 7; index += 1) {
    const turn = index * 0.9;
    lumps.push({
      at: add(head, [0.07 * Math.sin(turn), 0.11 + 0.02 * Math.cos(turn * 2), -0.03 + 0.06 * Math.cos(turn)]),
      radius: 0.055,
      colour: own.plain,
      blend: 0.02,
    });
  }
  return lumps;
}

function horseParts(look: Look, own: Coat, head: Vec3): { lumps?: readonly Lump[]; parts?: readonly Part[] } {
  const isUnicorn = look.has("unicorn");
  const mane = isUnicorn ? "#e58fc0" : mix(own.colour, "#120c0a", 0.75);
  const lumps = Array.from({ length: 13 }, (_, index): Lump => {
    const share = index / 12;
    const at: Vec3 = [
      0.028 * (index % 2 === 0 ? 1 : -1),
      head[1] + 0.13 - 0.42 * share,
      head[2] - 0.02 - 0.2 * share - 0.045 * Math.sin(Math.PI * share),
    ];
    return { at, to: add(at, [0.02, -0.07, -0.05]), radius: 0.05, radiusTo: 0.03, colour: own.of(mane), blend: 0.02 };
  });
  if (!isUnicorn) return { lumps };
  const horn = tinted(
    lathe(
      Array.from(
        { length: 22 },
        (_, index) => [0.001 + 0.03 * (1 - index / 21) * (index % 3 === 0 ? 1 : 0.86), 0.26 * (index / 21)] as const,
      ),
      14,
    ),
    () => [1, 1, 1],
  );
  return {
    lumps,
    parts: [
      part("Horn", look.fixed("#ffd76a", "gold"), moved(rotated(horn, [1, 0, 0], 32), add(head, [0, 0.08, 0.06]))),
    ],
  };
}

function dragonParts(look: Look, own: Coat, head: Vec3): { lumps?: readonly Lump[]; parts?: readonly Part[] } {
  const horn = look.fixed("#e8dcc0", "ceramic");
  const horns = twice(
    tube(
      curve([add(head, [0.07, 0.1, -0.06]), add(head, [0.11, 0.2, -0.16]), add(head, [0.1, 0.25, -0.3])], 6),
      (share) => 0.034 * (1 - 0.85 * share),
      { sides: 10 },
    ),
  );
  const spikes = Array.from({ length: 15 }, (_, index) => {
    const share = index / 14;
    const z = head[2] - 0.22 - share * 0.78;
    const y = share < 0.3 ? head[1] - 0.02 - share * 1.05 : 0.7 - 0.25 * Math.max(0, share - 0.75);
    const size = 0.045 + 0.03 * Math.sin(Math.PI * share);
    return rod([0, y - 0.02, z], [0, y + size * 1.3, z - 0.035], size * 0.5, 0.004, 8);
  });
  const wing = surface(12, 10, (u, v) => {
    // Fingers at whole twelfths of four, the skin hangs between them.
    const finger = Math.abs(Math.sin(Math.PI * 3 * u));
    const reach = v * (0.78 - 0.34 * u) * (1 - 0.16 * finger * v);
    const angle = 1.05 - 1.5 * u;
    return [
      0.1 + reach * Math.cos(angle * 0.72),
      0.66 + reach * Math.sin(angle) * 0.95 - 0.05 * finger * v,
      0.1 - 0.16 * v - 0.42 * u * v,
    ];
  });
  const bones = [0, 1 / 3, 2 / 3, 1].map((u) => {
    const path = Array.from({ length: 7 }, (_, index): Vec3 => {
      const v = index / 6;
      const [reach, angle] = [v * (0.78 - 0.34 * u), 1.05 - 1.5 * u];
      return [
        0.1 + reach * Math.cos(angle * 0.72),
        0.66 + reach * Math.sin(angle) * 0.95,
        0.1 - 0.16 * v - 0.42 * u * v,
      ];
    });
    return tube(path, (share) => 0.026 * (1 - 0.7 * share), { sides: 8 });
  });
  return {
    parts: [
      part("Horns", horn, horns, ...spikes),
      part(
        "Wing bones",
        look.fixed(darker(own.colour, 0.25), "skin"),
        twice(bones[0] ?? wing),
        ...bones.slice(1).map(twice),
      ),
      part(
        "Wings",
        { ...look.second(lighter(mix(own.colour, "#d8532f", 0.6), 0.1), "leather"), isSheet: true },
        twice(wing),
      ),
    ],
  };
}
