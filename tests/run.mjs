// @ts-check
/**
 * Runs the tests on a machine with Node and nothing else. Each file that fails runs once more, alone; a file that passes then is
 * listed as unsteady.
 *
 * - `npm test`: the gate. Static checks, then every test file but `*.nightly.test.ts`.
 * - `npm run verify`: the gate and the nightly files. Writes `.last-verify.json`.
 * - `npm test -- --changed[=reference]`: static checks and the tests that a change needs (tests/runner/changed.ts).
 * - `npm test -- <path>… [option of bun test]`: the named files or folders, without static checks and second try.
 * - `npm run faults` and `npm run soak [seed]`: every fault, storms at the suite's size or at full size. Both write tests/faults/RESULTS.md.
 */
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { prepareBun } from "#deploy/embedded/bun.mjs";
import { StartFault } from "#deploy/embedded/fault.mjs";
import { closeReaper, watchFolder } from "#deploy/embedded/reaper.mjs";

import { FAULT_ROWS } from "./faults/rows.mjs";
import { RESULTS, runSmall, writeResults } from "./runner/faults.mjs";
import { endOnSignals, runStep } from "./runner/process.mjs";
import { recordRun, stateOf } from "./runner/record.mjs";
import { readReport } from "./runner/report.mjs";
import { scratchEnvironment } from "./runner/scratch.mjs";
import { excessOf, filesOf, isChangedOption, readArguments, testFiles } from "./runner/select.mjs";
import { startServers } from "./runner/servers.mjs";
import { soak } from "./runner/soak.mjs";
import { formatCounts, runSuite } from "./runner/suite.mjs";
import { completeTimings, slowestFiles } from "./runner/timings.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const TEST_TIMEOUT_MS = 60_000;
/** Files run side by side, two for each core: most of a fault test's time is waiting. With six, their processes stood still for seconds. */
const PARALLEL = 4;
const SLOWEST_LISTED = 10;
/**
 * Compiling code costs a seventh of a run's CPU time, and most processes of a test end before it pays. Code that runs long is
 * still compiled; production and soak keep Bun's own thresholds.
 */
const LATE_COMPILING = {
  BUN_JSC_thresholdForJITAfterWarmUp: "2000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "5000",
};
/** Durations of all files: from this folder's last run, and committed ones. */
const TIMINGS = join(ROOT, ".timings.json");
const COMMITTED_TIMINGS = join(ROOT, "tests/timings.json");

/**
 * The encoder of AV1 gives its process real-time priority where it may (SCHED_FIFO 99, as root). In a test's process that goes on
 * to every server which the process starts, and whatever of them is busy keeps all others from their cores.
 */
const SETPRIV = "/usr/bin/setpriv";
const WITHOUT_REAL_TIME =
  process.getuid?.() === 0 && existsSync(SETPRIV)
    ? [SETPRIV, "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "--"]
    : [];

/** They run beside the tests, one after the other. `fix` is what a person does when the step fails. */
const STATIC_STEPS = [
  { name: "generated files are fresh", command: ["bun", "deploy/generate.ts", "--check"], fix: "npm run generate" },
  { name: "format", command: ["oxfmt", "--check"], fix: "npm run fix" },
  { name: "unused code", command: ["knip"], fix: "remove what it names" },
  {
    name: "lint and types",
    command: ["oxlint", "--type-aware", "--type-check", "--threads=1"],
    fix: "npm run fix, then edit what it names",
  },
];

/** @type {(() => Promise<unknown> | void)[]} */
const closing = [];
let interrupted = false;

async function cleanUp() {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
  await closeReaper();
}

const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/**
 * @param {string} name
 * @param {() => Promise<{ isGreen: boolean, detail: string }>} run
 * @returns {Promise<boolean>} whether it was green
 */
async function step(name, run) {
  const began = Date.now();
  const { isGreen, detail } = await run();
  say(`${isGreen ? "ok  " : "FAIL"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)${detail}`);
  return isGreen;
}

/**
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<string[]>} a line for each step that failed
 */
async function staticSteps(env) {
  /** @type {string[]} */
  const failures = [];
  for (const { name, command, fix } of STATIC_STEPS) {
    if (interrupted) return failures;
    const isGreen = await step(name, async () => {
      const code = await runStep(command, { cwd: ROOT, env: { ...env, GOMAXPROCS: "1" } });
      return { isGreen: code === 0, detail: code === 0 ? "" : `: ${fix}` };
    });
    if (!isGreen) failures.push(`FAIL ${name}: ${fix}`);
  }
  return failures;
}

/** @param {string} bun @param {Record<string, string | undefined>} env */
function tester(bun, env) {
  const reports = mkdtempSync(join(tmpdir(), "sluice-report-"));
  watchFolder(reports);
  closing.push(() => rmSync(reports, { recursive: true, force: true }));
  let runs = 0;
  /** @param {readonly string[]} options @param {Record<string, string>} [more] */
  return async (options, more) => {
    runs += 1;
    const report = join(reports, `${runs}.xml`);
    const reporting = [`--timeout=${TEST_TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${report}`];
    const command = [...WITHOUT_REAL_TIME, bun, "test", ...reporting, ...options];
    const code = await runStep(command, { cwd: ROOT, env: { ...env, ...more } });
    return { code, report: readReport(report) };
  };
}

/**
 * The entry of all roles in one file, since the suite starts them hundreds of times.
 * @param {string} bun @param {Record<string, string | undefined>} env
 * @returns {Promise<{ failures: string[], env: Record<string, string> }>}
 */
async function buildEntry(bun, env) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-entry-"));
  watchFolder(directory);
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const entry = join(directory, "sluice");
  const isGreen = await step("entry of the roles", async () => {
    const code = await runStep([bun, "tests/runner/build-entry.ts", ROOT, entry], { cwd: ROOT, env });
    return { isGreen: code === 0, detail: "" };
  });
  return isGreen
    ? { failures: [], env: { TEST_ENTRY: entry } }
    : { failures: ["FAIL entry of the roles: see above"], env: {} };
}

/**
 * Makes every fault there is a row for, storms at their full size in soak, and writes down what became of it.
 * @param {{ isSoak: boolean, seed: string | undefined, commit: string, test: ReturnType<typeof tester> }} options
 * @returns {Promise<boolean>} whether all was green
 */
async function makeFaults({ isSoak, seed, commit, test }) {
  if (seed !== undefined && !/^\d{1,10}$/.test(seed)) {
    throw new StartFault(`expected a whole number as the seed, got "${seed}"`);
  }
  const results = isSoak ? await soak({ root: ROOT, files: testFiles(ROOT), seed, test, say }) : new Map();
  const named = new Set(FAULT_ROWS.flatMap(({ files }) => files.map((file) => `tests/${file}`)));
  const files = [...named].filter((file) => !results.has(file)).toSorted();
  const own = seed === undefined ? randomInt(2 ** 31) : Number(seed);
  for (const [file, result] of await runSmall({ files, seed: own, parallel: PARALLEL, test }))
    results.set(file, result);
  if (interrupted) return false;
  const command = `npm run ${isSoak ? "soak" : "faults"}${seed === undefined ? "" : ` -- ${seed}`}`;
  writeResults({ root: ROOT, rows: FAULT_ROWS, results, commit, command });
  say(`written: ${RESULTS}`);
  const red = [...results].filter(([, { isGreen }]) => !isGreen).map(([file]) => file);
  for (const file of red) say(`FAIL ${file}`);
  return red.length === 0;
}

/**
 * @param {string} bun
 * @param {string} argument `--changed` or `--changed=<git reference>`
 * @returns {string[]} test files that the change needs
 */
function changedTests(bun, argument) {
  const reference = argument.includes("=") ? [argument.slice(argument.indexOf("=") + 1)] : [];
  const command = [join(ROOT, "tests/runner/changed.ts"), ...reference];
  /** @type {import("./runner/changed.ts").Selection & { base: string }} */
  let selection;
  try {
    selection = JSON.parse(
      execFileSync(bun, command, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    );
  } catch (error) {
    const { stderr } = /** @type {{ stderr?: string }} */ (error);
    throw new StartFault(stderr?.trim() || String(error));
  }
  const { base, changed, tests, everything } = selection;
  if (everything !== undefined) say(`${everything} changed, which every test depends on: the whole gate runs`);
  else say(`${changed.length} files differ from ${base}; they need ${tests.length} test files`);
  return [...tests];
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} exit code
 */
async function main(args) {
  const began = Date.now();
  const excess = excessOf(args);
  if (excess !== undefined) {
    throw new StartFault(
      `--changed stands alone, got "${excess}" too; --changed=<reference> names a commit to compare with.`,
    );
  }
  const state = stateOf(ROOT);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const caches = [cache, join(tmpdir(), "sluice-cache")];
  const bun = await prepareBun({ root: ROOT, caches, progress: say });
  const scratch = scratchEnvironment(process.env);
  if (scratch) {
    closing.push(scratch.remove);
    Object.assign(process.env, scratch.env);
  }
  const [mode = "", ...rest] = args;
  const suite = mode === "--verify" ? "verify" : "gate";
  const env = {
    ...process.env,
    PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`,
    TEST_SUITE: suite,
  };
  const isChanged = isChangedOption(mode);
  const isWhole = args.length === 0 || (suite === "verify" && rest.length === 0);
  const makesFaults = mode === "--soak" || mode === "--faults";
  const files = isChanged ? changedTests(bun, mode) : filesOf(suite, testFiles(ROOT));
  const named = isWhole || isChanged || makesFaults ? undefined : namedTests(suite === "verify" ? rest : args, suite);
  /** @type {Promise<string[]>} */
  const statics = isWhole || isChanged ? staticSteps(env) : Promise.resolve([]);
  const entry = named === undefined ? await buildEntry(bun, env) : { failures: [], env: {} };
  if (interrupted) return 130;

  const servers = await startServers({ bun, root: ROOT, caches });
  closing.push(servers.close);
  const test = tester(bun, { ...env, ...servers.env, ...entry.env, ...(mode === "--soak" ? {} : LATE_COMPILING) });
  if (makesFaults) {
    const isGreen = await makeFaults({ isSoak: mode === "--soak", seed: rest[0], commit: state.commit, test });
    return interrupted ? 130 : isGreen ? 0 : 1;
  }
  if (named !== undefined) {
    const timings = existsSync(TIMINGS) ? TIMINGS : COMMITTED_TIMINGS;
    const paths = named.files.map((file) => `./${file}`);
    const { code, report } = await test([`--parallel=${PARALLEL}`, `--timings=${timings}`, ...named.options, ...paths]);
    say(formatCounts(report));
    return interrupted ? 130 : code;
  }
  completeTimings(TIMINGS, COMMITTED_TIMINGS, testFiles(ROOT));
  const sideBySide = [`--timings=${TIMINGS}`, ...(isWhole ? ["--update-timings"] : [])];
  const tests =
    files.length === 0
      ? { isGreen: true, unsteady: [], counts: { passed: 0, failed: 0, skipped: 0 } }
      : await runSuite({ files, parallel: PARALLEL, sideBySide, test, step, isInterrupted: () => interrupted });
  const failures = [...(await statics), ...entry.failures];
  if (interrupted) return 130;
  const isGreen = tests.isGreen && failures.length === 0;
  const seconds = Math.round((Date.now() - began) / 1000);
  // A red run never reports 0 failures, also where no test is to blame.
  const failed = Math.max(tests.counts.failed + failures.length, isGreen ? 0 : 1);
  const { counts, unsteady } = tests;
  if (isWhole) {
    recordRun(ROOT, suite, { ...state, ...counts, failed, unsteady, seconds });
    say("slowest files:");
    for (const { file, ms } of slowestFiles(TIMINGS, files, SLOWEST_LISTED))
      say(`  ${(ms / 1000).toFixed(1)} s ${file}`);
  }
  for (const failure of failures) say(failure);
  for (const file of unsteady) say(`unsteady: ${file} failed beside the others and passed alone`);
  say(`${isGreen ? "green" : "RED"} after ${seconds} s`);
  say(formatCounts({ ...counts, failed }));
  return isGreen ? 0 : 1;
}

/** @param {readonly string[]} args @param {import("./runner/select.mjs").Suite} suite */
function namedTests(args, suite) {
  try {
    return readArguments(args, { root: ROOT, suite });
  } catch (error) {
    throw new StartFault(error instanceof Error ? error.message : String(error));
  }
}

endOnSignals(() => (interrupted = true), cleanUp);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!interrupted) {
    if (!(error instanceof StartFault)) throw error;
    process.stderr.write(`sluice: ${error.message}\n`);
    process.exitCode = 1;
  }
} finally {
  if (!interrupted) await cleanUp();
}
