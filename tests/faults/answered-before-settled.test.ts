/**
 * F4, F7, F12. Fault: one part of the service dies, stands still or is cut off when a plain answer and a stream have reached their
 * clients and neither is settled. Expected: both are paid once, at what was answered, whoever settles them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { type Database, openDatabase } from "#shared/database/client.ts";
import { createLogger } from "#shared/logger.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, FLAT_NANO, startBed } from "./bed.ts";
import { type Answer, DONE, requestId } from "./client.ts";
import { eventually } from "./wait.ts";

/** Time to lock the balance between a call's admission and its answer. */
const UPSTREAM_MS = 600;

interface Part {
  readonly role: ManagedProcess;
  /** Its way to NATS. */
  readonly link: TcpProxy;
}

let bed: Bed;
let ingress: Part;
let worker: Part;
let database: Database;

beforeAll(async () => {
  bed = await startBed({ ingress: 0, workers: 0, ownPostgres: true });
  const log = createLogger({ level: "silent", role: "test" });
  database = openDatabase({ url: bed.stack.databaseUrl, poolMax: 2, log });
  const start = async (...args: string[]): Promise<Part> => {
    const nats = new URL(bed.stack.natsUrl);
    const link = startTcpProxy(nats.host);
    nats.host = link.host;
    const env = { ...bed.stack.env, NATS_URL: nats.href, PORT: String(await freePort()) };
    return { role: await startRole(args, env), link };
  };
  [ingress, worker] = await Promise.all([start("ingress"), start("worker", "chat")]);
}, 60_000);

afterAll(async () => {
  const parts = [ingress, worker].filter((part) => part !== undefined);
  await Promise.all(parts.map(({ role }) => role.stop()));
  for (const { link } of parts) link.close();
  await database?.close();
  await bed?.stop();
});

beforeEach(() => bed.upstream.setDefault({ delayMs: UPSTREAM_MS, tokens: 4 }));

const openHolds = async (): Promise<number> => (await bed.stack.query("select 1 from hold")).length;

const PLAIN = ask("flat");
const STREAMED = ask("metered", { stream: true });

interface Fault {
  /** Of an ingress that dies, the plain answer alone: the settle below must be that answer's, which its ingress has vouched for. */
  readonly bodies: readonly Record<string, unknown>[];
  /** It happens, and what it befell is back on its feet. */
  happens(release: () => Promise<unknown>): Promise<unknown>;
}

/** The answers are with their clients, and their balance is locked: a settle waits for it, none gets through until `release`. */
async function answeredAndUnsettled({
  bodies,
}: Fault): Promise<{ answers: Answer[]; release: () => Promise<unknown> }> {
  const target = { url: ingress.role.baseUrl, key: bed.stack.key };
  const calls = bodies.map((body) => bed.client.chat(target, body));
  await eventually("they are admitted", async () => (await openHolds()) === bodies.length);
  const unlock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const lock = database.transaction(async (tx) => {
    await tx.query("select 1 from balance for update");
    locked.resolve();
    await unlock.promise;
  });
  await Promise.race([locked.promise, lock]);
  const answers = await Promise.all(calls);
  const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%settle_call%'";
  await eventually("a settle waits", async () => (await bed.stack.query(waits)).length > 0);
  expect(await openHolds()).toBe(bodies.length);
  // The lock goes with a server that was killed.
  return { answers, release: () => (unlock.resolve(), lock.catch(() => undefined)) };
}

const BOTH = [PLAIN, STREAMED];
const FAULTS: Readonly<Record<string, Fault>> = {
  "Postgres is killed": {
    bodies: BOTH,
    async happens() {
      await bed.stack.postgres?.stop("kill");
      await bed.stack.postgres?.start();
    },
  },
  "NATS is killed": {
    bodies: BOTH,
    async happens() {
      await bed.stack.nats.stop("SIGKILL");
      await bed.stack.nats.start();
    },
  },
  "NATS loses its store": { bodies: BOTH, happens: () => bed.stack.nats.wipe() },
  "the ingress loses its link": { bodies: BOTH, happens: () => Promise.resolve(ingress.link.cut()) },
  "the worker loses its link": { bodies: BOTH, happens: () => Promise.resolve(worker.link.cut()) },
  "the worker is killed": { bodies: BOTH, happens: () => killed(worker) },
  "the worker stands still until they are settled": {
    bodies: BOTH,
    happens: (release) => pausedUntilSettled(worker, release),
  },
  "the ingress is killed": { bodies: [PLAIN], happens: () => killed(ingress) },
  "the ingress stands still until they are settled": {
    bodies: [PLAIN],
    happens: (release) => pausedUntilSettled(ingress, release),
  },
};

async function killed({ role }: Part): Promise<void> {
  role.kill("SIGKILL");
  await role.exited();
  await role.restart();
}

async function pausedUntilSettled({ role }: Part, release: () => Promise<unknown>): Promise<void> {
  role.kill("SIGSTOP");
  try {
    await release();
    await eventually("they are settled", async () => (await openHolds()) === 0);
  } finally {
    role.kill("SIGCONT");
  }
}

describe("answers that are not settled when", () => {
  test.each(Object.entries(FAULTS))(
    "%s are paid once",
    async (_name, fault) => {
      const { answers, release } = await answeredAndUnsettled(fault);
      await fault.happens(release);
      await release();
      await eventually("they are settled", async () => (await openHolds()) === 0);
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        const sql = "select status, settled from usage_record where job_id = $1";
        const [usage, ...more] = await bed.stack.query<{ status: string; settled: bigint }>(sql, [requestId(answer)]);
        expect([usage?.status, more]).toEqual(["succeeded", []]);
        if (answer.isStream) expect(answer.frames.at(-1)).toBe(DONE);
        else expect(usage?.settled).toBe(FLAT_NANO);
        expect(usage?.settled).toBeGreaterThan(0n);
      }
    },
    60_000,
  );
});

test("in the end everything adds up", async () => {
  await audit(bed, { withinMs: 30_000 });
}, 40_000);
