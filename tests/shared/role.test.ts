/** Demands of each role on its servers, made before it begins. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { openDatabase } from "#shared/database/client.ts";
import { createLogger } from "#shared/logger.ts";
import { type OwnPostgres, createTestDatabase, startOwnPostgres, type TestDatabase } from "#tests/support/postgres.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

/** Those aside that Postgres keeps for its administrators. */
const SERVER_CONNECTIONS = 20;

let postgres: OwnPostgres;
let small: TestDatabase;
let stack: Stack;

beforeAll(async () => {
  postgres = await startOwnPostgres({ settings: { max_connections: String(SERVER_CONNECTIONS + 3) } });
  small = await createTestDatabase({ serverUrl: postgres.url });
  await small.database.close();
  stack = await startStack({ pools: ["chat", "workflow"] });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  await postgres?.close();
});

/** A connection that stays open: the driver closes one that is idle. */
async function openSession(url: string): Promise<{ close: () => Promise<void> }> {
  const database = openDatabase({ url, poolMax: 1, log: createLogger({ level: "silent", role: "test" }) });
  const ask = (): Promise<unknown> => database.query("select 1");
  await ask();
  const timer = setInterval(() => void ask(), 1_000);
  return {
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

test("a role tells how many connections it opens at most", () => {
  const roles = [...stack.ingresses, ...stack.workers, ...stack.janitors];
  expect(roles.map(connectionsOf)).toEqual([8 + 7 + 2, 8 + 4, 8 + 2 + 2]);
});

test("a role does not start on a Postgres that cannot hold its connections, and starts once it can", async () => {
  const env = { ...stack.env, DATABASE_URL: small.url };
  const wanted = 17;
  const taken = await Promise.all(
    Array.from({ length: SERVER_CONNECTIONS - wanted + 1 }, () => openSession(small.url)),
  );
  expect(await startRole(["ingress"], env).then(() => "started", String)).toContain(
    `this process opens up to ${wanted} connections to Postgres, which has ${wanted - 1} of its ${SERVER_CONNECTIONS} left`,
  );
  for (const session of taken) await session.close();
  const ingress = await startRole(["ingress"], env);
  expect(connectionsOf(ingress)).toBe(wanted);
  await ingress.stop();
}, 60_000);
