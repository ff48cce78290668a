/**
 * One workspace sends what keeps others waiting where it can: floods of long calls, requests full of work, runs of capabilities that
 * never come to an end, runs without end, readers by the hundred. Another one calls all the while: every one of its calls is served, and in
 * `npm run soak` its p99 stays below twice its own without a neighbour and 250 ms. What was refused or ended cost its caller, or counts
 * against it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { auditLedger } from "#shared/ledger/audit.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";

import { residentMb } from "../load/processes.ts";
import { HOSTILE_REQUESTS, sendHeavy } from "../support/hostile-requests.ts";
import { storm } from "../support/storm.ts";
import { ask, type Bed, createWorkspace, startBed, type Workspace } from "./bed.ts";
import { eventually } from "./wait.ts";

/** Calls of the neighbour before and while another one is at it. */
const SAMPLES = storm(10, 200);
const EVERY_MS = 100;
/** Calls of each process that floods: of one process no more than 256 are open at a time, those of a neighbour included. */
const FLOOD = { processes: storm(1, 3), calls: storm(120, 200) };
const READERS = storm(60, 500);
const PICTURES = storm(2, 4);
/** Items of each list of a run whose lists lie in lists in lists: six million runs of a thousand, were there no bound. */
const ITEMS = storm(10, 1_000);
const MARGIN_MS = 250;
/** Memory of large bodies, and garbage that is not collected yet. */
const GROWTH_MB_MAX = 1_000;

let bed: Bed;
let hostile: Workspace;
let modest: Workspace;

beforeAll(async () => {
  bed = await startBed({
    ingress: 2,
    workers: 2,
    pools: ["chat", "capability", "workflow"],
    behaviours: ["silent"],
    env: { SLUICE_SANDBOX: "on", SLUICE_WORKER_SLOTS: "64", SLUICE_PACE: "1" },
  });
  hostile = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
  modest = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
}, 120_000);
afterAll(async () => {
  for (const one of flooding) one.kill();
  await bed?.stop();
});

async function send(key: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
  const url = bed.stack.baseUrls[Math.floor(Math.random() * bed.stack.baseUrls.length)] ?? "";
  return fetch(url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(signal ? { signal } : {}),
  });
}

const CAPABILITY = { input: { text: { text: "abc" } }, params: { pattern: "b" } };
const STEP = { type: "model", model: "flat", params: { messages: [{ role: "user", content: "say x" }] } };
const CHAIN = {
  mode: "sync",
  definition: {
    steps: [
      { id: "a", ...STEP },
      { id: "b", ...STEP, depends_on: ["a"] },
    ],
  },
};

/** Calls of the neighbour, each with what it asks. */
const CALLS = {
  key: (key: string) => send(key, "/v1/key"),
  chat: (key: string) => send(key, "/v1/chat/completions", ask("flat")),
  capability: (key: string) => send(key, "/v1/capabilities/code.regex/run", CAPABILITY),
  run: (key: string) => send(key, "/v1/pipelines/runs", CHAIN),
} as const;

type Name = keyof typeof CALLS;

/** Milliseconds of so many calls. Each is served, and none waits for the one before: what keeps them waiting is seen in each. */
async function timesOf(name: Name, count: number): Promise<number[]> {
  const one = async (): Promise<number> => {
    const began = performance.now();
    const answer = await CALLS[name](modest.key);
    const text = await answer.text();
    expect([name, answer.status, answer.ok ? "" : text]).toEqual([name, 200, ""]);
    return performance.now() - began;
  };
  const calls: Promise<number>[] = [];
  for (let at = 0; at < count; at++) {
    calls.push(one());
    await Bun.sleep(EVERY_MS);
  }
  return Promise.all(calls);
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

const leaving = new AbortController();
const quietly = (work: Promise<Response>): Promise<unknown> =>
  work.then((answer) => answer.text()).catch(() => undefined);

/** An SVG that is small to send and endless to draw, below the bound on what is seen of it before. */
const HEAVY_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><filter id="f" x="-1" y="-1" width="3" height="3">${'<feTurbulence numOctaves="10"/><feGaussianBlur stdDeviation="50"/>'.repeat(6)}</filter><rect width="4000" height="4000" filter="url(#f)"/></svg>`;

/** A run whose lists are known only when it goes on. */
async function endlessRun(): Promise<void> {
  const store = async (definition: object): Promise<string> => {
    const answer = await send(hostile.key, "/v1/workflows", { name: "w", definition });
    return ((await answer.json()) as { id: string }).id;
  };
  const inputs = { items: { type: "array" } };
  const leaf = await store({ inputs, steps: [{ id: "s", ...STEP, if: false }] });
  const child = (workflow: string) => ({
    type: "sub_pipeline",
    workflow_id: workflow,
    for_each: "${{ inputs.items }}",
    input: { items: "${{ inputs.items }}" },
  });
  const mid = await store({ inputs, steps: [{ id: "m", ...child(leaf) }] });
  const steps = Array.from({ length: 6 }, (_, at) => ({ id: `t${at}`, ...child(mid) }));
  const input = { items: Array.from({ length: ITEMS }, (_, at) => at) };
  const answer = await send(hostile.key, "/v1/pipelines/runs", { mode: "async", definition: { inputs, steps }, input });
  expect(answer.status).toBe(202);
}

async function follow(): Promise<void> {
  const definition = { steps: [{ id: "s", ...STEP, model: "mock-silent" }] };
  const answer = await send(hostile.key, "/v1/pipelines/runs", { mode: "async", definition });
  const { id } = (await answer.json()) as { id: string };
  for (let at = 0; at < READERS; at++) {
    void quietly(send(hostile.key, `/v1/workflows/runs/${id}/events`, undefined, leaving.signal));
  }
}

const FLOODER = `
  const [count, key, body, ...urls] = process.argv.slice(1);
  const headers = { authorization: "Bearer " + key, "content-type": "application/json" };
  const call = (_, at) => fetch(urls[at % urls.length] + "/v1/chat/completions", { method: "POST", headers, body });
  await Promise.allSettled(Array.from({ length: Number(count) }, call));
`;
const flooding: Bun.Subprocess[] = [];

/** Requests full of work: their bodies take this process too, longer than its connections have for opening. */
let heavy: Promise<unknown> = Promise.resolve();

/** Jobs that draw. */
const drawing: string[] = [];

const ATTACKS: readonly (readonly [what: string, calls: readonly Name[], begin: () => Promise<unknown>])[] = [
  [
    "a flood of calls that go on and on",
    ["chat", "run"],
    async () => {
      for (let at = 0; at < FLOOD.processes; at++) {
        const given = [String(FLOOD.calls), hostile.key, JSON.stringify(ask("mock-silent")), ...bed.stack.baseUrls];
        flooding.push(
          Bun.spawn([process.execPath, "-e", FLOODER, ...given], { stdio: ["ignore", "ignore", "ignore"] }),
        );
      }
      await eventually("many of them are at work", () => bed.upstream.requests.length > 50);
    },
  ],
  ["a run of runs of runs", ["run", "chat"], endlessRun],
  ["hundreds of readers of a run", ["key", "chat"], follow],
  [
    "requests full of work",
    ["key", "chat"],
    async () => {
      const all = Object.values(HOSTILE_REQUESTS);
      const chosen = storm(all.slice(0, 6), all);
      const url = bed.stack.baseUrls[0] ?? "";
      heavy = (async () => {
        for (const request of chosen) await sendHeavy(url, hostile.key, request).catch(() => undefined);
      })();
    },
  ],
  // The last, since they draw until they are told to stop.
  [
    "pictures that take for ever to draw",
    ["capability", "key"],
    async () => {
      for (let at = 0; at < PICTURES; at++) {
        const body = { input: { svg: { text: HEAVY_SVG } }, params: {}, async: true };
        const answer = await send(hostile.key, "/v1/capabilities/image.render_svg/run", body);
        drawing.push(((await answer.json()) as { id: string }).id);
      }
    },
  ],
];

const alone: Partial<Record<Name, number>> = {};

test("the neighbour alone is served", async () => {
  for (const name of Object.keys(CALLS) as Name[]) {
    await timesOf(name, 3);
    alone[name] = p99(await timesOf(name, SAMPLES));
  }
}, 300_000);

test.each(ATTACKS)(
  "%s",
  async (what, names, begin) => {
    const pids = bed.stack.ingresses.map(({ pid }) => pid);
    const before = residentMb(pids);
    await begin();
    for (const name of names) {
      const times = await timesOf(name, SAMPLES);
      const [during, own, longest] = [p99(times), alone[name] ?? 0, Math.max(...times)];
      const told = { what, name, p99: Math.round(during), alone: Math.round(own), longest: Math.round(longest) };
      process.stdout.write(`${JSON.stringify(told)}\n`);
      if (storm(false, true)) expect(during).toBeLessThan(2 * own + MARGIN_MS);
    }
    expect(residentMb(pids) - before).toBeLessThan(GROWTH_MB_MAX);
  },
  600_000,
);

test("its work is bounded, ends, and the books are exact", async () => {
  const { stack } = bed;
  leaving.abort();
  for (const one of flooding) one.kill();
  await heavy;
  const [row] = await stack.query<{ work: bigint }>("select coalesce(max(work), 0)::bigint as work from run");
  expect(row?.work).toBeLessThanOrEqual(20_000n);
  const roots = "select id from run where workspace_id = $1 and ended_at is null and parent_id is null";
  const runs = (await stack.query<{ id: string }>(roots, [hostile.id])).map(({ id }) => `/v1/workflows/runs/${id}`);
  for (const path of [...runs, ...drawing.map((id) => `/v1/images/jobs/${id}`)]) {
    const headers = { authorization: `Bearer ${hostile.key}` };
    const answer = await fetch(`${stack.baseUrls[0]}${path}/cancel`, { method: "POST", headers });
    expect([path, answer.status]).toEqual([path, 200]);
  }
  const open = "select 1 from run where ended_at is null limit 1";
  await eventually("its runs are over", async () => (await stack.query(open)).length === 0, 120_000);
  await eventually("no hold stays open", async () => (await stack.query("select 1 from hold")).length === 0, 60_000);
  expect(await auditLedger({ query: stack.query })).toEqual([]);
  expect(await auditStorage({ query: stack.query })).toEqual([]);
}, 300_000);
