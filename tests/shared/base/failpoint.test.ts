/** Failpoints: each stands somewhere, and nobody dies who was not told to. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { Glob } from "bun";

import { failpoint, FAILPOINTS, parseFailpoint } from "#shared/base/failpoint.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

test("each has its position in the source", () => {
  const found = new Set<string>();
  for (const folder of ["ingress", "workers", "shared"]) {
    for (const path of new Glob(`${folder}/**/*.ts`).scanSync(PROJECT_ROOT)) {
      for (const [, name = ""] of readFileSync(`${PROJECT_ROOT}/${path}`, "utf8").matchAll(
        /\b(?:failpoint|sentFailpoint)\("([^"]+)"\)/g,
      )) {
        found.add(name);
      }
    }
  }
  expect([...found].toSorted()).toEqual([...FAILPOINTS].toSorted());
});

test("none is armed by default", () => {
  for (const name of FAILPOINTS) failpoint(name);
});

test.each([
  ["job.begun", { at: "job.begun", pass: 1 }],
  ["upload.stored:12", { at: "upload.stored", pass: 12 }],
  ["job.begun:", undefined],
  ["job.begun:-1", undefined],
  ["job", undefined],
  ["", undefined],
])("%p is parsed", (text, armed) => {
  expect(parseFailpoint(text)).toEqual(armed as ReturnType<typeof parseFailpoint>);
});
