/** Runs the calls one after the other and keeps what they make; a failure ends only what needed it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { formatCredits } from "#shared/money.ts";

import type { Call, Outcome, Skipped, Stage } from "./call.ts";
import { type Client, reasonOf } from "./client.ts";
import type { Terminal } from "./terminal.mjs";

export interface Done {
  readonly call: Call;
  readonly model: string;
  readonly seconds: number;
  /** Nano-credits. */
  readonly credits: bigint;
  readonly result: Outcome | Skipped | { readonly fault: string };
}

const WIDTHS = [14, 24, 8, 15] as const;

/**
 * @param calls later ones may go by what earlier ones made
 * @param models other models than the calls' own, by name
 */
export async function runCalls(
  calls: readonly Call[],
  {
    client,
    out,
    models,
    terminal,
  }: { client: Client; out: string; models: Readonly<Record<string, string>>; terminal: Terminal },
): Promise<readonly Done[]> {
  await mkdir(out, { recursive: true });
  terminal.line(row("call", "model", "seconds", "credits", "saved"));
  const all: Done[] = [];
  for (const call of calls) {
    const model = models[call.name] ?? call.model;
    const waiting = terminal.wait(`${call.name.padEnd(WIDTHS[0])} ${model.padEnd(WIDTHS[1])}`);
    const stage = { client, model, tell: waiting.tell, made: (name: string) => madeBy(all, name) };
    const began = performance.now();
    const result = await attempt(call, stage, out);
    const seconds = (performance.now() - began) / 1_000;
    const credits = !("receipts" in result) ? 0n : result.receipts.reduce((sum, receipt) => sum + receipt.credits, 0n);
    const done = { call, model, seconds, credits, result };
    all.push(done);
    waiting.end(lineOf(done));
  }
  return all;
}

async function attempt(call: Call, stage: Stage, out: string): Promise<Done["result"]> {
  try {
    const outcome = await call.run(stage);
    if ("receipts" in outcome) await save(outcome, out);
    return outcome;
  } catch (error) {
    return { fault: reasonOf(error) };
  }
}

/** One line of the table. Numbers are on the right, so that they can be compared. */
export function row(name: string, model: string, seconds: string, credits: string, rest: string): string {
  const [nameWidth, modelWidth, secondsWidth, creditsWidth] = WIDTHS;
  return [
    name.padEnd(nameWidth),
    model.padEnd(modelWidth),
    seconds.padStart(secondsWidth),
    credits.padStart(creditsWidth),
    ` ${rest}`,
  ]
    .join(" ")
    .trimEnd();
}

function lineOf({ call, model, seconds, credits, result }: Done): string {
  if ("fault" in result) return row(call.name, model, seconds.toFixed(1), "-", `FAILED: ${result.fault}`);
  if ("skipped" in result) return row(call.name, model, seconds.toFixed(1), "-", `SKIPPED: ${result.skipped}`);
  const saved = result.artifacts.map(({ file, bytes }) => `${file} (${sizeOf(bytes.length)})`).join(", ");
  return row(call.name, model, seconds.toFixed(1), formatCredits(credits), saved);
}

function madeBy(all: readonly Done[], name: string): Outcome {
  const result = all.find(({ call }) => call.name === name)?.result;
  if (!result || !("receipts" in result)) throw new Error(`needs what "${name}" makes, and that failed`);
  return result;
}

async function save({ artifacts }: Outcome, out: string): Promise<void> {
  for (const { file, bytes } of artifacts) await writeFile(join(out, file), bytes);
}

function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(0)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
