import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { filesToRepeat, readReport, sum } from "./runner/report.mjs";
import { completeTimings } from "./runner/timings.mjs";
import { temporaryDirectory } from "./support/infrastructure.ts";

/** Report as Bun writes it: suites of a file follow it and are counted in it. */
const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="7" assertions="1" failures="1" skipped="1" time="0.1">
  <testsuite name="tests/a.test.ts" file="tests/a.test.ts" tests="4" assertions="1" failures="1" skipped="1" time="0.1" hostname="vm">
    <testsuite name="x &amp; y" file="tests/a.test.ts" line="2" tests="4" assertions="1" failures="1" skipped="1" time="0">
      <testcase name="bad" file="tests/a.test.ts"><failure type="AssertionError" message="tests=&quot;9&quot;" /></testcase>
    </testsuite>
  </testsuite>
  <testsuite name="tests/b.test.ts" file="tests/b.test.ts" tests="3" assertions="0" failures="0" skipped="0" time="0.1" hostname="vm">
  </testsuite>
</testsuites>
`;

function reportOf(text: string) {
  const { directory, remove } = temporaryDirectory();
  const path = join(directory, "report.xml");
  writeFileSync(path, text);
  const report = readReport(path);
  remove();
  return report;
}

describe("the report of a run", () => {
  test("counts each file's tests once", () => {
    const { files, ...counts } = reportOf(REPORT);
    expect(counts).toEqual({ passed: 5, failed: 1, skipped: 1 });
    expect([...files.keys()]).toEqual(["tests/a.test.ts", "tests/b.test.ts"]);
  });

  test("names for a second try the files that failed and those that never came to their tests", () => {
    const expected = ["tests/a.test.ts", "tests/b.test.ts", "tests/died-at-load.test.ts"];
    expect(filesToRepeat(reportOf(REPORT), expected)).toEqual(["tests/a.test.ts", "tests/died-at-load.test.ts"]);
  });

  test("that was never written has no test in it", () => {
    const report = readReport("/nowhere/report.xml");
    expect(sum(report.files.values())).toEqual({ passed: 0, failed: 0, skipped: 0 });
    expect(filesToRepeat(report, ["tests/a.test.ts"])).toEqual(["tests/a.test.ts"]);
  });
});

test("each file that is there now has a time: its own, the committed one, or one in the middle", async () => {
  const { directory, remove } = temporaryDirectory();
  const [own, committed] = [join(directory, "own.json"), join(directory, "committed.json")];
  writeFileSync(
    committed,
    JSON.stringify({ version: 1, files: { "a.test.ts": 1, "b.test.ts": 2, "gone.test.ts": 9 } }),
  );
  completeTimings(own, committed, ["a.test.ts", "new.test.ts"]);
  expect(await Bun.file(own).json()).toEqual({ version: 1, files: { "a.test.ts": 1, "new.test.ts": 3_000 } });
  writeFileSync(own, JSON.stringify({ version: 1, files: { "a.test.ts": 7 } }));
  completeTimings(own, committed, ["a.test.ts", "b.test.ts"]);
  expect(await Bun.file(own).json()).toEqual({ version: 1, files: { "a.test.ts": 7, "b.test.ts": 2 } });
  remove();
});
