/** Jobs at providers that work by themselves, while workers are killed and NATS is restarted: each ends, and is paid once. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";
import { storm } from "#tests/support/storm.ts";

import type { Family } from "./families.ts";
import { type StartedJobs, free, idsOf, paid, type Rounds, startRounds } from "./rounds.ts";

const JOBS = storm(20, 100);
const KILLS = storm(2, 6);
const RESTARTS = storm(1, 3);
/** Between two blows. */
const LULL_MS = storm(300, 1_000);

let rounds: Rounds;

beforeAll(async () => {
  rounds = await startRounds({ apart: true, workers: 2 });
}, 60_000);

afterAll(() => rounds.close());

test("a job whose worker is killed during a poll continues in the next worker: one submission, one charge", async () => {
  const { bench, families } = rounds;
  const mark = rounds.charged();
  const begun = await rounds.begin("slow");
  await eventually("all are at their providers", async () => (await atProviders(begun)) === begun.length, 30_000);
  await Promise.all(
    bench.stack.workers.map(async (worker) => {
      worker.kill("SIGKILL");
      await worker.exited();
      await worker.restart();
    }),
  );
  // Until when a job may be begun says nothing about one that was.
  await bench.stack.query("update job set deadline = now() where id = any($1::uuid[])", [idsOf(begun)]);
  await rounds.expectEnds(begun, paid);
  expect(rounds.charged(mark)).toEqual(new Map(families.map((family) => [family, family.submissions])));
}, 150_000);

test("video jobs all end when workers are killed and NATS restarts, each charged once or free", async () => {
  const { bench, families } = rounds;
  const videos = families.filter(({ path }) => path === "/v1/videos/generations");
  const mark = rounds.charged();
  const begun: (readonly [string, Family])[] = [];
  const random = seeded(testSeed("deaths"));
  const blows = (async () => {
    for (let blow = 0; blow < KILLS; blow++) {
      await Bun.sleep(LULL_MS * (1 + 2 * random()));
      const worker = bench.stack.workers[blow % bench.stack.workers.length];
      worker?.kill("SIGKILL");
      await worker?.exited();
      await worker?.restart();
      if (blow % (KILLS / RESTARTS) !== 0) continue;
      await bench.stack.nats.stop(blow === 0 ? "SIGKILL" : "SIGTERM");
      await bench.stack.nats.start();
    }
  })();
  while (begun.length < JOBS) {
    const round = await rounds.begin(begun.length % 2 === 0 ? "slow" : "done", videos);
    // A caller whose call could not be queued is told so, and has no job.
    begun.push(...(await accepted(round)));
    await Bun.sleep(100);
  }
  await blows;
  const ends = await rounds.ends(begun);
  const charged = rounds.charged(mark);
  for (const family of videos) {
    const own = ends.filter(([of]) => of === family).map(([, end]) => end);
    const served = own.filter(({ status }) => status === "completed");
    const lost = own.filter(({ status }) => status !== "completed");
    // A worker killed while it submits leaves a job that may have been taken, unless a list says that it was not.
    const why = family.findsLost ? "upstream_error" : "upstream_timeout";
    expect(own).toEqual(own.map(({ status }) => (status === "completed" ? paid(family) : free("failed", why)())));
    // One submission for each that was served; of one that was lost, at most one.
    expect(charged.get(family)).toBeGreaterThanOrEqual(served.length);
    expect(charged.get(family)).toBeLessThanOrEqual(served.length + lost.length);
    expect(served.length).toBeGreaterThan(0);
  }
}, 300_000);

async function atProviders(begun: StartedJobs): Promise<number> {
  const rows = await rounds.bench.stack.query("select 1 from job where id = any($1::uuid[]) and provider_job ? 'job'", [
    idsOf(begun),
  ]);
  return rows.length;
}

/** Those of a round that have a row. */
async function accepted(round: StartedJobs): Promise<StartedJobs> {
  const rows = await rounds.bench.stack.query<{ id: string }>("select id from job where id = any($1::uuid[])", [
    idsOf(round),
  ]);
  const ids = new Set(rows.map(({ id }) => id));
  return round.filter(([id]) => ids.has(id));
}
