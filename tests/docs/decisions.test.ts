import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  decisionFiles,
  decisionIndex,
  readDecision,
  readDecisions,
  SUMMARY_WORDS_MAX,
} from "#deploy/generate/decisions.ts";

const ROOT = join(import.meta.dir, "..", "..");
const DECISIONS = join(ROOT, "deploy/decisions");

interface Parts {
  readonly heading?: string;
  readonly status?: string;
  readonly decision?: string;
  readonly sections?: string;
}

/** Text of a valid record 0123, with the given parts instead of its own. */
function record({
  heading = "# 0123 Rows are sorted",
  status = "Status: accepted · Area: ledger",
  decision = "Rows are sorted by\ntime. They are read often.",
  sections = `## Context\n\nRows were unsorted.\n\n## Decision\n\n${decision}\n\n## Consequences\n\nNone.\n`,
}: Parts = {}): string {
  return `${heading}\n\n${status}\n\n${sections}`;
}

/** Writes the records to a new folder, runs the action on it, and deletes the folder. */
async function withRecords<Result>(files: Readonly<Record<string, string>>, act: (dir: string) => Promise<Result>) {
  const dir = await mkdtemp(join(tmpdir(), "sluice-decisions-"));
  try {
    for (const [name, text] of Object.entries(files)) await Bun.write(join(dir, name), text);
    return await act(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

describe("the decision records", () => {
  test("all have a status, an area, the three sections and an entry in the index", async () => {
    const records = await readDecisions(DECISIONS);
    expect(records.length).toBeGreaterThan(70);
    const index = await Bun.file(join(DECISIONS, "README.md")).text();
    expect(records.filter(({ file }) => !index.includes(`](${file})`))).toEqual([]);
    expect(await decisionFiles()).toEqual({ "deploy/decisions/README.md": index });
  });

  test("link to files and name records that exist", async () => {
    const records = await readDecisions(DECISIONS);
    const numbers = new Set(records.map(({ number }) => number));
    const missing: string[] = [];
    for (const { file } of records) {
      const text = await Bun.file(join(DECISIONS, file)).text();
      for (const [, path = ""] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
        if (!path.includes("://") && !(await Bun.file(join(DECISIONS, path)).exists()))
          missing.push(`${file}: ${path}`);
      }
      for (const [, list = ""] of text.matchAll(/\((0\d{3}(?:, 0\d{3})*)\)/g)) {
        missing.push(
          ...list
            .split(", ")
            .filter((number) => !numbers.has(number))
            .map((number) => `${file}: ${number}`),
        );
      }
    }
    expect(missing).toEqual([]);
  });

  test("are named in code and documents by numbers that exist", async () => {
    const numbers = new Set((await readDecisions(DECISIONS)).map(({ number }) => number));
    const glob = new Bun.Glob("{shared,schemas,ingress,workers,deploy}/**/*.{ts,mjs,md,yaml,sql}");
    const unknown: string[] = [];
    let found = 0;
    for await (const file of glob.scan({ cwd: ROOT })) {
      if (file.startsWith("deploy/decisions/")) continue;
      const text = await Bun.file(join(ROOT, file)).text();
      for (const [, number = ""] of text.matchAll(/\bdecisions?[ /](\d{4})\b/g)) {
        found += 1;
        if (!numbers.has(number)) unknown.push(`${file}: ${number}`);
      }
    }
    expect(found).toBeGreaterThan(5);
    expect(unknown).toEqual([]);
  });
});

describe("a record", () => {
  test("is parsed with its title, status, area and the first sentence of its decision", () => {
    expect(
      readDecision("0123-rows.md", record({ status: "Status: amended by 0124, 0125 (outdated: names) · Area: mcp" })),
    ).toEqual({
      file: "0123-rows.md",
      number: "0123",
      title: "Rows are sorted",
      status: "amended by 0124, 0125 (outdated: names)",
      area: "mcp",
      summary: "Rows are sorted by time.",
      successors: ["0124", "0125"],
    });
  });

  test.each<[fault: string, parts: Parts, expected: string]>([
    ["no status", { status: "An opinion." }, 'expected "Status: <status> · Area: <area>"'],
    ["an unknown status", { status: "Status: proposed · Area: ledger" }, 'expected "Status: <status> · Area: <area>"'],
    ["no area", { status: "Status: accepted" }, 'expected "Status: <status> · Area: <area>"'],
    ["an unknown area", { status: "Status: accepted · Area: sales" }, 'unknown area "sales"'],
    ["another number in its title", { heading: "# 0124 Rows are sorted" }, 'expected "# 0123 <title>"'],
    ["a missing section", { sections: "## Context\n\nNone.\n\n## Decision\n\nNone.\n" }, "expected the sections"],
    ["a list as its decision", { decision: "- Rows are sorted." }, "expected a sentence"],
    ["a long first sentence", { decision: `${"very ".repeat(SUMMARY_WORDS_MAX)}long.` }, "expected a sentence"],
  ])("with %s is rejected", (_fault, parts, expected) => {
    expect(() => readDecision("0123-rows.md", record(parts))).toThrow(expected);
  });

  test("with another kind of file name is rejected", () => {
    expect(() => readDecision("Rows.md", record())).toThrow("expected a name of four digits and a slug");
  });
});

describe("a folder of records", () => {
  test("is indexed by area with linked successors, without its template and its index", async () => {
    const status = "Status: amended by 0123 · Area: calls";
    const second = record({ heading: "# 0124 A | B", status, decision: "Both work." });
    const files = { "README.md": "old", "0000-template.md": "form", "0123-rows.md": record(), "0124-both.md": second };
    const index = await withRecords(files, async (dir) => decisionIndex(await readDecisions(dir)));
    expect(index).toContain("## Ledger\n\n| Record | Status | Decision |\n|---|---|---|\n");
    expect(index).toContain("| [0123 Rows are sorted](0123-rows.md) | accepted | Rows are sorted by time. |\n");
    expect(index).toContain("| [0124 A \\| B](0124-both.md) | amended by [0123](0123-rows.md) | Both work. |\n");
    expect(index.indexOf("## Ledger")).toBeLessThan(index.indexOf("## Calls"));
  });

  test("with a duplicate number is rejected", async () => {
    const files = { "0123-other.md": record(), "0123-rows.md": record() };
    expect(withRecords(files, readDecisions)).rejects.toThrow("0123-rows.md: the number is taken");
  });

  test("with a successor that does not exist is rejected", async () => {
    const files = { "0123-rows.md": record({ status: "Status: superseded by 0999 · Area: ledger" }) };
    expect(withRecords(files, readDecisions)).rejects.toThrow("its status names 0999, which does not exist");
  });
});
