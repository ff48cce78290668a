/** Capacity: the model's sums, and that a run measures what the model needs. Times are never judged. */
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import { loadConfig } from "#shared/config/config.ts";
import { newId } from "#shared/base/ids.ts";

import { type CallCost, type Costs, needFor, PROCESSES, USUAL } from "./capacity-model.ts";

const plain: CallCost = {
  perSecond: 2_000,
  cpu: { ingress: 200, worker: 200, janitor: 5, postgres: 100, nats: 50 },
  writeTransactions: 0.2,
  walBytes: 1_000,
  walSyncs: 0.2,
  storedBytes: 500,
  natsMessages: 6,
  natsBytes: 3_000,
};
const costs: Costs = {
  at: "2026-01-02T03:04:05Z",
  machine: "a",
  upstream: "tls",
  plain,
  stream: { ...plain, walBytes: 3_000 },
};

describe("the model", () => {
  test("counts processes by the slots of slow calls, with the connections and the work of their servers", () => {
    expect(needFor(costs, { ...USUAL, rate: 1_000, latency: 2, busy: 0.5, slots: 200, pool: 8 })).toEqual({
      ingresses: 2,
      workers: 20,
      janitors: 2,
      workersBy: "slots",
      postgresCores: 0.2,
      natsCores: 0.1,
      callsInFlight: 2_000,
      postgresConnections: 2 * (8 + 9) + 20 * (8 + 2) + 2 * (8 + 4),
      natsConnections: 2 + 40 + 2,
      transactionsPerSecond: 200,
      walSyncsPerSecond: 200,
      walBytesPerSecond: 2_000_000,
      storedBytesPerDay: 43_200_000_000,
      natsMessagesPerSecond: 6_000,
      natsBytesPerSecond: 3_000_000,
    });
  });

  test("counts them by the CPU of fast calls, and keeps at least two", () => {
    const fast = { ...USUAL, latency: 0.01, busy: 0.5, streams: 0 };
    expect(needFor(costs, { ...fast, rate: 20_000 })).toMatchObject({
      ingresses: 8,
      workers: 8,
      workersBy: "processor",
    });
    expect(needFor(costs, { ...fast, rate: 1 })).toMatchObject({ ingresses: 2, workers: 2, janitors: 2 });
  });

  test("starts with the defaults of the settings", () => {
    const { workerSlots, databasePoolMax } = loadConfig({
      DATABASE_URL: "postgres://a@b/c",
      NATS_URL: "nats://a",
    });
    expect(USUAL).toMatchObject({ slots: workerSlots, pool: databasePoolMax });
  });
});

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/capacity.ts`, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: process.env,
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

test("a quick run measures every cost, and its file answers for another rate without measuring", async () => {
  const file = join(tmpdir(), `sluice-capacity-${newId()}.json`);
  try {
    const measured = await run("--quick", `--save=${file}`);
    expect(measured).toMatchObject({ code: 0 });
    expect(measured.stdout).toContain("The upstream serves TLS.");
    const saved = JSON.parse(readFileSync(file, "utf8")) as Costs;
    expect(saved.upstream).toBe("tls");
    for (const cost of [saved.plain, saved.stream]) {
      const { cpu, walSyncs, storedBytes, ...positive } = cost;
      expect(Object.keys(cpu)).toEqual([...PROCESSES]);
      for (const value of Object.values(positive)) expect(value).toBeGreaterThan(0);
      // Servers of tests wait for no disk; a tick of the processor's time is 10 ms.
      for (const value of [...Object.values(cpu), walSyncs, storedBytes]) expect(value).toBeGreaterThanOrEqual(0);
    }
    const planned = await run(`--costs=${file}`, "--rate=5000", "--latency=3", "--streams=0");
    expect(planned).toMatchObject({ code: 0, stderr: "" });
    expect(planned.stdout).toContain("## For 5000 calls a second of 3 s, 0 % of them streams");
    for (const part of ["ingress", "worker of the pool chat", "janitor", "Postgres", "NATS"]) {
      expect(planned.stdout).toMatch(new RegExp(`^\\| ${part} +\\| [0-9]`, "m"));
    }
  } finally {
    rmSync(file, { force: true });
  }
}, 120_000);

test("an invalid rate is rejected by name", async () => {
  expect(await run("--costs=nothing", "--streams=2")).toMatchObject({ code: 1, stderr: expect.stringContaining("--streams") }); // prettier-ignore
});
