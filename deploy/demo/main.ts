/** `npm run demo` in the project's Bun: finds a stack or starts one, calls everything once, compares the books, stops what was started. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { formatCredits } from "#shared/money.ts";

import { StartFault } from "../embedded/fault.mjs";
import { closeReaper } from "../embedded/reaper.mjs";
import { type Call, CALLS, type Outcome } from "./calls.ts";
import { type Client, openClient, readBalance, reasonOf, recordedCost } from "./client.ts";
import { type Done, pageOf } from "./page.ts";
import { findStack, readWishes, USAGE } from "./stack.mjs";
import { openTerminal } from "./terminal.ts";

/** Exit code that a shell reports for a program ended by Ctrl-C. */
const INTERRUPTED = 130;

const [node = "node", ...args] = process.argv.slice(2);
const terminal = openTerminal(process.stdout);
let stopStack = async (): Promise<unknown> => undefined;
let ending: Promise<never> | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(INTERRUPTED));
try {
  await end(await demonstrate());
} catch (error) {
  // What is stopped in the middle fails, and that is no news.
  if (ending !== undefined) await ending;
  if (!(error instanceof StartFault)) throw error;
  process.stderr.write(`sluice: ${error.message}\n`);
  await end(1);
}

function end(code: number): Promise<never> {
  ending ??= stopStack()
    .then(closeReaper)
    .then(() => process.exit(code));
  return ending;
}

/** @returns exit code: 0 when no call failed and the books agree */
async function demonstrate(): Promise<number> {
  const wishes = readWishes(args);
  if (wishes.isHelp) return said(USAGE, 0);
  const unknown = Object.keys(wishes.models).find((name) => !CALLS.some((call) => call.name === name));
  if (unknown !== undefined) {
    return said(`There is no call "${unknown}"; there are ${CALLS.map(({ name }) => name).join(", ")}.`, 1);
  }
  const stack = await openStack(wishes);
  const client = openClient(stack);
  try {
    await client.sdk.models.list();
  } catch (error) {
    return said(`Sluice cannot be called at ${stack.baseUrl}: ${reasonOf(error)}`, 1);
  }
  const { nano: before, records } = await readBalance(client);
  const all = await runCalls(client, wishes);
  const page = join(wishes.out, "index.html");
  await writeFile(page, await pageOf(all, new Date()));
  const failed = all.filter(({ result }) => "fault" in result).map(({ call }) => call.name);
  const skipped = all.filter(({ result }) => "skipped" in result).map(({ call }) => call.name);
  const isBalanced = await agrees(client, { before, records, all, failures: failed.length });
  terminal.line(`\nTo look at: ${page}`);
  const share = (some: readonly string[]): string => `${some.length} of ${all.length} calls`;
  if (skipped.length > 0) {
    terminal.line(`${share(skipped)} show nothing, for want of a way to the web: ${skipped.join(", ")}.`);
  }
  if (failed.length > 0) terminal.line(`${share(failed)} failed: ${failed.join(", ")}.`);
  return failed.length === 0 && isBalanced ? 0 : 1;
}

function said(line: string, code: number): number {
  terminal.line(line);
  return code;
}

async function openStack(wishes: ReturnType<typeof readWishes>) {
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const waiting = terminal.wait("preparing");
  // Minutes on a new machine: where no line can move, each step is one.
  const progress = process.stdout.isTTY ? waiting.tell : terminal.line;
  try {
    const stack = await findStack(wishes, { root, node, progress, onLaunch: (stop) => void (stopStack = stop) });
    waiting.end(`Sluice at ${stack.baseUrl}${stack.isOwn ? ", started for this demonstration" : ""}\n`);
    return stack;
  } catch (error) {
    waiting.end("");
    throw error;
  }
}

/** Runs the calls one after the other and keeps what they make; a failure ends only what needed it. */
async function runCalls(
  client: Client,
  { out, models }: Pick<ReturnType<typeof readWishes>, "out" | "models">,
): Promise<readonly Done[]> {
  await mkdir(out, { recursive: true });
  terminal.line(row("call", "model", "seconds", "credits", "saved"));
  const all: Done[] = [];
  for (const call of CALLS) {
    const model = models[call.name] ?? call.model;
    const waiting = terminal.wait(row(call.name, model, "", "", ""));
    const began = performance.now();
    const made = (name: string): Outcome => madeBy(all, name);
    const result = await attempt(call, { client, model, tell: waiting.tell, made }, out);
    // A call that is stopped in the middle fails, and that is no news.
    if (ending !== undefined) await ending;
    const seconds = (performance.now() - began) / 1_000;
    const done = { call, model, seconds, credits: "receipt" in result ? result.receipt.credits : 0n, result };
    all.push(done);
    waiting.end(lineOf(done));
  }
  const seconds = all.reduce((sum, done) => sum + done.seconds, 0);
  const credits = all.reduce((sum, done) => sum + done.credits, 0n);
  terminal.line(row("total", "", seconds.toFixed(1), formatCredits(credits), ""));
  return all;
}

async function attempt(call: Call, stage: Parameters<Call["run"]>[0], out: string): Promise<Done["result"]> {
  try {
    const result = await call.run(stage);
    if ("artifacts" in result) for (const { file, bytes } of result.artifacts) await writeFile(join(out, file), bytes);
    return result;
  } catch (error) {
    return { fault: reasonOf(error) };
  }
}

/** @throws Error when that call failed */
function madeBy(all: readonly Done[], name: string): Outcome {
  const result = all.find(({ call }) => call.name === name)?.result;
  if (!result || !("receipt" in result)) throw new Error(`needs what "${name}" makes, and that failed`);
  return result;
}

/** One line of the table. Numbers are on the right, so that they can be compared. */
function row(name: string, model: string, seconds: string, credits: string, rest: string): string {
  const cells = [name.padEnd(14), model.padEnd(24), seconds.padStart(8), credits.padStart(15), ` ${rest}`];
  return cells.join(" ").trimEnd();
}

function lineOf({ call, model, seconds, credits, result }: Done): string {
  const line = (price: string, rest: string): string => row(call.name, model, seconds.toFixed(1), price, rest);
  if ("fault" in result) return line("-", `FAILED: ${result.fault}`);
  if ("skipped" in result) return line("-", `SKIPPED: ${result.skipped}`);
  const sizeOf = (bytes: number): string =>
    bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const saved = result.artifacts.map(({ file, bytes }) => `${file} (${sizeOf(bytes.length)})`);
  return line(formatCredits(credits), saved.join(", "));
}

interface Books {
  readonly before: bigint;
  readonly records: string;
  readonly all: readonly Done[];
  readonly failures: number;
}

/** Says the balance before and after, and whether its difference and the usage records are what the answers said. */
async function agrees(client: Client, { before, records, all, failures }: Books): Promise<boolean> {
  let settled = 0n;
  const disagreeing: string[] = [];
  for (const { result } of all) {
    if (!("receipt" in result)) continue;
    const cost = await recordedCost(client, records, result.receipt);
    settled += cost;
    if (cost !== result.receipt.credits) disagreeing.push(result.receipt.id);
  }
  const { nano: after } = await readBalance(client);
  terminal.line(
    `\nBalance before ${formatCredits(before)}, after ${formatCredits(after)}: ${formatCredits(before - after)} credits.`,
  );
  if (disagreeing.length > 0) {
    terminal.line(`The records say ${formatCredits(settled)}; they do not agree about ${disagreeing.join(", ")}.`);
    return false;
  }
  // Net spending of others in this workspace meanwhile; negative if they added credits.
  const others = formatCredits(before - after - settled);
  const who = failures > 0 ? "other calls, or those that failed," : "other calls";
  terminal.line(
    before - after === settled
      ? "That is what the answers say, to the last fraction."
      : `Our calls cost ${formatCredits(settled)}, as the answers say; ${who} moved ${others} meanwhile.`,
  );
  return true;
}
