/**
 * Everything at random for long, by a seed: workers, an ingress and the janitor are killed or stand still, NATS and Postgres are restarted in each
 * way, the provider falls silent, while chat, streams, batch jobs and runs go on at about a fifth of what the machine can do. Expected, after each
 * round: the books are exact, no hold is open, nothing was sent twice, every answer was honest, every job and run has ended; in soak,
 * what lived through it has not grown. SOAK_MINUTES says how long soak takes (an hour unless set).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { residentMb } from "../load/processes.ts";
import { type ManagedProcess, startRole } from "../support/role-process.ts";
import { seeded, testSeed } from "../support/seed.ts";
import { soakMinutes, storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed, type Workspace } from "./bed.ts";
import { createClient } from "./client.ts";
import { tally } from "./load.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const ROUND_MS = storm(5_000, Math.min(5, soakMinutes()) * 60_000);
const ROUNDS = storm(1, Math.ceil(soakMinutes() / 5));
const CALLS_PER_SECOND = storm(10, 50);
const REST_MS = storm([200, 500], [4_000, 16_000]) as readonly [number, number];
const AWAY_MS = storm(300, 5_000);
const GROWTH_MB_MAX = 64;
/** Maximum number of calls that one worker answers within the delay of its grouped settlements, at the rate of this storm. */
const ANSWERED_LAST_MAX = storm(1, 3);
/** 0: an ingress was killed with the call in its hands. */
const HONEST = new Set(["0", "200", "429", "500", "502", "503", "504", "broken stream"]);

let bed: Bed;
let workspace: Workspace;
let publisher: Publisher;
let chance: () => number;
/** Those that live through it, and those that are killed. */
const steady: ManagedProcess[] = [];
const mortal: ManagedProcess[] = [];

beforeAll(async () => {
  chance = seeded(testSeed("long storm"));
  bed = await startBed({
    ingress: 2,
    workers: 0,
    ownPostgres: true,
    env: { SLUICE_CALL_FIRST_BYTE_MS: "3000", SLUICE_CALL_PLAIN_MS: "3000", SLUICE_CALL_TOTAL_MS: "20000", SLUICE_CALL_QUEUE_MS: "20000" }, // prettier-ignore
  });
  workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
  const start = () => startRole(["worker", "chat", "workflow"], bed.stack.env);
  const [first, ...others] = await Promise.all([start(), start(), start()]);
  steady.push(...bed.stack.ingresses.slice(0, 1), first);
  mortal.push(...others);
}, 120_000);
afterAll(async () => {
  await publisher?.close();
  await Promise.all([...mortal, ...steady.slice(1)].map((role) => role.stop()));
  await bed?.stop();
});

const between = ([from, to]: readonly [number, number]): number => from + chance() * (to - from);
const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;

const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
  async "a worker dies"() {
    const at = Math.floor(chance() * mortal.length);
    mortal[at]?.kill("SIGKILL");
    await mortal[at]?.exited();
    mortal[at] = await startRole(["worker", "chat", "workflow"], bed.stack.env);
  },
  async "a worker stands still"() {
    const worker = pick(mortal);
    worker.kill("SIGSTOP");
    await Bun.sleep(between([AWAY_MS, 4 * AWAY_MS]));
    worker.kill("SIGCONT");
  },
  "an ingress dies": () => killAndRestart(bed.stack.ingresses[1]),
  "the janitor dies": () => killAndRestart(bed.stack.janitors[0]),
  async "NATS is away"() {
    await bed.stack.nats.stop(pick(["SIGTERM", "SIGKILL"]));
    await Bun.sleep(chance() * AWAY_MS);
    await bed.stack.nats.start();
  },
  async "Postgres is away"() {
    await bed.stack.postgres?.stop(pick(["fast", "immediate", "kill"]));
    await Bun.sleep(chance() * AWAY_MS);
    await bed.stack.postgres?.start();
  },
  async "the provider is silent"() {
    bed.upstream.setDefault("hang");
    await Bun.sleep(chance() * AWAY_MS);
    bed.upstream.setDefault({ delayMs: 20 });
  },
};

async function killAndRestart(role: ManagedProcess | undefined): Promise<void> {
  role?.kill("SIGKILL");
  await role?.exited();
  await role?.restart();
}

/** Calls of the kinds in turn, so many a second, whatever became of those before. */
async function runRound(round: number): Promise<void> {
  const client = createClient();
  const running = new Set<Promise<unknown>>();
  const begin = (work: Promise<unknown>): void => {
    const one = work.finally(() => running.delete(one));
    running.add(one);
  };
  const [keys, runs]: [string[], string[]] = [[], []];
  const before = bed.upstream.requests.length;
  const until = performance.now() + ROUND_MS;
  const striking = strike(until);
  for (let at = performance.now(), count = 0; at < until; at += 1_000 / CALLS_PER_SECOND, count += 1) {
    await Bun.sleep(Math.max(0, at - performance.now()));
    const name = { user: newId() };
    if (count % 20 === 0) begin(submitJob(name.user, keys));
    else if (count % 20 === 10) begin(beginRun(`storm-${round}-${count}`, runs));
    else {
      const body = ask(pick(["flat", "metered"]), { ...name, ...(count % 3 === 0 ? { stream: true } : {}) });
      begin(client.chat(bed.target(count % 2), body));
    }
  }
  const struck = await striking;
  await Promise.all(running);
  await eventually("all jobs have ended", () => haveEnded("job where publisher_key = any($1)", keys), 120_000);
  await eventually("all runs have ended", () => haveEnded("run where id::text = any($1)", runs), 120_000);
  const told = tally(client.answers);
  process.stdout.write(`${JSON.stringify({ round, told, jobs: keys.length, runs: runs.length, struck })}\n`);
  expect(Object.keys(told).filter((status) => !HONEST.has(status))).toEqual([]);
  const names = bed.upstream.requests.slice(before).map(({ body }) => (body as { user?: string }).user ?? "");
  const sent = Map.groupBy(
    names.filter((name) => name !== ""),
    (name) => name,
  );
  expect([...sent].filter(([, times]) => times.length > 1)).toEqual([]);
  // A worker and an ingress that die before either settles leave the calls that the worker answered last without a charge.
  const deathsOfBoth = Math.min(struck["a worker dies"] ?? 0, struck["an ingress dies"] ?? 0);
  await audit({ stack: bed.stack, client }, { withinMs: 90_000, untaken: deathsOfBoth * ANSWERED_LAST_MAX });
}

async function strike(until: number): Promise<Record<string, number>> {
  const struck: Record<string, number> = {};
  while (performance.now() < until) {
    const name = pick(Object.keys(FAULTS));
    struck[name] = (struck[name] ?? 0) + 1;
    await FAULTS[name]?.();
    await Bun.sleep(between(REST_MS));
  }
  return struck;
}

/** Sends a job again until something is heard about it, as publishers do. */
async function submitJob(key: string, keys: string[]): Promise<void> {
  await eventually(`a word about ${key}`, async () => {
    await publisher.publish({ body: ask("flat", { user: key }) }, { key }).catch(() => undefined);
    await Bun.sleep(1_000);
    return publisher.answers.some((answer) => answer.key === key);
  }, 120_000); // prettier-ignore
  keys.push(key);
}

async function beginRun(key: string, runs: string[]): Promise<void> {
  const step = (id: string, more = {}) => ({ id, type: "model", model: "flat", params: { messages: [{ role: "user", content: key }] }, retry: { max_attempts: 5 }, ...more }); // prettier-ignore
  const definition = { steps: [step("a"), step("b", { depends_on: ["a"] })], retry: { max_attempts: 5 } };
  await eventually(`run ${key} begins`, async () => {
    const answer = await fetch(`${bed.target().url}/v1/pipelines/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ definition, mode: "async" }),
    });
    if (answer.ok) runs.push(((await answer.json()) as { id: string }).id);
    else await Bun.sleep(200);
    return answer.ok;
  }, 120_000); // prettier-ignore
}

async function haveEnded(rows: string, ids: readonly string[]): Promise<boolean> {
  const [row] = await bed.stack.query<{ ended: bigint }>(
    `select count(*) as ended from ${rows} and ended_at is not null`,
    [ids],
  );
  return Number(row?.ended) === ids.length;
}

test(`${ROUNDS} rounds of ${ROUND_MS / 1_000} s`, async () => {
  bed.upstream.setDefault({ delayMs: 20 });
  const restingMb: number[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await runRound(round);
    restingMb.push(steady.map(({ pid }) => residentMb([pid])));
  }
  for (const role of steady) expect(role.alive()).toBe(true);
  process.stdout.write(`resident megabytes after each round, ingress and worker: ${JSON.stringify(restingMb)}\n`);
  if (restingMb.length < 3) return;
  // What is warm after the second round, held against the least of the last two.
  for (const at of steady.keys()) {
    const last = Math.min(...restingMb.slice(-2).map((mb) => mb[at] ?? 0));
    expect(last - (restingMb[1]?.[at] ?? 0)).toBeLessThan(GROWTH_MB_MAX);
  }
}, 240_000 + ROUNDS * (ROUND_MS + 120_000)); // prettier-ignore
