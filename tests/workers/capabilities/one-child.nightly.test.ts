/** All capabilities in one child, each after each other: what one leaves behind is no other's matter. */
import { expect, test } from "bun:test";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";

import { seeded, testSeed } from "../../support/seed.ts";
import { storm } from "../../support/storm.ts";

import { openChild } from "./in-child.ts";
import { hasLibreOffice } from "./in-folder.ts";

const SAMPLES = CAPABILITIES.filter(({ engine }) => engine !== "libreoffice" || hasLibreOffice);

test("all in their order, then in others", async () => {
  // Two of each engine, and what is quick; then one of each, behind all others, but for the engine that takes a second to load.
  const before = (at: number) => SAMPLES.slice(0, at).filter(({ engine }) => engine === SAMPLES[at]?.engine).length;
  const few = SAMPLES.filter(({ category }, at) => ["code", "archive"].includes(category) || before(at) < 2);
  const firsts = SAMPLES.filter(({ engine }, at) => before(at) === 0 && engine !== "ocr");
  const all = storm(few, SAMPLES);
  const random = seeded(testSeed("one child"));
  const shuffled = () => SAMPLES.toSorted(() => random() - 0.5);
  const others = storm(firsts.toReversed(), [...SAMPLES.toReversed(), ...Array.from({ length: 5 }, shuffled).flat()]);
  const child = openChild("code");
  const faults: string[] = [];
  for (const { id, sample_input: sample, examples } of [...all, ...others]) {
    await child
      .run(id, sample as never, examples[0]?.params)
      .catch((error: unknown) => faults.push(`${id}: ${String(error)}`));
  }
  await child.close();
  expect(faults).toEqual([]);
}, 600_000);
