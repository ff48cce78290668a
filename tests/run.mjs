// @ts-check
/**
 * `npm test` on a machine with Node and nothing else: everything that must hold before a commit, one step after the
 * other, and the whole suite over real servers. Arguments go to `bun test` (`npm test -- tests/shared`) and leave the
 * static steps out.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareBun } from "#deploy/embedded/bun.mjs";
import { StartFault } from "#deploy/embedded/fault.mjs";
import { natsBinary } from "#deploy/embedded/nats-binary.mjs";
import { startPostgres } from "#deploy/embedded/postgres.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { forget, closeReaper, watch, watchFolder } from "#deploy/embedded/reaper.mjs";
import { startS3 } from "#deploy/embedded/s3.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const TEST_TIMEOUT_MS = 60_000;
/** Files run side by side: most of a fault test's time is waiting. On two cores 12.3 min became 5.3. */
const PARALLEL = 3;
/** How long each file took, so that the slowest begin first; `npm test -- ./tests --update-timings` writes it anew. */
const TIMINGS = join(ROOT, "tests/timings.json");
const SIDE_BY_SIDE = [`--parallel=${PARALLEL}`, `--timings=${TIMINGS}`];
/** Files that go by how much memory a process takes: a garbage collector without a core of its own falls behind. */
const ALONE = ".alone.test.ts";

/** `fix` is what a person does when the step fails. */
const STATIC_STEPS = [
  { name: "generated files are fresh", command: ["bun", "deploy/generate.ts", "--check"], fix: "npm run generate" },
  { name: "format", command: ["oxfmt", "--check"], fix: "npm run fix" },
  { name: "lint", command: ["oxlint", "--type-aware"], fix: "npm run fix, then by hand what it names" },
  { name: "types", command: ["tsc", "--noEmit"], fix: "mend the types it names" },
  { name: "unused code", command: ["knip"], fix: "remove what it names" },
];

/** @type {(() => Promise<unknown> | void)[]} */
const closing = [];
let interrupted = false;
let isClosing = false;

async function cleanUp() {
  isClosing = true;
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
  await closeReaper();
}

/**
 * @param {readonly string[]} command the program and its arguments
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<number>} exit code; 1 when it was killed or could not be started
 */
function step([program = "", ...args], env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
    const { pid } = child;
    if (pid !== undefined) watch(pid, "TERM");
    const finish = (/** @type {number | null} */ code) => {
      if (pid !== undefined) forget(pid);
      resolve(code ?? 1);
    };
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      finish(1);
    });
    child.once("exit", finish);
  });
}

/** @param {import("#deploy/embedded/process.mjs").Running} server */
async function tellOfEnd(server) {
  const { code, signal } = await server.exited;
  if (isClosing) return;
  const last = server.lines().slice(-20).join("\n");
  process.stdout.write(`the shared ${server.name} ended under the tests (${signal ?? code}):\n${last}\n`);
}

/**
 * The servers all test files share, named in the environment as tests/support/infrastructure.ts expects them.
 * @param {string} bun
 * @param {string} cache
 * @returns {Promise<Record<string, string>>}
 */
async function sharedServers(bun, cache) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-test-"));
  watchFolder(directory);
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const progress = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);
  const [nats, postgres, s3] = await Promise.all([
    natsBinary({ caches: [cache, join(tmpdir(), "sluice-cache")], progress }),
    startPostgres({ directory: join(directory, "postgres"), port: await freePort(), throwaway: true }),
    startS3({ bun, root: ROOT, directory: join(directory, "s3"), port: await freePort(), buckets: [] }),
  ]);
  for (const server of [postgres, s3]) {
    void tellOfEnd(server);
  }
  closing.push(() => postgres.stopAs("immediate"));
  closing.push(() => s3.stop());
  return { TEST_NATS_SERVER: nats, TEST_POSTGRES_URL: postgres.url, TEST_S3_URL: s3.url };
}

/**
 * @param {string} report a JUnit file
 * @returns {{ passed: number, failed: number, skipped: number } | null} null when bun wrote none
 */
function counts(report) {
  if (!existsSync(report)) return null;
  const head = /<testsuites\b[^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "";
  const number = (/** @type {string} */ name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const failed = number("failures") + number("errors");
  const skipped = number("skipped");
  return { passed: number("tests") - failed - skipped, failed, skipped };
}

/**
 * @param {readonly string[]} extra
 * @returns {Promise<number>} exit code
 */
async function main(extra) {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const caches = [cache, join(tmpdir(), "sluice-cache")];
  const bun = await prepareBun({ root: ROOT, caches, progress: (text) => void process.stdout.write(`${text}\n`) });
  const env = { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}` };
  /** @type {{ name: string, fix: string }[]} */
  const failures = [];

  for (const { name, command, fix } of extra.length === 0 ? STATIC_STEPS : []) {
    if (interrupted) return 130;
    const began = Date.now();
    const code = await step(command, env);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)${code === 0 ? "" : `: ${fix}`}\n`);
    if (code !== 0) failures.push({ name, fix });
  }
  if (interrupted) return 130;

  const servers = await sharedServers(bun, cache);
  const reports = mkdtempSync(join(tmpdir(), "sluice-report-"));
  watchFolder(reports);
  const rounds =
    extra.length === 0
      ? [
          { name: "tests", options: [...SIDE_BY_SIDE, `--path-ignore-patterns=**/*${ALONE}`, "./tests"] },
          { name: "tests that measure memory", options: ["--isolate", ALONE] },
        ]
      : [{ name: "tests", options: [...SIDE_BY_SIDE, ...extra] }];
  let areGreen = true;
  for (const [at, { name, options }] of rounds.entries()) {
    const report = join(reports, `${at}.xml`);
    const began = Date.now();
    const reporting = [`--timeout=${TEST_TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${report}`];
    const code = await step([bun, "test", ...reporting, ...options], { ...env, ...servers });
    if (interrupted) return 130;
    const result = counts(report);
    areGreen &&= code === 0 && result !== null;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    const skipped = result === null || result.skipped === 0 ? "" : `, ${result.skipped} skipped`;
    const said = result === null ? "no report" : `${result.passed} passed, ${result.failed} failed${skipped}`;
    process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s): ${said}\n`);
  }
  for (const { name, fix } of failures) process.stdout.write(`FAIL ${name}: ${fix}\n`);
  return areGreen && failures.length === 0 ? 0 : 1;
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
