/**
 * Three that mean harm, all at once and by a seed: a publisher that sends what it likes to the batch door, a client without
 * credits that tries every route, and a provider that lies. Expected: a neighbour's calls are all answered, nothing is owed
 * by who had nothing, the books are exact, and (in soak, an hour of it) its p99 does not double and memory stays flat. Calm and
 * siege take turns, so that whatever else the machine does slows both.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { headers } from "nats";

import { newId } from "#shared/base/ids.ts";
import { POOLS } from "#shared/queue/subjects.ts";

import { Histogram } from "../load/histogram.ts";
import { residentMb } from "../load/processes.ts";
import { seeded, testSeed } from "../support/seed.ts";
import { soakMinutes, storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed, type Workspace } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";

const SIEGE_MS = storm(2_000, soakMinutes() * 60_000);
const CALM_MS = storm(500, SIEGE_MS / 10);
const ROUNDS = storm(1, 10);
const CALL_MS = 50;
/** Each of the three tries this often in a second; the neighbour calls as often. */
const PER_SECOND = storm(10, 30);
const GROWTH_MB_MAX = 150;

/** Without the bomb of gzip: the local server that makes it stands still for longer than the worker that gets it. */
const LIES = ["cut-json", "html", "empty", "error-in-200", "reset", "no-finish-no-end", "usage-negative", "usage-huge", "rst", ...storm([], ["long-line"])]; // prettier-ignore

let bed: Bed;
let penniless: Workspace;
let publisher: Publisher;
/** Its workspace. */
let publishing: Workspace;
let random: () => number;

beforeAll(async () => {
  random = seeded(testSeed("hostile afternoon"));
  bed = await startBed({
    pools: ["chat", "image"],
    behaviours: [`delay-${CALL_MS}`, ...LIES],
    presets: { some: [600, null] },
    env: { SLUICE_CALL_TOTAL_MS: "10000", SLUICE_WORKER_SLOTS: "64", SLUICE_SANDBOX: "on" },
  });
  penniless = await createWorkspace(bed.stack, { creditsNano: 1n });
  const rich = await createWorkspace(bed.stack, { creditsNano: 10n ** 13n, preset: "some" });
  publishing = rich;
  publisher = await openPublisher(bed.stack.natsUrl, publishing);
}, 120_000);
afterAll(async () => {
  await publisher?.close();
  await bed?.stop();
});

test(
  "three hostile workspaces affect no other",
  async () => {
    const neighbour = () => bed.client.chat(bed.target(), ask(`mock-delay-${CALL_MS}`));
    const [calm, siege] = [createPace(), createPace()];
    const others = createPace();
    const told = new Map<string, number>();
    let before = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await calm.keep(CALM_MS / ROUNDS, neighbour);
      if (round === 0) before = residentMb(pids());
      await Promise.all([
        siege.keep(SIEGE_MS / ROUNDS, neighbour),
        others.keep(SIEGE_MS / ROUNDS, publishAnything),
        others.keep(SIEGE_MS / ROUNDS, () => callWithoutCredits(told)),
        others.keep(SIEGE_MS / ROUNDS, () => bed.client.chat(bed.target(), ask(`mock-${pick(LIES)}`, { stream: random() < 0.5 }))), // prettier-ignore
      ]);
    }
    const grownMb = residentMb(pids()) - before;
    const own = bed.client.answers.filter(({ headers: head }) => head.get("x-model-used") === `mock-delay-${CALL_MS}`);
    expect(own).toHaveLength(calm.calls() + siege.calls());
    expect([...told.keys()].filter((status) => Number(status) < 400 || Number(status) >= 500)).toEqual([]);
    await audit(bed, { withinMs: 60_000 });
    const [row] = await bed.stack.query<{ amount: bigint }>("select amount from balance where workspace_id = $1", [penniless.id]); // prettier-ignore
    expect(row?.amount).toBe(1n);
    const seen = [calm, siege].map((pace) => ({ calls: pace.calls(), p99Ms: pace.p99Ms() }));
    process.stdout.write(
      `${JSON.stringify({ calm: seen[0], siege: seen[1], grownMb, told: Object.fromEntries(told) })}\n`,
    );
    if (process.env["SOAK"] !== "on") return;
    expect(siege.p99Ms()).toBeLessThan(2 * calm.p99Ms());
    expect(grownMb).toBeLessThan(GROWTH_MB_MAX);
  },
  240_000 + (CALM_MS + SIEGE_MS) * 2,
);

interface Pace {
  /** Tries so often in a second for so long, whatever becomes of the tries before; resolves when all have ended. */
  keep(ms: number, attempt: () => Promise<unknown>): Promise<void>;
  calls(): number;
  p99Ms(): number;
}

function createPace(): Pace {
  const times = new Histogram();
  let calls = 0;
  return {
    async keep(ms, attempt) {
      const running = new Set<Promise<unknown>>();
      const until = performance.now() + ms;
      for (let at = performance.now(); at < until; at += 1_000 / PER_SECOND) {
        await Bun.sleep(Math.max(0, at - performance.now()));
        const startedAt = performance.now();
        calls += 1;
        const one = attempt().then(() => times.record(performance.now() - startedAt));
        running.add(one);
        void one.finally(() => running.delete(one));
      }
      await Promise.all(running);
    },
    calls: () => calls,
    p99Ms: () => times.percentile(0.99),
  };
}

function pick<T>(from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** Batch messages of every kind, with answers wanted at other addresses, to every pool and to other workspaces. */
async function publishAnything(): Promise<void> {
  const { connection } = publisher;
  const head = headers();
  head.set(
    "Sluice-Reply",
    pick([`_INBOX.ws.${penniless.id}.${penniless.keyId}.x`, "_INBOX.gw.a.b", "work.chat.live.x", "cancel.>", ""]),
  );
  if (random() < 0.7) head.set("Idempotency-Key", pick(["same", newId(), "\u0001", "k".repeat(300)]));
  const body = pick([
    JSON.stringify({ body: ask(`mock-delay-${CALL_MS}`) }),
    JSON.stringify({ body: ask("flat", { stream: true }) }),
    JSON.stringify({ body: "x".repeat(300_000) }),
    "{",
    "[".repeat(50_000),
    Buffer.from([0, 255, 254]),
  ]);
  const workspace = pick([publishing.id, publishing.id, penniless.id, newId()]);
  const key = pick([publishing.keyId, publishing.keyId, penniless.keyId, newId(), "none"]);
  const reply = random() < 0.5 ? { reply: pick(["work.chat.live.x", `cancel.${newId()}`, "$JS.API.STREAM.PURGE.POOL_chat"]) } : {}; // prettier-ignore
  connection.publish(`batch.${pick([...POOLS, "none"])}.${workspace}.${key}`, body, { headers: head, ...reply });
  await connection.flush();
}

const BODIES = [
  JSON.stringify(ask("flat")),
  JSON.stringify(ask("metered", { stream: true, n: 1e9 })),
  JSON.stringify({ model: "sandbox-image-1", prompt: "x", n: 10 }),
  JSON.stringify({ model: "sandbox-image-1", prompt: "x", image_base64: "A".repeat(500_000) }),
  `{"model":"flat","messages":${"[".repeat(5_000)}`,
  "x".repeat(200_000),
  "",
];
const ROUTES = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/embeddings",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/audio/speech",
  "/v1/audio/transcriptions",
  "/v1/videos/generations",
  "/v1/music/generations",
  "/v1/3d/generations",
] as const;

async function callWithoutCredits(told: Map<string, number>): Promise<void> {
  const response = await fetch(bed.target().url + pick(ROUTES), {
    method: "POST",
    headers: {
      authorization: `Bearer ${penniless.key}`,
      "content-type": random() < 0.8 ? "application/json" : pick(["text/plain", "multipart/form-data; boundary=x"]),
    },
    body: pick(BODIES),
  });
  await response.arrayBuffer();
  told.set(String(response.status), (told.get(String(response.status)) ?? 0) + 1);
}

function pids(): number[] {
  return [...bed.stack.ingresses, ...bed.stack.workers].map(({ pid }) => pid);
}
