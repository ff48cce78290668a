/**
 * Starts the whole service for an end-to-end test: a new database and bucket on the shared servers, a separate NATS server, and real role
 * processes.
 */
import { randomBytes } from "node:crypto";

import { connect } from "nats";

import { ensureBootstrap } from "#deploy/admin/bootstrap.ts";
import { run } from "#deploy/embedded/process.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { paced } from "#shared/config/pace.ts";
import { makeOperatorToken } from "#shared/operators/tokens.ts";

import { ENTRY, PROJECT_ROOT } from "./infrastructure.ts";
import { isQueueEmpty, startNats, type TestNats } from "./nats.ts";
import { TEST_PACE } from "./pace.ts";
import { type PgBouncer, startPgBouncer } from "./pgbouncer.ts";
import { watch } from "./published/watch.ts";
import {
  createTestDatabase,
  startOwnPostgres,
  type OwnPostgres,
  type OwnPostgresOptions,
  type Query,
  type TestDatabase,
} from "./postgres.ts";
import { startRole, type ManagedProcess } from "./role-process.ts";
import { createTestBucket } from "./storage.ts";

export type { ManagedProcess } from "./role-process.ts";

export interface StackOptions {
  /**
   * True to run each role as a separate process, for tests that kill or observe one. Default: all roles share one process (`sluice all`).
   */
  readonly apart?: boolean;
  /** Number of ingresses. If roles share a process, further ingresses have separate processes. Default: 1. */
  readonly ingress?: number;
  /** Number of workers, and if there is a janitor. Both apply only if roles are separate processes. Default: one of each. */
  readonly workers?: number;
  readonly janitor?: boolean;
  /** True if the janitor sweeps at the shorter intervals of tests, which takes a third of an idle stack's CPU time. Default: `apart`. */
  readonly quickJanitor?: boolean;
  /** Pools that each worker serves. Default: only chat. */
  readonly pools?: readonly string[];
  /** Environment variables for every role. They override the stack's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Prepares the database before a role starts. */
  readonly prepare?: (query: Query) => Promise<void>;
  /** Bootstrap key of the first workspace. Default: random. */
  readonly key?: string;
  /** True, or options, to start a separate Postgres server, for tests that stop it. */
  readonly ownPostgres?: boolean | OwnPostgresOptions;
  /** Number of connections of a pooler, through which all roles together reach Postgres. Default: no pooler. */
  readonly poolerConnections?: number;
}

export interface Stack {
  /** Public address of each ingress, without a trailing slash. */
  readonly baseUrls: string[];
  readonly key: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** All processes that the stack started with. */
  readonly processes: ManagedProcess[];
  /** Processes of one role. These lists throw an error if all roles share a process. */
  readonly ingresses: ManagedProcess[];
  readonly workers: ManagedProcess[];
  readonly janitors: ManagedProcess[];
  readonly nats: TestNats;
  /** The separate Postgres server; undefined without the option `ownPostgres`. */
  readonly postgres: OwnPostgres | undefined;
  /** Runs one SQL statement on the stack's database. bigint columns are returned as BigInt. */
  readonly query: Query;
  /**
   * Resolves when no call holds credits, because a response is sent before its settlement. With a credit line, it also waits for an empty
   * queue.
   * @throws Error if this takes longer than 20 s
   */
  settled(): Promise<void>;
  /** Environment variables of every role, for starting a role with other settings. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts another process of a role, for example `addRole("worker", "chat")`. `stop` also stops this process. */
  addRole(...args: string[]): Promise<ManagedProcess>;
  /**
   * Runs a command of the program and waits for its end, for example `command("admin", "ledger", "check")`. Admin commands use a running
   * ingress.
   */
  command(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Stops everything and drops the database. Can be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts everything and returns when all roles are ready.
 * @throws the error of the first part that fails, after everything has been stopped
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const closing: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close();
  };
  try {
    return await assemble(options, closing, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Returns the environment variables for Bun's compiler in the suite, and for its allocator in load runs. */
function runtimeSettings(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) => /^(BUN_JSC|MIMALLOC)_/.test(name));
  return Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""]));
}

async function assemble(
  options: StackOptions,
  closing: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<Stack> {
  const key = options.key ?? `sk_test_${randomBytes(16).toString("hex")}`;
  const { ownPostgres = false } = options;
  const postgres = ownPostgres === false ? undefined : await startOwnPostgres(ownPostgres === true ? {} : ownPostgres);
  if (postgres !== undefined) closing.push(() => postgres.close());
  const database = await createTestDatabase(postgres === undefined ? {} : { serverUrl: postgres.url });
  // A separate server may be down by then, and its files are removed anyway.
  closing.push(() => (postgres === undefined ? database.drop() : database.database.close()));
  const pooler =
    options.poolerConnections === undefined ? undefined : await startPooler(database, options.poolerConnections);
  if (pooler !== undefined) closing.push(() => pooler.close());
  const nats = await startNats();
  closing.push(() => nats.close());
  const bucket = await createTestBucket();

  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "/",
    DATABASE_URL: pooler?.url ?? database.url,
    NATS_URL: nats.url,
    ...bucket.env,
    PORT: "0",
    SLUICE_HOST: "127.0.0.1",
    SLUICE_ADMIN_PORT: "0",
    SLUICE_BOOTSTRAP_KEY: key,
    SLUICE_GRACE_MS: "5000",
    SLUICE_IP_LIMIT: "0",
    SLUICE_PACE: TEST_PACE,
    ...((options.quickJanitor ?? options.apart) === true ? {} : { SLUICE_JANITOR_PACE: "1" }),
    SLUICE_SANDBOX: "on",
    SLUICE_SUPERVISED: "1",
    ...runtimeSettings(),
    ...options.env,
  };
  await makeQueue(env);
  await ensureBootstrap(database.database, key);
  const operatorToken = await makeToken(database.database);
  await options.prepare?.(database.query);

  const roles: ManagedProcess[] = [];
  closing.push(() => Promise.all(roles.map((role) => role.stop())));
  const addRole = async (...args: string[]): Promise<ManagedProcess> => {
    // A fixed port, so that a restarted ingress keeps its address.
    const isServing = args[0] === "ingress" || args[0] === "all";
    const port = isServing && env["PORT"] === "0" ? String(await freePort()) : (env["PORT"] ?? "0");
    const role = await startRole(args, { ...env, PORT: port });
    roles.push(role);
    if (isServing) watch(role.baseUrl);
    return role;
  };
  const pools = options.pools ?? ["chat"];
  const started = await (options.apart === true ? startApart : startTogether)(addRole, pools, options);
  const command: Stack["command"] = (...args) => {
    const live = roles.find((role) => role.baseUrl !== "" && role.alive());
    // The token grants all operator rights.
    const settings = { SLUICE_OPERATOR_TOKEN: operatorToken, SLUICE_URL: live?.baseUrl ?? "", ...env };
    const name = args.join(" ");
    return run({ name, command: ENTRY[0], args: [...ENTRY.slice(1), ...args], cwd: PROJECT_ROOT, env: settings });
  };

  return {
    ...started,
    baseUrls: started.processes.map(({ baseUrl }) => baseUrl).filter((url) => url !== ""),
    key,
    databaseUrl: database.url,
    natsUrl: nats.url,
    nats,
    postgres,
    query: database.query,
    settled: () => untilSettled(database.query, nats.url),
    env,
    addRole,
    command,
    stop: closeAll,
  };
}

type Started = Pick<Stack, "processes" | "ingresses" | "workers" | "janitors">;

async function startApart(
  addRole: Stack["addRole"],
  pools: readonly string[],
  { workers: workerCount = 1, janitor = true, ingress = 1 }: StackOptions,
): Promise<Started> {
  const many = (count: number, ...args: string[]): Promise<ManagedProcess[]> =>
    settled(Array.from({ length: count }, () => addRole(...args)));
  const [workers, janitors, ingresses] = await settled([
    many(workerCount, "worker", ...pools),
    many(janitor ? 1 : 0, "janitor"),
    many(ingress, "ingress"),
  ] as const);
  return { processes: [...ingresses, ...workers, ...janitors], ingresses, workers, janitors };
}

async function startTogether(
  addRole: Stack["addRole"],
  pools: readonly string[],
  { workers, janitor, ingress = 1 }: StackOptions,
): Promise<Started> {
  if (workers !== undefined || janitor !== undefined || ingress === 0) {
    throw new Error("these numbers of workers, janitors and ingresses need { apart: true }");
  }
  const further = Array.from({ length: ingress - 1 }, () => addRole("ingress"));
  const processes = await settled([addRole("all", ...pools), ...further]);
  const none = new Proxy<ManagedProcess[]>([], {
    get() {
      throw new Error(
        "all roles of this stack share one process; to reach a single role, start it with { apart: true }",
      );
    },
  });
  return { processes, ingresses: none, workers: none, janitors: none };
}

/** Starts the pooler. First sets the session limits in the database, because the pooler ignores the limits that the roles set. */
async function startPooler({ url, query }: TestDatabase, poolSize: number): Promise<PgBouncer> {
  for (const setting of [
    "statement_timeout = '10s'",
    "lock_timeout = '2s'",
    "idle_in_transaction_session_timeout = '10s'",
    "jit = off",
  ]) {
    await query(`alter role current_user in database ${new URL(url).pathname.slice(1)} set ${setting}`);
  }
  return startPgBouncer(url, poolSize);
}

/** Creates streams and durables: in this process if it has the pace of the roles, which is faster. Otherwise runs the migrate role. */
async function makeQueue(env: Readonly<Record<string, string>>): Promise<void> {
  if (paced(1_000) !== 1_000 * Number(env["SLUICE_PACE"])) {
    const args = [...ENTRY.slice(1), "migrate"];
    const { code, stderr } = await run({ name: "migrate", command: ENTRY[0], args, cwd: PROJECT_ROOT, env });
    if (code !== 0) throw new Error(`migrate ended with ${code}: ${stderr}`);
    return;
  }
  const connection = await connect({ servers: env["NATS_URL"] ?? "" });
  await ensureTopology(connection, Number(env["SLUICE_STREAM_REPLICAS"] ?? 1));
  await connection.close();
}

/** Creates an operator token that permits everything under /operator. */
async function makeToken(database: Database): Promise<string> {
  const asked = { id: newId(), name: "stack", scope: "money", expiresAt: null } as const;
  const created = await makeOperatorToken(database, { ...asked, actor: { type: "operator", id: "command" } });
  if (created.result !== "made") throw new Error(`the operator token was not made: ${created.result}`);
  return created.token;
}

/** Works like Promise.all, but waits for every promise before it throws, so that nothing starts after the clean-up. */
async function settled<T extends readonly Promise<unknown>[]>(
  parts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(parts);
  return await Promise.all(parts);
}

const SETTLED_WITHIN_MS = 20_000;

async function untilSettled(query: Query, natsUrl: string): Promise<void> {
  const open = "select 1 from hold where not exists (select from job where id = hold.job_id) limit 1";
  const isOpen = async (): Promise<boolean> => {
    // On a credit line, a response can precede its hold. The queued message is removed at the settlement.
    const mayComeLate = (await query("select 1 from credit_line limit 1")).length > 0;
    return (mayComeLate && !(await isQueueEmpty(natsUrl))) || (await query(open)).length > 0;
  };
  for (const until = performance.now() + SETTLED_WITHIN_MS; await isOpen(); await Bun.sleep(5)) {
    if (performance.now() > until) throw new Error(`calls hold credits for longer than ${SETTLED_WITHIN_MS} ms`);
  }
}
