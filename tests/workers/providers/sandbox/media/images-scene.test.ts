import { describe, expect, test } from "bun:test";

import { drawBackdrop, definitions } from "#workers/providers/sandbox/media/images/backdrops.ts";
import { captionHeight } from "#workers/providers/sandbox/media/images/caption.ts";
import { choosePalette } from "#workers/providers/sandbox/media/images/colours.ts";
import { placeThings } from "#workers/providers/sandbox/media/images/layout.ts";
import { makePicture } from "#workers/providers/sandbox/media/images/make.ts";
import { readPrompt } from "#workers/providers/sandbox/media/images/prompt.ts";
import type { Stage } from "#workers/providers/sandbox/media/images/sky.ts";
import { THINGS } from "#workers/providers/sandbox/media/images/things.ts";
import { createRandom } from "#workers/providers/sandbox/random.ts";
import { widthOf } from "#workers/providers/sandbox/media/images/cluster.ts";

import { decodePng, shareOf, type Png } from "./png.ts";

const wish = { prompt: "", seed: 1, width: 256, height: 256, format: "png" } as const;

describe("what a prompt names", () => {
  test("is to be seen, each thing that is known", async () => {
    const unseen: string[] = [];
    for (const word of Object.keys(THINGS)) {
      const call = { ...wish, width: 128, height: 128, prompt: `a ${word} in a meadow` };
      const [shown, hidden] = await Promise.all([makePicture(call), makePicture({ ...call, negativePrompt: word })]);
      if (changed(decodePng(shown), decodePng(hidden)) < 0.01) unseen.push(word);
    }
    expect(unseen).toEqual([]);
  }, 30_000);

  test.each([
    ["a fox in a forest at dawn", ["fox"]],
    ["a bowl of fruit on a table", ["fruit", "table"]],
    ["two puppies and an orange", ["dog", "orange"]],
    ["an orange cat", ["cat"]],
    ["a basket of apples", ["basket", "apple"]],
    ["a couch, a teapot and a snowman", ["sofa", "teapot", "snowman"]],
    ["under a full moon", ["moon"]],
    ["under a crescent moon", ["crescent"]],
    ["an astronaut on the moon", ["astronaut"]],
  ])("is read from %p", (prompt, things) => {
    expect(readPrompt(prompt).wishes.map(({ thing }) => thing)).toEqual(things);
  });

  test.each([1, 2, 3, 4])("gives a picture even where nothing is known, with seed %p", async (seed) => {
    for (const prompt of [
      "zorblax quindle",
      "the meaning of life",
      "幸福",
      "studio product shot",
      "a quux in a room",
    ]) {
      const picture = decodePng(await makePicture({ ...wish, prompt, seed }));
      expect(colourCount(picture)).toBeGreaterThanOrEqual(5);
      expect(edgeShare(picture)).toBeGreaterThan(0.01);
    }
  });
});

describe("a scene", () => {
  const [width, height] = [1_000, 1_000];
  const lowest = 920;

  function stageOf(prompt: string, seed = 1): Stage {
    const random = createRandom(seed);
    const motif = readPrompt(prompt);
    return { width, height, random, motif, palette: choosePalette(motif.colours, random), detail: 1 };
  }

  function placesIn(prompt: string, seed = 1): ReturnType<typeof placeThings> {
    const stage = stageOf(prompt, seed);
    const { ground, footing = [0, 1] } = drawBackdrop(stage);
    return placeThings(stage, { ground, lowest, footing });
  }

  function find(places: ReturnType<typeof placeThings>, name: string): ReturnType<typeof placeThings>[number] {
    const found = places.find(({ thing }) => thing === THINGS[name]);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  }

  test("has things on and under each other, over and beside each other, as it is said", () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const onSofa = placesIn("a cat on a sofa", seed);
      const [cat, sofa] = [find(onSofa, "cat"), find(onSofa, "sofa")];
      expect(onSofa.indexOf(cat)).toBeGreaterThan(onSofa.indexOf(sofa));
      expect(cat.foot).toBeLessThan(sofa.foot - sofa.size * 0.15);
      expect(Math.abs(cat.x - sofa.x)).toBeLessThan(sofa.size * 0.35);

      const under = placesIn("a dog under a table", seed);
      expect(find(under, "dog").size).toBeLessThan(find(under, "table").size * 0.6);
      expect(find(under, "dog").foot).toBeGreaterThan(find(under, "table").foot - 1);

      const over = placesIn("a dragon over a castle", seed);
      expect(find(over, "dragon").foot).toBeLessThan(find(over, "castle").foot - find(over, "castle").size);

      const inside = placesIn("apples in a bowl", seed);
      expect(inside.at(-1)?.thing === THINGS["bowl"]).toBe(true);

      const beside = placesIn("a bear next to a tent", seed);
      const gap = Math.abs(find(beside, "bear").x - find(beside, "tent").x);
      expect(gap).toBeGreaterThan(0.45 * (find(beside, "bear").size + find(beside, "tent").size));
    }
  });

  test.each([
    "a red house",
    "twelve sheep on a farm",
    "a cat on a sofa next to a lamp",
    "a lighthouse on a cliff",
    "three boats on a lake and two trees",
    "a train on a bridge",
  ])("of %p cuts nothing off and keeps feet above the caption", (prompt) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      for (const { thing, x, foot, size } of placesIn(prompt, seed)) {
        expect(foot).toBeLessThanOrEqual(lowest);
        expect(foot - size).toBeGreaterThanOrEqual(-1);
        expect(x - (size * widthOf(thing)) / 2).toBeGreaterThan(-1);
        expect(x + (size * widthOf(thing)) / 2).toBeLessThan(width + 1);
      }
    }
  });

  test("has a caption that is a slim strip", () => {
    expect(captionHeight("a red house", 1, width, height, 1)).toBeLessThan(0.05 * height);
    expect(captionHeight("a red house ".repeat(90), 1, width, height, 1)).toBeLessThan(0.09 * height);
    expect(captionHeight("a red house", 1, width, height, 0.05)).toBe(0);
  });

  test("keeps clouds apart, each of one outline", () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const stage = stageOf("a meadow", seed);
      const clouds = [
        ...drawBackdrop(stage).svg.matchAll(/<ellipse cx="([\d.-]+)" cy="[\d.-]+" rx="([\d.]+)"[^>]*#cloud\d/g),
      ]
        .map(([, x, radius]) => ({ x: Number(x), half: 0.38 * Number(radius) * 2 }))
        .toSorted((one, other) => one.x - other.x);
      expect(clouds.length).toBeGreaterThan(1);
      clouds.slice(1).forEach(({ x, half }, index) => {
        const before = clouds[index];
        expect(x - half).toBeGreaterThanOrEqual((before?.x ?? 0) + (before?.half ?? 0) - 1);
      });
      expect(definitions(stage)).toContain('<clipPath id="cloud0"');
    }
  });

  test.each(["sunset", "sunrise"])("at %s shows the sun, at noon it does not", async (hour) => {
    for (const place of ["the sea", "the mountains", "a forest", "green hills", "a city", "a desert"]) {
      const [low, noon] = await Promise.all(
        [hour, "noon"].map(async (when) => decodePng(await makePicture({ ...wish, prompt: `${place} at ${when}` }))),
      );
      if (low === undefined || noon === undefined) throw new Error("no picture");
      expect(sunShare(low)).toBeGreaterThan(0.004);
      expect(sunShare(noon)).toBeLessThan(sunShare(low) / 2);
    }
  });

  test("of a full moon has a round one, of a crescent moon a part of it", async () => {
    const [full, part] = await Promise.all(
      ["a full moon", "a crescent moon"].map(async (prompt) => decodePng(await makePicture({ ...wish, prompt }))),
    );
    if (full === undefined || part === undefined) throw new Error("no picture");
    const moon = [0xf3, 0xec, 0xd0] as const;
    expect(shareOf(full, moon)).toBeGreaterThan(1.15 * shareOf(part, moon));
    expect(shareOf(part, moon)).toBeGreaterThan(0.01);
  });

  test("on a cliff is no beach: there is footing on one side only, high above the water", () => {
    const { footing, ground } = drawBackdrop(stageOf("a lighthouse on a cliff"));
    expect((footing?.[1] ?? 1) - (footing?.[0] ?? 0)).toBeLessThan(0.75);
    expect(ground).toBeLessThan(0.8 * height);
    expect(drawBackdrop(stageOf("a lighthouse on a beach")).footing).toBeUndefined();
  });
});

/** Share of pixels that are clearly another in the two. */
function changed(one: Png, other: Png): number {
  let hits = 0;
  for (let at = 0; at < one.data.length; at += one.channels) {
    if ([0, 1, 2].some((channel) => Math.abs((one.data[at + channel] ?? 0) - (other.data[at + channel] ?? 0)) > 24))
      hits += 1;
  }
  return hits / (one.width * one.height);
}

/** Of colours in steps of 32, how many have at least a hundredth of the picture above its caption. */
function colourCount(png: Png): number {
  const counts = new Map<number, number>();
  const end = png.width * Math.floor(png.height * 0.8);
  for (let index = 0; index < end; index += 1) {
    const [r = 0, g = 0, b = 0] = png.data.subarray(index * png.channels, index * png.channels + 3);
    const colour = ((r >> 5) << 6) | ((g >> 5) << 3) | (b >> 5);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts.values()].filter((count) => count > end / 100).length;
}

/** Share of pixels above the caption that differ much from the one to the right. */
function edgeShare({ data, width, height, channels }: Png): number {
  let hits = 0;
  const rows = Math.floor(height * 0.8);
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x + 1 < width; x += 1) {
      const at = (y * width + x) * channels;
      if ([0, 1, 2].some((channel) => Math.abs((data[at + channel] ?? 0) - (data[at + channels + channel] ?? 0)) > 24))
        hits += 1;
    }
  }
  return hits / (width * rows);
}

const sunShare = (png: Png): number => shareOf(png, [0xff, 0xdf, 0x8e]);
