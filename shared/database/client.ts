/**
 * Opens Postgres connections. Only this file imports the driver. bigint columns are returned as BigInt, so that an amount never becomes a
 * float. The driver's default is text.
 */
import type { Socket } from "node:net";
import pg from "pg";

import type { Logger } from "#shared/base/logger.ts";
import { PlainSocket } from "#shared/net/plain-socket.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
/** Postgres' type id (OID) of bigint[]. The driver has no constant for it. */
const INT8_ARRAY = 1016;
const parseTextArray = pg.types.getTypeParser(1009 as never) as unknown as (text: string) => (string | null)[];
pg.types.setTypeParser(INT8_ARRAY as never, (text: string) =>
  parseTextArray(text).map((item) => (item === null ? null : BigInt(item))),
);

export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date | readonly SqlValue[];

/** Object that runs SQL statements: the pool, a reserved connection, or a transaction. */
export interface Queryable {
  /** Runs a statement with numbered parameters. `name` makes it a prepared statement. Returns rows as plain objects. */
  query<Row extends object>(text: string, values?: readonly SqlValue[], name?: string): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Reserves a connection for statements that must never wait behind others. The connection is reopened automatically after an error. */
  reserve(name: string): Queryable;
  /** Runs a function in one transaction, which is rolled back if the function throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction of up to `limitMs` milliseconds on its own connection, for migrations and audits. The lock timeout is the same as
   * for others.
   */
  slowTransaction<T>(limitMs: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Runs statements outside of a transaction on one connection, each for up to `limitMs` milliseconds.
   * @throws Error behind a pooler, because other clients would later receive the connection with our timeouts
   */
  slowSession<T>(limitMs: number, work: (session: Queryable) => Promise<T>): Promise<T>;
  /** Returns the number of statements and transactions that wait for a connection. */
  waiting(): number;
  /**
   * Returns the number of free connections of the server. Also states if our connections end at a pooler, whose capacity the server cannot
   * see.
   */
  findConnectionCapacity(): Promise<ConnectionCapacity>;
  close(): Promise<void>;
}

/** Connection limit with the least remaining capacity. Three limits are compared: of the server, of our role, and of our database. */
export interface ConnectionCapacity {
  /** Maximum number of connections. For the server, those reserved for administrators are not included. */
  readonly all: number;
  /** Number of connections that no client uses. */
  readonly free: number;
  /** Number of connections that remain if each of our processes opens its maximum; negative if the processes together exceed the limit. */
  readonly spare: number;
  /** Object to which the limit applies, in SQL notation (`role sluice`, `database sluice`); null for the server. */
  readonly owner: string | null;
  readonly isPooled: boolean;
}

/** Error codes (SQLSTATE) that callers of this file distinguish. */
export const SQL = {
  lockTimeout: "55P03",
  deadlock: "40P01",
  serialization: "40001",
  uniqueViolation: "23505",
  statementTimeout: "57014",
  tooManyConnections: "53300",
  /**
   * Error code of our SQL functions: nothing was changed, and the statement must be repeated with early locks on the balances (see
   * admit_calls).
   */
  decideLocked: "SL001",
  /** Error code of our SQL functions: the storage limit of the workspace is reached (see take_storage). */
  storageFull: "SL002",
  /** Error code of our SQL functions: the changes must be split into several statements (see advance_run and admit_job). */
  notTogether: "SL003",
  /** Error code of our SQL functions: the id belongs to another subject (see set_spend_limit). */
  idTaken: "SL004",
} as const;

/** Returns the SQLSTATE of a driver error, or undefined for a connection error. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Returns true if the statement failed because of its own values (SQLSTATE classes 22 and 23). Nothing was changed, and a retry cannot
 * succeed.
 */
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
/** Beginnings of the messages of driver errors without a code. They mean that the database is unreachable. */
const AWAY_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

interface DriverFault {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly severity?: unknown;
}

/** Returns true if the database was unreachable or did not respond in time. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as DriverFault;
  if (AWAY_CODES.has(String(code)) || (typeof message === "string" && AWAY_WORDS.test(message))) return true;
  return isEndedByPooler(error) && !isRefusedByPooler(error);
}

/** Returns true if a pooler rejects the startup parameters of a connection. */
export function isRefusedByPooler(error: unknown): boolean {
  return isEndedByPooler(error) && String((error as DriverFault).message).includes("startup parameter");
}

/**
 * Returns true if a pooler may have closed the connection, because its server is down or it has no capacity. Postgres uses the same code
 * for protocol errors.
 */
function isEndedByPooler(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as DriverFault;
  return code === "08P01" && severity === "FATAL";
}

/** Returns the name of the violated constraint, if any. */
export function constraintName(error: unknown): string | undefined {
  const name = (error as { constraint?: unknown } | null)?.constraint;
  return typeof name === "string" ? name : undefined;
}

/**
 * Timeouts of every session, in milliseconds. They are requested when a connection opens. A transaction pooler ignores the request, so that
 * the timeouts must then be set for the database role (`findLostLimits`).
 */
const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
} as const;

const TIMEOUTS = { connectionTimeoutMillis: 3_000, query_timeout: 12_000 } as const;
/** Timeout of one statement, in milliseconds. It replaces the timeout of the connection. */
type Limits = { readonly query_timeout: number };

/**
 * Returns the timeouts that our sessions lack because a pooler or a proxy has dropped them, as SQL for `alter role`. Without timeouts, one
 * locked row would block all calls.
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
 * Returns a statement that calls a SQL function with a lock timeout. The parameter contains the timeout in milliseconds; SQLSTATE 55P03
 * reports that it has passed. The timeout is part of the statement, because sessions behind a transaction pooler keep no settings. It
 * applies before the function begins.
 */
export function waitingForLocks(call: string, parameter: `$${number}`): string {
  return `select ${call} from (select set_config('lock_timeout', ${parameter}, true)) limits`;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Maximum number of connections in the pool. */
  readonly poolMax: number;
  /** Maximum number of reserved connections, in addition to the pool. Unlimited if absent. */
  readonly reservedMax?: number;
  /** Maximum number of concurrent slow transactions, each on its own connection. Default: 2. */
  readonly slowMax?: number;
  readonly log: Logger;
}

/**
 * Creates the connection pools. Connections open on first use, and their number never exceeds the sum of `poolMax`, `reservedMax` and
 * `slowMax`.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { reservedMax = Infinity, slowMax = 2 } = options;
  const pools: pg.Pool[] = [];
  // The session's name contains the process's maximum, so that others can count connections that are not open yet.
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
      // JIT compilation costs ten times what it saves (measured: a budget check over 360,000 sums takes 2.5 s with it and 0.3 s without).
      options: "-c jit=off",
      application_name: `sluice ${name}${process}`,
    });
    // Without a listener, a server restart crashes the process.
    pool.on("error", (error) => options.log.warn({ err: error, pool: name }, "postgres connection lost"));
    // The pool listens to idle connections only. A connection that dies in use fails its current or next statement and is discarded. It may
    // also die in the packet that opens it, before the waiting caller continues.
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
    findConnectionCapacity: () => findConnectionCapacity(main),
    async close() {
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/**
 * Returns true if the server is reached over TCP without TLS. The driver parses the URL and its own environment variables for this, so that
 * the result matches its connections.
 */
function isPlain(url: string): boolean {
  const { host, ssl } = new pg.Client({ connectionString: url });
  return !host.startsWith("/") && !ssl;
}

/**
 * SQL that finds the connection limit with the least remaining capacity. Like Postgres, it counts only client sessions, and applies no
 * limits of roles and databases to superusers. The connections that our processes may still open are derived from the visible sessions:
 * those of our own role, and all sessions for a superuser.
 */
const CONNECTION_CAPACITY_SQL = `
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

async function findConnectionCapacity(pool: pg.Pool): Promise<ConnectionCapacity> {
  const client = await pool.connect();
  try {
    const [row] = await run<Omit<ConnectionCapacity, "isPooled">>(client, CONNECTION_CAPACITY_SQL);
    if (!row) throw new Error("Postgres does not tell its connections");
    return { ...row, isPooled: await isPooled(client) };
  } finally {
    client.release();
  }
}

/** Returns true if the connection ends at a pooler. A pooler reports a process id of its own to the driver, not the server's. */
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
    // A connection with these limits must not return to the pool.
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

/** SQLSTATEs of errors that the connection or its server causes, not the statement, for example when a server has become read-only. */
const CONNECTION_FAULT = /^(08|25|53|57|58|XX)/;

/**
 * Runs one statement on any connection of the pool. The server reports an error before its rollback has finished. This function therefore
 * throws only after the rollback, so that a retry on another connection is not blocked by the locks of the failed statement.
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
    // The response to an empty statement arrives after the previous one has finished.
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
