/**
 * The worker is killed while the upstream holds its calls. Nobody may send them again, every caller hears an error,
 * and what was delivered is settled. All beds live through the real redelivery time at once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { LANE_SETTINGS } from "#shared/queue/topology.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { type Answer, DONE, errorCode, requestId, streamedText } from "./client.ts";
import { eventually } from "./wait.ts";
import { storm } from "../support/storm.ts";

/** Time within which an answer is promised where another worker can notice the death. */
const TOLD_WITHIN_MS = storm(60_000, LANE_SETTINGS.live.ackWaitMs + 5_000);

interface Deaths {
  readonly bed: Bed;
  /** Killed as soon as the upstream had it. */
  readonly early: Answer;
  readonly plain: Answer;
  readonly stream: Answer;
  readonly killedAt: number;
  readonly upstreamCalls: number;
}

/** Three calls on the only worker, which is then killed; with `heir`, another worker is there to notice. */
async function killTheWorker(bed: Bed, heir: boolean): Promise<Deaths> {
  const { client, stack, upstream } = bed;
  const [worker] = stack.workers;
  upstream.setDefault("hang");
  const plain = client.chat(bed.target(), ask("metered"));
  const stream = await client.open(bed.target(), ask("mock-tokens-400-every-50", { stream: true }));
  // Long enough for the ingress to have recorded what it relayed.
  await stream.frames(60);
  if (heir) await stack.addRole("worker", "chat");
  const before = upstream.requests.length;
  const early = heir ? plain : client.chat(bed.target(), ask("metered"));
  if (!heir) await upstream.received(before + 1);
  worker?.kill("SIGKILL");
  await worker?.exited();
  const killedAt = performance.now();
  const answers = { early: await early, plain: await plain, stream: await stream.ended };
  return { bed, ...answers, killedAt, upstreamCalls: upstream.requests.length };
}

interface BothDead {
  readonly bed: Bed;
  readonly jobId: string;
  /** Nano-credits of what the ingress had recorded as relayed. */
  readonly recorded: bigint;
}

/** A stream whose worker and ingress are killed together. */
async function killBoth(bed: Bed): Promise<BothDead> {
  const { client, stack } = bed;
  const victims = [...stack.workers, ...stack.ingresses];
  const stream = await client.open(bed.target(), ask("mock-tokens-400-every-50", { stream: true }));
  const jobId = requestId(stream.answer);
  const recorded = await eventually("what was relayed is recorded", async () => {
    const [row] = await stack.query<{ amount: bigint }>("select amount from relay_progress where job_id = $1", [jobId]);
    return row?.amount;
  });
  for (const victim of victims) victim.kill("SIGKILL");
  await Promise.all(victims.map((victim) => victim.exited()));
  // Its deadline lies minutes ahead; nobody but the janitor looks at it.
  await stack.query("update hold set deadline = now() where job_id = $1", [jobId]);
  await eventually("the hold is closed", async () => {
    const [row] = await stack.query<{ count: bigint }>("select count(*) as count from hold");
    return row?.count === 0n;
  });
  await Promise.all(victims.map((victim) => victim.restart()));
  return { bed, jobId, recorded };
}

let beds: Bed[] = [];
let withHeir: Promise<Deaths>;
let alone: Promise<Deaths>;
let both: Promise<BothDead>;

beforeAll(async () => {
  beds = await Promise.all([1, 2, 3].map(() => startBed({ behaviours: ["tokens-400-every-50"] })));
  withHeir = killTheWorker(beds[0] as Bed, true);
  alone = killTheWorker(beds[1] as Bed, false);
  both = killBoth(beds[2] as Bed);
  // Looked at one after the other; a fault of a later one must not end the process before its turn.
  for (const deaths of [withHeir, alone, both]) deaths.catch(() => undefined);
});
afterAll(() => Promise.all(beds.map((bed) => bed.stop())));

async function usageOf(bed: Bed, answer: Answer): Promise<Record<string, unknown>> {
  const [row] = await bed.stack.query("select status, settled, is_estimated from usage_record where job_id = $1", [
    requestId(answer),
  ]);
  return row ?? {};
}

async function expectHonestEnd(deaths: Deaths): Promise<void> {
  const { bed, early, plain, stream } = deaths;
  for (const answer of [early, plain]) {
    expect([answer.status, errorCode(answer)]).toEqual([500, "internal_error"]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(await usageOf(bed, answer)).toEqual({ status: "lost", settled: 0n, is_estimated: false });
  }
  expect([stream.status, errorCode(stream)]).toEqual([200, "internal_error"]);
  expect(stream.frames).not.toContain(DONE);
  const usage = await usageOf(bed, stream);
  expect(usage).toMatchObject({ status: "lost", is_estimated: true });
  // At least what was recorded two seconds before the end, at most all that came.
  const tokensSeen = streamedText(stream).trim().split(" ").length;
  expect(usage["settled"] as bigint).toBeGreaterThan(0n);
  expect(Number(usage["settled"])).toBeLessThan((tokensSeen + 40) * 200_000);
}

test("callers receive the loss while another worker is alive, and no call is sent again", async () => {
  const deaths = await withHeir;
  await audit(deaths.bed);
  await expectHonestEnd(deaths);
  for (const { endedAt } of [deaths.plain, deaths.stream]) {
    expect(endedAt - deaths.killedAt).toBeLessThan(TOLD_WITHIN_MS);
  }
  expect(deaths.bed.upstream.requests).toHaveLength(2);
});

test("the ingress notices the silence without another worker, and closes the holds itself", async () => {
  const deaths = await alone;
  const { bed } = deaths;
  await eventually("the holds are closed without a worker", async () => {
    const [open] = await bed.stack.query<{ count: bigint }>("select count(*) as count from hold");
    return open?.count === 0n;
  });
  await expectHonestEnd(deaths);
  // The messages are still there; a worker that comes later reports them and runs none.
  await bed.stack.addRole("worker", "chat");
  await audit(bed);
  expect(bed.upstream.requests).toHaveLength(deaths.upstreamCalls);
});

test("when the ingress dies with its worker, the janitor settles the recorded progress", async () => {
  const { bed, jobId, recorded } = await both;
  // The message comes back once more, to a worker that finds everything done.
  await audit(bed);
  const rows = await bed.stack.query<{ status: string; settled: bigint }>(
    "select status, settled from usage_record where job_id = $1",
    [jobId],
  );
  expect(rows.map((row) => row.status)).toEqual(["lost"]);
  expect(rows[0]?.settled).toBeGreaterThanOrEqual(recorded);
});
