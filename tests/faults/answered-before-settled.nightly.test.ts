/**
 * Fault: one part of the service dies, stands still or is cut off when a plain answer and a stream have reached their
 * clients and neither is settled. Expected: both are paid once, at what was answered, whoever settles them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { type Database, openDatabase } from "#shared/database/client.ts";
import { createLogger } from "#shared/base/logger.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { startTcpProxy, type TcpProxy } from "#tests/support/tcp-proxy.ts";
import { CONTENDED_WAIT_MS } from "#shared/database/retry.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, FLAT_NANO, startBed } from "./bed.ts";
import { type Answer, DONE, requestId } from "./client.ts";
import { metric } from "./metric.ts";
import { eventually } from "./wait.ts";

interface Part {
  readonly role: ManagedProcess;
  /** Connections to NATS. */
  readonly links: number;
  /** Its ways to NATS and to Postgres. */
  readonly link: TcpProxy;
  readonly postgres: TcpProxy;
}

let bed: Bed;
let ingress: Part;
let worker: Part;
let database: Database;

beforeAll(async () => {
  bed = await startBed({ ingress: 0, workers: 0, ownPostgres: true });
  const log = createLogger({ level: "silent", role: "test" });
  database = openDatabase({ url: bed.stack.databaseUrl, poolMax: 2, log });
  const start = async (links: number, ...args: string[]): Promise<Part> => {
    const [nats, database] = [new URL(bed.stack.natsUrl), new URL(bed.stack.databaseUrl)];
    const [link, postgres] = [startTcpProxy(nats.host), startTcpProxy(database.host)];
    nats.host = link.host;
    database.host = postgres.host;
    const env = {
      ...bed.stack.env,
      NATS_URL: nats.href,
      DATABASE_URL: database.href,
      PORT: String(await freePort()),
      // Each of its calls has a hold.
      SLUICE_CREDIT_LINES: "off",
    };
    return { role: await startRole(args, env), links, link, postgres };
  };
  [ingress, worker] = await Promise.all([start(1, "ingress"), start(2, "worker", "chat")]);
}, 60_000);

afterAll(async () => {
  const parts = [ingress, worker].filter((part) => part !== undefined);
  await Promise.all(parts.map(({ role }) => role.stop()));
  for (const { link, postgres } of parts) for (const proxy of [link, postgres]) proxy.close();
  await database?.close();
  await bed?.stop();
});

const openHolds = async (): Promise<number> => (await bed.stack.query("select 1 from hold")).length;

const PLAIN = ask("flat");
const STREAMED = ask("metered", { stream: true });
/** Settles that wait for the lock. */
const WAITING = "from pg_stat_activity where wait_event_type = 'Lock' and query like '%settle_call%'";

interface Fault {
  /** Both kinds unless told otherwise. */
  readonly bodies?: readonly Record<string, unknown>[];
  /** Parts that lose their link to NATS. */
  readonly cuts?: () => readonly Part[];
  /** It happens, and what it befell is back on its feet, or on its way there. */
  happens(release: () => Promise<unknown>): Promise<unknown>;
}

/** The answers are with their clients, and no usage can be recorded: a settle waits for that, none gets through until `release`. */
async function answeredAndUnsettled(
  bodies: readonly Record<string, unknown>[],
): Promise<{ answers: Answer[]; release: () => Promise<unknown> }> {
  const unlock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const lock = database.transaction(async (tx) => {
    await tx.query("lock table usage_record in share mode");
    locked.resolve();
    await unlock.promise;
  });
  await Promise.race([locked.promise, lock]);
  const target = { url: ingress.role.baseUrl, key: bed.stack.key };
  const answers = await Promise.all(bodies.map((body) => bed.client.chat(target, body)));
  await eventually("a settle waits", async () => (await bed.stack.query(`select 1 ${WAITING}`)).length > 0);
  expect(await openHolds()).toBe(bodies.length);
  // The lock goes with a server that was killed.
  return { answers, release: () => (unlock.resolve(), lock.catch(() => undefined)) };
}

const both = (): readonly Part[] => [ingress, worker];

const FAULTS: Readonly<Record<string, Fault>> = {
  "Postgres is killed": {
    async happens() {
      await bed.stack.postgres?.stop("kill");
      await bed.stack.postgres?.start();
    },
  },
  "the settle's connection is cut before its commit": {
    happens: () => endWaiting(),
  },
  "the settle's connection is cut before its commit is heard of": {
    async happens(release) {
      // The last of its tries: it does not give up before the lock is gone.
      const last = `select 1 ${WAITING} and clock_timestamp() - query_start > interval '${CONTENDED_WAIT_MS + 100} ms'`;
      await eventually("it waits for long", async () => (await bed.stack.query(last)).length > 0);
      worker.postgres.mute();
      await release();
      await bed.stack.settled();
      worker.postgres.cut();
    },
  },
  "NATS is killed": {
    cuts: both,
    async happens() {
      await bed.stack.nats.stop("SIGKILL");
      await bed.stack.nats.start();
    },
  },
  "NATS loses its store": { cuts: both, happens: () => bed.stack.nats.wipe() },
  "the ingress loses its link for a moment": {
    cuts: () => [ingress],
    happens: () => Promise.resolve(ingress.link.cut()),
  },
  "the ingress loses its link until they are settled": {
    cuts: () => [ingress],
    happens: (release) => apart(ingress, release),
  },
  "the worker loses its link until they are settled": {
    cuts: () => [worker],
    happens: (release) => apart(worker, release),
  },
  "the worker is killed": { happens: () => killed(worker) },
  "the worker stands still until they are settled": { happens: (release) => paused(worker, release) },
  // Of an ingress that dies one at a time: the settle that waits must be that answer's, which its ingress has vouched for.
  "the ingress of a plain answer is killed": { bodies: [PLAIN], happens: () => killed(ingress) },
  "the ingress of a stream is killed": { bodies: [STREAMED], happens: () => killed(ingress) },
  "the ingress of a plain answer stands still until it is settled": {
    bodies: [PLAIN],
    happens: (release) => paused(ingress, release),
  },
  "the ingress of a stream stands still until it is settled": {
    bodies: [STREAMED],
    happens: (release) => paused(ingress, release),
  },
};

/** Ends the waiting statements of a process: Postgres would execute them without it. */
const endWaiting = (): Promise<unknown> => bed.stack.query(`select pg_terminate_backend(pid) ${WAITING}`);

async function killed({ role }: Part): Promise<void> {
  role.kill("SIGKILL");
  await role.exited();
  if (role === worker.role) await endWaiting();
  await role.restart();
}

async function paused({ role }: Part, release: () => Promise<unknown>): Promise<void> {
  role.kill("SIGSTOP");
  try {
    if (role === worker.role) await endWaiting();
    await release();
    await bed.stack.settled();
  } finally {
    role.kill("SIGCONT");
  }
}

async function apart({ link }: Part, release: () => Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  link.cut(over.promise);
  try {
    await release();
    await bed.stack.settled();
  } finally {
    over.resolve();
  }
}

/** A call that comes sooner waits for seconds: its message may have been handed out before the loss. */
async function relinked(parts: readonly Part[], meanwhile: () => Promise<unknown>): Promise<void> {
  const before = parts.map(restoredLinks);
  await meanwhile();
  await eventually("the links are back", () =>
    parts.every((part, i) => restoredLinks(part) >= (before[i] ?? 0) + part.links),
  );
}

const restoredLinks = ({ role }: Part): number =>
  role.logs().filter((line) => line.includes("nats connection restored")).length;

describe("answers that are not settled when", () => {
  test.each(Object.entries(FAULTS))(
    "%s are charged once",
    async (_name, fault) => {
      const { answers, release } = await answeredAndUnsettled(fault.bodies ?? [PLAIN, STREAMED]);
      await relinked(fault.cuts?.() ?? [], async () => {
        try {
          await fault.happens(release);
        } finally {
          // One that fails must not lock the others out.
          await release();
        }
        await bed.stack.settled();
      });
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

test("answers whose holds the janitor releases during an outage of Postgres are charged afterwards", async () => {
  const { answers, release } = await answeredAndUnsettled([PLAIN, STREAMED]);
  const back = Promise.withResolvers<void>();
  try {
    for (const { postgres } of both()) postgres.cut(back.promise);
    await endWaiting();
    await release();
    // What an ingress has noted as relayed is taken at the release, and leaves nothing to pay; whether it came to note that is chance.
    await bed.stack.query("delete from relay_progress");
    await bed.stack.query("update hold set deadline = clock_timestamp()");
    await eventually("the janitor has released them", async () => (await openHolds()) === 0, 40_000);
  } finally {
    back.resolve();
    await release();
  }
  const usage = "select attempt, status, settled from usage_record where job_id = $1 order by attempt";
  for (const answer of answers) {
    const [lost, paid] = await eventually(
      "it is paid",
      async () => {
        const rows = await bed.stack.query<{ status: string; settled: bigint }>(usage, [requestId(answer)]);
        return rows.length === 2 && rows;
      },
      40_000,
    );
    expect([answer.status, lost?.status, paid?.status]).toEqual([200, "lost", "succeeded"]);
    if (answer.isStream) expect(paid?.settled).toBeGreaterThan(0n);
    else expect([lost?.settled, paid?.settled]).toEqual([0n, FLAT_NANO]);
  }
  expect(await metric(ingress.role.adminUrl, "sluice_credits_unbilled_total")).toBe(0);
  expect(await metric(worker.role.adminUrl, "sluice_credits_unbilled_total")).toBe(0);
}, 120_000);

test("the books are exact afterwards", async () => {
  await audit(bed, { withinMs: 30_000 });
}, 40_000);
