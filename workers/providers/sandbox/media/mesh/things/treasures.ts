/** Things of adventures: arms, jewels, chests. */
import { darker, lighter } from "../../images/colours.ts";
import { finishOf } from "../finishes.ts";
import { around, bent, merged, moved, rotated, scaled, twice, type Shape } from "../kit/shape.ts";
import { box, prism } from "../kit/solids.ts";
import { ball, curve, lathe, profileCurve, ring, rod, surface, tube } from "../kit/surface.ts";
import { UP, type Vec2, type Vec3 } from "../kit/vector.ts";
import { part, type Look, type Part, type Thing } from "./thing.ts";

export const TREASURES: Readonly<Record<string, Thing>> = {
  sword: { metres: 1, build: buildSword },
  shield: { metres: 0.8, picture: "sides", build: buildShield },
  axe: { metres: 0.9, build: buildAxe },
  hammer: { metres: 0.8, build: buildHammer },
  crown: { metres: 0.2, build: buildCrown },
  ring: { metres: 0.03, build: buildRing },
  gem: { metres: 0.05, build: buildGem },
  key: { metres: 0.1, build: buildKey },
  chest: { metres: 0.6, build: buildChest },
  gift: { metres: 0.3, picture: "sides", build: buildGift },
  book: { metres: 0.25, picture: "sides", build: buildBook },
  potion: { metres: 0.2, build: buildPotion },
  hat: { metres: 0.2, build: buildHat },
  anchor: { metres: 1, build: buildAnchor },
  coin: { metres: 0.05, build: buildCoin },
};

/** Upright in a small block, so that it stands. */
function stand(look: Look, wide: number): Part {
  return part("Stand", look.fixed("#4a3526", "wood"), box([0, 0.05, 0], [wide, 0.1, wide * 0.62], 0.02), box([0, 0.11, 0], [wide * 0.6, 0.05, wide * 0.36], 0.015));
}

function buildSword(look: Look): readonly Part[] {
  const blade = prism([[-0.05, 0], [0.05, 0], [0.045, 0.9], [0, 1.06], [-0.045, 0.9]], { depth: 0.028, bevel: 0.013 });
  const groove = twice(box([0, 0.42, 0.0125], [0.012, 0.66, 0.004], 0.001));
  const guard = tube(curve([[-0.2, 0.04, 0], [-0.12, -0.0, 0], [0, -0.012, 0], [0.12, 0.0, 0], [0.2, 0.04, 0]], 6), (share) => 0.026 - 0.008 * Math.sin(Math.PI * share), { sides: 16 });
  const grip = lathe(Array.from({ length: 29 }, (_, index): Vec2 => [0.028 + 0.004 * Math.sin((index / 28) * Math.PI) + (index % 4 === 0 ? -0.004 : 0), -0.26 + 0.25 * (index / 28)]), 24);
  // Point down in its stand, as swords are shown.
  const up = (shape: Shape): Shape => moved(rotated(shape, [0, 0, 1], 180), [0, 1.14, 0]);
  return [
    part("Blade", look.main("#dfe3e8", "chrome"), up(blade)),
    part("Groove", look.fixed("#8d9298", "metal"), up(groove), up(rotated(groove, UP, 180))),
    part("Guard", look.second("#e2b64a", "gold"), up(guard), up(ball([0, -0.29, 0], [0.045, 0.045, 0.035], 24)), up(twice(ball([0.2, 0.04, 0], 0.03, 16)))),
    part("Grip", look.fixed("#4a2f20", "leather"), up(grip)),
    part("Jewel", look.fixed("#d2143c", "crystal"), up(ball([0, -0.01, 0.03], [0.022, 0.022, 0.012], 16)), up(ball([0, -0.01, -0.03], [0.022, 0.022, 0.012], 16))),
    stand(look, 0.34),
  ];
}

function buildShield(look: Look): readonly Part[] {
  const outline = smooth([[-0.34, 0.9], [0, 0.98], [0.34, 0.9], [0.38, 0.6], [0.3, 0.25], [0, 0], [-0.3, 0.25], [-0.38, 0.6]].toReversed());
  const inner = outline.map(([x, y]): Vec2 => [x * 0.86, 0.52 + (y - 0.52) * 0.87]);
  const bend = (shape: Shape): Shape => bent(shape, ([x, y, z]) => [x, y, z - 0.55 * x * x - 0.12 * (y - 0.5) ** 2]);
  const rivets = outline.filter((_, index) => index % 5 === 0).map(([x, y]) => ball([x * 0.93, 0.52 + (y - 0.52) * 0.935, 0.05], 0.02, 12));
  const cross = merged([box([0, 0.52, 0.052], [0.09, 0.74, 0.02], 0.006), box([0, 0.6, 0.052], [0.56, 0.09, 0.02], 0.006)]);
  const lean = (shape: Shape): Shape => rotated(shape, [1, 0, 0], -10);
  return [
    part("Rim", look.second("#d8b060", "brass"), lean(bend(prism(outline, { depth: 0.06, bevel: 0.02 }))), ...rivets.map((shape) => lean(bend(shape)))),
    part("Field", look.main("#2f55a0", "paint"), lean(bend(prism(inner, { depth: 0.085, bevel: 0.02 })))),
    part("Cross", look.second("#d8b060", "brass"), lean(bend(cross)), lean(bend(ball([0, 0.6, 0.06], [0.075, 0.075, 0.04], 24)))),
    part("Stand", look.fixed("#4a3526", "wood"), box([0, 0.03, -0.12], [0.42, 0.06, 0.34], 0.02), rod([0, 0.04, -0.24], [0, 0.62, -0.12], 0.024)),
  ];
}

function smooth(points: readonly (readonly number[])[]): Vec2[] {
  const all = [...points, points[0] ?? [0, 0]].map(([x = 0, y = 0]) => [x, y, 0] as const);
  return curve(all, 5).slice(0, -1).map(([x, y]) => [x, y] as const);
}

function buildAxe(look: Look): readonly Part[] {
  const head = prism(smooth([[0.0, 0.86], [0.12, 0.88], [0.28, 1.0], [0.36, 0.86], [0.37, 0.7], [0.28, 0.58], [0.12, 0.72], [0, 0.74]].toReversed()), { depth: 0.07, bevel: 0.03 });
  const handle = tube(curve([[0, 0.1, 0], [0.015, 0.4, 0], [-0.01, 0.7, 0], [0, 0.98, 0]], 6), 0.032, { sides: 16 });
  const isDouble = look.has("double", "battle", "viking");
  return [
    part("Head", look.main("#c4c9d0", "steel"), head, ...(isDouble ? [scaled(head, [-1, 1, 1])] : [box([-0.04, 0.8, 0], [0.12, 0.11, 0.075], 0.02)])),
    part("Handle", look.second("#7a5230", "wood"), handle),
    part("Wrap", look.fixed("#4a2f20", "leather"), ...[0.24, 0.29, 0.34, 0.39].map((y) => ring([0.012, y, 0], 0.032, 0.012, 20, 8))),
    stand(look, 0.34),
  ];
}

function buildHammer(look: Look): readonly Part[] {
  return [
    part("Head", look.main("#8d9298", "steel"), box([0, 0.86, 0], [0.52, 0.26, 0.27], 0.05), twice(box([0.235, 0.86, 0], [0.07, 0.3, 0.31], 0.03))),
    part("Runes", look.second("#5fd8ff", "neon"), moved(rotated(ring([0, 0, 0], 0.07, 0.008, 32, 8), [1, 0, 0], 90), [0, 0.86, 0.135]), box([0, 0.86, 0.136], [0.012, 0.12, 0.008], 0.002)),
    part("Handle", look.fixed("#5f4029", "leather"), lathe(Array.from({ length: 41 }, (_, index): Vec2 => [0.036 + (index % 4 < 2 ? 0.004 : 0), 0.12 + 0.62 * (index / 40)]), 24)),
    part("Pommel", look.fixed("#d8b060", "brass"), ring([0, 0.13, 0], 0.03, 0.02, 24, 10)),
    stand(look, 0.36),
  ];
}

function buildCrown(look: Look): readonly Part[] {
  const points = 8;
  const band = surface(points * 12, 10, (u, v) => {
    const angle = 2 * Math.PI * u;
    const tooth = Math.abs(((u * points) % 1) - 0.5) * 2;
    const high = 0.2 + 0.34 * (1 - tooth) ** 1.4;
    const radius = 0.4 + 0.07 * v * (high / 0.5);
    const up = v < 0.5 ? 2 * v : 1;
    return [radius * Math.sin(angle), high * up * (v < 0.5 ? 1 : 1), radius * Math.cos(angle)];
  }, { around: true });
  const inner = bent(band, ([x, y, z]) => [x * 0.955, y, z * 0.955]);
  const pearls = Array.from({ length: points }, (_, index) => {
    const angle = ((index + 0.5) * 2 * Math.PI) / points;
    return ball([0.465 * Math.sin(angle), 0.57, 0.465 * Math.cos(angle)], 0.036, 18);
  });
  const gems = (turn: number): Shape => around(rotated(ball([0, 0.12, 0.42], [0.045, 0.06, 0.03], 14), UP, turn), 4);
  return [
    part("Band", { ...look.main("#ffc95c", "gold"), isSheet: true }, band, inner),
    part("Rims", look.main("#ffc95c", "gold"), ring([0, 0.02, 0], 0.4, 0.026, 72, 10), ring([0, 0.21, 0], 0.415, 0.016, 72, 8), ...pearls),
    part("Rubies", look.fixed("#d2143c", "crystal"), gems(22.5)),
    part("Sapphires", look.fixed("#1f4fd0", "crystal"), gems(67.5)),
    part("Lining", look.second("#8a1f3a", "cloth"), moved(scaled(ball([0, 0, 0], [0.385, 0.22, 0.385], 36), [1, 1, 1]), [0, 0.12, 0])),
  ];
}

/** A cut stone: table, crown, girdle, pavilion; every second ring is turned by half a facet. */
function brilliant(radius: number, sides = 8): Shape {
  const rings: readonly Vec2[] = [[0.001, -0.86], [0.52, -0.42], [1, 0], [1, 0.05], [0.8, 0.24], [0.55, 0.36], [0.001, 0.36]];
  const count = rings.length - 1;
  return surface(sides, count, (u, v) => {
    const index = Math.round(v * count);
    const [reach, height] = rings[index] ?? [0, 0];
    const angle = 2 * Math.PI * (u + ([1, 4].includes(index) ? 0.5 / sides : 0));
    return [radius * reach * Math.sin(angle), radius * height, radius * reach * Math.cos(angle)];
  }, { around: true, creaseDegrees: 5 });
}

function buildRing(look: Look): readonly Part[] {
  // "a diamond ring": the stone is meant, the ring stays of gold.
  const isStone = look.finish !== null && (finishOf(look.finish).isFaceted ?? false);
  const metal = isStone ? look.fixed("#ffc95c", "gold") : look.main("#ffc95c", "gold");
  const stone = isStone ? look.main("#dff4ff", "diamond") : look.second("#dff4ff", "diamond");
  const band = moved(rotated(ring([0, 0, 0], 0.42, 0.05, 80, 20), [1, 0, 0], 90), [0, 0.47, 0]);
  const prongs = around(tube(curve([[0, 0.9, 0.05], [0, 1.0, 0.14], [0, 1.1, 0.15]], 4), 0.016, { sides: 8 }), 6);
  return [part("Band", metal, band, prongs, lathe([[0.001, 0.88], [0.08, 0.9], [0.1, 0.96], [0.001, 0.96]], 24)), part("Stone", stone, moved(brilliant(0.17), [0, 1.06, 0]))];
}

function buildGem(look: Look): readonly Part[] {
  return [part("Stone", look.main("#3fb8e8", "diamond"), moved(brilliant(0.48), [0, 0.6, 0])), part("Stand", look.second("#2b2d33", "marble"), lathe([[0.001, 0], [0.26, 0], [0.27, 0.03], [0.17, 0.07], [0.15, 0.12], [0.17, 0.3], [0.15, 0.31], [0.1, 0.18], [0.001, 0.17]], 40))];
}

function buildKey(look: Look): readonly Part[] {
  const flat = (shape: Shape): Shape => rotated(shape, [1, 0, 0], 90);
  const bow = merged([0, 120, 240].map((turn) => rotated(moved(flat(ring([0, 0, 0], 0.1, 0.028, 36, 12)), [0, 0.115, 0]), [0, 0, 1], turn)));
  const bits = [box([0.07, -0.74, 0], [0.16, 0.05, 0.035], 0.01), box([0.06, -0.64, 0], [0.13, 0.04, 0.035], 0.01), box([0.12, -0.69, 0], [0.05, 0.06, 0.035], 0.01)];
  const up = (shape: Shape): Shape => moved(shape, [0, 0.93, 0]);
  return [
    part("Key", look.main("#d8a04a", "brass"), up(bow), up(rod([0, -0.1, 0], [0, -0.8, 0], 0.034, 0.034, 24)), ...[-0.14, -0.2].map((y) => up(ring([0, y, 0], 0.036, 0.018, 28, 10))), ...bits.map(up)),
    part("Jewel", look.second("#1f8fd0", "crystal"), up(ball([0, 0, 0], [0.05, 0.05, 0.04], 16))),
    stand(look, 0.4),
  ];
}

function buildChest(look: Look): readonly Part[] {
  const wood = look.main("#8a5a34", "planks");
  const isOpen = look.has("open", "opened", "treasure", "filled", "full", "coin", "gold");
  const lid = prism([[-0.32, 0], [0.32, 0], ...Array.from({ length: 13 }, (_, index): Vec2 => [0.32 * Math.cos((Math.PI * index) / 12), 0.04 + 0.22 * Math.sin((Math.PI * index) / 12)])], { depth: 0.96, bevel: 0.01 });
  const straps = [0, 1, 2].map(() => prism([[-0.335, -0.005], [0.335, -0.005], ...Array.from({ length: 13 }, (_, index): Vec2 => [0.335 * Math.cos((Math.PI * index) / 12), 0.04 + 0.235 * Math.sin((Math.PI * index) / 12)])], { depth: 0.07, bevel: 0.008 })).map((shape, index) => moved(rotated(shape, UP, 90), [-0.36 + 0.36 * index, 0, 0]));
  const put = (shape: Shape): Shape => {
    const hinged = moved(shape, [0, 0, 0.32]);
    return moved(isOpen ? rotated(hinged, [1, 0, 0], -68) : hinged, [0, 0.44, -0.32]);
  };
  const walls = [box([0, 0.22, 0.3], [0.96, 0.44, 0.04], 0.008), box([0, 0.22, -0.3], [0.96, 0.44, 0.04], 0.008), twice(box([0.46, 0.22, 0], [0.04, 0.44, 0.6], 0.008)), box([0, 0.03, 0], [0.94, 0.06, 0.6], 0.008)];
  const bands = [-0.36, 0, 0.36].flatMap((x) => [box([x, 0.22, 0.318], [0.07, 0.45, 0.02], 0.006), box([x, 0.22, -0.318], [0.07, 0.45, 0.02], 0.006)]);
  const corners = twice(merged([box([0.47, 0.22, 0.31], [0.05, 0.46, 0.05], 0.012), box([0.47, 0.22, -0.31], [0.05, 0.46, 0.05], 0.012)]));
  const parts = [
    part("Chest", wood, ...walls, put(rotated(lid, UP, 90))),
    part("Bands", look.second("#c9a15f", "brass"), ...bands, ...straps.map(put), corners, box([0, 0.42, 0.33], [0.14, 0.13, 0.05], 0.02)),
    part("Lock", look.fixed("#2b2a2c", "iron"), moved(rotated(lathe([[0.001, 0], [0.022, 0], [0.001, 0.01]], 16), [1, 0, 0], 90), [0, 0.43, 0.353]), box([0, 0.4, 0.355], [0.014, 0.04, 0.01], 0.003)),
  ];
  if (!isOpen) return parts;
  const coins = Array.from({ length: 90 }, (_, index) => {
    const [x, z] = [look.roll(-0.4, 0.4), look.roll(-0.24, 0.24)];
    const high = 0.36 + 0.1 * Math.cos(x * 3) * Math.cos(z * 4) + look.roll(0, 0.03);
    const disc = lathe([[0.001, 0], [0.05, 0], [0.054, 0.006], [0.05, 0.012], [0.001, 0.012]], 12);
    return moved(rotated(disc, [Math.sin(index), 0, Math.cos(index)], look.roll(-50, 50)), [x, high, z]);
  });
  const jewels = ["#d2143c", "#12a86b", "#1f4fd0"].map((colour, index) => part(`Jewels ${index + 1}`, look.fixed(colour, "crystal"), ...Array.from({ length: 4 }, () => moved(rotated(brilliant(0.055), [1, 0, 0], look.roll(-60, 60)), [look.roll(-0.36, 0.36), 0.5, look.roll(-0.2, 0.2)]))));
  return [...parts, part("Coins", look.fixed("#ffc95c", "gold"), ...coins, bent(box([0, 0.3, 0], [0.88, 0.14, 0.56], 0.05), ([x, y, z]) => [x, y + 0.08 * Math.cos(x * 3) * Math.cos(z * 4), z])), ...jewels];
}

function buildGift(look: Look): readonly Part[] {
  const loop = (turn: number): Shape => rotated(tube(curve([[0, 0.8, 0], [0.14, 0.98, 0.02], [0.27, 0.94, 0], [0.22, 0.82, -0.01], [0, 0.8, 0]], 7), 0.026, { sides: 10, flatness: 2.6, side: [0, 0, 1] }), UP, turn);
  const ends = [30, -150].map((turn) => rotated(tube(curve([[0, 0.8, 0], [0.12, 0.82, 0.08], [0.26, 0.74, 0.16]], 5), 0.02, { sides: 10, flatness: 2.8, side: [0, 1, 0.3] }), UP, turn));
  return [
    part("Box", look.main("#c9303a", "paint"), box([0, 0.34, 0], [0.72, 0.68, 0.72], 0.02)),
    part("Lid", look.main("#c9303a", "paint"), box([0, 0.71, 0], [0.78, 0.16, 0.78], 0.02)),
    part("Ribbon", look.second("#f3c64a", "cloth"), box([0, 0.395, 0], [0.13, 0.796, 0.79], 0.006), box([0, 0.395, 0], [0.79, 0.796, 0.13], 0.006)),
    part("Bow", look.second("#f3c64a", "cloth"), ...[0, 90, 180, 270].map((turn) => loop(turn + 45)), ...ends, ball([0, 0.83, 0], [0.06, 0.05, 0.06], 20)),
  ];
}

function buildBook(look: Look): readonly Part[] {
  const cover = look.main("#7a2f2a", "leather");
  const lean = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], -90), [0, 0.09, 0]);
  const pages = lean(bent(box([0.02, 0, 0], [0.66, 0.94, 0.13], 0.01), ([x, y, z]) => [x - (x > 0.3 ? 0.03 * (1 - (z / 0.065) ** 2) : 0), y, z]));
  const covers = [box([0, 0, 0.078], [0.74, 1.0, 0.022], 0.01), box([0, 0, -0.078], [0.74, 1.0, 0.022], 0.01)].map(lean);
  const spine = lean(bent(box([-0.36, 0, 0], [0.04, 1.0, 0.178], 0.018), ([x, y, z]) => [x - 0.03 * (1 - (z / 0.09) ** 2), y, z]));
  const ribs = [-0.32, -0.1, 0.1, 0.32].map((y) => lean(box([-0.4, y, 0], [0.03, 0.03, 0.15], 0.012)));
  const frame = [box([0, 0.42, 0.092], [0.6, 0.02, 0.006], 0.002), box([0, -0.42, 0.092], [0.6, 0.02, 0.006], 0.002), box([0.29, 0, 0.092], [0.02, 0.84, 0.006], 0.002), box([-0.29, 0, 0.092], [0.02, 0.84, 0.006], 0.002)].map(lean);
  const star = lean(moved(merged(Array.from({ length: 8 }, (_, index) => rotated(prism([[-0.03, 0], [0.03, 0], [0, index % 2 === 0 ? 0.16 : 0.1]], { depth: 0.01 }), [0, 0, 1], 45 * index))), [0, 0.04, 0.092]));
  return [
    part("Cover", cover, ...covers, spine),
    part("Pages", look.fixed("#f3ead2", "planks"), pages),
    part("Gilding", look.second("#e2b64a", "gold"), ...frame, star, ...ribs),
    part("Bookmark", look.fixed("#c9303a", "cloth"), lean(box([0.12, -0.54, 0.0], [0.05, 0.2, 0.006], 0.002))),
  ];
}

function buildPotion(look: Look): readonly Part[] {
  const flask = profileCurve([[0.001, 0.0], [0.16, 0.01], [0.34, 0.16], [0.35, 0.34], [0.22, 0.54], [0.09, 0.62], [0.085, 0.78], [0.12, 0.82]], 6);
  const inside = flask.map(([r, y]) => [Math.max(0.001, r - 0.018), y + 0.014] as const).toReversed();
  const bubbles = Array.from({ length: 9 }, () => ball([look.roll(-0.16, 0.16), look.roll(0.12, 0.42), look.roll(-0.16, 0.16)], look.roll(0.012, 0.03), 10));
  return [
    part("Flask", look.fixed("#eaf6f6", "glass"), lathe([...flask, ...inside], 52)),
    part("Potion", look.main("#8f3fd8", "neon"), lathe([...profileCurve([[0.001, 0.02], [0.14, 0.03], [0.315, 0.17], [0.325, 0.33], [0.26, 0.45]], 5), [0.001, 0.452]], 48)),
    part("Bubbles", look.fixed("#f6e6ff", "light"), ...bubbles),
    part("Cork", look.fixed("#b98a55", "wood"), lathe([[0.001, 0.76], [0.068, 0.76], [0.082, 0.9], [0.076, 0.92], [0.001, 0.92]], 28)),
    part("Collar", look.second("#c9a15f", "brass"), ring([0, 0.63, 0], 0.095, 0.018, 40, 10)),
  ];
}

function buildHat(look: Look): readonly Part[] {
  const isTop = look.has("top", "magician", "magic");
  const crown: readonly Vec2[] = isTop ? [[0.27, 0.05], [0.26, 0.4], [0.29, 0.56], [0.27, 0.58], [0.001, 0.575]] : [[0.29, 0.06], [0.275, 0.2], [0.25, 0.33], [0.19, 0.37], [0.08, 0.34], [0.001, 0.335]];
  const brim = profileCurve([[0.001, 0.0], [0.28, 0.0], [0.5, 0.02], [0.56, 0.06], [0.55, 0.075], [0.48, 0.04], [0.3, 0.03]], 4);
  const hat = lathe([...brim, ...profileCurve(crown, 6)], 64);
  const curled = bent(hat, ([x, y, z]) => [x, y + (Math.hypot(x, z) > 0.3 ? 0.55 * (Math.abs(x) - 0.3 > 0 ? (Math.abs(x) - 0.3) ** 1.5 : 0) : 0), z]);
  return [
    part("Hat", look.main(isTop ? "#232429" : "#9c6b40", isTop ? "cloth" : "leather"), curled),
    part("Band", look.second(isTop ? "#b3242f" : "#4a2f20", "leather"), lathe([[0.285, 0.06], [0.302, 0.06], [0.292, 0.13], [0.275, 0.13]], 56)),
  ];
}

function buildAnchor(look: Look): readonly Part[] {
  const arm = tube(curve([[0, 0.1, 0], [0.24, 0.14, 0], [0.38, 0.3, 0], [0.42, 0.42, 0]], 7), (share) => 0.055 - 0.02 * share, { sides: 16 });
  const fluke = prism([[0.3, 0.38], [0.42, 0.34], [0.52, 0.42], [0.45, 0.58]], { depth: 0.06, bevel: 0.02 });
  return [
    part("Anchor", look.main("#5b5e66", "iron"), rod([0, 0.06, 0], [0, 0.92, 0], 0.055, 0.045, 20), twice(arm), twice(fluke), ball([0, 0.1, 0], 0.07, 20), moved(rotated(ring([0, 0, 0], 0.09, 0.026, 40, 12), [1, 0, 0], 90), [0, 1.02, 0])),
    part("Stock", look.second("#7a5230", "wood"), rod([-0.34, 0.78, 0], [0.34, 0.78, 0], 0.036, 0.036, 20), twice(ball([0.34, 0.78, 0], 0.05, 18))),
    part("Rope", look.fixed("#cdb583", "knit"), tube(Array.from({ length: 60 }, (_, index): Vec3 => [0.075 * Math.sin(index / 3.2), 0.2 + 0.0085 * index, 0.075 * Math.cos(index / 3.2)]), 0.018, { sides: 8 })),
  ];
}

function buildCoin(look: Look): readonly Part[] {
  const disc = lathe([[0.001, -0.045], [0.46, -0.045], [0.47, -0.06], [0.5, -0.06], [0.51, -0.045], [0.51, 0.045], [0.5, 0.06], [0.47, 0.06], [0.46, 0.045], [0.001, 0.045]], 96, 35);
  const ridges = around(box([0, 0, 0.51], [0.018, 0.1, 0.012], 0.003), 72);
  const star = merged(Array.from({ length: 5 }, (_, index) => rotated(lathe([[0.001, 0], [0.085, 0], [0.001, 0.26]], 4, 10), [0, 0, 1], 72 * index)));
  const relief = scaled(star, [1, 1, 0.42]);
  const up = (shape: Shape): Shape => moved(rotated(shape, [1, 0, 0], 90), [0, 0.58, 0]);
  return [
    part("Coin", look.main("#ffc95c", "gold"), up(disc), up(ridges), moved(relief, [0, 0.58, 0.045]), moved(rotated(relief, UP, 180), [0, 0.58, -0.045])),
    part("Stand", look.second(darker(lighter("#4a3526", 0.1), 0.1), "wood"), box([0, 0.04, 0], [0.5, 0.08, 0.3], 0.02), twice(box([0.16, 0.1, 0], [0.06, 0.08, 0.2], 0.015))),
  ];
}
