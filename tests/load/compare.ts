/**
 * `npm run load:compare -- --before=<folder> [--plain] [--loads=1,64,256,1200/s] [--rounds=6] [--seconds=2]`: compares this code with
 * that of another checkout, in turns on one machine, with one driver and one upstream. Prints a table; exits 1 when a call failed or the
 * books of either are wrong. README.md explains the table.
 */
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import type { closeReaper } from "#deploy/embedded/reaper.mjs";

import { PROJECT_ROOT, temporaryDirectory } from "../support/infrastructure.ts";
import { startOwnPostgres } from "../support/postgres.ts";

import { RISE_MAX } from "./baseline.ts";
import type { Counters } from "./counters.ts";
import { writeEntryOverTls } from "./entry-over-tls.ts";
import { figures } from "./figures.ts";
import { Histogram } from "./histogram.ts";
import { keep, runToEnd, setPace, startBench, tellProgress } from "./parts.ts";
import { FULL_PLAN } from "./plan.ts";
import { type Child, processTree, startChild } from "./processes.ts";
import { type Bench, drive, type Load, type Turn, warmUp } from "./rounds.ts";
import { DURABLE, type SluiceTarget, type startSluice } from "./sluice-target.ts";
import { PROTOCOL_SENTENCES, type Target, type UpstreamAddress } from "./targets.ts";
import type { Verification, verifyBooks } from "./verify.ts";

/** The part of a running Sluice that another process of the run needs to drive it. */
type Told = Pick<Target, "port" | "path" | "headers" | "model"> & {
  /** Process ids by name; of Postgres the first alone, since the others come and go. */
  readonly pids: Readonly<Record<string, readonly number[]>>;
};

interface Side {
  readonly name: "before" | "after";
  /** The driver and upstream of both sides, and the turns of this one. */
  readonly bench: Bench;
  readonly target: Target & Pick<SluiceTarget, "counters" | "overhead">;
  readonly child: Child;
}

/** One row of the table: medians of the rounds, and the middle half of the ratios of two turns that followed each other. */
export interface Compared {
  readonly before: number;
  readonly after: number;
  /** Quartiles of after ÷ before. */
  readonly ratio: readonly [number, number, number];
}

/** @param pairs of one round each, before and after */
export function compare(pairs: readonly (readonly [number, number])[]): Compared {
  const ratios = pairs.map(([before, after]) => after / before);
  return {
    before: quantile(pairs.map(([before]) => before), 0.5), // prettier-ignore
    after: quantile(pairs.map(([, after]) => after), 0.5), // prettier-ignore
    ratio: [quantile(ratios, 0.25), quantile(ratios, 0.5), quantile(ratios, 0.75)],
  };
}

/** Returns the value below which the share lies, one of those given. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share + 0.5)] ?? Number.NaN;
}

/** `64` is so many calls in flight, `1200/s` so many a second, and with an `s` behind them they are streams. @throws Error for anything else */
export function readLoad(text: string, seconds: number): Load {
  const [, count, isRate, isStream] = /^([1-9]\d{0,5})(\/s)?(s)?$/.exec(text) ?? [];
  if (count === undefined) {
    throw new Error(`a load is calls in flight, calls a second as in 1200/s, or streams as in 64s; got "${text}"`);
  }
  return {
    isStream: isStream !== undefined,
    seconds,
    ...(isRate ? { rate: Number(count) } : { inFlight: Number(count) }),
  };
}

/** Starts the Sluice of the checkout at `folder` by its own code, in a process of its own. */
async function startSide(
  name: Side["name"],
  folder: string,
  { bench, address }: { readonly bench: Bench; readonly address: UpstreamAddress },
): Promise<Side> {
  // Earlier checkouts start one that waits for no disk.
  const postgres = await startOwnPostgres({ settings: DURABLE });
  keep({ stop: () => postgres.close() });
  const command = [process.execPath, import.meta.path, `--serve=${folder}`, `--upstream=${address.port}`];
  const env: Record<string, string> = { TEST_POSTGRES_URL: postgres.url };
  if (address.certificate) {
    const { directory, remove } = temporaryDirectory();
    keep({ stop: () => Promise.resolve(remove()) });
    env["TEST_ENTRY"] = writeEntryOverTls(directory, folder, address.port, address.certificate.certFile);
  }
  const child = keep(startChild(command, env));
  const told = JSON.parse(await child.readLine()) as Told;
  const { pids, ...served } = told;
  return {
    name,
    bench: { ...bench, all: [] },
    child,
    target: {
      ...served,
      name: "sluice",
      processes: () => ({ ...pids, postgres: processTree(pids["postgres"]?.[0] ?? 0) }),
      counters: () => ask<Counters>(child, "counters"),
      overhead: () => Promise.resolve(new Map<number, number>()),
      stop: () => child.stop(),
    },
  };
}

async function ask<Answer>(child: Child, question: string): Promise<Answer> {
  child.writeLine(question);
  return JSON.parse(await child.readLine()) as Answer;
}

/** Serves one checkout's Sluice to the process that started this one, until its input ends. */
async function serve(folder: string, upstreamPort: number): Promise<void> {
  // Earlier checkouts start theirs at the pace of tests unless they are told.
  process.env["SLUICE_PACE"] = "1";
  const own = <Module>(file: string): Promise<Module> => import(`${folder}/${file}`) as Promise<Module>;
  const sluice = await own<{ startSluice: typeof startSluice }>("tests/load/sluice-target.ts");
  const books = await own<{ verifyBooks: typeof verifyBooks }>("tests/load/verify.ts");
  const reaper = await own<{ closeReaper: typeof closeReaper }>("deploy/embedded/reaper.mjs");
  const target = await sluice.startSluice(upstreamPort);
  const answer = (value: unknown): void => {
    process.stdout.write(
      `${JSON.stringify(value, (_name, one: unknown) => (typeof one === "bigint" ? String(one) : one))}\n`,
    );
  };
  const { port, path, headers, model } = target;
  answer({ port, path, headers, model, pids: target.processes() } satisfies Told);
  const lines = createInterface({ input: process.stdin });
  process.once("SIGTERM", () => lines.close());
  for await (const line of lines) {
    answer(line === "counters" ? await target.counters() : await books.verifyBooks(target.stack, Number(line)));
  }
  await target.stop();
  await reaper.closeReaper();
  process.exit(0);
}

async function alternateSides(before: Side, after: Side, rounds: number, load: Load): Promise<[Turn, Turn][]> {
  const turn = ({ bench, target }: Side): Promise<Turn> => drive(bench, target, load);
  const pairs: [Turn, Turn][] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Neither is always the second.
    if (round % 2 === 0) pairs.push([await turn(before), await turn(after)]);
    else {
      const second = await turn(after);
      pairs.push([await turn(before), second]);
    }
  }
  return pairs;
}

const ROWS: readonly (readonly [string, (turn: Turn) => number, number])[] = [
  ["calls a second", (turn) => figures([turn], "sluice").perSecond, 0],
  ["µs of CPU a call, everything", (turn) => total(figures([turn], "sluice").cpuPerCall) * 1_000, 0],
  ...["ingress", "worker", "postgres", "nats"].map((name): [string, (turn: Turn) => number, number] => [
    `µs of CPU a call, ${name}`,
    (turn) => (figures([turn], "sluice").cpuPerCall[name] ?? Number.NaN) * 1_000,
    0,
  ]),
  ["first token p50, ms", (turn) => firstToken(turn, 0.5), 2],
  ["first token p95, ms", (turn) => firstToken(turn, 0.95), 1],
  ["p50, ms", (turn) => figures([turn], "sluice").p50, 2],
  ["p99, ms", (turn) => figures([turn], "sluice").p99, 1],
  ["write transactions a call", (turn) => (turn.counters?.writeTransactions ?? Number.NaN) / turn.drive.calls, 3],
  ["NATS messages a call", (turn) => ((turn.counters?.natsInMsgs ?? Number.NaN) + (turn.counters?.natsOutMsgs ?? 0)) / turn.drive.calls, 2], // prettier-ignore
];

/** Rows that are costs: of one whose middle ratio is above this the table says that it has risen. */
const COSTS: ReadonlySet<string> = new Set([
  "µs of CPU a call, everything",
  "write transactions a call",
  "NATS messages a call",
]);

/** NaN for plain answers, whose first token is the whole. */
function firstToken({ load, drive: { firstToken: times } }: Turn, share: number): number {
  return load.isStream ? Histogram.merge([times]).percentile(share) : Number.NaN;
}

function total(parts: Readonly<Record<string, number>>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}

function renderLoad(name: string, pairs: readonly (readonly [Turn, Turn])[]): string {
  const rows = ROWS.flatMap(([what, value, digits]) => {
    const { before, after, ratio } = compare(pairs.map(([one, other]) => [value(one), value(other)]));
    if (Number.isNaN(before)) return [];
    const [low, middle, high] = ratio;
    const isRisen = COSTS.has(what) && middle > RISE_MAX;
    return `| ${name} | ${what} | ${before.toFixed(digits)} | ${after.toFixed(digits)} | ${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})${isRisen ? " RISEN" : ""} |`;
  });
  return `${rows.join("\n")}\n`;
}

interface Options {
  readonly isPlain: boolean;
  readonly loads: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
}

async function measure(folder: string, { isPlain, loads, rounds, seconds }: Options): Promise<boolean> {
  const planned = loads.map((name) => [name, readLoad(name, seconds)] as const);
  const parts = await startBench(isPlain);
  const { address } = parts;
  await setPace(address, FULL_PLAN.plainPace);
  tellProgress("starting both");
  const before = await startSide("before", folder, parts);
  const after = await startSide("after", PROJECT_ROOT, parts);
  for (const { name, bench, target } of [before, after]) {
    tellProgress(`warming up ${name}`);
    await warmUp(bench, target, false, FULL_PLAN.warmSeconds.plain);
  }
  process.stdout.write(`${PROTOCOL_SENTENCES[isPlain ? "plain" : "tls"]}\n\n`);
  process.stdout.write("| load | | before | after | after ÷ before (middle half) |\n|---|---|---|---|---|\n");
  for (const [name, load] of planned) {
    tellProgress(`${name}, ${rounds} rounds`);
    await setPace(address, load.isStream ? FULL_PLAN.streamPace : FULL_PLAN.plainPace);
    process.stdout.write(renderLoad(name, await alternateSides(before, after, rounds, load)));
  }
  let isWell = true;
  for (const { name, bench, child } of [before, after]) {
    const { calls, failed } = figures(bench.all, "sluice");
    const { faults } = await ask<Verification>(child, String(calls - failed));
    for (const fault of [...(failed > 0 ? [`${failed} calls failed`] : []), ...faults]) {
      isWell = false;
      process.stdout.write(`${name}: ${fault}\n`);
    }
  }
  if (isWell) process.stdout.write("Books of both are exact, and no call failed.\n");
  return isWell;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      before: { type: "string" },
      plain: { type: "boolean", default: false },
      loads: { type: "string", default: "1,64,256,1200/s" },
      rounds: { type: "string", default: "6" },
      seconds: { type: "string", default: "2" },
      serve: { type: "string" },
      upstream: { type: "string" },
    },
  });
  const { before, serve: folder, upstream } = values;
  if (folder !== undefined) await serve(folder, Number(upstream));
  else {
    await runToEnd(() => {
      if (before === undefined) throw new Error("--before=<folder> names the checkout to compare with");
      const from = resolve(process.env["INIT_CWD"] ?? ".", before);
      const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
      return measure(from, { isPlain: values.plain, loads: values.loads.split(","), rounds, seconds });
    });
  }
}
