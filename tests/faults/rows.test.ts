/** The list of faults itself: what stands in it is there, and what is there stands in it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "bun:test";

import { resultOf } from "../runner/faults.mjs";
import { PROJECT_ROOT } from "../support/infrastructure.ts";
import { FAULT_ROWS } from "./rows.mjs";

/** They make no fault. */
const OTHERS = new Set(["faults/audit.test.ts", "faults/rows.test.ts"]);

test("each fault has existing files, or a reason for none, and a unique name", () => {
  const files = FAULT_ROWS.flatMap((row) => row.files);
  expect(files.filter((file) => !existsSync(join(PROJECT_ROOT, "tests", file)))).toEqual([]);
  expect(FAULT_ROWS.filter((row) => row.files.length === 0 && !row.why)).toEqual([]);
  expect(new Set(FAULT_ROWS.map(({ fault }) => fault)).size).toBe(FAULT_ROWS.length);
});

test("each fault test is listed", () => {
  const named = new Set(FAULT_ROWS.flatMap((row) => row.files));
  const tests = readdirSync(join(PROJECT_ROOT, "tests/faults")).filter((name) => name.endsWith(".test.ts"));
  const missing = tests.map((name) => `faults/${name}`).filter((file) => !named.has(file) && !OTHERS.has(file));
  expect(missing).toEqual([]);
});

test("a fault has passed only if all of its files have passed completely", () => {
  const file = (counts: object, isGreen = true) => ({
    size: "small" as const,
    seed: 1,
    seconds: 1,
    counts: { passed: 1, failed: 0, skipped: 0, ...counts },
    isGreen,
  });
  const row = { fault: "x", files: ["a", "b"], needs: "a mount" };
  const told = (...of: ReturnType<typeof file>[]) =>
    resultOf(row, new Map(of.map((one, at) => [["tests/a", "tests/b"][at] ?? "", one])));
  expect(told(file({}), file({}))).toBe("passed");
  expect(told(file({}))).toBe("not run");
  expect(told(file({}), file({ skipped: 2 }))).toBe("skipped in part; 2 tests skipped: a mount");
  expect(told(file({ skipped: 2 }), file({ failed: 1 }, false))).toStartWith("**failed**");
  expect(resultOf({ fault: "x", files: [], why: "no such part" }, new Map())).toBe("missing: no such part");
});
