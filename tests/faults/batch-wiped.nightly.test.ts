/** JetStream's store is wiped, ingresses and servers die; what was accepted ends once. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const QUEUED = storm(40, 200);
const PUBLISHED = storm(40, 120);

let bed: Bed;
let publishers: Publisher[];

beforeAll(async () => {
  bed = await startBed({ ingress: 2, behaviours: ["delay-200"], ownPostgres: true, env: { SLUICE_GRACE_MS: "15000" } });
  publishers = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const workspace = await createWorkspace(bed.stack, { creditsNano: 1_000_000_000_000n });
      return openPublisher(bed.stack.natsUrl, workspace);
    }),
  );
}, 120_000);
afterAll(async () => {
  await Promise.all((publishers ?? []).map((publisher) => publisher.close()));
  await bed?.stop();
});

async function jobs(): Promise<{ state: string; count: bigint }[]> {
  return bed.stack.query("select state, count(*) as count from job group by state order by state");
}

/** Publishes until it is answered, as publishers do. */
async function insist(publisher: Publisher, key: string, model: string): Promise<void> {
  await eventually(
    `an answer about ${key}`,
    async () => {
      await publisher.publish({ body: ask(model) }, { key });
      for (let pause = 0; pause < 20; pause++) {
        if (publisher.answers.some((answer) => answer.key === key)) return true;
        await Bun.sleep(50);
      }
      return false;
    },
    60_000,
  );
}

test("queued jobs whose queue is wiped are queued again and end once each", async () => {
  const { stack, upstream } = bed;
  await stack.workers[0]?.stop();
  const keys = Array.from({ length: QUEUED }, () => newId());
  await Promise.all(keys.map((key, at) => (publishers[at % 4] as Publisher).submit({ body: ask("flat") }, { key })));
  expect(await jobs()).toEqual([{ state: "queued", count: BigInt(QUEUED) }]);
  await stack.nats.wipe();
  await stack.workers[0]?.restart();
  await eventually(
    "all are done",
    async () => (await jobs())[0]?.count === BigInt(QUEUED) && (await jobs())[0]?.state === "completed",
    60_000,
  );
  await audit(bed, { withinMs: 30_000 });
  // Lines leave a process in batches.
  await eventually("the janitor has told of it", () =>
    stack.janitors[0]?.logs().some((line) => line.includes("putting jobs on the queue again")),
  );
  expect(upstream.requests).toHaveLength(QUEUED);
  const [row] = await stack.query("select count(*) as records, sum(settled)::bigint as settled from usage_record");
  expect(row).toEqual({ records: BigInt(QUEUED), settled: BigInt(QUEUED) * FLAT_NANO });
}, 150_000);

test("ingresses killed during the intake of messages lose none and process none twice", async () => {
  const { stack } = bed;
  const keys = Array.from({ length: PUBLISHED }, () => newId());
  const insisting = Promise.all(keys.map((key, at) => insist(publishers[at % 4] as Publisher, key, "flat")));
  for (const ingress of stack.ingresses) {
    await eventually("some are taken in", async () => {
      const [row] = await stack.query<{ count: bigint }>("select count(*) from job where publisher_key = any($1)", [
        keys,
      ]);
      return (row?.count ?? 0n) > 0n;
    });
    ingress.kill("SIGKILL");
    await ingress.exited();
    await ingress.restart();
  }
  await insisting;
  await eventually(
    "all are done",
    async () => {
      const [row] = await stack.query<{ count: bigint }>("select count(*) from job where publisher_key = any($1) and state = 'completed'", [keys]); // prettier-ignore
      return row?.count === BigInt(PUBLISHED);
    },
    60_000,
  );
  await audit(bed, { withinMs: 30_000 });
  const [row] = await stack.query("select count(*) as jobs, count(distinct publisher_key) as keys, count(u.job_id) as records from job j left join usage_record u on u.job_id = j.id where publisher_key = any($1)", [keys]); // prettier-ignore
  expect(row).toEqual({ jobs: BigInt(PUBLISHED), keys: BigInt(PUBLISHED), records: BigInt(PUBLISHED) });
}, 150_000);

test("NATS and Postgres restarted during running jobs lose none and settle each once", async () => {
  const { stack } = bed;
  const before = bed.upstream.requests.length;
  const keys = Array.from({ length: PUBLISHED }, () => newId());
  const insisting = Promise.all(keys.map((key, at) => insist(publishers[at % 4] as Publisher, key, "mock-delay-200")));
  const running = () =>
    eventually(
      "jobs are running",
      async () => (await stack.query("select 1 from job where state = 'running'")).length > 3,
      30_000,
    );
  await running();
  await stack.nats.stop("SIGKILL");
  await stack.nats.start();
  await running();
  await stack.postgres?.stop("immediate");
  await stack.postgres?.start();
  await insisting;
  await eventually(
    "all have ended",
    async () => {
      const [row] = await stack.query<{ count: bigint }>("select count(*) from job where publisher_key = any($1) and ended_at is not null", [keys]); // prettier-ignore
      return row?.count === BigInt(PUBLISHED);
    },
    90_000,
  );
  await audit(bed, { withinMs: 40_000 });
  const rows = await stack.query("select state, count(*) as count from job where publisher_key = any($1) group by state", [keys]); // prettier-ignore
  expect(rows).toEqual([{ state: "completed", count: BigInt(PUBLISHED) }]);
  expect(bed.upstream.requests.length - before).toBe(PUBLISHED);
}, 200_000);

test("workers replaced one by one submit nothing to a provider twice and lose nothing", async () => {
  const { stack } = bed;
  const before = bed.upstream.requests.length;
  const keys = Array.from({ length: PUBLISHED }, () => newId());
  await Promise.all(keys.map((key, at) => insist(publishers[at % 4] as Publisher, key, "mock-delay-200")));
  const second = await stack.addRole("worker", "chat");
  for (const worker of [...stack.workers, second]) {
    expect((await worker.stop()).code).toBe(0);
    await worker.restart();
  }
  await eventually(
    "all have ended",
    async () => {
      const [row] = await stack.query<{ count: bigint }>(
        "select count(*) from job where publisher_key = any($1) and state = 'completed'",
        [keys],
      );
      return row?.count === BigInt(PUBLISHED);
    },
    60_000,
  );
  await audit(bed, { withinMs: 40_000 });
  expect(bed.upstream.requests.length - before).toBe(PUBLISHED);
}, 150_000);
