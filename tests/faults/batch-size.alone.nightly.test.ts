/**
 * A batch as large as one may be is validated, begun, cancelled and written by an ingress that answers others all the while: none of
 * its turns is long, and its memory does not grow with the file. Turns are measured in processor time of the ingress' own thread.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Batch } from "#schemas/generated/types.ts";
import { residentMb } from "#tests/load/processes.ts";
import { PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";
import { storm } from "#tests/support/storm.ts";

import { ask } from "./bed.ts";
import { eventually } from "./wait.ts";

const LINES = storm(5_000, 50_000);
/** A line of 4 KB: 200 MB in 50,000 of them. */
const WORDS = "many words ".repeat(345);

/** The collector's pauses are in it. */
const TURN_MS_MAX = 50;
const GROWTH_MB_MAX = 150;

let stack: Stack;
const clock = temporaryDirectory();

beforeAll(async () => {
  stack = await startStack({
    apart: true,
    workers: 0,
    janitor: false,
    env: {
      BUN_OPTIONS: `--preload ${join(PROJECT_ROOT, "tests/support/loop-clock.ts")}`,
      LOOP_CLOCK: clock.directory,
    },
  });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  clock.remove();
});

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const form = body instanceof FormData ? body : undefined;
  const answer = await fetch((stack.baseUrls[0] ?? "") + path, {
    method,
    headers: { authorization: `Bearer ${stack.key}`, ...(form ? {} : { "content-type": "application/json" }) },
    ...(body ? { body: form ?? JSON.stringify(body) } : {}),
  });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
}

const pids = (): number[] => stack.ingresses.map(({ pid }) => pid);

/** Milliseconds of the turns that took long, as they came. */
function longTurns(): readonly number[] {
  const file = join(clock.directory, String(pids()[0]));
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

async function upload(lines: number): Promise<string> {
  const form = new FormData();
  form.append("purpose", "batch");
  const text = Array.from({ length: lines }, (_, at) => {
    const body = ask("sandbox-chat", { messages: [{ role: "user", content: WORDS }] });
    return `${JSON.stringify({ custom_id: `line ${at}`, method: "POST", url: "/v1/chat/completions", body })}\n`;
  });
  form.append("file", new File(text, "a.jsonl", { type: "application/jsonl" }));
  return (await call<{ id: string }>("POST", "/v1/files", form)).id;
}

const get = (id: string): Promise<Batch> => call<Batch>("GET", `/v1/batches/${id}`);

async function begin(input_file_id: string): Promise<string> {
  const asked = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" };
  return (await call<Batch>("POST", "/v1/batches", asked)).id;
}

async function isAt(id: string, status: Batch["status"]): Promise<Batch> {
  return eventually(status, async () => {
    const batch = await get(id);
    return batch.status === status && batch;
  }, 240_000); // prettier-ignore
}

test("its ingress stays small, and answers others", async () => {
  // What a process needs once is not what a batch costs.
  const small = await begin(await upload(100));
  await isAt(small, "in_progress");
  await call("POST", `/v1/batches/${small}/cancel`);
  await isAt(small, "cancelled");
  const file = await upload(LINES);
  Bun.gc(true);

  const seen = longTurns().length;
  const before = residentMb(pids());
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, residentMb(pids()))), 20);
  const id = await begin(file);
  const begun = await isAt(id, "in_progress");
  expect(begun.request_counts.total).toBe(LINES);
  await call("POST", `/v1/batches/${id}/cancel`);
  const ended = await isAt(id, "cancelled");
  clearInterval(timer);
  expect(ended.request_counts).toEqual({ total: LINES, completed: 0, failed: LINES });
  expect(peak - before).toBeLessThan(GROWTH_MB_MAX);
  expect(
    longTurns()
      .slice(seen)
      .filter((ms) => ms > TURN_MS_MAX),
  ).toEqual([]);
}, 600_000);
