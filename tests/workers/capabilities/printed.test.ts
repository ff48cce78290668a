/** Lines that scripts print, in every language. */
import { expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";

const SCRIPTS: Readonly<Record<string, (count: number, length: number) => string>> = {
  "code.run_python": (count, length) => `for i in range(${count}): print('x' * ${length})`,
  "code.run_javascript": (count, length) => `for (let i = 0; i < ${count}; i++) print("x".repeat(${length}));`,
};

test.each(Object.keys(SCRIPTS))(
  "%s prints a thousand lines of two thousand letters, and notes what it leaves out",
  async (id) => {
    const run = async (count: number, length: number) => {
      const { output } = await runCapability(id, { code: { text: SCRIPTS[id]?.(count, length) ?? "" } });
      const printed = output?.["printed"] as readonly string[];
      return [printed.length, printed[0]?.length, output?.["notes"]];
    };
    const why = "Return long results as the last value instead of printing them.";
    expect(await run(1_000, 2_000)).toEqual([1_000, 2_000, undefined]);
    expect(await run(1_003, 1)).toEqual([1_000, 1, [`3 printed lines after the first 1000 are left out. ${why}`]]);
    expect(await run(2, 2_001)).toEqual([2, 2_000, [`2 printed lines are cut to 2000 characters. ${why}`]]);
  },
);
