/**
 * The restore drill. The operator's command restores a backup; the drill then applies this version's migrations and verifies the data in
 * stages. The last line of its output is JSON to be archived. The drill deletes no stored object, because no janitor runs.
 */
import { JetStreamApiError, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import type { Config } from "#shared/config/config.ts";
import { isDatabaseAway, openDatabase, type Database } from "#shared/database/client.ts";
import { findBlocks } from "#shared/database/files.ts";
import { databaseVersions, migrate } from "#shared/database/migrate.ts";
import { awaitServer } from "#shared/net/dependencies.ts";
import { readFile } from "#shared/files/read.ts";
import { createJobDispatcher, type JobDispatcher } from "#shared/jobs/dispatcher.ts";
import { AUDIT_LIMIT_MS, auditLedger } from "#shared/ledger/audit.ts";
import { createLogger, type Logger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { connectNats } from "#shared/queue/connection.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { BATCH_DURABLE, BATCH_STREAM, durableName, LANES, POOLS, streamName } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { StorageError } from "#shared/storage/objects.ts";
import { sweepDispatches } from "#workers/janitor/jobs.ts";

import { run } from "../embedded/process.mjs";
import { type Arguments, type Command, quote, UsageError } from "./command.ts";
import type { Context } from "./context.ts";

const FILES = 100;
const FILES_MAX = 100_000;
const FILES_AT_ONCE = 4;
/** Maximum number of ledger faults and file names in the report. */
const REPORT_ENTRIES_MAX = 20;
/** Maximum wait for Postgres, in milliseconds. A restored Postgres replays its log before it accepts connections. */
const START_WAIT_MS = 600_000;
/** JetStream's error codes for an unknown stream and an unknown durable. */
const NOT_FOUND: ReadonlySet<number> = new Set([10_059, 10_014]);

const STAGES = ["restore", "migrate", "ledger", "files", "work"] as const;
type Stage = (typeof STAGES)[number];

/** JSON report that the drill prints. The result of a stage is null if the drill did not reach that stage. */
interface Report {
  readonly drill: "restore";
  /** Start time. */
  readonly at: string;
  isPassed: boolean;
  /** Time of the youngest ledger entry or job of the backup. */
  restored_to: string | null;
  schema: string | null;
  migrations_applied: readonly string[] | null;
  readonly seconds: Record<Stage, number | null>;
  ledger_difference: number | null;
  ledger_faults: readonly object[];
  files: { readonly checked: number; readonly wrong: readonly string[] } | null;
  /**
   * Number of jobs that the drill queued (`dispatched`), and number of jobs that workers were running at the time of the backup
   * (`in_hand`).
   */
  work: { readonly dispatched: number; readonly in_hand: number } | null;
  skipped: readonly Stage[];
  fault: string | null;
}

export const RESTORE_COMMANDS: readonly Command[] = [
  {
    usage: "restore drill --restore <command> [--files <count>]",
    about:
      "Restores a backup with your command and verifies it. It applies migrations to DATABASE_URL, recomputes the ledger, verifies files, and fills the empty queue of NATS_URL. The last line is JSON. The exit code is 1 when a stage failed or was skipped.",
    needs: "database",
    async run(context, input, live) {
      const report = await drill(context, input, (text) => live.print({ json: null, text }));
      const { isPassed, ...rest } = report;
      const line = { ...rest, passed: isPassed };
      return { json: line, text: JSON.stringify(line), exitCode: isPassed ? 0 : 1 };
    },
  },
];

async function drill(context: Context, input: Arguments, say: (line: string) => void): Promise<Report> {
  const config = context.settings();
  const files = countOf(input.option("files"));
  if (config.databaseUrl === "")
    throw new Error("DATABASE_URL is not set; set it to the database that the backup is restored into");
  if (config.natsUrl === "") throw new Error("NATS_URL is not set; set it to an empty NATS");
  const report: Report = {
    drill: "restore",
    at: new Date().toISOString(),
    isPassed: false,
    restored_to: null,
    schema: null,
    migrations_applied: null,
    seconds: { restore: null, migrate: null, ledger: null, files: null, work: null },
    ledger_difference: null,
    ledger_faults: [],
    files: null,
    work: null,
    skipped: STAGES,
    fault: null,
  };
  const opened = openAll(config);
  const stages: Readonly<Record<Stage, () => Promise<string | undefined>>> = {
    restore: async () => {
      // Checked before anything is written: work must not reach the workers of a running service.
      await expectEmptyQueue(await opened.connection());
      return restore(input.argument("restore"));
    },
    migrate: () => bringUp(opened.database, report, opened.log),
    ledger: () => proveLedger(opened.database, report),
    files: () => proveFiles(opened.database, opened.storage, files, report),
    work: async () => fillQueue({ ...opened, connection: await opened.connection() }, config, report),
  };
  try {
    for (const stage of STAGES) {
      const since = performance.now();
      const fault = await stages[stage]().catch((error: unknown) => sentenceOf(error));
      report.seconds[stage] = Math.round(performance.now() - since) / 1_000;
      report.skipped = report.skipped.filter((name) => name !== stage);
      say(`${stage}: ${fault ?? "done"} (${report.seconds[stage]} s)`);
      if (fault === undefined) continue;
      report.fault = `${stage}: ${fault}`;
      return report;
    }
    report.isPassed = true;
    return report;
  } finally {
    await opened.close();
  }
}

function countOf(value: string | undefined): number {
  const count = value === undefined ? FILES : Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= FILES_MAX) return count;
  throw new UsageError(`expected --files as a number from 1 to ${FILES_MAX}, got ${quote(value ?? "")}`);
}

function sentenceOf(error: unknown): string {
  const parts: string[] = [];
  for (let fault = error; fault instanceof Error && parts.length < 4; fault = fault.cause) parts.push(fault.message);
  return parts.length > 0 ? parts.join(": ") : String(error);
}

interface Opened {
  readonly database: Database;
  readonly storage: Storage;
  readonly log: Logger;
  connection(): Promise<NatsConnection>;
  close(): Promise<void>;
}

function openAll(config: Config): Opened {
  const log = createLogger({ level: "silent", role: "admin", secrets: config.secrets });
  const database = openDatabase({ url: config.databaseUrl, poolMax: 2, slowMax: 1, log });
  const storage = openStorage(config.s3);
  let connecting: Promise<NatsConnection> | undefined;
  return {
    database,
    storage,
    log,
    connection() {
      connecting ??= connectNats({
        url: config.natsUrl,
        name: "restore drill",
        role: "janitor",
        login: { user: "janitor", pass: config.natsPasswords.janitor },
        log,
      });
      return connecting;
    },
    async close() {
      const connection = await connecting?.catch(() => undefined);
      await connection?.close();
      storage.close();
      await database.close();
    },
  };
}

/** Checks that NATS belongs to an idle service. @throws Error when a queue contains messages, or a worker waits for messages */
async function expectEmptyQueue(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  for (const stream of [BATCH_STREAM, ...POOLS.map(streamName)]) {
    const messages = await manager.streams.info(stream).then(({ state }) => state.messages, noneThere);
    if (messages > 0) throw new Error(`NATS is not empty: the stream ${stream} has ${messages} messages`);
  }
  const durables = POOLS.flatMap((pool) => LANES.map((lane) => [streamName(pool), durableName(pool, lane)] as const));
  for (const [stream, durable] of [[BATCH_STREAM, BATCH_DURABLE] as const, ...durables]) {
    const waiting = await manager.consumers.info(stream, durable).then((info) => info.num_waiting, noneThere);
    if (waiting > 0) throw new Error(`a service runs on this NATS: it waits for messages of ${durable}`);
  }
}

/** Returns 0 for the error of an unknown stream or durable. @throws every other error */
function noneThere(error: unknown): 0 {
  if (error instanceof JetStreamApiError && NOT_FOUND.has(error.code)) return 0;
  throw error;
}

/** Runs the operator's restore command in a shell. Returns an error text with the last line of its stderr; undefined after success. */
async function restore(command: string): Promise<string | undefined> {
  const { code, stderr } = await run({
    name: "restore",
    command: "/bin/sh",
    args: ["-c", command],
    cwd: process.cwd(),
  });
  if (code === 0) return undefined;
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return `the command ended with exit code ${code ?? "none"}${last === "" ? "" : `: ${last}`}`;
}

async function bringUp(database: Database, report: Report, log: Logger): Promise<undefined> {
  report.migrations_applied = await awaitServer("database", () => migrate(database, log), {
    waitMs: START_WAIT_MS,
    log,
    isAway: isDatabaseAway,
  });
  report.schema = (await databaseVersions(database)).schema;
}

async function proveLedger(database: Database, report: Report): Promise<string | undefined> {
  const faults = await database.slowTransaction(AUDIT_LIMIT_MS, async (tx) => {
    const [row] = await tx.query<{ at: Date | null }>(
      "select greatest((select max(at) from ledger_entry), (select max(created_at) from job)) as at",
    );
    report.restored_to = row?.at?.toISOString() ?? null;
    return auditLedger(tx);
  });
  report.ledger_difference = faults.length;
  report.ledger_faults = faults.slice(0, REPORT_ENTRIES_MAX);
  return faults.length === 0 ? undefined : `${faults.length} differences`;
}

/** Reads randomly chosen files completely and verifies the checksum of each block. */
async function proveFiles(
  database: Database,
  storage: Storage,
  count: number,
  report: Report,
): Promise<string | undefined> {
  const rows = await database.slowTransaction(AUDIT_LIMIT_MS, (tx) =>
    tx.query<{ id: string }>("select id from file where state = 'ready' order by random() limit $1", [count]),
  );
  const wrong: string[] = [];
  const ids = rows.map(({ id }) => id);
  const prove = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const file = await findBlocks(database, id);
      if (!file) continue;
      try {
        for await (const bytes of readFile(storage, file)) void bytes;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        wrong.push(id);
      }
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, prove));
  report.files = { checked: rows.length, wrong: wrong.slice(0, REPORT_ENTRIES_MAX) };
  return wrong.length === 0 ? undefined : `${wrong.length} of ${rows.length} files do not match their checksums`;
}

/**
 * Queues unfinished jobs, as the janitor does. Jobs that workers were running are only counted: the janitor of the restored service decides
 * about them. It also deletes objects of ended jobs, which must not happen in the bucket of a running service.
 */
async function fillQueue(
  {
    database,
    storage,
    connection,
    log,
  }: Pick<Opened, "database" | "storage" | "log"> & { readonly connection: NatsConnection },
  config: Config,
  report: Report,
): Promise<undefined> {
  await ensureTopology(connection, config.streamReplicas);
  const metrics = createMetrics("admin");
  const unknownKeepMs = config.unknownOutcomeHours * 3_600_000;
  const inner = createJobDispatcher({ database, publisher: createPublisher(connection, "janitor"), metrics, log });
  let dispatched = 0;
  const dispatcher: JobDispatcher = {
    ...inner,
    async send(pool, lane, jobs, reason) {
      dispatched += jobs.length;
      await inner.send(pool, lane, jobs, reason);
    },
  };
  try {
    await sweepDispatches({ connection, database, storage, dispatcher, metrics, log, unknownKeepMs });
    await inner.idle();
  } finally {
    metrics.close();
  }
  const [row] = await database.query<{ n: bigint }>("select count(*) as n from job where state = 'running'");
  report.work = { dispatched, in_hand: Number(row?.n ?? 0) };
}
