/**
 * Fault: a worker or an ingress is killed while calls of a busy workspace are admitted on a credit line. Expected: each answer is
 * paid once at what it says, and the line of the dead ingress goes back to its workspace.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { readBalance } from "#shared/database/credits.ts";
import { newId } from "#shared/base/ids.ts";
import { startRole } from "#tests/support/role-process.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed } from "./bed.ts";
import { isServed } from "./load.ts";
import type { Answer, Target } from "./client.ts";
import { metric } from "./metric.ts";
import { openPublisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const CLIENTS = 24;
/** Answers of the ingress that died before it said that it had taken them, which it does some milliseconds later, with or without a line. */
let untaken = 0;

let bed: Bed;
beforeAll(async () => {
  // A line outlives its ingress by the longest call.
  bed = await startBed({ ingress: 2, workers: 2, env: { SLUICE_CALL_TOTAL_MS: "5000" } });
}, 60_000);
afterAll(() => bed?.stop());

/** Calls of many clients at one ingress, until told to stop. Each fourth is a stream. */
function pour(target: Target, only?: string): { readonly stop: () => Promise<Answer[]> } {
  const stopping = new AbortController();
  const answers: Answer[] = [];
  const client = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const model = only ?? (answers.length % 3 === 0 ? "metered" : "flat");
      const answer = await bed.client.chat(target, ask(model, { stream: answers.length % 4 === 0 }));
      answers.push(answer);
      if (!isServed(answer)) await Bun.sleep(20);
    }
  };
  const running = Array.from({ length: CLIENTS }, client);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return answers;
    },
  };
}

const linedAt = (ingress: number): Promise<number> =>
  metric(bed.stack.ingresses[ingress]?.adminUrl ?? "", "sluice_credit_line_calls_total").catch(() => 0);

/** Resolves once `more` further calls were admitted on a line at this ingress. */
async function admitOnLine(ingress: number, more: number): Promise<void> {
  const before = await linedAt(ingress);
  await eventually("calls are admitted on a line", async () => (await linedAt(ingress)) >= before + more);
}

const lines = async (): Promise<number> => (await bed.stack.query("select from credit_line")).length;

test("a worker dies: the delivered part of its calls is charged", async () => {
  const load = pour(bed.target(0));
  await admitOnLine(0, 200);
  bed.stack.workers[0]?.kill("SIGKILL");
  await admitOnLine(0, 200);
  const answers = await load.stop();
  expect(answers.filter(isServed).length).toBeGreaterThan(400);
  await audit(bed, { withinMs: 40_000 });
  await bed.stack.workers[0]?.restart();
}, 90_000);

test("an ingress dies: its calls are charged or free, and its line is returned", async () => {
  const load = pour(bed.target(0));
  await admitOnLine(0, 200);
  expect(await lines()).toBeGreaterThan(0);
  bed.stack.ingresses[0]?.kill("SIGKILL");
  await bed.stack.ingresses[0]?.exited();
  expect(await lines()).toBe(1);
  const [workspace] = await bed.stack.query<{ workspace_id: string; held: bigint }>(
    "select workspace_id, held from balance where held > 0",
  );
  expect(workspace?.held).toBeGreaterThan(0n);
  // Its people do not see it.
  const shown = await readBalance({ query: bed.stack.query }, workspace?.workspace_id ?? "");
  expect(shown.held).toBeLessThan(workspace?.held ?? 0n);
  await load.stop();
  untaken = await audit(bed, { withinMs: 40_000, untaken: CLIENTS });
  await eventually("the line is given back", async () => (await lines()) === 0, 60_000);
  expect(await bed.stack.query("select from balance where held > 0")).toEqual([]);
  await bed.stack.ingresses[0]?.restart();
}, 120_000);

/** A number of a failpoint's visits by which calls are on a line. */
const VISITS = 300;
/** Balance for more calls than a test makes. */
const RICH_NANO = 100_000n * FLAT_NANO;

test.each(["call.served", "call.answered", "call.settled"])(
  "a worker dies at %s: its answer on a line is charged once",
  async (at) => {
    const { key } = await createWorkspace(bed.stack, { creditsNano: RICH_NANO });
    // The one that dies gets all calls.
    for (const worker of bed.stack.workers) worker.kill("SIGSTOP");
    const env = { ...bed.stack.env, SLUICE_FAILPOINT: `${at}:${VISITS}` };
    const mortal = await startRole(["worker", "chat"], env);
    const lined = await linedAt(0);
    const load = pour({ url: bed.target(0).url, key });
    expect((await mortal.exited()).signal).toBe("SIGKILL");
    for (const worker of bed.stack.workers) worker.kill("SIGCONT");
    expect(await linedAt(0)).toBeGreaterThan(lined);
    const answers = await load.stop();
    expect(answers.filter(isServed).length).toBeGreaterThan(VISITS / 2);
    untaken = await audit(bed, { withinMs: 40_000, untaken });
  },
  90_000,
);

test.each(["call.admitted", "call.dispatched", "call.taken"])(
  "an ingress dies at %s: calls on its line are charged or free, and the line is returned",
  async (at) => {
    const { id, key } = await createWorkspace(bed.stack, { creditsNano: RICH_NANO });
    const env = { ...bed.stack.env, PORT: "0", SLUICE_FAILPOINT: `${at}:${VISITS}` };
    const mortal = await startRole(["ingress"], env);
    const load = pour({ url: mortal.baseUrl, key });
    expect((await mortal.exited()).signal).toBe("SIGKILL");
    await load.stop();
    const linesOf = () => bed.stack.query("select 1 from credit_line where workspace_id = $1", [id]);
    expect(await linesOf()).toHaveLength(1);
    untaken = await audit(bed, { withinMs: 60_000, untaken: untaken + CLIENTS });
    await eventually("the line is given back", async () => (await linesOf()).length === 0, 60_000);
  },
  150_000,
);

test("an ingress dies with most of a balance on its line: the credits are available within ten seconds, and calls wait or get 402", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 20_000n * FLAT_NANO });
  const { id, key } = workspace;
  const mortal = await startRole(["ingress"], { ...bed.stack.env, PORT: "0" });
  const load = pour({ url: mortal.baseUrl, key }, "metered");
  const free = "select from credit_line l where workspace_id = $1 and undrawn_credits(l) > $2";
  await eventually("its line has much that no call draws", async () => {
    return (await bed.stack.query(free, [id, 100n * FLAT_NANO])).length > 0;
  });
  mortal.kill("SIGKILL");
  await mortal.exited();
  await load.stop();
  const spend = `select move_credits(workspace_id, 'correction', held - amount, $2, null) from balance
    where workspace_id = $1 and amount > held`;
  // Calls that the dead ingress had admitted give back what they held beside the line as they end.
  const refused = await eventually("a call is refused", async () => {
    await bed.stack.query(spend, [id, newId()]);
    const answer = await bed.client.chat(bed.target(0, key), ask("metered"));
    return answer.status === 402 && answer;
  });
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 11);
  const publisher = await openPublisher(bed.stack.natsUrl, workspace);
  const waiting = newId();
  expect(await publisher.submit({ body: ask("metered") }, { key: waiting })).toMatchObject({ status: "waiting" });
  await eventually("calls are served", async () => isServed(await bed.client.chat(bed.target(0, key), ask("metered"))));
  expect(await publisher.ended(waiting, 30_000)).toMatchObject({ status: "completed" });
  await publisher.close();
  untaken = await audit(bed, { withinMs: 40_000, untaken: untaken + CLIENTS });
  const kept = "select from credit_line where workspace_id = $1";
  await eventually("the rest is given back", async () => (await bed.stack.query(kept, [id])).length === 0, 60_000);
}, 120_000);

test("a balance is spent over two ingresses with lines to its last credit, and no further", async () => {
  const calls = 1_000n;
  const { id, key } = await createWorkspace(bed.stack, { creditsNano: calls * FLAT_NANO });
  const isSpent = async (): Promise<boolean> => {
    const [row] = await bed.stack.query<{ left: bigint; free: bigint }>(
      `select sum(amount)::bigint as left, (select amount - held from balance where workspace_id = $1) as free
       from ledger_entry where workspace_id = $1`,
      [id],
    );
    expect(row?.free).toBeGreaterThanOrEqual(0n);
    return row?.left === 0n;
  };
  const loads = [0, 1].map((ingress) => pour({ url: bed.target(ingress).url, key }, "flat"));
  await eventually("all is spent", isSpent, 60_000);
  const answers = (await Promise.all(loads.map((load) => load.stop()))).flat();
  expect(answers.filter(isServed)).toHaveLength(Number(calls));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
  untaken = await audit(bed, { withinMs: 40_000, untaken });
}, 120_000);

test("both ingresses stop regularly: no line remains", async () => {
  const loads = [pour(bed.target(0)), pour(bed.target(1))];
  await Promise.all([admitOnLine(0, 100), admitOnLine(1, 100)]);
  await Promise.all(loads.map((load) => load.stop()));
  await Promise.all(bed.stack.ingresses.map((ingress) => ingress.stop()));
  expect(await lines()).toBe(0);
  expect(await audit(bed, { untaken })).toBe(untaken);
  expect(await bed.stack.query("select from balance where held > 0")).toEqual([]);
}, 60_000);
