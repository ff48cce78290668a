/** `npm run demo` in the project's Bun: runs the calls of calls.ts, prints the time and cost of each, and checks the balance. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import OpenAI from "openai";

import type { Key } from "#schemas/generated/types.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";

import { StartFault } from "../embedded/fault.mjs";
import { closeReaper } from "../embedded/reaper.mjs";
import { type CallResult, CALLS } from "./calls.ts";
import { findStack, launchStack, readOptions, USAGE, waitForStack } from "./stack.mjs";

/** Exit code that a shell reports for a program ended by Ctrl-C. */
const INTERRUPTED = 130;
/** Timeout of a call, in milliseconds. It is longer than the service waits for an image, which is 5 minutes. */
const CALL_TIMEOUT_MS = 6 * 60_000;
/** Maximum wait until the balance includes every call, in milliseconds. Speech may be settled after its last byte. */
const SETTLED_WITHIN_MS = 10_000;
/** Timeout for stopping the stack, in milliseconds. It is longer than the grace periods of all roles and servers together. */
const STOP_TIMEOUT_MS = 120_000;

type Options = ReturnType<typeof readOptions>;

const [node = "node", ...args] = process.argv.slice(2);
let ownStack: ReturnType<typeof launchStack> | undefined;
let ending: Promise<never> | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(INTERRUPTED));
try {
  await end(await main());
} catch (error) {
  // A signal also makes the current start or call fail; that failure is not reported.
  if (ending !== undefined) await ending;
  if (!(error instanceof StartFault)) throw error;
  process.stderr.write(`sluice: ${error.message}\n`);
  await end(1);
}

/** Stops the stack that the demo started, if any, and exits. */
function end(code: number): Promise<never> {
  ending ??= Promise.resolve(ownStack?.stop("SIGTERM", STOP_TIMEOUT_MS))
    .then(closeReaper)
    .then(() => process.exit(code));
  return ending;
}

/** Runs the demo and returns the exit code: 0 when no call failed and the balance fell by exactly the sum of the costs. */
async function main(): Promise<number> {
  const options = readOptions(args);
  if (options.isHelp) return (print(USAGE), 0);
  const unknown = [...options.models.keys()].find((name) => !Object.hasOwn(CALLS, name));
  if (unknown !== undefined) {
    throw new StartFault(`--model names an unknown call "${unknown}"; the calls are ${Object.keys(CALLS).join(", ")}.`);
  }
  const { baseUrl, apiKey } = findStack(options) ?? (await startStack(options));
  print(`Sluice at ${baseUrl}\n`);
  // Without retries, no call can be made and paid twice.
  const sluice = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0, timeout: CALL_TIMEOUT_MS });
  const before = await readBalance(sluice).catch((error: unknown) => {
    throw new StartFault(`Sluice cannot be called at ${baseUrl}: ${describe(error)}`);
  });
  const { sum, skipped, failed } = await runCalls(sluice, options);
  const isExact = await checkBalance(sluice, before, sum);
  print(`Results: ${options.out}`);
  if (skipped.length > 0) print(`${skipped.length} skipped: no internet access`);
  if (failed.length > 0) print(`${failed.length} failed: ${failed.join(", ")}`);
  return failed.length === 0 && isExact ? 0 : 1;
}

function startStack(options: Options): ReturnType<typeof waitForStack> {
  print("Starting Sluice for this demo. The first start on a machine takes a minute or two.");
  ownStack = launchStack(fileURLToPath(new URL("../..", import.meta.url)), node);
  return waitForStack(ownStack, options);
}

/** Runs the calls one after another, saves their results and prints a table. A failed call also fails the calls that need its result. */
async function runCalls(sluice: OpenAI, { out, models }: Options) {
  await mkdir(out, { recursive: true });
  printRow("call", "model", "seconds", "credits", "saved");
  const results = new Map<string, CallResult>();
  const resultOf = (name: string): CallResult => {
    const result = results.get(name);
    if (!result) throw new Error(`needs the result of "${name}", which failed`);
    return result;
  };
  const [skipped, failed]: [string[], string[]] = [[], []];
  let [seconds, sum] = [0, 0n];
  for (const [name, call] of Object.entries(CALLS)) {
    const model = models.get(name) ?? call.model;
    const began = performance.now();
    let [credits, saved] = ["-", ""];
    try {
      const result = await call.run({ sluice, model, resultOf });
      for (const [file, content] of Object.entries(result.files)) await writeFile(join(out, file), content);
      results.set(name, result);
      sum += result.cost;
      [credits, saved] = [formatCredits(result.cost), Object.keys(result.files).join(", ")];
    } catch (error) {
      if (ending !== undefined) await ending;
      // A web capability returns this code when the page cannot be reached; the call is free.
      const isSkipped =
        model.startsWith("web.") && error instanceof OpenAI.APIError && error.code === "input_unavailable";
      (isSkipped ? skipped : failed).push(name);
      saved = `${isSkipped ? "skipped" : "FAILED"}: ${describe(error)}`;
    }
    const taken = (performance.now() - began) / 1_000;
    seconds += taken;
    printRow(name, model, taken.toFixed(1), credits, saved);
  }
  printRow("total", "", seconds.toFixed(1), formatCredits(sum), "");
  return { sum, skipped, failed };
}

/** Prints the balance before and after the calls. Returns true if it fell by exactly `sum` nano-credits. */
async function checkBalance(sluice: OpenAI, before: bigint, sum: bigint): Promise<boolean> {
  let after = await readBalance(sluice);
  for (const deadline = Date.now() + SETTLED_WITHIN_MS; before - after !== sum && Date.now() < deadline;) {
    await delay(500);
    after = await readBalance(sluice);
  }
  const [first, last, spent, costs] = [before, after, before - after, sum].map(formatCredits);
  print(`\nBalance before ${first}, after ${last}: ${spent} credits spent.`);
  if (spent === costs) print("This is exactly the sum of the costs.");
  else print(`The sum of the costs is ${costs} credits. Did another client use this workspace during the demo?`);
  return spent === costs;
}

async function readBalance(sluice: OpenAI): Promise<bigint> {
  const { balance } = await sluice.get<Key>("/key");
  return parseCredits(String(balance.credits));
}

/** Describes an error in one line, with the HTTP status and the error code if the service sent them. */
function describe(error: unknown): string {
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    // The SDK prefixes the message with the status.
    return [error.status, error.code, error.message.replace(/^\d+ /, "")].filter(Boolean).join(" ");
  }
  return error instanceof Error ? error.message : String(error);
}

function printRow(name: string, model: string, seconds: string, credits: string, saved: string): void {
  const cells = [name.padEnd(14), model.padEnd(24), seconds.padStart(8), credits.padStart(12), ` ${saved}`];
  print(cells.join(" ").trimEnd());
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
