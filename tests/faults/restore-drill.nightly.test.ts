/**
 * A backup taken under load is restored elsewhere, by `admin restore drill`: its line tells every stage and an exact ledger. A backup that
 * is cut off, a ledger or a file that differs, and a queue that is not empty each end it with the stage and exit code 1.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect } from "nats";

import { freePort } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { openDatabase } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { ensureTopology } from "#shared/queue/topology.ts";

import { ENTRY, PROJECT_ROOT, temporaryDirectory } from "../support/infrastructure.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { type OwnPostgres, type Query, startOwnPostgres } from "../support/postgres.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { startLoad } from "./load.ts";
import { openPublisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const QUEUED = 7;
const FILES = 5;
const log = createLogger({ level: "silent", role: "test" });

let bed: Bed;
let scratch: ReturnType<typeof temporaryDirectory>;
let backup: string;
let entriesBefore: number;

beforeAll(async () => {
  scratch = temporaryDirectory();
  bed = await startBed({ ownPostgres: true });
  const { stack } = bed;
  for (let at = 0; at < FILES; at++) {
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new File([randomBytes(200_000)], `file-${at}.bin`));
    const headers = { authorization: `Bearer ${stack.key}` };
    const answer = await fetch(`${stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
    expect(answer.status).toBe(200);
  }
  const load = startLoad(bed);
  await eventually("the load runs", () => load.served() > 30);
  await load.stop();
  await stack.settled();
  // Jobs that nobody takes up: they wait on a queue that the restored system does not have.
  await stack.workers[0]?.stop();
  const workspace = await createWorkspace(stack, { creditsNano: 1_000_000_000_000n });
  const publisher = await openPublisher(stack.natsUrl, workspace);
  await Promise.all(Array.from({ length: QUEUED }, () => publisher.submit({ body: ask("flat") })));
  await publisher.close();
  entriesBefore = await entriesOf(bed.stack.query);
  backup = join(scratch.directory, "backup");
  const moving = moveCredits(workspace.id);
  await stack.postgres?.backUp(backup);
  await moving.stop();
}, 120_000);
afterAll(async () => {
  await bed?.stop();
  scratch?.remove();
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function entriesOf(query: Query): Promise<number> {
  return Number((await query<{ n: bigint }>("select count(*) as n from ledger_entry"))[0]?.n);
}

/** Moves credits until it is told to stop, so that the backup is taken of a database that is written to. */
function moveCredits(workspaceId: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const move = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      await bed.stack.query("select move_credits($1, 'top_up', 1000, $2, null)", [workspaceId, newId()]);
  };
  const moving = Promise.all([move(), move()]);
  return {
    async stop() {
      stopping.abort();
      await moving;
    },
  };
}

interface Drill {
  readonly code: number | null;
  readonly line: Record<string, unknown>;
  /** The restored server; undefined where the command did not run, or the server did not come up. */
  readonly postgres: OwnPostgres | undefined;
}

/** @param damage what is done to the copy of the backup, and to the restored database before the drill looks at it */
async function drill(
  damage: {
    readonly files?: (cluster: string) => void;
    readonly database?: (query: Query) => Promise<unknown>;
    readonly nats?: TestNats;
  } = {},
): Promise<Drill> {
  const nats = damage.nats ?? (await startNats());
  closing.push(() => nats.close());
  const at = { directory: join(scratch.directory, newId()), port: await freePort() };
  // The operator's command: the copy is put in place, and the server that runs on it is started by whoever runs servers.
  const command = [
    `cp -a ${backup} ${at.directory}`,
    `touch ${at.directory}/copied`,
    `while [ ! -e ${at.directory}/up ]; do if [ -e ${at.directory}/down ]; then echo the server did not come up >&2; exit 3; fi; sleep 0.05; done`,
  ].join(" && ");
  const url = new URL(bed.stack.databaseUrl);
  url.port = String(at.port);
  const { DATABASE_URL: _, NATS_URL: __, ...settings } = bed.stack.env;
  const ending = run({
    name: "restore drill",
    command: ENTRY[0],
    args: [...ENTRY.slice(1), "admin", "restore", "drill", "--restore", command, "--files", "50", "--json"],
    cwd: PROJECT_ROOT,
    env: { ...settings, DATABASE_URL: url.href, NATS_URL: nats.url },
  });
  const ended = ending.then(() => "ended" as const);
  const copied = eventually("the backup is copied", () => existsSync(join(at.directory, "copied")), 60_000);
  let postgres: OwnPostgres | undefined;
  if ((await Promise.race([ended, copied.then(() => "copied" as const)])) === "copied") {
    damage.files?.(join(at.directory, "cluster"));
    postgres = await startOwnPostgres(at).catch(() => undefined);
    if (postgres) closing.push(() => (postgres as OwnPostgres).close());
    if (postgres && damage.database) {
      const database = openDatabase({ url: url.href, poolMax: 1, log });
      await damage.database((text, values) => database.query(text, values));
      await database.close();
    }
    writeFileSync(join(at.directory, postgres ? "up" : "down"), "");
  } else void copied.catch(() => undefined);
  const { code, stdout } = await ending;
  return { code, line: JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Record<string, unknown>, postgres };
}

test("a backup of a running system is restored with an exact ledger, whole files, and its work on the empty queue", async () => {
  const { code, line } = await drill();
  expect(line).toEqual({
    drill: "restore",
    at: expect.stringMatching(/^2\d{3}-/),
    passed: true,
    restored_to: expect.stringMatching(/^2\d{3}-/),
    schema: expect.stringMatching(/^\d{4}_/),
    migrations_applied: [],
    seconds: {
      restore: expect.any(Number),
      migrate: expect.any(Number),
      ledger: expect.any(Number),
      files: expect.any(Number),
      work: expect.any(Number),
    },
    ledger_difference: 0,
    ledger_faults: [],
    files: { checked: FILES, wrong: [] },
    work: { dispatched: QUEUED, in_hand: 0 },
    skipped: [],
    fault: null,
  });
  expect(code).toBe(0);
});

test("a truncated backup ends the drill at its first stage, and names the omitted parts", async () => {
  const cut = (cluster: string): void => {
    for (const name of readdirSync(join(cluster, "pg_wal"))) {
      if (/^[0-9A-F]{24}$/.test(name)) truncateSync(join(cluster, "pg_wal", name), 0);
    }
  };
  const { code, line } = await drill({ files: cut });
  expect(line).toMatchObject({
    passed: false,
    fault: "restore: the command ended with exit code 3: the server did not come up",
    ledger_difference: null,
    skipped: ["migrate", "ledger", "files", "work"],
  });
  expect(code).toBe(1);
});

test("a ledger that lost an entry is a difference", async () => {
  const lose = "delete from ledger_entry where id = (select max(id) from ledger_entry where kind = 'settle')";
  const { code, line } = await drill({ database: (query) => query(lose) });
  expect(line).toMatchObject({ passed: false, skipped: ["files", "work"] });
  expect(line["ledger_difference"]).toBeGreaterThan(0);
  expect(code).toBe(1);
});

test("a file whose bytes differ from its row is named", async () => {
  const alter =
    "update file set block_sha256 = sha256('other') where id = (select min(id) from file where state = 'ready') returning id";
  let id: unknown;
  const { code, line } = await drill({
    database: async (query) => {
      [{ id } = { id: "" }] = await query<{ id: string }>(alter);
    },
  });
  expect(line).toMatchObject({ passed: false, skipped: ["work"], files: { checked: FILES, wrong: [id] } });
  expect(code).toBe(1);
});

test("a queue with messages is rejected before the backup is read: they may belong to a running service", async () => {
  const nats = await startNats();
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "POOL_chat", subjects: ["work.>"] });
  await manager.jetstream().publish("work.chat.live.x", "{}");
  await connection.close();
  const { code, line, postgres } = await drill({ nats });
  expect(postgres).toBeUndefined();
  expect(line).toMatchObject({
    passed: false,
    fault: "restore: NATS is not empty: the stream POOL_chat has 1 messages",
    skipped: ["migrate", "ledger", "files", "work"],
  });
  expect(code).toBe(1);
});

test("an idle running service does not receive the work of the backup", async () => {
  const nats = await startNats();
  const connection = await connect({ servers: nats.url });
  closing.push(() => connection.close());
  await ensureTopology(connection, 1);
  connection.subscribe("_INBOX.waiting");
  connection.publish("$JS.API.CONSUMER.MSG.NEXT.POOL_image.image_batch", '{"batch":1,"expires":60000000000}', {
    reply: "_INBOX.waiting",
  });
  await connection.flush();
  const { code, line, postgres } = await drill({ nats });
  expect(postgres).toBeUndefined();
  expect(line).toMatchObject({
    passed: false,
    fault: "restore: a service runs on this NATS: it waits for messages of image_batch",
    skipped: ["migrate", "ledger", "files", "work"],
  });
  expect(code).toBe(1);
});

/** Takes away what the last migration made, as if the backup were of the release before. */
async function undoLast(query: Query, last: string): Promise<void> {
  const text = await Bun.file(join(PROJECT_ROOT, "shared/database/migrations", last)).text();
  for (const [, kind = "", name = ""] of text.matchAll(/^create (?:unlogged )?(table|function|domain) ([a-z_]+)/gm)) {
    // Functions of a table's rows go with the table, and columns with their domain.
    await query(`drop ${kind} if exists ${name} cascade`);
  }
  await query("delete from migration where name = $1", [last]);
}

test("a backup of the previous version is upgraded, and is exact", async () => {
  const last = readdirSync(join(PROJECT_ROOT, "shared/database/migrations")).toSorted().at(-1) ?? "";
  const { code, line, postgres } = await drill({ database: (query) => undoLast(query, last) });
  expect(line).toMatchObject({ passed: true, migrations_applied: [last], ledger_difference: 0 });
  expect(code).toBe(0);
  const database = openDatabase({
    url: (postgres as OwnPostgres).url.replace(/\/sluice$/, new URL(bed.stack.databaseUrl).pathname),
    poolMax: 1,
    log,
  });
  closing.unshift(() => database.close());
  expect(await entriesOf((text, values) => database.query(text, values))).toBeGreaterThanOrEqual(entriesBefore);
});
