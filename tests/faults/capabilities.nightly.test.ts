/** Many runs of five workspaces at once, through the deaths of a worker and of children: all end well, no one waits for another's, the books are exact. */
import { readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { auditLedger } from "#shared/ledger/audit.ts";
import { listObjects } from "#shared/storage/objects.ts";
import { storageOf } from "#tests/shared/files/bench.ts";
import { CAPABILITY_MEMORY_BYTES } from "#workers/calls/capability/children.ts";

import {
  type CapabilityBench,
  childrenAtWork,
  type RunAnswer,
  startCapabilityBench,
} from "../e2e/capabilities/bench.ts";
import { processTree } from "../load/processes.ts";
import { startRole } from "../support/role-process.ts";
import { seeded } from "../support/seed.ts";
import { storm } from "../support/storm.ts";
import { createWorkspace } from "./bed.ts";
import { eventually } from "./wait.ts";

const FILE = (name: string) => ({ file_id: `file-sample-${name}` });
const TEXT = "Three boxes of tea, two of coffee.\n".repeat(200);

/** One of each family, some long and some short. */
const MIX: readonly (readonly [id: string, body: object])[] = [
  ["image.resize", { input: { image: FILE("photo") }, params: { width: 640 } }],
  ["image.filter", { input: { image: FILE("photo") }, params: { type: "blur" } }],
  ["audio.normalize", { input: { audio: FILE("tune") }, params: {} }],
  ["video.trim", { input: { video: FILE("clip") }, params: { duration: 1 } }],
  ["document.extract_text", { input: { document: FILE("report") }, params: {} }],
  ["document.markdown_to_pdf", { input: { markdown: { text: TEXT } }, params: {} }],
  ["archive.extract", { input: { archive: FILE("bundle") }, params: {} }],
  ["archive.checksum", { input: { file: FILE("photo") }, params: {} }],
  ["code.regex", { input: { text: { text: TEXT } }, params: { pattern: "[a-z]+" } }],
  ["code.run_javascript", { input: { code: { text: "1 + 1" } }, params: {} }],
];
const GREEDY_RUNS = storm(36, 120);
const MODEST_RUNS = storm(6, 20);
const ALL_RUNS = GREEDY_RUNS + 4 * MODEST_RUNS;
const SEED = 20_261_123;

let bench: CapabilityBench;
beforeAll(async () => {
  bench = await startCapabilityBench({ apart: true, workers: 2 });
}, 60_000);
afterAll(() => bench?.stop());

test("runs of five workspaces, with crashes in between", async () => {
  const { stack } = bench;
  const owners = await Promise.all(
    Array.from({ length: 5 }, () => createWorkspace(stack, { creditsNano: 100_000_000_000_000n })),
  );
  const random = seeded(SEED);
  const ends: {
    readonly id: string;
    readonly owner: number;
    readonly status: number;
    readonly credits: number;
    readonly told: string;
  }[] = [];
  const one = async (owner: number): Promise<void> => {
    const [id, body] = MIX[Math.floor(random() * MIX.length)] ?? ["", {}];
    const answer = await bench.run(id, body, owners[owner]?.key);
    const told = await answer.text();
    ends.push({
      id: answer.headers.get("x-request-id") ?? "",
      owner,
      status: answer.status,
      credits: Number(answer.headers.get("x-credits-used") ?? 0),
      told: `${id} ${told.slice(0, 300)}`,
    });
  };
  const [greedy, ...modest] = owners.map((_, owner) => owner);
  const all = [
    ...Array.from({ length: GREEDY_RUNS }, () => one(greedy ?? 0)),
    ...modest.flatMap((owner) => Array.from({ length: MODEST_RUNS }, () => one(owner))),
  ];
  const memory: number[] = [];
  const watch = setInterval(() => {
    for (const { pid } of stack.workers) memory.push(ownMb(processTree(pid)));
  }, 200);

  const [first, second] = stack.workers;
  await eventually("some have ended", () => ends.length >= 0.15 * ALL_RUNS, 60_000);
  first?.kill("SIGKILL");
  for (const pid of childrenAtWork(second?.pid)) process.kill(pid, "SIGKILL");
  await first?.exited();
  await first?.restart();
  await eventually("more have ended", () => ends.length >= 0.6 * ALL_RUNS, 60_000);
  for (const { pid } of stack.workers) for (const child of childrenAtWork(pid)) process.kill(child, "SIGKILL");
  await Promise.all(all);
  clearInterval(watch);

  const logs = stack.workers.flatMap((worker) => worker.logs());
  // A run is tried twice: one whose child was killed both times has failed, and no other.
  const begunAnew = logs.filter((line) => line.includes("the run restarts"));
  const isBegunAnew = (id: string): boolean => begunAnew.some((line) => line.includes(id));
  const unexplained = ends
    .filter(({ status, id }) => status !== 200 && !(status === 500 && isBegunAnew(id)))
    .map((end) => ({ ...end, logs: logs.filter((line) => line.includes(end.id)) }));
  expect(unexplained).toEqual([]);
  // A fair share of five is served long before the rest of what the greedy one wants. A quarter of a workspace's runs may have died with
  // their workers and wait for another, so that they end late.
  const served = modest.map((owner) => {
    const places = ends.flatMap((end, at) => (end.owner === owner ? [at] : []));
    return places[Math.ceil((places.length * 3) / 4) - 1] ?? Infinity;
  });
  const left = ends.slice(Math.max(...served) + 1).filter(({ owner }) => owner === greedy).length;
  // Of few runs those that died weigh more.
  expect(left).toBeGreaterThanOrEqual(GREEDY_RUNS / storm(9, 3));
  expect(Math.max(...memory)).toBeLessThan(CAPABILITY_MEMORY_BYTES / 1e6);

  await eventually("no hold stays open", async () => (await stack.query("select 1 from hold")).length === 0);
  expect(await auditLedger({ query: stack.query })).toEqual([]);
  const rows = await stack.query<{ status: string; settled: bigint }>("select status, settled from usage_record");
  const outcomes = ends.map(({ status }) => (status === 200 ? "succeeded" : "failed"));
  expect(rows.map(({ status }) => status).toSorted()).toEqual(outcomes.toSorted());
  const told = ends.reduce((sum, { credits }) => sum + BigInt(Math.round(credits * 1e9)), 0n);
  expect(rows.reduce((sum, { settled }) => sum + settled, 0n)).toBe(told);
}, 180_000);

test("a worker that dies between the bytes of a small file and the end of its job leaves bytes without a row, and only the files of the next run", async () => {
  const { stack } = bench;
  const owner = await createWorkspace(stack, { creditsNano: 10n ** 12n });
  const storage = storageOf(stack.env);
  const objects = async (): Promise<string[]> =>
    (await listObjects(storage, "files/", undefined, 1_000)).objects.map(({ key }) => key.slice("files/".length));
  const unknown = async (): Promise<Set<string>> => {
    const known = new Set((await stack.query<{ id: string }>("select id from file")).map(({ id }) => id));
    return new Set(await objects()).difference(known);
  };
  await Promise.all(stack.workers.map((worker) => worker.stop()));
  const left: number[] = [];
  for (const point of ["upload.stored", "job.served", "job.ended"]) {
    const before = await unknown();
    const dying = await startRole(["worker", "capability"], { ...stack.env, SLUICE_FAILPOINT: point });
    const answer = bench.run("image.barcode", { input: { text: { text: point } } }, owner.key);
    expect([point, (await dying.exited()).signal]).toEqual([point, "SIGKILL"]);
    const next = await startRole(["worker", "capability"], stack.env);
    const made = await answer;
    const run = (await made.json()) as RunAnswer;
    expect([point, made.status, run.files.length]).toEqual([point, 200, 1]);
    expect((await bench.bytes(run)).length).toBe(run.files[0]?.bytes ?? 0);
    const usage = "select status, settled > 0 as is_paid from usage_record where job_id = $1";
    expect(await stack.query(usage, [run.id])).toEqual([{ status: "succeeded", is_paid: true }]);
    await next.stop();
    left.push((await unknown()).difference(before).size);
  }
  expect(left).toEqual([1, 1, 0]);
  expect(await stack.query("select files from file_storage where workspace_id = $1", [owner.id])).toEqual([{ files: 3 }]); // prettier-ignore
  expect(await stack.query("select * from audit_storage()")).toEqual([]);
  storage.close();
}, 180_000);

/** Megabytes of these processes; what several share counts in parts. */
function ownMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1_024;
    } catch {
      // It ended between the listing and the reading.
      return sum;
    }
  }, 0);
}
