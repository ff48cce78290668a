/**
 * Fault: those who lead batches of every kind die one after another, at each failpoint and by SIGKILL anywhere, one is paused and wakes
 * up, the worker dies and the queue is wiped. Expected: every line ends once, whoever wrote it down; no provider is asked twice; the books
 * are exact, and in soak memory does not grow with the lines.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { listObjects } from "#shared/storage/objects.ts";
import { residentMb } from "#tests/load/processes.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { storm } from "#tests/support/storm.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, FLAT_NANO, startBed } from "./bed.ts";
import { failpointsOf } from "./failpoints.ts";
import { eventually } from "./wait.ts";

const LINES = storm(250, 5_000);
/** Part of the lines that may have been in the hands of the worker when it died. */
const LOST_MAX = 64;
const GROWTH_MB_MAX = 150;
/** Batches of one workspace that are led at once. */
const LED_AT_ONCE = 2;
const WITHIN_MS = storm(60_000, 300_000);

let bed: Bed;
const mortals: ManagedProcess[] = [];

beforeAll(async () => {
  bed = await startBed({
    pools: ["chat", "image", "capability", "workflow"],
    env: { SLUICE_WORKER_SLOTS: "32", SLUICE_SANDBOX: "on" },
  });
}, 120_000);
afterAll(async () => {
  for (const process of mortals) await process.stop();
  await bed?.stop();
});

/** A batch of one kind: its share of the lines, and what a line costs that is made. */
interface Kind {
  readonly endpoint: string;
  readonly share: number;
  readonly body: object;
  readonly nano: bigint;
}

/** @param workflow one that calls `flat` once */
const kindsOf = (workflow: string): readonly Kind[] => [
  { endpoint: "/v1/chat/completions", share: 0.4, body: ask("flat"), nano: FLAT_NANO },
  { endpoint: "/v1/responses", share: 0.2, body: { model: "flat", input: "say hello there" }, nano: FLAT_NANO },
  // Seven tokens.
  { endpoint: "/v1/embeddings", share: 0.2, body: { model: "sandbox-embed", input: "How many legs has a spider?" }, nano: 14_000n },
  { endpoint: "/v1/images/generations", share: 0.08, body: { model: "sandbox-image", prompt: "a boat", size: "256x256" }, nano: 2_000_000_000n },
  { endpoint: "/v1/capabilities/code.regex/run", share: 0.08, body: { input: { text: { text: "abc" } }, params: { pattern: "b" } }, nano: 20_000_000n },
  { endpoint: `/v1/workflows/${workflow}/runs`, share: 0.04, body: { input: {} }, nano: FLAT_NANO },
]; // prettier-ignore

async function makeWorkflow(): Promise<string> {
  const { url, key } = bed.target();
  const definition = {
    steps: [{ id: "only", type: "model", model: "flat", params: { messages: ask("flat")["messages"] } }],
  };
  const answer = await fetch(`${url}/v1/workflows`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "one", definition }),
  });
  return ((await answer.json()) as { id: string }).id;
}

async function begin(client: OpenAI, { endpoint, share, body }: Kind): Promise<string> {
  const text = Array.from({ length: Math.round(LINES * share) }, (_, at) =>
    JSON.stringify({ custom_id: `line ${at}`, method: "POST", url: endpoint, body }),
  ).join("\n");
  const input = await client.files.create({ file: await toFile(Buffer.from(text), "a.jsonl"), purpose: "batch" });
  const asked = { input_file_id: input.id, endpoint: endpoint as "/v1/responses", completion_window: "24h" } as const;
  return (await client.batches.create(asked)).id;
}

/** Ends the lease, as time would in a while, and the wait that follows the loss of a leader. */
const orphan = () =>
  bed.stack.query("update batch set lease_until = now() - interval '1 hour', next_at = now() where ended_at is null");

const endedLines = async (): Promise<number> =>
  (await bed.stack.query<{ ended: number }>("select sum(completed + failed)::int as ended from batch"))[0]?.ended ?? 0;

/** A leader that dies there. */
async function diesAt(at: string): Promise<void> {
  const leader = await startRole(["ingress"], { ...bed.stack.env, PORT: "0", SLUICE_FAILPOINT: at });
  mortals.push(leader);
  expect((await leader.exited()).signal).toBe("SIGKILL");
  await orphan();
}

test(
  "every line of batches of every kind ends once",
  async () => {
    const { stack, upstream } = bed;
    const [ingress] = stack.ingresses;
    const [worker] = stack.workers;
    const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key });
    const kinds = kindsOf(await makeWorkflow());
    const ids = await Promise.all(kinds.map((kind) => begin(client, kind)));
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
    const pids = [ingress?.pid ?? 0, worker?.pid ?? 0];
    await eventually("a quarter of them have ended", async () => (await endedLines()) > LINES / 4, WITHIN_MS);
    const before = residentMb(pids);
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, residentMb(pids))), 50);
    await eventually("half of them have ended", async () => (await endedLines()) > LINES / 2, WITHIN_MS);
    clearInterval(timer);
    ingress?.kill("SIGKILL");
    await ingress?.exited();
    await orphan();
    await diesAt("batch.written");
    expect(await stack.query("select 1 from batch where state = 'finalizing'")).not.toEqual([]);
    await ingress?.restart();

    const batches = await Promise.all(
    ids.map((id) =>
      eventually("the batch has ended", async () => {
        const one = await client.batches.retrieve(id);
        return one.status === "completed" && one;
      }, WITHIN_MS),
    ),
  ); // prettier-ignore
    await audit(bed, { withinMs: 40_000 });
    let [lost, paid] = [0, 0n];
    for (const [at, batch] of batches.entries()) {
      const kind = kinds[at];
      const lines = Math.round(LINES * (kind?.share ?? 0));
      const { seen, made } = await readFiles(client, batch);
      expect([batch.endpoint, seen.length, new Set(seen).size]).toEqual([batch.endpoint, lines, lines]);
      expect(batch.request_counts).toEqual({ total: lines, completed: made, failed: lines - made });
      lost += lines - made;
      paid += BigInt(made) * (kind?.nano ?? 0n);
    }
    // Those that the dead worker had sent are lost, and paid by nobody.
    expect(lost).toBeLessThanOrEqual(LOST_MAX);
    const [books] = await stack.query("select count(*) as jobs, count(distinct job_id) as ids, sum(settled)::bigint as settled from usage_record"); // prettier-ignore
    expect(books).toEqual({ jobs: BigInt(LINES), ids: BigInt(LINES), settled: paid });
    expect(upstream.requests.length).toBeLessThanOrEqual(LINES);
    // Files of each batch, and no part beside them that is known.
    const written = batches.reduce((sum, one) => sum + (one.output_file_id === undefined ? 0 : 1) + (one.error_file_id === undefined ? 0 : 1), 0); // prettier-ignore
    expect(await stack.query("select count(*) as files from file where state = 'ready' and purpose = 'batch_output'")).toEqual([{ files: BigInt(written) }]); // prettier-ignore
    // The leader died before it deleted them; the janitor does.
    await eventually("no part has a row", async () => (await stack.query("select 1 from batch_part")).length === 0);
    const storage = storageOf(stack.env);
    const left = await listObjects(storage, "batches/", undefined, 1_000);
    storage.close();
    // Stored by a leader that died before it wrote that down: the janitor takes it within an hour.
    expect(left.objects.length).toBeLessThanOrEqual(2 * LED_AT_ONCE);
    process.stdout.write(`${JSON.stringify({ lines: LINES, lost, beforeMb: before, peakMb: peak })}\n`);
    if (storm(false, true)) expect(peak - before).toBeLessThan(GROWTH_MB_MAX);
  },
  storm(180_000, 900_000),
);

/** The names of the lines in the files of a batch, and how many of them were made. */
async function readFiles(client: OpenAI, batch: OpenAI.Batch): Promise<{ seen: readonly string[]; made: number }> {
  const [output = [], errors = []] = await Promise.all(
    [batch.output_file_id, batch.error_file_id].map(async (file) => {
      if (file === undefined) return [];
      const rows = (await (await client.files.content(file)).text()).trimEnd().split("\n");
      return rows.map((row) => (JSON.parse(row) as { custom_id: string }).custom_id);
    }),
  );
  return { seen: [...output, ...errors], made: output.length };
}
