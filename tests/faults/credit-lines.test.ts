/**
 * Fault: a worker or an ingress is killed while calls of a busy workspace are admitted on a credit line. Expected: each answer is
 * paid once at what it says, and the line of the dead ingress goes back to its workspace.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { readBalance } from "#shared/database/credits.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { isServed } from "./load.ts";
import type { Answer } from "./client.ts";
import { metric } from "./metric.ts";
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

/** Calls of many clients at one ingress, until told to stop. */
function pour(ingress: number): { readonly stop: () => Promise<Answer[]> } {
  const stopping = new AbortController();
  const answers: Answer[] = [];
  const client = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const answer = await bed.client.chat(bed.target(ingress), ask(answers.length % 3 === 0 ? "metered" : "flat"));
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
  metric(bed.stack.ingresses[ingress]?.adminUrl ?? "", "sluice_lined_calls_total").catch(() => 0);

/** Resolves once `more` further calls were admitted on a line at this ingress. */
async function admitOnLine(ingress: number, more: number): Promise<void> {
  const before = await linedAt(ingress);
  await eventually("calls are admitted on a line", async () => (await linedAt(ingress)) >= before + more);
}

const lines = async (): Promise<number> => (await bed.stack.query("select from credit_line")).length;

test("a worker dies: what its ingresses have delivered is paid", async () => {
  const load = pour(0);
  await admitOnLine(0, 200);
  bed.stack.workers[0]?.kill("SIGKILL");
  await admitOnLine(0, 200);
  const answers = await load.stop();
  expect(answers.filter(isServed).length).toBeGreaterThan(400);
  await audit(bed, { withinMs: 40_000 });
  await bed.stack.workers[0]?.restart();
}, 90_000);

test("an ingress dies: its calls are paid or free, and its line is given back", async () => {
  const load = pour(0);
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

test("both ingresses end in an orderly way: no line is left", async () => {
  const loads = [pour(0), pour(1)];
  await Promise.all([admitOnLine(0, 100), admitOnLine(1, 100)]);
  await Promise.all(loads.map((load) => load.stop()));
  await Promise.all(bed.stack.ingresses.map((ingress) => ingress.stop()));
  expect(await lines()).toBe(0);
  expect(await audit(bed, { untaken })).toBe(untaken);
  expect(await bed.stack.query("select from balance where held > 0")).toEqual([]);
}, 60_000);
