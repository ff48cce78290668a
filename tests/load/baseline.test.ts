/** The comparison with a baseline names the costs that rose, and refuses a baseline of another kind. */
import { expect, test } from "bun:test";

import { type Baseline, type CallCost, findRises, readBaseline, renderComparison } from "./baseline.ts";

const cost: CallCost = { perSecond: 3_000, cpuMicroseconds: 500, writeTransactions: 0.1, natsMessages: 6 };
const before: Baseline = {
  at: "2026-01-02T03:04:05Z",
  machine: "a",
  upstream: "tls",
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

test("CPU time is compared with Portkey's in the same run, if both runs have it", () => {
  const earlier = { ...before, loads: { "plain, 64": { ...cost, rivalMicroseconds: 1_000 } } };
  const slow = { cpuMicroseconds: 820, rivalMicroseconds: 1_500 };
  expect(findRises(now(slow), earlier)).toEqual([]);
  expect(findRises(now({ ...slow, cpuMicroseconds: 830 }), earlier)).toEqual([
    "plain, 64: 830 µs of CPU a call, 500 before; Portkey takes 1.50 times what it took",
  ]);
  expect(findRises(now({ cpuMicroseconds: 540, rivalMicroseconds: 900 }), earlier)).toHaveLength(1);
  expect(findRises(now({ cpuMicroseconds: 820 }), earlier)).toHaveLength(1);
});

test("CPU time of another machine is not compared, machine-independent figures are", () => {
  const other = now({ cpuMicroseconds: 900, natsMessages: 9 }, "b");
  expect(findRises(other, before)).toEqual(["plain, 64: 9 NATS messages a call, 6 before"]);
  expect(renderComparison(other, before)).toContain("another machine, so CPU time is not compared");
});

test("a run is compared with a baseline of its own kind only, and the report has the reason", () => {
  const run = now({ cpuMicroseconds: 900 });
  expect(renderComparison(run, before)).toContain("- RISEN: plain, 64: 900 µs of CPU a call");
  const kept: Baseline = { ...before, isQuick: false, upstream: "plain", delayMs: 20 };
  for (const [baseline, reason] of [
    [{ ...before, upstream: "plain" }, "another kind: The upstream serves plain HTTP. `--save`"],
    [{ ...before, isQuick: false }, "another kind: It ran without --quick. `--save`"],
    [{ ...before, delayMs: 20 }, "another kind: Its upstream takes 20 ms for a plain answer. `--save`"],
    [kept, "It ran without --quick. The upstream serves plain HTTP. Its upstream takes 20 ms for a plain answer."],
    [null, "There is no baseline."],
  ] as const) {
    const page = renderComparison(run, baseline);
    expect(page).toContain("Not compared.");
    expect(page).toContain(reason);
    expect(page).not.toContain("RISEN");
  }
  expect(renderComparison({ ...run, upstream: "plain" }, before)).toContain("another kind: The upstream serves TLS.");
});

test("each baseline file of the repository names its kind of run", () => {
  for (const [name, isQuick] of [
    ["baseline.json", false],
    ["baseline-quick.json", true],
  ] as const) {
    const kept = readBaseline(`${import.meta.dir}/${name}`);
    expect(kept).toMatchObject({ isQuick, delayMs: 0, upstream: expect.stringMatching(/^(tls|plain)$/) });
  }
});

test("load runs start their stacks at the pace of production, tests at a fifth of its waits", async () => {
  const script = 'process.stdout.write((await import("#tests/support/pace.ts")).TEST_PACE)';
  const { SLUICE_PACE: _pace, NODE_ENV: _mode, ...env } = process.env;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, env, stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("1");
  expect(process.env["SLUICE_PACE"]).toBe("0.2");
});
