/**
 * Cost of calls, pages of usage, sums, budgets and the janitor's work with a long history against a short one, in turns, at the same calls a
 * day. `npm run load:history`, or `-- 2000000` for a history of that many calls instead of ten million. Prints medians, and of the pairs of
 * turns the middle half of many ÷ few; ends with the full audit of both. README.md says how to read it.
 */
import { openDatabase } from "#shared/database/client.ts";
import { AUDIT_LIMIT_MS, auditAlone } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";

import { createTestDatabase, startOwnPostgres, type TestDatabase } from "../support/postgres.ts";
import { compare } from "./compare.ts";
import { writeHistory } from "./history-data.ts";
import { type Measure, type Measures, openMeasures } from "./history-measures.ts";
import { keep, runToEnd, tellProgress } from "./parts.ts";
import { cpuMs, processTree } from "./processes.ts";
import { DURABLE, postmasterPid } from "./sluice-target.ts";

const FEW = 10_000;
const MANY = Number(process.argv[2] ?? 10_000_000);
const DAYS = 720;
/** Time between two calls of either history: a short one has the newest days alone. */
const STEP_US = (DAYS * 86_400e6) / MANY;
/** Longest span of the sums. */
const SPAN_HOURS = 720;
const ROUNDS = 6;
/** CPU times come in ticks of 10 ms: a turn of less than some of these says nothing. */
const CPU_MS_MIN = 100;
/** Ratio from which on a row is named below the table: that of blocks or CPU, in three of four pairs of turns. */
const GROWTH = 1.25;

/** One turn of a measure: milliseconds that it took, of them those of the server's processors, and blocks of 8 kB that its statements read. */
interface Figures {
  readonly ms: number;
  readonly cpuMs: number;
  readonly blocks: number;
}

type Meter = (db: TestDatabase, measure: Measure) => Promise<Figures>;

/** @param url of a database that is none of those measured */
async function openMeter(url: string): Promise<Meter> {
  const database = openDatabase({ url, poolMax: 1, log: createLogger({ level: "silent", role: "load" }) });
  keep({ stop: () => database.close() });
  await database.query("create extension pg_stat_statements");
  const postmaster = await postmasterPid(database);
  return async (db, measure) => {
    await measure.prepare?.();
    await database.query("select pg_stat_statements_reset()");
    const [cpuFrom, from] = [cpuMs(processTree(postmaster)), performance.now()];
    await measure.work();
    const [ms, cpu] = [performance.now() - from, cpuMs(processTree(postmaster)) - cpuFrom];
    const [row] = await database.query<{ blocks: string }>(
      `select sum(s.shared_blks_hit + s.shared_blks_read)::text as blocks
       from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1`,
      [new URL(db.url).pathname.slice(1)],
    );
    const { times } = measure;
    return { ms: ms / times, cpuMs: cpu / times, blocks: Number(row?.blocks) / times };
  };
}

interface Side {
  readonly name: string;
  readonly db: TestDatabase;
  readonly measures: Measures;
}

async function openSide(name: string, calls: number, until: Date): Promise<Side> {
  const db = await createTestDatabase();
  const accounts = await writeHistory(db, { name, calls, stepUs: STEP_US, until });
  const measures = await openMeasures(db, accounts, {
    middle: new Date(until.getTime() - (calls * STEP_US) / 2_000),
    spanHours: Math.min(SPAN_HOURS, Math.floor((FEW * STEP_US) / 3_600e6)),
  });
  keep({ stop: () => measures.close().then(() => db.database.close()) });
  return { name, db, measures };
}

async function takeTurn({ name, db, measures }: Side, meter: Meter, round: number): Promise<Figures[]> {
  const figures: Figures[] = [];
  const from = performance.now();
  for (const measure of measures.all) figures.push(await meter(db, measure));
  const seconds = ((performance.now() - from) / 1_000).toFixed(1);
  tellProgress(`${round === 0 ? "warm-up" : `round ${round} of ${ROUNDS}`}, ${name}: ${seconds} s`);
  return figures;
}

async function takeRounds(few: Side, many: Side, meter: Meter): Promise<[Figures[], Figures[]][]> {
  const rounds: [Figures[], Figures[]][] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Neither is always the second.
    if (round % 2 === 0) rounds.push([await takeTurn(few, meter, round), await takeTurn(many, meter, round)]);
    else {
      const second = await takeTurn(many, meter, round);
      rounds.push([await takeTurn(few, meter, round), second]);
    }
  }
  return rounds.slice(1);
}

/** Prints the table, and below it what costs more with many. */
function report(measures: readonly Measure[], rounds: readonly (readonly [Figures[], Figures[]])[]): void {
  say("| what | | few | many | many ÷ few (middle half) |\n|---|---|---|---|---|");
  const grown: string[] = [];
  for (const [at, { name, unit, times }] of measures.entries()) {
    for (const [what, figure] of [
      [`ms a ${unit}`, "ms"],
      [`ms of CPU a ${unit}`, "cpuMs"],
      [`blocks a ${unit}`, "blocks"],
    ] as const) {
      const pairs = rounds.map(([few, many]) => [few[at]?.[figure] ?? 0, many[at]?.[figure] ?? 0] as const);
      const { before, after, ratio } = compare(pairs);
      if (figure === "cpuMs" && Math.max(before, after) * times < CPU_MS_MIN) continue;
      const [low, middle, high] = ratio.map((one) => one.toFixed(2));
      say(`| ${name} | ${what} | ${shorten(before)} | ${shorten(after)} | ${middle} (${low} to ${high}) |`);
      if (figure !== "ms" && ratio[0] >= GROWTH) grown.push(`- ${name}: ${what}, ${middle} times`);
    }
  }
  const bound = "a quarter more with many in three of four pairs of turns, by blocks or CPU";
  say(grown.length === 0 ? `\nNothing costs ${bound}.` : `\nCosts ${bound}:\n${grown.join("\n")}`);
}

function shorten(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

async function auditBooks({ name, db }: Side): Promise<boolean> {
  const from = performance.now();
  const faults = await auditAlone(db.database, AUDIT_LIMIT_MS);
  tellProgress(`${name}: the full audit took ${((performance.now() - from) / 1_000).toFixed(1)} s`);
  if (faults.length === 0) return true;
  say(
    `The books of ${name} are not found exact: ${typeof faults === "string" ? faults : Bun.inspect(faults.slice(0, 3))}`,
  );
  return false;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await runToEnd(async () => {
  if (!(Number.isInteger(MANY) && MANY > FEW)) throw new Error(`calls are a whole number above ${FEW}`);
  process.env["SLUICE_PACE"] = "1";
  const postgres = await startOwnPostgres({
    // No checkpoint comes between the turns.
    settings: {
      ...DURABLE,
      shared_preload_libraries: "pg_stat_statements",
      checkpoint_timeout: "1h",
      max_wal_size: "6GB",
    },
  });
  keep({ stop: () => postgres.close() });
  process.env["TEST_POSTGRES_URL"] = postgres.url;
  const meter = await openMeter(postgres.url);
  const until = new Date();
  const few = await openSide("few", FEW, until);
  const many = await openSide("many", MANY, until);
  const rounds = await takeRounds(few, many, meter);
  const days = (calls: number): string => `${calls} calls of ${((calls * STEP_US) / 86_400e6).toFixed(1)} days`;
  say(`few: ${days(FEW)}; many: ${days(MANY)}; ${ROUNDS} rounds\n`);
  report(few.measures.all, rounds);
  const isWell = (await auditBooks(few)) && (await auditBooks(many));
  if (isWell) say("\nThe books are exact.");
  return isWell;
});
