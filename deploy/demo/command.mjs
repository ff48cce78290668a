// @ts-check
/** `npm run demo` as a whole: find a stack or start one, call it, stop what was started. */
import { spawn } from "node:child_process";
import { prepareBun } from "../embedded/bun.mjs";
import { StartFault } from "../embedded/fault.mjs";
import { closeReaper, forget, watch } from "../embedded/reaper.mjs";
import { runningStack } from "../supervisor/address.mjs";
import { cachesOf, dataDirOf } from "../embedded/settings.mjs";
import { readWishes, USAGE } from "./arguments.mjs";
import { startOwnStack } from "./own-stack.mjs";
import { openTerminal } from "./terminal.mjs";

/** Exit code that a shell reports for a program ended by Ctrl-C. */
const INTERRUPTED = 130;

/** @typedef {import("../supervisor/address.mjs").Address} Address */

/**
 * Never returns: the process ends with 0 when every call succeeded.
 * @param {string} root the project's folder
 * @param {readonly string[]} args
 * @returns {Promise<void>}
 */
export async function demonstrate(root, args) {
  /** @type {(() => Promise<unknown> | void)[]} */
  const closing = [];
  /** @type {Promise<never> | undefined} */
  let ending;
  const end = (/** @type {number} */ code) => {
    ending ??= (async () => {
      for (const close of closing.toReversed()) await close();
      await closeReaper();
      return process.exit(code);
    })();
    return ending;
  };
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => void end(INTERRUPTED));
  }
  try {
    await end(await run(root, args, closing));
  } catch (error) {
    // What is stopped in the middle fails, and that is no news.
    if (ending !== undefined) await ending;
    if (!(error instanceof StartFault)) throw error;
    process.stderr.write(`sluice: ${error.message}\n`);
    await end(1);
  }
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @param {(() => Promise<unknown> | void)[]} closing run in reverse at the end
 * @returns {Promise<number>} exit code
 */
async function run(root, args, closing) {
  // npm runs scripts in the project's folder; INIT_CWD is where the person stands.
  const wishes = readWishes(args, process.env, process.env["INIT_CWD"] ?? process.cwd());
  if (wishes.isHelp) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const terminal = openTerminal(process.stdout);
  const dataDir = dataDirOf(process.env);
  const waiting = terminal.wait("preparing");
  // Minutes on a new machine: where no line can move, each step is one.
  const progress = process.stdout.isTTY ? waiting.tell : terminal.line;
  try {
    const bun = await prepareBun({ root, caches: cachesOf(process.env, dataDir), progress });
    const found = wishes.baseUrl === undefined ? runningStack(dataDir) : foreign(wishes.baseUrl, wishes.key);
    const address =
      found ?? (await startOwnStack({ root, dataDir, progress, onLaunch: (stop) => void closing.push(stop) }));
    waiting.end(`Sluice at ${address.baseUrl}${found === null ? ", started for this demonstration" : ""}\n`);
    const { out, models } = wishes;
    const key = wishes.key ?? address.key;
    return await call(bun, root, { baseUrl: address.baseUrl, key, out, models }, closing);
  } catch (error) {
    waiting.end("");
    throw error;
  }
}

/**
 * A stack that was named. It is told no key but the one that was named for it.
 * @param {string} baseUrl
 * @param {string | undefined} key
 * @returns {Address}
 */
function foreign(baseUrl, key) {
  if (key === undefined) throw new StartFault(`A key for ${baseUrl} is needed: pass --key, or set SLUICE_KEY.`);
  return { baseUrl, key, databaseUrl: null };
}

/**
 * The calls themselves, which need what bare Node has not.
 * @param {string} bun
 * @param {string} root
 * @param {object} plan as deploy/demo/main.ts reads it; on stdin, since command lines can be read by anybody
 * @param {(() => Promise<unknown> | void)[]} closing
 * @returns {Promise<number>}
 */
async function call(bun, root, plan, closing) {
  const child = spawn(bun, ["deploy/demo/main.ts"], { cwd: root, stdio: ["pipe", "inherit", "inherit"] });
  const { pid } = child;
  if (pid !== undefined) watch(pid, "TERM");
  const ended = new Promise((/** @type {(code: number) => void} */ done) => {
    child.once("error", () => done(1));
    child.once("exit", (code) => done(code ?? 1));
  });
  closing.push(async () => {
    child.kill();
    await ended;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(plan));
  const code = await ended;
  if (pid !== undefined) forget(pid);
  return code;
}
