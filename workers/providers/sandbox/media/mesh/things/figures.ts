/** What walks on two legs. */
import { darker, lighter, type Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import { around, merged, moved, rotated, twice, type Shape } from "../kit/shape.ts";
import { box } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, tube } from "../kit/surface.ts";
import { UP, type Vec3 } from "../kit/vector.ts";
import { body, coat, eyes, pair } from "./coat.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const FIGURES: Readonly<Record<string, Thing>> = {
  robot: { metres: 1.6, build: buildRobot },
  person: { metres: 1.7, isAlive: true, build: buildPerson },
  astronaut: { metres: 1.8, build: buildAstronaut },
  knight: { metres: 1.8, build: buildKnight },
  wizard: { metres: 1.8, build: buildWizard },
  alien: { metres: 1.4, isAlive: true, build: buildAlien },
  ghost: { metres: 1.2, isAlive: true, build: buildGhost },
  snowman: { metres: 1.5, build: buildSnowman },
  teddy: { metres: 0.35, isAlive: true, build: buildTeddy },
  skull: { metres: 0.22, build: buildSkull },
};

function buildRobot(look: Look): readonly Part[] {
  const shell = look.main("#d9dde2", "paint");
  const joint = look.fixed("#4a4e57", "metal");
  const glow = look.second("#35d0ff", "neon");
  const isBoxy = look.random.below(2) === 0;
  const head = isBoxy ? box([0, 1.28, 0], [0.46, 0.36, 0.38], 0.09) : ball([0, 1.29, 0], [0.26, 0.22, 0.23], 40);
  const visor = isBoxy ? box([0, 1.29, 0.17], [0.36, 0.17, 0.06], 0.03) : ball([0, 1.3, 0.05], [0.22, 0.115, 0.2], 36);
  const torso = isBoxy ? box([0, 0.85, 0], [0.52, 0.5, 0.36], 0.08) : lathe(profileCurve([[0.001, 0.56], [0.16, 0.58], [0.27, 0.76], [0.28, 0.96], [0.2, 1.08], [0.001, 1.1]], 5), 44);
  const eyeAt = isBoxy ? 0.2 : 0.235;
  const arm = [ball([0.34, 0.98, 0], 0.105, 24), rod([0.37, 0.96, 0], [0.42, 0.74, 0.02], 0.062, 0.058, 20), rod([0.42, 0.7, 0.02], [0.42, 0.5, 0.12], 0.068, 0.08, 20)];
  const fingers = [-0.5, 0, 0.5].map((turn) => tube(curve([[0.42, 0.49, 0.13], [0.42 + 0.06 * Math.sin(turn * 2), 0.43, 0.18], [0.42 + 0.03 * Math.sin(turn * 2), 0.39, 0.17]], 4), 0.022, { sides: 8 }));
  const leg = [rod([0.14, 0.52, 0], [0.15, 0.34, 0.01], 0.07, 0.066, 20), rod([0.15, 0.28, 0.01], [0.15, 0.1, 0], 0.088, 0.1, 20)];
  const foot = box([0.155, 0.055, 0.05], [0.2, 0.11, 0.32], 0.05);
  return [
    part("Head", shell, head),
    part("Visor", look.fixed("#15181d", "eye"), visor),
    part("Eyes", glow, twice(ball([0.085, 1.3, eyeAt], [0.042, 0.042, 0.02], 18))),
    part("Torso", shell, torso),
    part("Limbs", shell, twice(merged([...arm, ...leg, foot]))),
    part("Joints", joint, rod([0, 1.06, 0], [0, 1.14, 0], 0.075, 0.075, 24), twice(merged([ball([0.42, 0.72, 0.02], 0.066, 18), ball([0.15, 0.31, 0.01], 0.07, 18), ball([0.14, 0.54, 0], 0.08, 18), ...fingers, ball([0.42, 0.49, 0.13], 0.05, 16)])), rod([0, 1.48, 0], [0, 1.62, 0], 0.012, 0.01), twice(moved(rotated(lathe([[0.001, 0], [0.075, 0], [0.06, 0.04], [0.001, 0.05]], 24), [0, 0, 1], -90), [isBoxy ? 0.22 : 0.24, 1.29, 0]))),
    part("Lights", glow, ball([0, 1.64, 0], 0.034, 16), moved(rotated(lathe([[0.001, 0], [0.055, 0], [0.045, 0.016], [0.001, 0.02]], 28), [1, 0, 0], 90), [0, 0.92, isBoxy ? 0.178 : 0.272])),
    part("Panel", joint, box([0, 0.76, isBoxy ? 0.178 : 0.262], [0.22, 0.09, 0.02], 0.01), moved(rotated(ring([0, 0, 0], 0.062, 0.012, 32, 8), [1, 0, 0], 90), [0, 0.92, isBoxy ? 0.182 : 0.278])),
  ];
}

interface Dress {
  readonly skin: Colour;
  readonly hair: Colour;
  readonly top: Colour;
  readonly legs: Colour;
  readonly shoes: Colour;
}

/** A figure of a toy's proportions: a large head, simple hands. */
function figure(look: Look, finish: "skin" | "matt", dress: Dress): Part {
  const own = coat(look, dress.top, finish);
  const [skin, legs, shoes] = [own.of(dress.skin), own.of(dress.legs), own.of(dress.shoes)];
  const lumps: Lump[] = [
    { at: [0, 0.62, 0], to: [0, 0.9, 0], radius: 0.16, radiusTo: 0.135, colour: own.plain },
    { at: [0, 0.56, 0], radius: [0.165, 0.1, 0.135], colour: legs, blend: 0.03 },
    ...pair({ at: [0.085, 0.54, 0], to: [0.1, 0.12, 0], radius: 0.088, radiusTo: 0.07, colour: legs, blend: 0.03 }),
    ...pair({ at: [0.105, 0.055, 0.035], radius: [0.078, 0.058, 0.13], colour: shoes, blend: 0.02 }),
    ...pair({ at: [0.15, 0.93, 0], to: [0.28, 0.7, 0.02], radius: 0.068, radiusTo: 0.056, colour: own.plain, blend: 0.04 }),
    ...pair({ at: [0.28, 0.7, 0.02], to: [0.31, 0.54, 0.08], radius: 0.056, radiusTo: 0.046, colour: own.plain, blend: 0.02 }),
    ...pair({ at: [0.315, 0.49, 0.1], radius: [0.05, 0.06, 0.05], colour: skin, blend: 0.01 }),
    { at: [0, 0.98, 0], to: [0, 1.06, 0], radius: 0.062, radiusTo: 0.06, colour: skin, blend: 0.03 },
    { at: [0, 1.24, 0.01], radius: [0.195, 0.21, 0.195], colour: skin, blend: 0.03 },
    { at: [0, 1.21, 0.205], radius: 0.024, colour: skin, blend: 0.02 },
    ...pair({ at: [0.195, 1.22, 0], radius: [0.03, 0.05, 0.036], colour: skin, blend: 0.02 }),
  ];
  return body("Figure", own, lumps, { cell: 0.0155, fade: 0.014 });
}

function face(look: Look): readonly Part[] {
  const smile = tube(curve([[-0.06, 1.152, 0.178], [0, 1.128, 0.188], [0.06, 1.152, 0.178]], 5), 0.008, { sides: 8 });
  return [...eyes(look, [0.075, 1.26, 0.18], 0.026), part("Smile", look.fixed("#7a3b32", "skin"), smile)];
}

const SKINS: readonly [Colour, ...Colour[]] = ["#f0c8a4", "#d9a27a", "#a86f4a", "#6f4630"];
const HAIRS: readonly [Colour, ...Colour[]] = ["#3a2518", "#15120f", "#b5803f", "#7a4326"];

function buildPerson(look: Look): readonly Part[] {
  const { random } = look;
  const isWoman = look.has("woman", "girl", "lady", "princess", "queen", "female", "mother");
  const [skin, hair] = [random.pick(SKINS), random.pick(HAIRS)];
  const dress = { skin, hair, top: isWoman ? "#c9486a" : "#3f77b5", legs: isWoman ? darker("#c9486a", 0.25) : "#3a4255", shoes: "#2b2522" };
  const lumps: Lump[] = [
    { at: [0, 1.31, -0.03], radius: [0.212, 0.185, 0.205], colour: [1, 1, 1] },
    { at: [0.05, 1.41, 0.1], radius: [0.14, 0.07, 0.1], colour: [1, 1, 1], blend: 0.05 },
    ...(isWoman ? [{ at: [0, 1.24, -0.1], to: [0, 0.94, -0.13], radius: 0.185, radiusTo: 0.13, colour: [1, 1, 1] as Vec3, blend: 0.08 } as Lump] : []),
  ];
  const hairCoat = { ...coat(look, hair, "fur"), skin: look.fixed(hair, "fur") };
  const parts = [figure(look, "matt", dress), body("Hair", hairCoat, lumps, { cell: 0.018 }), ...face(look)];
  if (isWoman) parts.push(part("Skirt", look.main(dress.top, "cloth"), lathe(profileCurve([[0.14, 0.66], [0.19, 0.5], [0.27, 0.3], [0.28, 0.3], [0.2, 0.5], [0.15, 0.66]], 4), 40)));
  if (look.has("princess", "prince", "queen")) parts.push(crownOn(look, 1.44));
  return parts;
}

function crownOn(look: Look, height: number): Part {
  const teeth = around(rotated(moved(lathe([[0.03, 0], [0.001, 0.09]], 4), [0, 0.05, 0.13]), UP, 0), 7);
  return part("Crown", look.fixed("#ffc95c", "gold"), moved(merged([lathe([[0.125, 0], [0.14, 0], [0.145, 0.06], [0.13, 0.06], [0.125, 0]], 36), teeth]), [0, height, -0.02]));
}

function buildAstronaut(look: Look): readonly Part[] {
  const own = coat(look, "#eef0f2", "matt");
  const lumps: Lump[] = [
    { at: [0, 0.6, 0], to: [0, 0.9, 0], radius: 0.2, radiusTo: 0.19, colour: own.plain },
    ...pair({ at: [0.1, 0.55, 0], to: [0.12, 0.14, 0], radius: 0.11, radiusTo: 0.1, colour: own.plain, blend: 0.04 }),
    ...pair({ at: [0.125, 0.07, 0.04], radius: [0.1, 0.075, 0.15], colour: own.dark, blend: 0.02 }),
    ...pair({ at: [0.19, 0.93, 0], to: [0.33, 0.7, 0.04], radius: 0.09, radiusTo: 0.08, colour: own.plain, blend: 0.05 }),
    ...pair({ at: [0.33, 0.7, 0.04], to: [0.36, 0.53, 0.12], radius: 0.08, radiusTo: 0.068, colour: own.plain, blend: 0.02 }),
    ...pair({ at: [0.365, 0.47, 0.15], radius: [0.065, 0.075, 0.065], colour: own.dark, blend: 0.02 }),
    { at: [0, 1.24, 0], radius: [0.27, 0.26, 0.26], colour: own.plain, blend: 0.04 },
  ];
  const stripe = look.second("#e0662c", "matt");
  const bands = twice(merged([tubeRing([0.345, 0.615, 0.085], 0.082), tubeRing([0.12, 0.34, 0], 0.112)]));
  return [
    body("Suit", own, lumps, { cell: 0.0165, fade: 0.02 }),
    part("Visor", look.fixed("#d9a441", "gold"), ball([0, 1.25, 0.075], [0.215, 0.19, 0.215], 40)),
    part("Rim", look.fixed("#c4c9d0", "metal"), moved(rotated(ring([0, 0, 0], 0.2, 0.024, 44, 10), [1, 0, 0], 90), [0, 1.25, 0.15])),
    part("Pack", look.fixed("#d5d9de", "matt"), box([0, 0.86, -0.24], [0.36, 0.46, 0.16], 0.05), twice(rod([0.1, 1.1, -0.24], [0.1, 1.14, -0.24], 0.05))),
    part("Bands", stripe, bands),
    part("Controls", look.fixed("#5b6470", "matt"), box([0, 0.86, 0.19], [0.18, 0.13, 0.05], 0.015)),
    part("Lights", look.fixed("#ff4a4a", "neon"), ball([-0.05, 0.885, 0.218], 0.016, 12), ball([0.05, 0.885, 0.218], 0.016, 12)),
    part("Badge", look.fixed("#2f5fb5", "matt"), ball([0, 0.84, 0.216], [0.045, 0.026, 0.01], 16)),
  ];
}

function tubeRing(at: Vec3, radius: number): Shape {
  return moved(lathe([[radius * 0.9, -0.02], [radius + 0.008, -0.02], [radius + 0.008, 0.02], [radius * 0.9, 0.02]], 28), at);
}

function buildKnight(look: Look): readonly Part[] {
  const steel = look.main("#c4c9d0", "steel");
  const dark = look.fixed("#4a4e57", "iron");
  const torso = lathe(profileCurve([[0.001, 0.56], [0.17, 0.58], [0.2, 0.72], [0.215, 0.88], [0.15, 1.0], [0.001, 1.02]], 5), 40);
  const skirt = lathe(profileCurve([[0.17, 0.62], [0.24, 0.46], [0.23, 0.45], [0.16, 0.6]], 3), 12, 30);
  const helmet = lathe(profileCurve([[0.001, 1.04], [0.15, 1.05], [0.175, 1.16], [0.17, 1.32], [0.11, 1.43], [0.001, 1.46]], 5), 40);
  const limbs = merged([ball([0.235, 0.93, 0], [0.11, 0.095, 0.105], 24), rod([0.25, 0.9, 0], [0.31, 0.7, 0.03], 0.065, 0.056, 18), ball([0.315, 0.685, 0.035], 0.066, 18), rod([0.315, 0.67, 0.04], [0.32, 0.5, 0.12], 0.062, 0.056, 18), ball([0.32, 0.47, 0.14], [0.062, 0.062, 0.07], 18), rod([0.1, 0.52, 0], [0.11, 0.3, 0.01], 0.085, 0.07, 18), ball([0.11, 0.29, 0.02], 0.082, 18), rod([0.11, 0.28, 0.01], [0.115, 0.08, 0], 0.076, 0.066, 18), ball([0.117, 0.05, 0.05], [0.075, 0.055, 0.135], 20)]);
  const slits = [box([0, 1.25, 0.16], [0.24, 0.022, 0.05], 0.006), box([0, 1.17, 0.165], [0.016, 0.16, 0.04], 0.004), ...[-0.06, -0.03, 0.03, 0.06].map((x) => box([x, 1.13, 0.16], [0.012, 0.06, 0.04], 0.004))];
  const plume = tube(curve([[0, 1.44, -0.02], [0, 1.58, -0.06], [0, 1.55, -0.2], [0, 1.36, -0.28]], 7), (share) => 0.07 * Math.sin(Math.PI * (0.15 + 0.8 * share)), { sides: 14 });
  const blade = moved(lathe([[0.001, 0], [0.036, 0.02], [0.03, 0.62], [0.001, 0.74]], 4, 20), [0.32, 0.53, 0.16]);
  return [
    part("Armour", steel, torso, skirt, helmet, twice(limbs)),
    part("Slits", look.fixed("#17181b", "matt"), ...slits),
    part("Joints", dark, lathe([[0.001, 0.98], [0.12, 0.98], [0.11, 1.07], [0.001, 1.07]], 28), lathe([[0.195, 0.6], [0.21, 0.6], [0.21, 0.65], [0.195, 0.65]], 36)),
    part("Plume", look.second("#b8242f", "fur"), plume),
    part("Blade", look.fixed("#dfe3e8", "chrome"), blade),
    part("Hilt", look.fixed("#d8b060", "brass"), box([0.32, 0.53, 0.16], [0.2, 0.03, 0.04], 0.012), rod([0.32, 0.4, 0.15], [0.32, 0.53, 0.16], 0.018), ball([0.32, 0.39, 0.15], 0.03, 16)),
    part("Shield", look.second("#b8242f", "paint"), moved(rotated(shieldOf(), UP, -12), [-0.34, 0.6, 0.24])),
  ];
}

function shieldOf(): Shape {
  return moved(rotated(lathe(profileCurve([[0.001, -0.02], [0.2, -0.03], [0.22, -0.02], [0.2, 0.0], [0.1, 0.03], [0.001, 0.04]], 3), 40), [1, 0, 0], 90), [0, 0, 0]);
}

function buildWizard(look: Look): readonly Part[] {
  const robe = look.main("#4a3a9c", "cloth");
  const gown = lathe(profileCurve([[0.36, 0.0], [0.345, 0.02], [0.24, 0.4], [0.17, 0.8], [0.14, 0.98], [0.001, 1.02]], 6), 48);
  const sleeve = tube(curve([[0.12, 0.92, 0], [0.26, 0.74, 0.06], [0.33, 0.6, 0.14]], 5), (share) => 0.07 + 0.045 * share, { sides: 18, ends: "flat" });
  const hat = lathe(profileCurve([[0.001, 1.36], [0.34, 1.33], [0.35, 1.35], [0.2, 1.4], [0.15, 1.56], [0.07, 1.78], [0.001, 1.92]], 5), 40);
  const beard = coat(look, "#e8e6e0", "fur");
  const lumps: Lump[] = [
    { at: [0, 1.14, 0.13], to: [0, 0.82, 0.19], radius: 0.12, radiusTo: 0.03, colour: [1, 1, 1] },
    ...pair({ at: [0.05, 1.185, 0.19], to: [0.13, 1.13, 0.18], radius: 0.034, radiusTo: 0.014, colour: [1, 1, 1], blend: 0.03 }),
    { at: [0, 1.22, -0.07], to: [0, 0.98, -0.12], radius: 0.18, radiusTo: 0.1, colour: [1, 1, 1], blend: 0.05 },
  ];
  return [
    part("Robe", robe, gown, twice(sleeve)),
    part("Hat", robe, hat),
    part("Band", look.second("#e2b64a", "gold"), lathe([[0.195, 1.4], [0.206, 1.4], [0.188, 1.46], [0.178, 1.46]], 40), lathe([[0.168, 0.72], [0.2, 0.72], [0.198, 0.77], [0.16, 0.77]], 40)),
    part("Face", look.fixed("#eabf9a", "skin"), ball([0, 1.22, 0.02], [0.18, 0.19, 0.18], 32), ball([0, 1.2, 0.215], [0.032, 0.04, 0.045], 14), twice(ball([0.335, 0.585, 0.155], 0.055, 18))),
    { ...body("Beard", { ...beard, skin: look.fixed("#e8e6e0", "fur") }, lumps, { cell: 0.017 }) },
    ...eyes(look, [0.068, 1.26, 0.18], 0.022),
    part("Staff", look.fixed("#6b4a2c", "bark"), tube(curve([[0.36, 0.0, 0.2], [0.35, 0.6, 0.19], [0.37, 1.2, 0.2], [0.34, 1.42, 0.2], [0.4, 1.5, 0.2]], 6), 0.026, { sides: 12 })),
    part("Orb", look.fixed("#5fd8ff", "neon"), ball([0.37, 1.5, 0.2], 0.065, 24)),
  ];
}

function buildAlien(look: Look): readonly Part[] {
  const own = coat(look, "#6fbf4f", "skin");
  const lumps: Lump[] = [
    { at: [0, 1.05, 0], radius: [0.27, 0.27, 0.25], colour: own.plain },
    { at: [0, 0.86, 0.04], radius: [0.15, 0.14, 0.14], colour: own.plain, blend: 0.12 },
    { at: [0, 0.72, 0], to: [0, 0.42, 0], radius: 0.07, radiusTo: 0.13, colour: own.plain, blend: 0.06 },
    ...pair({ at: [0.06, 0.36, 0], to: [0.09, 0.06, 0], radius: 0.07, radiusTo: 0.05, colour: own.plain, blend: 0.05 }),
    ...pair({ at: [0.1, 0.04, 0.04], radius: [0.065, 0.045, 0.11], colour: own.dark, blend: 0.03 }),
    ...pair({ at: [0.07, 0.66, 0], to: [0.22, 0.46, 0.03], radius: 0.045, radiusTo: 0.036, colour: own.plain, blend: 0.05 }),
    ...pair({ at: [0.22, 0.46, 0.03], to: [0.28, 0.3, 0.1], radius: 0.036, radiusTo: 0.034, colour: own.plain, blend: 0.02 }),
    ...pair({ at: [0.29, 0.27, 0.12], radius: 0.05, colour: own.dark, blend: 0.03 }),
    ...pair({ at: [0.12, 1.26, 0], to: [0.2, 1.46, 0.02], radius: 0.026, radiusTo: 0.018, colour: own.plain, blend: 0.04 }),
    ...pair({ at: [0.2, 1.48, 0.02], radius: 0.042, colour: own.light, blend: 0.02 }),
  ];
  const eye = rotated(ball([0, 0, 0], [0.085, 0.125, 0.05], 28), [0, 0, 1], 24);
  return [
    body("Body", own, lumps, { cell: 0.0145 }),
    part("Eyes", look.fixed("#101014", "eye"), twice(moved(rotated(eye, UP, 22), [0.115, 1.05, 0.205]))),
    part("Mouth", look.fixed(darker("#6fbf4f", 0.6), "skin"), tube(curve([[-0.05, 0.845, 0.172], [0, 0.835, 0.182], [0.05, 0.845, 0.172]], 4), 0.008, { sides: 8 })),
  ];
}

function buildGhost(look: Look): readonly Part[] {
  const own = coat(look, "#f4f5f8", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.75, 0], to: [0, 0.32, 0], radius: 0.3, radiusTo: 0.34, colour: own.plain },
    ...Array.from({ length: 8 }, (_, index): Lump => {
      const angle = (index * Math.PI) / 4;
      return { at: [0.25 * Math.sin(angle), 0.2, 0.25 * Math.cos(angle)], to: [0.3 * Math.sin(angle), 0.09, 0.3 * Math.cos(angle)], radius: 0.1, radiusTo: 0.06, colour: own.plain, blend: 0.05 };
    }),
    ...pair({ at: [0.26, 0.6, 0.06], to: [0.44, 0.68, 0.16], radius: 0.09, radiusTo: 0.06, colour: own.plain, blend: 0.08 }),
  ];
  return [
    body("Ghost", own, lumps, { cell: 0.018 }),
    part("Eyes", look.fixed("#1d1d24", "eye"), twice(moved(rotated(ball([0, 0, 0], [0.055, 0.08, 0.03], 20), UP, 16), [0.105, 0.82, 0.27]))),
    part("Mouth", look.fixed("#3a2a36", "eye"), ball([0, 0.65, 0.3], [0.06, 0.075, 0.03], 20)),
  ];
}

function buildSnowman(look: Look): readonly Part[] {
  const snow = look.main("#f6f9fc", "snow");
  const coal = look.fixed("#1f2024", "stone");
  const carrot = rotated(lathe(profileCurve([[0.001, 0], [0.035, 0.01], [0.03, 0.08], [0.014, 0.17], [0.001, 0.21]], 4), 20), [1, 0, 0], 96);
  const arm = (side: number): Shape => merged([tube(curve([[side * 0.2, 0.72, 0], [side * 0.36, 0.82, 0.03], [side * 0.5, 0.98, 0.06]], 5), 0.016, { sides: 8 }), tube([[side * 0.42, 0.88, 0.04], [side * 0.52, 0.88, 0.08]], 0.01, { sides: 6 }), tube([[side * 0.44, 0.9, 0.05], [side * 0.42, 1.0, 0.06]], 0.01, { sides: 6 })]);
  const smile = Array.from({ length: 7 }, (_, index) => {
    const angle = -0.6 + index * 0.2;
    return ball([0.12 * Math.sin(angle), 1.0 - 0.1 * Math.cos(angle) * 0.55, 0.172 - 0.02 * Math.abs(angle)], 0.013, 8);
  });
  return [
    part("Snow", snow, ball([0, 0.3, 0], [0.34, 0.31, 0.34], 44), ball([0, 0.71, 0], [0.25, 0.23, 0.25], 40), ball([0, 1.03, 0], [0.185, 0.175, 0.185], 36)),
    part("Coal", coal, twice(ball([0.068, 1.08, 0.165], 0.023, 12)), ...smile, ball([0, 0.82, 0.222], 0.026, 12), ball([0, 0.71, 0.25], 0.026, 12), ball([0, 0.6, 0.222], 0.026, 12)),
    part("Carrot", look.fixed("#ee7f22", "matt"), moved(carrot, [0, 1.035, 0.17])),
    part("Hat", look.fixed("#26272c", "cloth"), lathe([[0.001, 1.16], [0.24, 1.16], [0.245, 1.18], [0.16, 1.185], [0.15, 1.42], [0.14, 1.435], [0.001, 1.435]], 44, 35)),
    part("Hat band", look.second("#c9303a", "cloth"), lathe([[0.15, 1.19], [0.166, 1.19], [0.163, 1.25], [0.15, 1.25]], 44)),
    part("Scarf", look.second("#c9303a", "knit"), ring([0, 0.89, 0], 0.165, 0.05, 44, 14), moved(rotated(box([0, -0.13, 0], [0.1, 0.26, 0.045], 0.02), [0, 0, 1], 8), [0.09, 0.86, 0.19])),
    part("Arms", look.fixed("#5b4030", "bark"), arm(1), arm(-1)),
  ];
}

function buildTeddy(look: Look): readonly Part[] {
  const own = coat(look, "#b5803f", "plush");
  const lumps: Lump[] = [
    { at: [0, 0.36, 0], radius: [0.25, 0.27, 0.21], colour: own.plain },
    { at: [0, 0.34, 0.09], radius: [0.17, 0.19, 0.15], colour: own.light, blend: 0.02 },
    { at: [0, 0.8, 0.02], radius: [0.24, 0.215, 0.21], colour: own.plain, blend: 0.04 },
    { at: [0, 0.74, 0.18], radius: [0.11, 0.085, 0.09], colour: own.light, blend: 0.03 },
    ...pair({ at: [0.19, 0.98, 0], radius: [0.09, 0.09, 0.05], colour: own.plain, blend: 0.02 }),
    ...pair({ at: [0.19, 0.975, 0.035], radius: [0.055, 0.055, 0.03], colour: own.light, blend: 0.01 }),
    ...pair({ at: [0.2, 0.54, 0.05], to: [0.33, 0.34, 0.16], radius: 0.085, radiusTo: 0.08, colour: own.plain, blend: 0.03 }),
    ...pair({ at: [0.16, 0.14, 0.1], to: [0.25, 0.1, 0.32], radius: 0.11, radiusTo: 0.1, colour: own.plain, blend: 0.03 }),
    ...pair({ at: [0.258, 0.1, 0.4], radius: [0.085, 0.095, 0.03], colour: own.light, blend: 0.015 }),
  ];
  const bow = twice(moved(rotated(ball([0, 0, 0], [0.085, 0.055, 0.035], 20), [0, 0, 1], 14), [0.085, 0.595, 0.2]));
  return [
    body("Bear", own, lumps, { cell: 0.0155, fade: 0.02 }),
    ...eyes(look, [0.09, 0.855, 0.205], 0.026),
    part("Nose", look.fixed("#33221a", "leather"), ball([0, 0.775, 0.265], [0.042, 0.03, 0.026], 18)),
    part("Smile", look.fixed("#33221a", "leather"), tube(curve([[-0.045, 0.72, 0.252], [0, 0.705, 0.268], [0.045, 0.72, 0.252]], 4), 0.006, { sides: 6 }), rod([0, 0.755, 0.272], [0, 0.707, 0.268], 0.005)),
    part("Bow", look.second("#c9303a", "cloth"), bow, ball([0, 0.595, 0.22], 0.036, 16)),
  ];
}

function buildSkull(look: Look): readonly Part[] {
  const own = coat(look, "#e8dfc8", "skin");
  const lumps: Lump[] = [
    { at: [0, 0.58, -0.06], radius: [0.3, 0.3, 0.36], colour: own.plain },
    { at: [0, 0.36, 0.14], radius: [0.2, 0.17, 0.16], colour: own.plain, blend: 0.1 },
    ...pair({ at: [0.19, 0.36, 0.14], to: [0.26, 0.4, -0.02], radius: 0.05, radiusTo: 0.05, colour: own.plain, blend: 0.06 }),
    { at: [0, 0.12, 0.14], radius: [0.155, 0.075, 0.13], colour: own.plain, blend: 0.04 },
    ...pair({ at: [0.15, 0.13, 0.06], to: [0.2, 0.3, -0.06], radius: 0.05, radiusTo: 0.045, colour: own.plain, blend: 0.05 }),
    ...pair({ at: [0.12, 0.565, 0.2], radius: [0.12, 0.045, 0.09], colour: own.plain, blend: 0.05 }),
  ];
  const teeth = (y: number, count: number): Shape[] => Array.from({ length: count }, (_, index) => {
    const angle = (index - (count - 1) / 2) * 0.24;
    return box([0.165 * Math.sin(angle), y, 0.13 + 0.15 * Math.cos(angle)], [0.034, 0.058, 0.03], 0.012);
  });
  const socket = moved(rotated(ball([0, 0, 0], [0.092, 0.085, 0.06], 24), UP, 18), [0.125, 0.48, 0.232]);
  return [
    body("Skull", own, lumps, { cell: 0.0155 }),
    part("Sockets", look.fixed("#1d1714", "matt"), twice(socket), moved(rotated(lathe([[0.001, 0], [0.045, 0], [0.001, 0.09]], 3), [1, 0, 0], 0), [0, 0.3, 0.275])),
    part("Teeth", look.fixed(lighter("#e8dfc8", 0.4), "ceramic"), ...teeth(0.205, 7), ...teeth(0.158, 6)),
  ];
}
