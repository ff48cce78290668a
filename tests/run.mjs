// @ts-check
/**
 * `npm test` on a machine with Node and nothing else: everything that must hold before a commit, the static steps beside the
 * whole suite over real servers. A file that fails runs once more, alone, after the rest: green then, it is
 * listed as unsteady and the run is green. Arguments go to `bun test` (`npm test -- tests/shared`) and leave the static
 * steps, the second try and the record out. `--soak [seed]` runs the storms at their full size instead (`npm run soak`), `--faults [seed]` all that
 * faults are made in (`npm run faults`).
 */
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { prepareBun } from "#deploy/embedded/bun.mjs";
import { StartFault } from "#deploy/embedded/fault.mjs";
import { closeReaper, watchFolder } from "#deploy/embedded/reaper.mjs";

import { FAULT_ROWS } from "./faults/rows.mjs";
import { RESULTS, runSmall, writeResults } from "./runner/faults.mjs";
import { runStep } from "./runner/process.mjs";
import { recordRun, stateOf } from "./runner/record.mjs";
import { filesToRepeat, readReport, sum } from "./runner/report.mjs";
import { scratchEnvironment } from "./runner/scratch.mjs";
import { startServers } from "./runner/servers.mjs";
import { soak } from "./runner/soak.mjs";
import { completeTimings } from "./runner/timings.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const TEST_TIMEOUT_MS = 60_000;
/** Files run side by side, two for each core: most of a fault test's time is waiting. With six, their processes stood still for seconds. */
const PARALLEL = 4;
/**
 * Compiling code costs a seventh of a run's CPU time, and most processes of a test end before it pays. Code that runs long is
 * still compiled; production and soak keep Bun's own thresholds.
 */
const LATE_COMPILING = {
  BUN_JSC_thresholdForJITAfterWarmUp: "2000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "5000",
};
/** Files that go by how much memory a process takes: a garbage collector without a core of its own falls behind. */
const ALONE = ".alone.test.ts";
/** Durations of all files: those that this folder's last run wrote, and those of the committed file. */
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

/** Beside the tests, which wait for some of their time. `fix` is what a person does when the step fails. */
const STATIC_STEPS = [
  { name: "generated files are fresh", command: ["bun", "deploy/generate.ts", "--check"], fix: "npm run generate" },
  { name: "format", command: ["oxfmt", "--check"], fix: "npm run fix" },
  { name: "unused code", command: ["knip"], fix: "remove what it names" },
];
/** On one core, beside the tests that run alone and leave the other to it. */
const LINT = {
  name: "lint and types",
  command: ["oxlint", "--type-aware", "--type-check", "--threads=1"],
  fix: "npm run fix, then by hand what it names",
};

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
 * One after the other.
 * @param {readonly typeof LINT[]} steps
 * @param {Record<string, string | undefined>} env @returns {Promise<string[]>} a line for each that failed
 */
async function staticSteps(steps, env) {
  /** @type {string[]} */
  const failures = [];
  for (const { name, command, fix } of steps) {
    if (interrupted) return failures;
    const isGreen = await step(name, async () => {
      const code = await runStep(command, { cwd: ROOT, env });
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

/** @param {import("./runner/report.mjs").Counts} counts */
function told({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function testFiles() {
  return readdirSync(join(ROOT, "tests"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `tests/${file}`)
    .toSorted();
}

/**
 * Every test file; those that failed once more, alone.
 * @param {ReturnType<typeof tester>} test
 * @param {() => void} beforeAlone called when the files that run alone begin
 */
async function wholeSuite(test, beforeAlone) {
  const all = testFiles();
  const rounds = [
    {
      name: "tests",
      files: all.filter((file) => !file.endsWith(ALONE)),
      options: [
        `--parallel=${PARALLEL}`,
        `--timings=${TIMINGS}`,
        "--update-timings",
        `--path-ignore-patterns=**/*${ALONE}`,
        "./tests",
      ],
    },
    {
      name: "tests that measure memory",
      files: all.filter((file) => file.endsWith(ALONE)),
      options: ["--isolate", ALONE],
      begin: beforeAlone,
    },
  ];
  /** @type {import("./runner/report.mjs").Counts[]} */
  const results = [];
  /** @type {string[]} */
  const repeated = [];
  let isGreen = true;
  for (const { name, files, options, begin } of rounds) {
    if (interrupted) break;
    begin?.();
    await step(name, async () => {
      const { code, report } = await test(options);
      // Without a report, or red without a red file, it has failed for a reason that a second try would hide.
      const failing = report.files.size === 0 ? [] : filesToRepeat(report, files);
      isGreen &&= report.files.size > 0 && (code === 0 || failing.length > 0);
      for (const file of failing) report.files.delete(file);
      results.push(...report.files.values());
      repeated.push(...failing);
      return { isGreen: code === 0, detail: `: ${told(report)}` };
    });
  }
  /** @type {string[]} */
  const unsteady = [];
  for (const file of repeated) {
    if (interrupted) break;
    const again = await step(`${file} once more, alone`, async () => {
      const { code, report } = await test(["--isolate", `./${file}`]);
      results.push({ ...report, failed: code === 0 ? 0 : Math.max(1, report.failed) });
      return { isGreen: code === 0, detail: `: ${told(report)}` };
    });
    if (again) unsteady.push(file);
    isGreen &&= again;
  }
  return { isGreen, unsteady, counts: sum(results) };
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
  const results = isSoak ? await soak({ root: ROOT, files: testFiles(), seed, test, say }) : new Map();
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
 * @param {readonly string[]} extra
 * @returns {Promise<number>} exit code
 */
async function main(extra) {
  const began = Date.now();
  const state = stateOf(ROOT);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const caches = [cache, join(tmpdir(), "sluice-cache")];
  const bun = await prepareBun({ root: ROOT, caches, progress: say });
  const scratch = scratchEnvironment(process.env);
  if (scratch) {
    closing.push(scratch.remove);
    Object.assign(process.env, scratch.env);
  }
  const env = { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}` };
  const isWhole = extra.length === 0;
  const isSoak = extra[0] === "--soak";
  const makesFaults = isSoak || extra[0] === "--faults";
  /** @type {Promise<string[]>[]} */
  const statics = isWhole ? [staticSteps(STATIC_STEPS, env)] : [];
  const entry = isWhole || makesFaults ? await buildEntry(bun, env) : { failures: [], env: {} };
  if (interrupted) return 130;

  const servers = await startServers({ bun, root: ROOT, caches });
  closing.push(servers.close);
  const test = tester(bun, { ...env, ...servers.env, ...entry.env, ...(isSoak ? {} : LATE_COMPILING) });
  if (makesFaults) {
    const isGreen = await makeFaults({ isSoak, seed: extra[1], commit: state.commit, test });
    return interrupted ? 130 : isGreen ? 0 : 1;
  }
  if (!isWhole) {
    const timings = existsSync(TIMINGS) ? TIMINGS : COMMITTED_TIMINGS;
    const { code, report } = await test([`--parallel=${PARALLEL}`, `--timings=${timings}`, ...extra]);
    say(told(report));
    return interrupted ? 130 : code;
  }
  completeTimings(TIMINGS, COMMITTED_TIMINGS, testFiles());
  const { isGreen, unsteady, counts } = await wholeSuite(test, () => {
    statics.push(staticSteps([LINT], { ...env, GOMAXPROCS: "1" }));
  });
  const failures = [...(await Promise.all(statics)).flat(), ...entry.failures];
  if (interrupted) return 130;
  const seconds = Math.round((Date.now() - began) / 1000);
  // Never 0 of a red run, also where no test is to blame.
  const failed = Math.max(counts.failed + failures.length, isGreen && failures.length === 0 ? 0 : 1);
  recordRun(ROOT, { ...state, passed: counts.passed, failed, unsteady, seconds });
  for (const failure of failures) say(failure);
  for (const file of unsteady) say(`unsteady: ${file} failed beside the others and passed alone`);
  say(`${isGreen && failures.length === 0 ? "green" : "RED"} after ${seconds} s`);
  say(told({ ...counts, failed }));
  return isGreen && failures.length === 0 ? 0 : 1;
}

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    void cleanUp().finally(() => process.exit(130));
  });
}

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
