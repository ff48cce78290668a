/**
 * Fault: the clock of a process is wrong by an hour or a day; its event loop stands still; it has no descriptors left; hundreds of
 * callers come at once when it is back. Injection: code that is loaded before a role's own
 * (tests/support/misfortunes.ts), `prlimit`, signals. Expected: deadlines, holds and jobs go by a clock that all have in common, nothing
 * is done twice, a process is well again when its trouble is over, and whoever is told to try again finds it so.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { newId } from "#shared/base/ids.ts";

import { PROJECT_ROOT } from "../support/infrastructure.ts";
import { type ManagedProcess, startRole } from "../support/role-process.ts";
import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { createClient } from "./client.ts";
import { isServed, sentTwice, tally } from "./load.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const HOUR_MS = 3_600_000;
const CLOCKS: Readonly<Record<string, number>> = {
  "an hour ahead": HOUR_MS,
  "a day behind": -24 * HOUR_MS,
  ...storm({}, { "a day ahead": 24 * HOUR_MS, "an hour behind": -HOUR_MS }),
};
/** Shorter than anybody is taken for dead after. */
const STILL_MS = storm(1_800, 10_000);
const DESCRIPTORS = 128;
const CONNECTIONS = 2 * DESCRIPTORS;
const CALLERS = storm(200, 2_000);
const NORMAL_WITHIN_MS = 30_000;

let bed: Bed;
let publisher: Publisher;
beforeAll(async () => {
  bed = await startBed({
    ingress: 2,
    workers: 1,
    behaviours: ["delay-3000", "delay-1000", "tokens-40-every-50"],
    env: {
      BUN_OPTIONS: `--preload ${join(PROJECT_ROOT, "tests/support/misfortunes.ts")}`,
      STANDSTILL_MS: String(STILL_MS),
      SLUICE_GRACE_MS: "20000",
    },
  });
  const workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 13n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 60_000);
afterAll(async () => {
  await publisher?.close();
  await bed?.stop();
});

const named = (): { readonly user: string } => ({ user: newId() });

async function startOther(more: Record<string, string>, ...args: string[]): Promise<ManagedProcess> {
  return startRole(args, { ...bed.stack.env, ...more, PORT: String(await freePort()) });
}

describe("the clock of every other process differs:", () => {
  test.each(Object.entries(CLOCKS))(
    "%s, calls and jobs are served",
    async (_name, wrongMs) => {
      const { stack, client } = bed;
      const wrong = { WRONG_CLOCK_MS: String(wrongMs) };
      const [ingress, worker, janitor] = await Promise.all([
        startOther(wrong, "ingress"),
        startOther(wrong, "worker", "chat"),
        startOther(wrong, "janitor"),
      ]);
      try {
        const right = { url: stack.baseUrls[0] ?? "", key: stack.key };
        const off = { url: ingress.baseUrl, key: stack.key };
        // Two workers share them, so that some of each ingress are served by each.
        const answers = await Promise.all(
          Array.from({ length: 24 }, (_, at) =>
            client.chat(
              at % 2 === 0 ? right : off,
              ask("flat", { ...named(), ...(at % 3 === 0 ? { stream: true } : {}) }),
            ),
          ),
        );
        expect(tally(answers)).toEqual({ 200: 24 });
        const keys = Array.from({ length: 8 }, () => newId());
        await Promise.all(
          keys.map((key) => publisher.submit({ body: ask("mock-delay-1000", { user: key }) }, { key })),
        );
        const ends = await Promise.all(keys.map((key) => publisher.ended(key, 30_000)));
        expect(ends.map(({ status }) => status)).toEqual(keys.map(() => "completed"));
        expect(sentTwice(bed.upstream)).toEqual([]);
        await audit(bed);
      } finally {
        await Promise.all([ingress, worker, janitor].map((role) => role.stop()));
      }
    },
    60_000,
  );
});

test("a worker with a blocked event loop takes no work, and finishes its previous work once", async () => {
  const { stack, client } = bed;
  const [still] = stack.workers as [ManagedProcess];
  const key = newId();
  await publisher.submit({ body: ask("mock-delay-1000", { user: key }) }, { key });
  const had = Array.from({ length: 4 }, () => client.chat(bed.target(), ask("mock-delay-1000", named())));
  await eventually("it has them", () => bed.upstream.requests.filter(({ body }) => JSON.stringify(body).includes("delay-1000")).length >= 5); // prettier-ignore
  const other = await startOther({}, "worker", "chat");
  try {
    still.kill("SIGUSR2");
    // What asks whether a process lives hears nothing of one that does not.
    const isDeaf = await fetch(`${still.adminUrl}/healthz`, { signal: AbortSignal.timeout(STILL_MS / 3) }).catch(
      () => "deaf",
    );
    expect(isDeaf).toBe("deaf");
    const meanwhile = await Promise.all(
      Array.from({ length: 8 }, () => client.chat(bed.target(1), ask("flat", named()))),
    );
    expect(tally([...meanwhile, ...(await Promise.all(had))])).toEqual({ 200: 12 });
    expect((await publisher.ended(key)).status).toBe("completed");
    await eventually("it answers again", async () => (await fetch(`${still.adminUrl}/healthz`)).status === 200);
  } finally {
    await other.stop();
  }
  expect(isServed(await client.chat(bed.target(), ask("flat", named())))).toBe(true);
  expect(sentTwice(bed.upstream)).toEqual([]);
  await audit(bed);
}, 60_000);

test("an ingress with a blocked event loop keeps its callers, and charges the delivered answers", async () => {
  const { client, stack } = bed;
  const calls = [
    client.chat(bed.target(0), ask("mock-tokens-40-every-50", { ...named(), stream: true })),
    client.chat(bed.target(0), ask("mock-delay-1000", named())),
  ];
  await Bun.sleep(300);
  stack.ingresses[0]?.kill("SIGUSR2");
  expect(tally(await Promise.all(calls))).toEqual({ 200: 2 });
  await audit(bed);
}, 60_000);

/** Descriptors that the process may have from now on; returns how many it might have before. */
async function limitDescriptors({ pid }: ManagedProcess, limit: number): Promise<number> {
  const before = Number(/Max open files\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1]);
  const { code, stderr } = await run({
    name: "prlimit",
    command: "prlimit",
    args: [`--pid=${pid}`, `--nofile=${limit}:`],
    cwd: "/",
  });
  if (code !== 0) throw new Error(stderr);
  return before;
}

const hasPrlimit = Bun.which("prlimit") !== null && process.platform === "linux";

test.skipIf(!hasPrlimit)(
  "an ingress without file descriptors serves its connections, and accepts others after the recovery",
  async () => {
    const { client, stack } = bed;
    const [ingress] = stack.ingresses as [ManagedProcess];
    const { hostname, port } = new URL(ingress.baseUrl);
    const stream = await client.open(bed.target(0), ask("mock-tokens-40-every-50", { ...named(), stream: true }));
    await stream.frames(1);
    const usual = await limitDescriptors(ingress, DESCRIPTORS);
    const sockets: Socket[] = [];
    try {
      for (let at = 0; at < CONNECTIONS; at += 1) {
        const socket = connect({ host: hostname, port: Number(port) });
        socket.on("error", () => undefined);
        sockets.push(socket);
      }
      // Bun's server asks for connections without a pause meanwhile; what it has goes on.
      const before = stream.answer.frames.length;
      await eventually("its stream goes on", () => stream.answer.frames.length > before + 5);
      // The others have theirs.
      expect(isServed(await client.chat(bed.target(1), ask("flat", named())))).toBe(true);
    } finally {
      for (const socket of sockets) socket.destroy();
      await limitDescriptors(ingress, usual);
    }
    await eventually("it serves again", async () => isServed(await client.chat(bed.target(0), ask("flat", named()))));
    await audit(bed);
  },
  60_000,
);

test.skipIf(!hasPrlimit)(
  "a worker without file descriptors reports it, and serves again after the recovery",
  async () => {
    const { client, stack } = bed;
    const worker = stack.workers.find((one) => one.alive()) as ManagedProcess;
    const usual = await limitDescriptors(worker, DESCRIPTORS);
    const answers = await Promise.all(
      Array.from({ length: storm(150, 400) }, (_, at) =>
        client.chat(bed.target(at % 2), ask("mock-delay-1000", named())),
      ),
    );
    await limitDescriptors(worker, usual);
    const told = tally(answers);
    process.stdout.write(`${JSON.stringify(told)}\n`);
    expect(Object.keys(told).filter((status) => !["200", "500", "502", "503", "504"].includes(status))).toEqual([]);
    await eventually("it serves again", async () => isServed(await client.chat(bed.target(0), ask("flat", named()))));
    expect(sentTwice(bed.upstream)).toEqual([]);
    await audit(bed, { withinMs: 30_000 });
  },
  60_000,
);

test("hundreds of callers that connect after an ingress's restart are served or get a retry time, within its connections", async () => {
  const { stack } = bed;
  const [ingress] = stack.ingresses as [ManagedProcess];
  const client = createClient();
  let most = 0;
  const sampler = setInterval(() => {
    void stack
      .query<{ count: bigint }>("select count(*) as count from pg_stat_activity where datname = current_database()")
      .then(([row]) => (most = Math.max(most, Number(row?.count ?? 0))));
  }, 100);
  const [before] = await stack.query<{ count: bigint }>("select count(*) as count from pg_stat_activity where datname = current_database()"); // prettier-ignore
  await ingress.stop();
  const callers = Array.from({ length: CALLERS }, async (_, at) => {
    for (let tries = 0; ; tries += 1) {
      const answer = await client.chat(
        bed.target(0),
        ask("flat", { ...named(), ...(at % 5 === 0 ? { stream: true } : {}) }),
      );
      if (isServed(answer)) return tries;
      if (answer.status !== 0 && answer.status !== 503 && answer.status !== 429) throw new Error(answer.body);
      await Bun.sleep(Math.random() * Math.min(5_000, 200 * 2 ** tries));
    }
  });
  await ingress.restart();
  const backAt = performance.now();
  await Promise.all(callers);
  clearInterval(sampler);
  expect(performance.now() - backAt).toBeLessThan(storm(60_000, NORMAL_WITHIN_MS));
  // It may open its pool and what is reserved beside it; the roles all together no more than before, those that slept included.
  expect(most).toBeLessThan(Number(before?.count ?? 0) + 24);
  await audit({ stack, client }, { withinMs: 30_000 });
}, 120_000);
