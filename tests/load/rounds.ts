/** Turns of load: every target at every level, in alternation, with what each turn cost the processes involved. */
import type { Buckets, Counters } from "./counters.ts";
import { bucketGrowth, growth } from "./counters.ts";
import type { DriveCommand, DriveResult } from "./driver.ts";
import type { Child } from "./processes.ts";
import { cpuMs } from "./processes.ts";
import type { SluiceTarget } from "./sluice-target.ts";
import type { Target } from "./targets.ts";

export interface Load {
  readonly isStream: boolean;
  readonly seconds: number;
  readonly inFlight?: number;
  readonly rate?: number;
}

export interface Turn {
  readonly target: Target["name"];
  readonly load: Load;
  readonly drive: DriveResult;
  /** Process name → CPU milliseconds during the turn, driver and upstream included. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Counters of Sluice's servers; null for the other targets. */
  readonly counters: Counters | null;
  readonly overhead: Buckets | null;
}

export interface Bench {
  readonly driver: Child;
  readonly upstream: Child;
  /** Every turn so far, warm-ups included: what has to be on the bill. */
  readonly all: Turn[];
}

const PROMPT = "Write one sentence about a quick brown fox and a lazy dog, and mention five wizards who watch them.";

/** One turn of one target. */
export async function drive(bench: Bench, target: Target, load: Load): Promise<Turn> {
  const sluice = isSluice(target) ? target : null;
  const [countersBefore, overheadBefore] = sluice ? [await sluice.counters(), await sluice.overhead()] : [null, null];
  const pids = { ...target.processes(), upstream: [bench.upstream.pid] };
  const cpuBefore = Object.fromEntries(Object.entries(pids).map(([name, list]) => [name, cpuMs(list)]));
  const command: DriveCommand = {
    port: target.port,
    path: target.path,
    ca: target.ca,
    headers: target.headers,
    keys: target.keys,
    body: requestBody(target.model, load.isStream),
    ...load,
  };
  bench.driver.writeLine(JSON.stringify(command));
  const result = JSON.parse(await bench.driver.readLine()) as DriveResult;
  const cpu = Object.fromEntries(
    Object.entries(pids).map(([name, list]) => [name, cpuMs(list) - (cpuBefore[name] ?? 0)]),
  );
  const turn: Turn = {
    target: target.name,
    load,
    drive: result,
    cpu: { ...cpu, driver: result.cpuMs },
    counters: sluice && countersBefore ? growth(countersBefore, await sluice.counters()) : null,
    overhead: sluice && overheadBefore ? bucketGrowth(overheadBefore, await sluice.overhead()) : null,
  };
  bench.all.push(turn);
  return turn;
}

/** CPU milliseconds a second that the target's processes use while nobody calls. */
export async function idleCpu(target: Target, seconds: number): Promise<Record<string, number>> {
  const pids = Object.entries(target.processes());
  const before = new Map(pids.map(([name, list]) => [name, cpuMs(list)]));
  await Bun.sleep(seconds * 1_000);
  return Object.fromEntries(pids.map(([name, list]) => [name, (cpuMs(list) - (before.get(name) ?? 0)) / seconds]));
}

/** A, B, C, A, B, C …: a noisy minute of the machine hits all of them. */
export async function alternate(bench: Bench, targets: readonly Target[], rounds: number, load: Load): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) turns.push(await drive(bench, target, load));
  }
  return turns;
}

/** Drives 64 in flight for as long, whatever the target. */
export async function warmUp(bench: Bench, target: Target, isStream: boolean, seconds: number): Promise<void> {
  await drive(bench, target, { isStream, seconds, inFlight: 64 });
}

function requestBody(model: string, isStream: boolean): string {
  return JSON.stringify({
    model,
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: PROMPT },
    ],
    max_tokens: 64,
    temperature: 0.7,
    ...(isStream ? { stream: true } : {}),
  });
}

function isSluice(target: Target): target is SluiceTarget {
  return "counters" in target;
}
