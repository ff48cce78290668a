import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { run } from "#deploy/embedded/process.mjs";

import { AREAS } from "./runner/areas.ts";
import { createSelector, projectSources, readChange } from "./runner/changed.ts";
import { filesToRepeat, readReport, sum } from "./runner/report.mjs";
import { excessOf, filesOf, isAlone, isNightly, readArguments, testFiles } from "./runner/select.mjs";
import { runSuite } from "./runner/suite.mjs";
import { completeTimings, slowestFiles } from "./runner/timings.mjs";
import { PROJECT_ROOT, temporaryDirectory } from "./support/infrastructure.ts";

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

  test("lists for a second run the failed files and those that never ran their tests", () => {
    const expected = ["tests/a.test.ts", "tests/b.test.ts", "tests/died-at-load.test.ts"];
    expect(filesToRepeat(reportOf(REPORT), expected)).toEqual(["tests/a.test.ts", "tests/died-at-load.test.ts"]);
  });

  test("that was never written has no tests", () => {
    const report = readReport("/nowhere/report.xml");
    expect(sum(report.files.values())).toEqual({ passed: 0, failed: 0, skipped: 0 });
    expect(filesToRepeat(report, ["tests/a.test.ts"])).toEqual(["tests/a.test.ts"]);
  });
});

test("each existing file has a duration: its own, the committed one, or the median", async () => {
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

test("the slowest files of the last run come first", async () => {
  const { directory, remove } = temporaryDirectory();
  const path = join(directory, "timings.json");
  writeFileSync(path, JSON.stringify({ version: 1, files: { "a.test.ts": 1, "b.test.ts": 3, "c.test.ts": 9 } }));
  expect(slowestFiles(path, ["a.test.ts", "b.test.ts", "new.test.ts"], 2)).toEqual([
    { file: "b.test.ts", ms: 3 },
    { file: "a.test.ts", ms: 1 },
  ]);
  remove();
});

describe("the suites", () => {
  test("differ by the nightly files only", () => {
    const all = testFiles(PROJECT_ROOT);
    expect(filesOf("verify", all)).toEqual(all);
    const nightly = all.filter(isNightly);
    expect(nightly.length).toBeGreaterThan(0);
    expect([...filesOf("gate", all), ...nightly].toSorted()).toEqual(all);
  });

  test("list a file that runs alone in either of them", () => {
    expect(["a.alone.test.ts", "a.alone.nightly.test.ts", "alone.test.ts"].map(isAlone)).toEqual([true, true, false]);
  });

  test("read a folder as its files, a file as itself, and anything else as an option", () => {
    const read = (...args: string[]) => readArguments(args, { root: PROJECT_ROOT, suite: "gate" });
    const folder = read("tests/faults/", "-t", "a name");
    expect(folder.options).toEqual(["-t", "a name"]);
    expect(folder.files).toContain("tests/faults/poison.test.ts");
    expect(folder.files.filter(isNightly)).toEqual([]);
    expect(read("./tests/faults/sigterm.nightly.test.ts").files).toEqual(["tests/faults/sigterm.nightly.test.ts"]);
    expect(() => read("tests/runner")).toThrow("tests/runner has no test file of the gate");
  });
});

describe("a run of a suite", () => {
  const counts = (passed: number, failed: number) => ({ passed, failed, skipped: 0 });
  /** Runs files whose reports are given: the first entry of a file is that of the first round. */
  async function play(results: Readonly<Record<string, number[]>>) {
    const runs: string[][] = [];
    const seen = new Map<string, number>();
    const result = await runSuite({
      files: Object.keys(results),
      parallel: 4,
      sideBySide: ["--x"],
      step: async (_name, run) => (await run()).isGreen,
      isInterrupted: () => false,
      test: (options) => {
        runs.push([...options]);
        const files = options.filter((one) => one.startsWith("./")).map((one) => one.slice(2));
        const report = new Map(
          files.map((file) => {
            const at = seen.get(file) ?? 0;
            seen.set(file, at + 1);
            return [file, counts(1, results[file]?.[at] ?? 0)] as const;
          }),
        );
        const total = sum(report.values());
        return Promise.resolve({ code: total.failed > 0 ? 1 : 0, report: { ...total, files: report } });
      },
    });
    return { ...result, runs };
  }

  test("runs files that measure memory after the others, one by one", async () => {
    const { isGreen, runs } = await play({ "b.alone.test.ts": [0], "a.test.ts": [0] });
    expect(isGreen).toBe(true);
    expect(runs).toEqual([
      ["--parallel=4", "--x", "./a.test.ts"],
      ["--isolate", "./b.alone.test.ts"],
    ]);
  });

  test("is green with an unsteady file, and red with one that fails twice", async () => {
    const unsteady = await play({ "a.test.ts": [2, 0], "b.test.ts": [0] });
    expect(unsteady).toMatchObject({ isGreen: true, unsteady: ["a.test.ts"], counts: counts(2, 0) });
    const red = await play({ "a.test.ts": [2, 1] });
    expect(red).toMatchObject({ isGreen: false, unsteady: [], counts: counts(1, 1) });
  });

  test("is red when the runner fails without a failed file, and when it has no file", async () => {
    const runFiles = (files: string[]) =>
      runSuite({
        files,
        parallel: 4,
        sideBySide: [],
        step: async (_name, one) => (await one()).isGreen,
        isInterrupted: () => false,
        test: () =>
          Promise.resolve({ code: 1, report: { ...counts(1, 0), files: new Map([["a.test.ts", counts(1, 0)]]) } }),
      });
    expect((await runFiles(["a.test.ts"])).isGreen).toBe(false);
    expect((await runFiles([])).isGreen).toBe(false);
  });
});

describe("a killed run", () => {
  /** Resolves when no process is left that could print, as its workers can. */
  async function killed(signal: NodeJS.Signals, ...args: string[]): Promise<string> {
    const script = join(PROJECT_ROOT, "tests/runner/interrupted.mjs");
    const run = Bun.spawn(["node", script, ...args], { stdout: "pipe", stderr: "inherit" });
    let printed = "";
    for await (const piece of run.stdout.pipeThrough(new TextDecoderStream())) {
      if (printed === "" && piece.startsWith("ready")) run.kill(signal);
      printed += piece;
    }
    await run.exited;
    return printed;
  }

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s ends its workers, and then cleans up",
    async (signal) => {
      expect(await killed(signal)).toBe("ready\ninterrupted\ncleaned up\n");
    },
    30_000,
  );

  test("by SIGKILL leaves no worker", async () => {
    expect(await killed("SIGKILL")).toBe("ready\n");
  }, 30_000);

  test("by SIGKILL before it has registered its workers starts none", async () => {
    expect(await killed("SIGKILL", "dies-at-start")).toBe("");
  }, 30_000);
});

describe("a change", () => {
  const folders: (() => void)[] = [];
  afterEach(() => folders.splice(0).forEach((remove) => remove()));

  /** A repository with two commits, on the branch `main`. */
  async function repository() {
    const { directory, remove } = temporaryDirectory();
    folders.push(remove);
    const root = join(directory, "repository");
    const git = async (...args: string[]): Promise<string> => {
      const own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
      const cwd = existsSync(root) ? root : directory;
      const { code, stdout, stderr } = await run({ name: "git", command: "git", args: [...own, ...args], cwd });
      if (code !== 0) throw new Error(stderr);
      return stdout;
    };
    const write = (file: string, text: string): void => writeFileSync(join(root, file), text);
    const commit = async (file: string, text = "x"): Promise<void> => {
      write(file, text);
      await git("add", file);
      await git("commit", "--quiet", "-m", file);
    };
    await git("init", "--quiet", root);
    await commit("a.ts");
    await commit("old name ä.ts");
    return { directory, root, git, write, commit };
  }

  test("is the difference of a branch without an upstream to main, plus uncommitted changes", async () => {
    const { root, git, write, commit } = await repository();
    await git("switch", "--quiet", "-c", "own");
    await commit("b.ts");
    write("a.ts", "changed");
    write("c.ts", "untracked");
    await git("mv", "old name ä.ts", "new name ä.ts");
    const { base, files } = readChange(root);
    expect(base).toMatch(/^[0-9a-f]{12}, where the branch left main$/);
    expect(files).toEqual(["a.ts", "b.ts", "c.ts", "new name ä.ts", "old name ä.ts"]);
    await git("stash", "--quiet", "--include-untracked");
    await git("switch", "--quiet", "--detach");
    expect(readChange(root).files).toEqual(["b.ts"]);
    expect(readChange(root, "HEAD")).toEqual({ base: "HEAD", files: [] });
    expect(() => readChange(root, "nowhere")).toThrow('git cannot compare with "nowhere": ');
  });

  test("is an error if a shallow clone lacks the merge base", async () => {
    const { directory, root, git, commit } = await repository();
    await git("switch", "--quiet", "-c", "own");
    await commit("b.ts");
    await git("switch", "--quiet", "main");
    const clone = join(directory, "clone");
    await git("clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=own", `file://${root}`, clone);
    await git("-C", clone, "branch", "--quiet", "--unset-upstream");
    expect(() => readChange(clone)).toThrow("git has no common commit of HEAD and origin/HEAD, as in a shallow clone");
  });

  test("accepts no argument beside --changed", () => {
    expect(excessOf(["--changed"])).toBeUndefined();
    expect(excessOf(["tests/shared", "-t", "a"])).toBeUndefined();
    expect([excessOf(["--changed", "main"]), excessOf(["--verify", "--changed=main"])]).toEqual(["main", "--verify"]);
  });
});

describe("the tests that a change needs", () => {
  const tests = testFiles(PROJECT_ROOT);
  const select = createSelector(projectSources(PROJECT_ROOT), tests);
  const needed = (...changed: string[]) => select(changed);

  test("are at least one for each file of the product", async () => {
    const layers = "{schemas,shared,ingress,workers,deploy}";
    const files = await Array.fromAsync(new Bun.Glob(`${layers}/**/*`).scan({ cwd: PROJECT_ROOT }));
    expect(files.length).toBeGreaterThan(1_000);
    expect(files.filter((file) => needed(file).tests.length === 0)).toEqual([]);
  });

  test("import the changed file, directly or not, by a value", () => {
    const chain = new Map([
      ["shared/a.ts", ""],
      ["shared/b.ts", 'import { a } from "./a.ts";'],
      ["shared/c.ts", 'import type { A } from "./a.ts";'],
      ["tests/b.test.ts", 'import { b } from "#shared/b.ts";'],
      ["tests/c.test.ts", 'import { c } from "#shared/c.ts";'],
      ["tests/d.nightly.test.ts", 'import { b } from "#shared/b.ts";'],
    ]);
    const own = [...chain.keys()].filter((file) => file.endsWith(".test.ts"));
    const selectOwn = createSelector(chain, own, []);
    expect(selectOwn(["shared/a.ts"]).tests).toEqual(["tests/b.test.ts"]);
    expect(selectOwn(["tests/d.nightly.test.ts"]).tests).toEqual(["tests/d.nightly.test.ts"]);
  });

  test("are faults of the area, and tests of the folder if nothing imports the file", () => {
    expect(needed("workers/providers/anthropic/request.ts").tests).toEqual(
      expect.arrayContaining(["tests/providers/anthropic/request.test.ts", "tests/faults/provider-silent.test.ts"]),
    );
    expect(needed("shared/database/migrations/0004_ledger.sql").tests).toEqual(
      expect.arrayContaining(["tests/shared/database/migrate.test.ts", "tests/faults/postgres-restart.test.ts"]),
    );
    expect(needed("workers/capabilities/image/resize.ts").tests).toContain("tests/workers/capabilities/image.test.ts");
    expect(needed("shared/process/process.ts").tests).toEqual(
      expect.arrayContaining(["tests/deploy/all.test.ts", "tests/faults/worker-death.test.ts"]),
    );
  });

  test("are the whole gate when a file changed that every test depends on", () => {
    const { tests: selected, everything } = needed("shared/base/money.ts", "bun.lock");
    expect(everything).toBe("bun.lock");
    expect(selected).toEqual(filesOf("gate", tests));
  });

  test("are listed in a table whose paths and tests exist", () => {
    const exists = (path: string) => existsSync(join(PROJECT_ROOT, path));
    expect(AREAS.flatMap(({ paths }) => paths).filter((path) => !exists(path))).toEqual([]);
    const named = AREAS.flatMap((area) => area.tests.map((one) => `tests/${one}`));
    const gate = filesOf("gate", tests);
    const isThere = (name: string) => gate.some((one) => (name.endsWith("/") ? one.startsWith(name) : one === name));
    expect(named.filter((name) => !isThere(name))).toEqual([]);
  });
});
