/**
 * Fault: a run of a capability throws, crashes, hangs, floods, lies, makes nonsense, or its worker is stopped and the object store
 * silent meanwhile. Expected: the worker lives, the job ends once with a documented code, nothing is billed, a neighbour's run beside it
 * succeeds.
 */
import { availableParallelism } from "node:os";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { auditLedger } from "#shared/ledger/audit.ts";
import { childrenAtWork, type RunAnswer } from "#tests/e2e/capabilities/bench.ts";
import { storm } from "#tests/support/storm.ts";

import { createWorkspace, type Workspace } from "./bed.ts";
import { type FaultyBench, startFaultyBench } from "./faulty-capability.ts";
import { eventually } from "./wait.ts";

const CANARY = "canary-7c1f0e";
/** A silent store costs a try its whole time, and a run several. */
const STORE_BACK_MS = storm(60_000, 300_000);
const CODES = { 400: "invalid_request", 422: "unprocessable_input", 500: "internal_error" } as const;

let bench: FaultyBench;
let neighbour: Workspace;
beforeAll(async () => {
  bench = await startFaultyBench();
  neighbour = await createWorkspace(bench.stack, { creditsNano: 100_000_000_000n });
}, 60_000);
afterAll(async () => {
  const { stack } = bench;
  await eventually("no hold stays open", async () => (await stack.query("select 1 from hold")).length === 0);
  expect(await auditLedger({ query: stack.query })).toEqual([]);
  expect((await stack.command("admin", "credits", "check")).code).toBe(0);
  expect(await stack.query("select 1 from dead_letter")).toEqual([]);
  const log = stack.workers.flatMap((worker) => worker.logs()).join("\n");
  expect(log).not.toContain(CANARY);
  expect(log).not.toContain("uncaught");
  await bench.stop();
});

const beside = () =>
  bench.run("code.diff", { input: { old: { text: "tea" }, new: { text: "coffee" } } }, neighbour.key);

async function endsOnce(id: string): Promise<void> {
  const { stack } = bench;
  const usage = await stack.query<{ status: string; settled: bigint }>(
    "select status, settled from usage_record where job_id = $1",
    [id],
  );
  const [job] = await stack.query<{ state: string }>("select state from job where id = $1", [id]);
  const isWell = job?.state === "completed";
  expect(usage.map(({ status, settled }) => [status, settled > 0n])).toEqual([
    [isWell ? "succeeded" : "failed", isWell],
  ]);
  const lines = () => stack.workers.flatMap((worker) => worker.logs());
  const ends = () => lines().filter((line) => line.includes(id) && line.includes('"job ended"'));
  await eventually("its end stands in the log", () => ends().length > 0);
  expect(ends()).toHaveLength(1);
}

describe("a run that", () => {
  const ends = async (fault: string, status: number): Promise<void> => {
    const [worker] = bench.stack.workers;
    const pid = worker?.pid;
    const [answer, other] = await Promise.all([bench.fail(fault, undefined, CANARY), beside()]);
    const told = await answer.text();
    expect([fault, answer.status, told.slice(0, 300)]).toEqual([fault, status, expect.any(String)]);
    if (status !== 200) {
      const { error } = JSON.parse(told) as { error: { code: string } };
      expect(error.code).toBe(CODES[status as keyof typeof CODES]);
    }
    expect(other.status).toBe(200);
    expect([worker?.alive(), worker?.pid]).toEqual([true, pid]);
    await endsOnce(answer.headers.get("x-request-id") ?? "");
    const next = await bench.fail("well");
    expect([next.status, ((await next.json()) as RunAnswer).output]).toEqual([200, { fine: true }]);
  };

  test.each<[string, number]>([
    ["throws_late", 500],
    ["rejects_unheard", 500],
    ["answers_then_rejects", 200],
    ["exits_0", 500],
    ["exits_1", 500],
    ["SIGILL", 500],
    ["SIGSEGV", 500],
    ["endless_bytes", 500],
    ["odd_progress", 500],
    ["answers_twice", 200],
    ["half_an_answer", 500],
    ["answers_too_much", 422],
    ["names_what_is_outside", 500],
    ["names_a_way_out", 500],
    ["links_outside", 500],
    ["names_nothing", 500],
    ["names_no_path", 500],
    ["names_a_number", 500],
    ["names_no_media_type", 500],
    ["names_what_never_was", 500],
    ["makes_an_empty_file", 200],
    ["digs_deep", 200],
  ])("%s ends with %d, and a neighbour's run succeeds", ends, 60_000);

  // All of its time, which both take at once.
  test("no_output or endless_progress ends with 422, and a neighbour's run succeeds", async () => {
    await Promise.all([ends("no_output", 422), ends("endless_progress", 422)]);
  }, 60_000);

  test("deletes its output ends once, stored or not", async () => {
    const answer = await bench.fail("takes_it_away");
    expect([200, 500]).toContain(answer.status);
    await endsOnce(answer.headers.get("x-request-id") ?? "");
  }, 60_000);
});

test("endless runs up to one workspace's limit do not delay other workspaces", async () => {
  const [worker] = bench.stack.workers;
  const cores = availableParallelism();
  const ended: number[] = [];
  // More wait than are at work.
  const hostile = Array.from({ length: 2 * cores }, async () =>
    ended.push((await bench.fail(storm("no_output", "spins"))).status),
  );
  await eventually("all cores are taken", () => childrenAtWork(worker?.pid).length >= cores);
  for (let at = 0; at < 5; at++) expect((await beside()).status).toBe(200);
  expect(ended).toEqual([]);
  await Promise.all(hostile);
  expect(ended).toEqual(ended.map(() => 422));
}, 120_000);

describe("the object store does not respond", () => {
  /** Requests of this sort get no answer, so many of them. */
  const silent = (method: string, path: RegExp, times: number): void => {
    let left = times;
    bench.s3.decide((line) => (line.startsWith(method) && path.test(line) && left-- > 0 ? "silence" : "pass"));
  };
  afterEach(() => bench.s3.decide(undefined));

  test(
    "while a result is stored: it is stored after the recovery",
    async () => {
      silent("PUT", /\/files\//, 3);
      const made = await bench.fail("makes_a_file");
      expect(made.status).toBe(200);
      const run = (await made.json()) as RunAnswer;
      expect(Buffer.from(await bench.bytes(run)).toString()).toBe("made");
      await endsOnce(run.id);
    },
    STORE_BACK_MS,
  );

  test(
    "while an input is read: the run is retried, and succeeds",
    async () => {
      const form = new FormData();
      form.set("purpose", "user_data");
      form.set("file", new Blob(["well"]), "well.txt");
      const { baseUrls, key } = bench.stack;
      const headers = { authorization: `Bearer ${key}` };
      const stored = await fetch(`${baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
      const { id } = (await stored.json()) as { id: string };
      silent("GET", /\/files\//, 2);
      const [worker] = bench.stack.workers;
      const pid = worker?.pid;
      const [answer, other] = await Promise.all([
        bench.run("code.regex", { input: { text: { file_id: id } }, params: { pattern: "a" } }),
        beside(),
      ]);
      expect([answer.status, other.status, worker?.pid]).toEqual([200, 200, pid]);
      await endsOnce(answer.headers.get("x-request-id") ?? "");
    },
    STORE_BACK_MS,
  );
});

test("a worker that receives SIGTERM exits regularly, and each of its runs is finished once by the next", async () => {
  const [worker] = bench.stack.workers;
  const faults = ["takes_a_while", "no_output", "makes_a_file", "takes_a_while"];
  bench.s3.decide((line) => (/^(PUT|DELETE) .*\/files\//.test(line) ? "silence" : "pass"));
  const answers = faults.map((fault) => bench.fail(fault));
  await eventually("some are at work", () => childrenAtWork(worker?.pid).length > 0);
  worker?.kill("SIGTERM");
  expect(await worker?.exited()).toMatchObject({ code: 0 });
  bench.s3.decide(undefined);
  await worker?.restart();
  for (const [at, answer] of (await Promise.all(answers)).entries()) {
    expect([faults[at], answer.status]).toEqual([faults[at], faults[at] === "no_output" ? 422 : 200]);
    await endsOnce(answer.headers.get("x-request-id") ?? "");
  }
}, 120_000);

test("error texts of scripts, programs and parsers about a caller's data appear in no log", async () => {
  const script = `throw new Error("${CANARY}")`;
  const asked: readonly (readonly [string, object, object?])[] = [
    ["code.run_javascript", { code: { text: script } }],
    ["code.transform_json", { data: { text: "1" } }, { jq: `error("${CANARY}")` }],
    ["code.transform_json", { data: { text: `{"a": ${CANARY}}` } }],
    ["code.format", { code: { text: `let = ${CANARY} (` } }, { language: "javascript" }],
  ];
  for (const [id, input, params = {}] of asked) {
    const answer = await bench.run(id, { input, params });
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([id, error.code]).toEqual([id, CODES[answer.status as keyof typeof CODES]]);
  }
  const lines = bench.stack.workers.flatMap((worker) => worker.logs());
  const told = lines.filter((line) => line.includes("a capability run failed"));
  expect(told.length).toBeGreaterThanOrEqual(asked.length);
  // Faults that are the same are told apart from others.
  expect(JSON.parse(told.at(-1) ?? "")).toMatchObject({ fault: "corrupt", message_hash: expect.any(String) });
});
