/**
 * Fault: those who lead a batch die one after another, at each failpoint and by SIGKILL anywhere, one is paused and wakes up, the
 * worker dies and the queue is wiped. Expected: every line ends once, whoever wrote it down; no provider is asked twice; the books are exact.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { listObjects } from "#shared/storage/objects.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { storm } from "#tests/support/storm.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, FLAT_NANO, startBed } from "./bed.ts";
import { failpointsOf } from "./failpoints.ts";
import { eventually } from "./wait.ts";

const LINES = storm(250, 5_000);

let bed: Bed;
const mortals: ManagedProcess[] = [];

beforeAll(async () => {
  bed = await startBed({ env: { SLUICE_WORKER_SLOTS: "32" } });
}, 120_000);
afterAll(async () => {
  for (const process of mortals) await process.stop();
  await bed?.stop();
});

/** Ends the lease, as time would in a while, and the wait that follows the loss of a leader. */
const orphan = () =>
  bed.stack.query("update batch set lease_until = now() - interval '1 hour', next_at = now() where ended_at is null");

const countsOf = async () =>
  (await bed.stack.query<{ state: string; ended: number; total: number }>("select state, completed + failed as ended, total from batch"))[0]; // prettier-ignore

/** A leader that dies there. */
async function diesAt(at: string): Promise<void> {
  const leader = await startRole(["ingress"], { ...bed.stack.env, PORT: "0", SLUICE_FAILPOINT: at });
  mortals.push(leader);
  expect((await leader.exited()).signal).toBe("SIGKILL");
  await orphan();
}

test("every line of a batch ends once", async () => {
  const { stack, upstream } = bed;
  const [ingress] = stack.ingresses;
  const [worker] = stack.workers;
  const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key });
  const text = Array.from({ length: LINES }, (_, at) =>
    JSON.stringify({ custom_id: `line ${at}`, method: "POST", url: "/v1/chat/completions", body: ask("flat") }),
  ).join("\n");
  const input = await client.files.create({ file: await toFile(Buffer.from(text), "a.jsonl"), purpose: "batch" });
  const { id } = await client.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  await eventually("lines are under way", async () => (await stack.query("select 1 from batch_line where state = 'running'")).length > 0); // prettier-ignore

  // Paused with lines in hand; what it does when it wakes up comes too late.
  ingress?.kill("SIGSTOP");
  await orphan();
  for (const at of failpointsOf("ingress, batch").filter((one) => one !== "batch.written")) await diesAt(at);
  ingress?.kill("SIGCONT");
  worker?.kill("SIGKILL");
  await worker?.exited();
  await stack.nats.wipe();
  await worker?.restart();
  await eventually("half of them have ended", async () => ((await countsOf())?.ended ?? 0) > LINES / 2, 60_000);
  ingress?.kill("SIGKILL");
  await ingress?.exited();
  await orphan();
  await diesAt("batch.written");
  expect((await countsOf())?.state).toBe("finalizing");
  await ingress?.restart();

  const batch = await eventually("the batch has ended", async () => {
    const one = await client.batches.retrieve(id);
    return one.status === "completed" && one;
  }, 60_000); // prettier-ignore
  const ids: string[] = [];
  let made = 0;
  for (const file of [batch.output_file_id, batch.error_file_id]) {
    if (file === undefined) continue;
    const rows = (await (await client.files.content(file)).text()).trimEnd().split("\n");
    ids.push(...rows.map((row) => (JSON.parse(row) as { custom_id: string }).custom_id));
    if (file === batch.output_file_id) made = rows.length;
  }
  expect(ids).toHaveLength(LINES);
  expect(new Set(ids).size).toBe(LINES);
  expect(batch.request_counts).toEqual({ total: LINES, completed: made, failed: LINES - made });
  // Those that the dead worker had sent are lost, and paid by nobody.
  expect(LINES - made).toBeLessThanOrEqual(32);
  await audit(bed, { withinMs: 40_000 });
  const [books] = await stack.query("select count(*) as jobs, count(distinct job_id) as ids, sum(settled)::bigint as settled from usage_record"); // prettier-ignore
  expect(books).toEqual({ jobs: BigInt(LINES), ids: BigInt(LINES), settled: BigInt(made) * FLAT_NANO });
  expect(upstream.requests.length).toBeLessThanOrEqual(LINES);
  // One file of each kind, and no part beside them that is known.
  expect(await stack.query("select purpose, count(*) as files from file where state = 'ready' and purpose <> 'batch' group by purpose")).toEqual([{ purpose: "batch_output", files: batch.error_file_id === undefined ? 1n : 2n }]); // prettier-ignore
  expect(await stack.query("select 1 from batch_part")).toEqual([]);
  const storage = storageOf(stack.env);
  const left = await listObjects(storage, "batches/", undefined, 1_000);
  storage.close();
  // Stored by a leader that died before it wrote that down: the janitor takes it within an hour.
  expect(left.objects.length).toBeLessThanOrEqual(2);
}, 180_000);
