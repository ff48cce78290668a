/** Cats and dogs, and what is like them. */
import { lathe } from "../kit/surface.ts";
import { moved, rotated, type Shape } from "../kit/shape.ts";
import { step, type Vec3 } from "../kit/vector.ts";
import { part, type Look } from "./thing.ts";
import type { Beast } from "./beast.ts";

const tabby = ({ noise }: Look, [x, y, z]: Vec3): number =>
  1 -
  0.42 *
    step(0.25, 0.6, Math.sin(26 * (z + 0.25 * y) + 2.5 * noise.solid(x * 3, y * 4, z * 3, 2))) *
    step(0.3, 0.5, y) *
    (1 - step(0.38, 0.44, z));

export const PREDATORS: Readonly<Record<string, Beast>> = {
  cat: {
    metres: 0.35,
    colour: "#d98a3f",
    belly: "#f6e7d2",
    paws: "#f6e7d2",
    trunk: [0.25, 0.145, 0.4],
    leg: [0.055, 0.09],
    head: [0.2, 0.16, 0.185],
    neck: 0.11,
    muzzle: [0.11, 0.09, 0.05],
    ears: "pointed",
    tail: [
      [0, 0.1, -0.08],
      [0, 0.26, -0.16],
      [0, 0.42, -0.13],
      [0, 0.52, -0.2],
    ],
    tailRadius: [0.042, 0.036],
    nose: "#d9736b",
    eye: "#9cc843",
    marks: tabby,
  },
  dog: {
    metres: 0.6,
    colour: "#b98149",
    belly: "#e8d0ae",
    paws: "#e8d0ae",
    trunk: [0.29, 0.165, 0.48],
    leg: [0.062, 0.1],
    head: [0.24, 0.2, 0.165],
    neck: 0.12,
    muzzle: [0.21, 0.085, 0.05],
    ears: "floppy",
    tail: [
      [0, 0.06, -0.06],
      [0, 0.2, -0.16],
      [0, 0.36, -0.18],
    ],
    tailRadius: [0.042, 0.026],
    nose: "#1c1a1c",
    more: (look, _coat, head) => ({
      parts: [
        part("Collar", look.second("#c9303a", "leather"), ringAround([0, head[1] - 0.17, head[2] - 0.09], 0.125, -48)),
      ],
    }),
  },
  fox: {
    metres: 0.45,
    colour: "#d8702a",
    belly: "#f5ead8",
    paws: "#3a2a22",
    trunk: [0.28, 0.135, 0.44],
    leg: [0.045, 0.085],
    head: [0.2, 0.18, 0.15],
    neck: 0.1,
    muzzle: [0.2, 0.06, 0.05],
    ears: "pointed",
    tail: [
      [0, -0.02, -0.12],
      [0, 0.02, -0.34],
      [0, 0.12, -0.54],
    ],
    tailRadius: [0.05, 0.09],
    tailTip: "#f7f0e4",
    nose: "#1c1a1c",
  },
  wolf: {
    metres: 0.85,
    colour: "#7c828b",
    belly: "#d7d6d2",
    paws: "#d7d6d2",
    trunk: [0.31, 0.165, 0.52],
    leg: [0.055, 0.095],
    head: [0.22, 0.22, 0.155],
    neck: 0.14,
    muzzle: [0.22, 0.075, 0.05],
    ears: "pointed",
    tail: [
      [0, -0.04, -0.1],
      [0, -0.16, -0.2],
      [0, -0.3, -0.24],
    ],
    tailRadius: [0.055, 0.05],
    nose: "#1c1a1c",
    eye: "#e0b040",
  },
  bear: {
    metres: 1.5,
    colour: "#6b4630",
    belly: "#8d6444",
    trunk: [0.28, 0.25, 0.48],
    leg: [0.1, 0.15],
    head: [0.16, 0.24, 0.19],
    neck: 0.17,
    muzzle: [0.18, 0.1, 0.05],
    ears: "round",
    tail: [[0, 0.04, -0.04]],
    tailRadius: [0.05, 0.05],
    nose: "#1c1a1c",
  },
  lion: {
    metres: 1.2,
    colour: "#d3a055",
    belly: "#ecd9ae",
    trunk: [0.33, 0.18, 0.52],
    leg: [0.068, 0.11],
    head: [0.22, 0.2, 0.17],
    neck: 0.15,
    muzzle: [0.16, 0.1, 0.05],
    ears: "round",
    tail: [
      [0, 0.0, -0.08],
      [0, -0.14, -0.2],
      [0, -0.2, -0.36],
      [0, -0.06, -0.44],
    ],
    tailRadius: [0.03, 0.022],
    tailTip: "#6b3d1e",
    nose: "#5a3328",
    more: (_look, own, head) => ({
      lumps: Array.from({ length: 16 }, (_, index) => {
        const angle = (index * 2 * Math.PI) / 16;
        const drop = Math.cos(angle) < 0 ? 1.35 : 1;
        return {
          at: [
            head[0] + 0.2 * Math.sin(angle),
            head[1] + 0.19 * Math.cos(angle) * drop,
            head[2] - 0.09 + 0.02 * (index % 2),
          ],
          radius: 0.085,
          colour: own.of("#7a4521"),
          blend: 0.04,
        } as const;
      }),
    }),
  },
  tiger: {
    metres: 1,
    colour: "#e08a2e",
    belly: "#f7efe0",
    paws: "#f0c48a",
    trunk: [0.34, 0.18, 0.52],
    leg: [0.07, 0.11],
    head: [0.2, 0.2, 0.175],
    neck: 0.15,
    muzzle: [0.15, 0.1, 0.05],
    ears: "round",
    tail: [
      [0, -0.02, -0.08],
      [0, -0.16, -0.22],
      [0, -0.18, -0.4],
      [0, -0.02, -0.5],
    ],
    tailRadius: [0.036, 0.03],
    tailTip: "#2a2020",
    nose: "#c9766b",
    eye: "#d7c040",
    marks: ({ noise }, [x, y, z]) =>
      1 -
      0.9 *
        step(0.42, 0.62, Math.sin(24 * (z + 0.2 * y) + 3 * noise.solid(x * 3, y * 4, z * 3, 2))) *
        step(0.34, 0.46, y) *
        (1 - step(0.44, 0.5, z)),
  },
};

function ringAround(at: Vec3, radius: number, tilt: number): Shape {
  const band = lathe(
    [
      [radius, -0.025],
      [radius + 0.014, -0.02],
      [radius + 0.014, 0.02],
      [radius, 0.025],
    ],
    36,
  );
  return moved(rotated(band, [1, 0, 0], tilt), at);
}
