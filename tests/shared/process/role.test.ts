/** Demands of each role on its servers, made before it begins. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import { run } from "#deploy/embedded/process.mjs";
import { type Database, openDatabase } from "#shared/database/client.ts";
import { createLogger } from "#shared/base/logger.ts";
import { ENTRY, PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { startNats } from "#tests/support/nats.ts";
import { type OwnPostgres, createTestDatabase, startOwnPostgres, type TestDatabase } from "#tests/support/postgres.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

/** Those aside that Postgres keeps for its administrators. */
const SERVER_CONNECTIONS = 33;

let postgres: OwnPostgres;
let small: TestDatabase;
let stack: Stack;

beforeAll(async () => {
  postgres = await startOwnPostgres({
    settings: { max_connections: String(SERVER_CONNECTIONS + 3 + 2), reserved_connections: "2" },
  });
  small = await createTestDatabase({ serverUrl: postgres.url });
  await small.database.close();
  stack = await startStack({ apart: true, pools: ["chat", "workflow"] });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  await postgres?.close();
});

/** Environment of a role that is to give up soon instead of waiting for its servers. */
const HASTY = { SLUICE_START_WAIT_MS: "300" };

/** A connection that stays open: the driver closes one that is idle. */
async function openSession(url: string): Promise<Database> {
  const database = openDatabase({ url, poolMax: 1, log: createLogger({ level: "silent", role: "test" }) });
  const ask = (): Promise<unknown> => database.query("select 1");
  await ask();
  const timer = setInterval(() => void ask(), 1_000);
  return {
    ...database,
    close: () => {
      clearInterval(timer);
      return database.close();
    },
  };
}

const connectionsOf = (role: ManagedProcess | undefined): unknown => {
  const line = role?.logs().find((one) => one.includes("connections to Postgres")) ?? "{}";
  return (JSON.parse(line) as { connections?: number }).connections;
};

test("a role logs its maximum number of connections", () => {
  const roles = [...stack.ingresses, ...stack.workers, ...stack.janitors];
  expect(roles.map(connectionsOf)).toEqual([8 + 7 + 2, 8 + 4, 8 + 2 + 2]);
});

test.each(["ingress", "worker chat", "janitor"])(
  "%s requires the migrate role if the queue is empty, and creates nothing there",
  async (role) => {
    const nats = await startNats();
    try {
      const start = startRole(role.split(" "), { ...stack.env, NATS_URL: nats.url, ...HASTY });
      expect(await start.then(() => "started", String)).toContain("run the migrate role first");
      const connection = await connect({ servers: nats.url });
      expect(await (await jetstreamManager(connection)).streams.list().next()).toEqual([]);
      await connection.close();
    } finally {
      await nats.close();
    }
  },
  60_000,
);

test("migrate creates the queue, and every janitor with the token returns the load of the pools", async () => {
  const nats = await startNats();
  const env = { ...stack.env, NATS_URL: nats.url, SLUICE_LAG_TOKEN: "lag_0123456789abcdef0123" };
  const migrate = await run({
    name: "migrate",
    command: ENTRY[0],
    args: [...ENTRY.slice(1), "migrate"],
    cwd: PROJECT_ROOT,
    env,
  });
  expect(migrate.code).toBe(0);
  const janitor = await startRole(["janitor"], env);
  try {
    const ask = (headers = {}) => fetch(`${janitor.adminUrl}/lag?pool=chat`, { headers });
    expect((await ask()).status).toBe(401);
    const lag: unknown = await (await ask({ authorization: `Bearer ${env.SLUICE_LAG_TOKEN}` })).json();
    // The slots of the worker that serves the stack: they stand in Postgres.
    expect(lag).toMatchObject({ pool: "chat", queued: 0, wanted_slots: 0, slots: 224 + 28 });
    expect((await fetch(`${stack.janitors[0]?.adminUrl}/lag`)).status).toBe(404);
  } finally {
    await janitor.stop();
    await nats.close();
  }
}, 60_000);

test("a role does not start on a Postgres without enough connections, and starts once it has them", async () => {
  const env = { ...stack.env, DATABASE_URL: small.url };
  const wanted = 17;
  const taken = await Promise.all(
    Array.from({ length: SERVER_CONNECTIONS - wanted + 1 }, () => openSession(small.url)),
  );
  expect(await startRole(["ingress"], { ...env, ...HASTY }).then(() => "started", String)).toContain(
    `this process opens up to ${wanted} connections to Postgres, which has ${wanted - 1} of its ${SERVER_CONNECTIONS} left`,
  );
  for (const session of taken) await session.close();
  const ingress = await startRole(["ingress"], env);
  expect(connectionsOf(ingress)).toBe(wanted);
  const isTold = (role: ManagedProcess): boolean =>
    role.logs().some((line) => line.includes("processes may open more connections"));
  expect(isTold(ingress)).toBe(false);
  // The first has opened some of its own: there is room, but not for all that both may open.
  const second = await startRole(["ingress"], env);
  expect(isTold(second)).toBe(true);
  for (const role of [ingress, second]) await role.stop();
}, 60_000);

/** The same for a user that sees no more of the sessions of others than that they are there. */
const asClerk = (url: string): string => url.replace(/\/\/.*@/, "//clerk:secret@");

test.each([
  { kind: "role", max: 17, other: () => asClerk(postgres.url) },
  { kind: "database", max: 17 + 1, other: () => small.url },
])(
  "a role does not start if the limit of its $kind is too low, except as a superuser",
  async ({ kind, max, other }) => {
    const superuser = await openSession(small.url);
    await superuser.query("drop role if exists clerk");
    await superuser.query("create role clerk login password 'secret' in role pg_read_all_data, pg_write_all_data");
    const owner = kind === "role" ? "role clerk" : `database ${new URL(small.url).pathname.slice(1)}`;
    const env = { ...stack.env, DATABASE_URL: asClerk(small.url) };
    await superuser.query(`alter ${owner} connection limit 0`);
    const start = (): Promise<string> => startRole(["ingress"], { ...env, ...HASTY }).then(() => "started", String);
    expect(await start()).toContain(
      `Postgres at DATABASE_URL has no connection left: too many connections for ${kind} "`,
    );
    await superuser.query(`alter ${owner} connection limit ${max}`);
    const session = await openSession(other());
    expect(await start()).toContain(
      `this process opens up to 17 connections to Postgres, whose ${owner} has 16 of its ${max} left; raise its limit (alter ${owner} connection limit …)`,
    );
    expect(await superuser.findConnectionCapacity()).toMatchObject({ all: SERVER_CONNECTIONS, owner: null });
    await session.close();
    const ingress = await startRole(["ingress"], env);
    expect(connectionsOf(ingress)).toBe(17);
    await ingress.stop();
    await superuser.close();
  },
  60_000,
);
