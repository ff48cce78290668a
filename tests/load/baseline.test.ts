/** Rises of what a call costs are named, and nothing else is. */
import { expect, test } from "bun:test";

import { type Baseline, type CallCost, findRises, renderComparison } from "./baseline.ts";

const cost: CallCost = { perSecond: 3_000, cpuMicroseconds: 500, writeTransactions: 0.1, natsMessages: 6 };
const before: Baseline = {
  at: "2026-01-02T03:04:05Z",
  machine: "a",
  isQuick: true,
  delayMs: 0,
  loads: { "plain, 64": cost },
};
const now = (more: Partial<CallCost>, machine = "a"): Baseline => ({
  ...before,
  machine,
  loads: { "plain, 64": { ...cost, ...more }, "plain, 128": cost },
});

test.each<[string, Partial<CallCost>, string[]]>([
  ["a tenth is no rise", { cpuMicroseconds: 550, writeTransactions: 0.11, natsMessages: 6.6 }, []],
  ["what falls is none", { cpuMicroseconds: 400, perSecond: 100 }, []],
  ["CPU time", { cpuMicroseconds: 551 }, ["plain, 64: 551 µs of CPU a call, 500 before"]],
  ["transactions", { writeTransactions: 0.12 }, ["plain, 64: 0.12 write transactions a call, 0.1 before"]],
  ["messages", { natsMessages: 7 }, ["plain, 64: 7 NATS messages a call, 6 before"]],
])("%s", (_name, more, rises) => {
  expect(findRises(now(more), before)).toEqual(rises);
});

test("CPU time is compared with what Portkey took in the same run, where both runs have it", () => {
  const earlier = { ...before, loads: { "plain, 64": { ...cost, rivalMicroseconds: 1_000 } } };
  const slow = { cpuMicroseconds: 820, rivalMicroseconds: 1_500 };
  expect(findRises(now(slow), earlier)).toEqual([]);
  expect(findRises(now({ ...slow, cpuMicroseconds: 830 }), earlier)).toEqual([
    "plain, 64: 830 µs of CPU a call, 500 before; Portkey takes 1.50 times what it took",
  ]);
  expect(findRises(now({ cpuMicroseconds: 540, rivalMicroseconds: 900 }), earlier)).toHaveLength(1);
  expect(findRises(now({ cpuMicroseconds: 820 }), earlier)).toHaveLength(1);
});

test("CPU time of another machine is not compared, what does not depend on it is", () => {
  const other = now({ cpuMicroseconds: 900, natsMessages: 9 }, "b");
  expect(findRises(other, before)).toEqual(["plain, 64: 9 NATS messages a call, 6 before"]);
  expect(renderComparison(other, before)).toContain("another machine, so CPU time is not compared");
});

test("a run of another plan, and one without a baseline, is compared with nothing", () => {
  expect(renderComparison(now({}), before)).toContain("No cost of a call has risen");
  for (const [run, kept] of [
    [{ ...now({}), isQuick: false }, before],
    [{ ...now({}), delayMs: 20 }, before],
    [now({}), null],
  ] as const) {
    expect(renderComparison(run, kept)).toContain("No run of this plan is kept");
  }
});

test("load runs start their stacks at the pace of production, tests at a fifth of its waits", async () => {
  const script = 'process.stdout.write((await import("#tests/support/pace.ts")).TEST_PACE)';
  const { SLUICE_PACE: _pace, NODE_ENV: _mode, ...env } = process.env;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, env, stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("1");
  expect(process.env["SLUICE_PACE"]).toBe("0.2");
});
