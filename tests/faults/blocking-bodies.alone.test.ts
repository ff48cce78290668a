/** One caller's requests that are full of work do not keep another waiting: no turn of the ingress' event loop is long. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Workspace, createWorkspace } from "./bed.ts";
import { LARGE_REQUESTS, HOSTILE_REQUESTS, type HostileRequest } from "../support/hostile-requests.ts";
import { PROJECT_ROOT, temporaryDirectory } from "../support/infrastructure.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let hostile: Workspace;
const clock = temporaryDirectory();

beforeAll(async () => {
  stack = await startStack({
    pools: ["chat", "image", "audio", "capability"],
    env: { SLUICE_WORKER_SLOTS: "16", BUN_OPTIONS: `--preload ${join(PROJECT_ROOT, "tests/support/loop-clock.ts")}`, LOOP_CLOCK: clock.directory },
  });
  hostile = await createWorkspace(stack, { creditsNano: 10n ** 15n });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  clock.remove();
});

function turns(): number[] {
  const file = join(clock.directory, String(stack.ingresses[0]?.pid));
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter((one) => one !== "").map(Number) : [];
}

function residentMb(): number {
  const status = readFileSync(`/proc/${stack.ingresses[0]?.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

async function send({ path, method = "POST", contentType = "application/json", headers = {}, body }: HostileRequest): Promise<number> {
  const answer = await fetch(stack.baseUrls[0] + path, {
    method,
    headers: { authorization: `Bearer ${hostile.key}`, "content-type": contentType, ...headers },
    body: body(),
    keepalive: false,
  });
  const text = await answer.text();
  if (answer.status !== 200) process.stdout.write(`   ${answer.status} ${text.slice(0, 200)}\n`);
  return answer.status;
}

describe("the longest turn while another sends", () => {
  test.each(Object.entries({ ...HOSTILE_REQUESTS, ...LARGE_REQUESTS }))("%s", async (name, request) => {
    const before = turns().length;
    const memory = residentMb();
    let peak = memory;
    const timer = setInterval(() => { peak = Math.max(peak, residentMb()); }, 20);
    const statuses = await Promise.all(Array.from({ length: request.times ?? 1 }, () => send(request)));
    clearInterval(timer);
    const long = turns().slice(before);
    process.stdout.write(`${name}: longest ${Math.max(0, ...long)} ms, all ${Math.round(long.reduce((a, b) => a + b, 0))} ms in ${long.length}, +${Math.round(peak - memory)} MB, ${[...new Set(statuses)].join()}\n`);
    expect(statuses.filter((one) => !request.statuses.includes(one))).toEqual([]);
  }, 120_000);
});
