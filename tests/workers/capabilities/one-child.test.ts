/** All capabilities in one child, each after each other: what one leaves behind is no other's matter. */
import { expect, test } from "bun:test";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";

import { seeded, testSeed } from "../../support/seed.ts";
import { storm } from "../../support/storm.ts";

import { openChild } from "./in-child.ts";
import { hasLibreOffice } from "./in-folder.ts";

const SAMPLES = CAPABILITIES.filter(({ engine }) => engine !== "libreoffice" || hasLibreOffice);

test("all in their order, then in others", async () => {
  // Two of each engine, and what is quick.
  const few = SAMPLES.filter(
    ({ category, engine }, at) =>
      ["code", "archive"].includes(category) || SAMPLES.slice(0, at).filter((one) => one.engine === engine).length < 2,
  );
  const all = storm(few, SAMPLES);
  const random = seeded(testSeed("one child"));
  const shuffled = () => SAMPLES.toSorted(() => random() - 0.5);
  const others = storm(all.toReversed(), [...SAMPLES.toReversed(), ...Array.from({ length: 5 }, shuffled).flat()]);
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
