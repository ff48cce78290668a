/**
 * Postgres connections. The only file that names the driver. bigint columns arrive as BigInt: an amount never passes
 * through a float (toolchain note: the driver's default is text).
 */
import type { Socket } from "node:net";
import pg from "pg";

import type { Logger } from "#shared/logger.ts";
import { PlainSocket } from "#shared/plain-socket.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
/** OID of bigint[]; the driver has no name for it. */
const INT8_ARRAY = 1016;
const parseTextArray = pg.types.getTypeParser(1009 as never) as unknown as (text: string) => (string | null)[];
pg.types.setTypeParser(INT8_ARRAY as never, (text: string) =>
  parseTextArray(text).map((item) => (item === null ? null : BigInt(item))),
);

export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date | readonly SqlValue[];

/** Anything that can run one statement: the pool, a reserved connection, a transaction. */
export interface Queryable {
  /** Numbered parameters only. `name` makes it a prepared statement. Rows as plain objects. */
  query<Row extends object>(text: string, values?: readonly SqlValue[], name?: string): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** One connection of its own, for work that must never wait behind other queries; reconnects by itself. */
  reserve(name: string): Queryable;
  /** Runs `work` in one transaction; rolled back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** The same on a connection of its own that may take `limitMs` and wait for locks as long: migrations, audits. */
  slowTransaction<T>(limitMs: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Statements that are transactions of their own and may take `limitMs` each, on one connection: what no transaction may hold.
   * @throws Error behind a pooler, where others would get the connection with our limits
   */
  slowSession<T>(limitMs: number, work: (session: Queryable) => Promise<T>): Promise<T>;
  /** Returns how many statements and transactions wait for a connection. */
  waiting(): number;
  /** Returns how many connections the server has free for us, and whether ours end at a pooler instead, of which it knows nothing. */
  findRoom(): Promise<ConnectionRoom>;
  close(): Promise<void>;
}

/** The nearest of three limits: that of the server, of our role over all databases, and of our database over all roles. */
export interface ConnectionRoom {
  /** Connections that the limit allows; of the server, those aside that it keeps for its administrators. */
  readonly all: number;
  /** Those that neither we nor others have open. */
  readonly free: number;
  /** Those that would be left if every process of ours opened all that it may; below 0 where these are more than there are. */
  readonly spare: number;
  /** Name of whose limit it is, as in a statement (`role sluice`, `database sluice`); null is the server. */
  readonly owner: string | null;
  readonly isPooled: boolean;
}

/** SQLSTATEs with a meaning for callers. */
export const SQL = {
  lockTimeout: "55P03",
  deadlock: "40P01",
  serialization: "40001",
  uniqueViolation: "23505",
  statementTimeout: "57014",
  tooManyConnections: "53300",
  /** Ours: the decision must be made again under the lock (see admit_calls). */
  decideLocked: "SL001",
  /** The storage of the workspace does not hold it (see take_storage). */
  storageFull: "SL002",
  /** Work that other statements are to do, each its part (see advance_run and admit_job). */
  notTogether: "SL003",
} as const;

/** SQLSTATE of an error of the driver, or undefined for a connection fault. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** True when the statement's own values were refused (classes 22 and 23): nothing was done and repeating cannot help. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? "");
}

const AWAY_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "57P01", // ended by an administrator
  "57P02",
  "57P03", // starting up
  SQL.statementTimeout,
  SQL.tooManyConnections,
]);
/** The driver's own words where it gives no code. */
const AWAY_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

interface DriverFault {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly severity?: unknown;
}

/** True when the database could not be asked, or did not answer in time. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as DriverFault;
  if (AWAY_CODES.has(String(code)) || (typeof message === "string" && AWAY_WORDS.test(message))) return true;
  return isEndedByPooler(error) && !isRefusedByPooler(error);
}

/** True when a pooler does not take what a connection asks for at its start. */
export function isRefusedByPooler(error: unknown): boolean {
  return isEndedByPooler(error) && String((error as DriverFault).message).includes("startup parameter");
}

/** A pooler whose server is away, or that has no place for us, ends a connection so; Postgres itself tells of a broken protocol so. */
function isEndedByPooler(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as DriverFault;
  return code === "08P01" && severity === "FATAL";
}

/** Name of the violated constraint, when the error is one. */
export function constraintName(error: unknown): string | undefined {
  const name = (error as { constraint?: unknown } | null)?.constraint;
  return typeof name === "string" ? name : undefined;
}

/**
 * Limits in milliseconds that every session is to have. They are asked for when a connection opens; a transaction pooler gives none
 * of what is asked for so, and there the database role has to bring them (`findLostLimits`).
 */
const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
} as const;

const TIMEOUTS = { connectionTimeoutMillis: 3_000, query_timeout: 12_000 } as const;
/** Limits of one statement, instead of the connection's. */
type Limits = { readonly query_timeout: number };

/**
 * Returns the settings, as SQL for `alter role`, that our sessions lack: those that a pooler or a proxy has dropped. Without a bound on
 * their waits, one locked row would stand before everybody's calls.
 */
export async function findLostLimits(target: Queryable): Promise<string[]> {
  const rows = await target.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name = any ($1)",
    [["jit", ...Object.keys(SESSION_LIMITS)]],
  );
  const inForce = new Map(rows.map(({ name, setting }) => [name, setting]));
  const lost = Object.entries(SESSION_LIMITS)
    .filter(([name, max]) => !(Number(inForce.get(name)) > 0 && Number(inForce.get(name)) <= max))
    .map(([name, max]) => `${name} = '${max}ms'`);
  return inForce.get("jit") === "off" ? lost : [...lost, "jit = off"];
}

/**
 * Returns the statement that selects `call` and waits for a lock as many milliseconds as its parameter says (SQLSTATE 55P03 then). The
 * limit travels with the statement, since behind a transaction pooler a session keeps none. It has force before the call begins.
 */
export function waitingForLocks(call: string, parameter: `$${number}`): string {
  return `select ${call} from (select set_config('lock_timeout', ${parameter}, true)) limits`;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of the pool. */
  readonly poolMax: number;
  /** Connections that may be reserved beside it; any number when absent. */
  readonly reservedMax?: number;
  /** Slow transactions that may run at once, each on a connection of its own. */
  readonly slowMax?: number;
  readonly log: Logger;
}

/** Opens no connection before it is used, and never more than the sum of the three numbers. */
export function openDatabase(options: DatabaseOptions): Database {
  const { reservedMax = Infinity, slowMax = 2 } = options;
  const pools: pg.Pool[] = [];
  // Each session tells in its name how many its process may have: others count those that are not open yet.
  const most = options.poolMax + reservedMax + slowMax;
  const process = Number.isFinite(most) ? ` ${crypto.randomUUID().slice(0, 8)}/${most}` : "";
  const socket = isPlain(options.url) ? { stream: () => PlainSocket.open() as Socket } : {};
  const open = (name: string, max: number): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: options.url,
      max,
      ...SESSION_LIMITS,
      ...TIMEOUTS,
      keepAlive: true,
      ...socket,
      // Compiling costs ten times what it saves (measured: a budget's look at 360,000 sums takes 2.5 s with it and 0.3 s without).
      options: "-c jit=off",
      application_name: `sluice ${name}${process}`,
    });
    // Without a listener a server restart takes the process down.
    pool.on("error", (error) => options.log.warn({ err: error, pool: name }, "postgres connection lost"));
    // The pool listens to idle connections only. One that dies in use fails its statement, or the next one, and is not used
    // again; it may do so in the packet that opens it, before whatever waits for it runs on.
    pool.on("connect", (client) => client.on("error", () => undefined));
    pools.push(pool);
    return pool;
  };
  const main = open("pool", options.poolMax);
  const slow = slowMax > 0 ? open("slow", slowMax) : undefined;
  let reserved = 0;
  return {
    query: (text, values, name) => runOn(main, text, values, name),
    reserve(name) {
      reserved += 1;
      if (reserved > reservedMax) throw new Error(`expected ${reservedMax} reserved connections, ${name} is one more`);
      const pool = open(name, 1);
      return { query: (text, values, statement) => runOn(pool, text, values, statement) };
    },
    transaction: (work) => transact(main, work),
    slowTransaction(limitMs, work) {
      if (!slow) throw new Error("expected no slow transaction in this process");
      return transact(
        slow,
        async (tx) => {
          const limits = Object.keys(SESSION_LIMITS).map((name) => `set_config('${name}', $1, true)`);
          await tx.query(`select ${limits.join(", ")}`, [String(limitMs)]);
          return work(tx);
        },
        { query_timeout: limitMs },
      );
    },
    slowSession: (limitMs, work) => withSession(main, limitMs, work),
    waiting: () => pools.reduce((sum, { waitingCount }) => sum + waitingCount, 0),
    findRoom: () => findRoom(main),
    async close() {
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** True of a server that is reached over TCP and without TLS, as the driver reads the URL and its own environment. */
function isPlain(url: string): boolean {
  const { host, ssl } = new pg.Client({ connectionString: url });
  return !host.startsWith("/") && !ssl;
}

/**
 * Statement for the nearest limit. It counts as Postgres does: clients alone, and the limits of roles and databases not for superusers. What a
 * process of ours may open is counted where its sessions can be seen: by itself, others of its database role, and superusers.
 */
const ROOM = `
  with client as (
    -- The kind of others' sessions is hidden without the rights of pg_read_all_stats: those with a user and a database are taken for clients,
    -- also where they are workers of a query.
    select usesysid as role, datid as database, substring(application_name from '^sluice .* ([0-9a-f]{8}/[0-9]{1,5})$') as process
    from pg_stat_activity
    where backend_type = 'client backend' or (backend_type is null and usesysid is not null and datid is not null)
  ), counted as (
    select role, database, count(*) as open,
      case when process is null then count(*) else greatest(count(*), split_part(process, '/', 2)::int) end as told
    from client group by role, database, process
  ), bounded as (
    select oid, format('role %I', rolname) as name, rolconnlimit as max from pg_roles where rolname = session_user and not rolsuper
  ), room (owner, "all", open, told) as (
    select null, current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0), c.* from (select sum(open), sum(told) from counted) c
    union all
    select name, max, c.* from bounded, lateral (select sum(open), sum(told) from counted where role = bounded.oid) c where max >= 0
    union all
    select format('database %I', datname), datconnlimit, c.*
    from pg_database d, lateral (select sum(open), sum(told) from counted where database = d.oid) c
    where datname = current_database() and datconnlimit >= 0 and exists (select from bounded)
  )
  select owner, "all", ("all" - open)::int as free, (min("all" - told) over ())::int as spare from room order by free limit 1`;

async function findRoom(pool: pg.Pool): Promise<ConnectionRoom> {
  const client = await pool.connect();
  try {
    const [row] = await run<Omit<ConnectionRoom, "isPooled">>(client, ROOM);
    if (!row) throw new Error("Postgres does not tell its connections");
    return { ...row, isPooled: await isPooled(client) };
  } finally {
    client.release();
  }
}

/** A pooler names itself to the driver, not the process of the server. */
async function isPooled(client: pg.PoolClient): Promise<boolean> {
  const [row] = await run<{ pid: number }>(client, "select pg_backend_pid() as pid");
  return Reflect.get(client, "processID") !== row?.pid;
}

async function withSession<T>(pool: pg.Pool, limitMs: number, work: (session: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    if (await isPooled(client)) {
      throw new Error("DATABASE_URL names a pooler, and this needs a connection to Postgres itself");
    }
    for (const name of ["statement_timeout", "lock_timeout"] as const) {
      await run(client, "select set_config($1, $2, false)", [name, String(limitMs)]);
    }
    return await work({ query: (text, values, name) => run(client, text, values, name, { query_timeout: limitMs }) });
  } finally {
    // With these limits it does not go back to the pool.
    client.release(true);
  }
}

async function transact<T>(pool: pg.Pool, work: (tx: Queryable) => Promise<T>, limits?: Limits): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await run(client, "begin", [], undefined, limits);
    const result = await work({ query: (text, values, name) => run(client, text, values, name, limits) });
    await run(client, "commit", [], undefined, limits);
    return result;
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Not of the statement but of the connection or its server, such as one that has become read-only. */
const CONNECTION_FAULT = /^(08|25|53|57|58|XX)/;

/**
 * One statement on any connection of the pool. The server tells of an error before it has undone the statement: here it is
 * told afterwards, so that a repeat on another connection meets none of its locks.
 */
async function runOn<Row extends object>(
  pool: pg.Pool,
  text: string,
  values?: readonly SqlValue[],
  name?: string,
): Promise<Row[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await run<Row>(client, text, values, name);
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || CONNECTION_FAULT.test(state)) broken ??= error as Error;
    // An empty statement is answered when the one before is over.
    else {
      await client.query("").catch((failure: Error) => {
        broken = failure;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

async function run<Row extends object>(
  target: pg.PoolClient,
  text: string,
  values: readonly SqlValue[] = [],
  name?: string,
  limits?: Limits,
): Promise<Row[]> {
  const query = { text, values: [...values], ...limits };
  const result = await target.query(name === undefined ? query : { ...query, name });
  return result.rows as Row[];
}
