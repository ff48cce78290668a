/**
 * `npm run load:workflows -- [--plain]`: measures the overhead of the workflow engine. Compares a chain of 20 chat steps with the
 * same 20 calls made one after another, on a credit line and admitted call by call, as steps are. Measures a list of 1,000 items over
 * two workers, and 200 runs at once. Compare the ratios of one run, not its times.
 */
import { parseArgs } from "node:util";

import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { createWorkspace, startBed } from "../faults/bed.ts";
import { closeShared } from "../support/infrastructure.ts";

/** Rounds whose times are left out: the code of all three ways is compiled in them. */
const WARM_UP_ROUNDS = 15;
const ROUNDS = 15;
const CHAIN = 20;
const ITEMS = 1_000;
const RUNS = 200;

const { values } = parseArgs({ options: { plain: { type: "boolean", default: false } } });
const bed = await startBed({
  workers: 0,
  behaviours: ["delay-2", "delay-5", "delay-20"],
  // A workspace whose tokens of the day are limited has no credit line.
  presets: { counted: [null, 1_000_000_000] },
  env: { SLUICE_SANDBOX: "on" },
  overTls: !values.plain,
});
const { stack } = bed;
try {
  await Promise.all([
    stack.addRole("worker", "chat"),
    stack.addRole("worker", "workflow"),
    stack.addRole("worker", "workflow"),
  ]);
  const { key } = await createWorkspace(stack, { creditsNano: 10n ** 15n });
  const { key: countedKey } = await createWorkspace(stack, { creditsNano: 10n ** 15n, preset: "counted" });
  const { url } = bed.target();
  const post = async (path: string, body: object, by = key): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.status >= 400) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const params = { messages: [{ role: "user", content: "hello" }], max_tokens: 50 };
  for (const model of ["flat", "sandbox-chat", "mock-delay-2", "mock-delay-5", "mock-delay-20"]) {
    const steps = Array.from({ length: CHAIN }, (_, at) => ({
      id: `s${at}`,
      type: "model",
      model,
      params,
      ...(at === 0 ? {} : { depends_on: [`s${at - 1}`] }),
    }));
    const callAll = async (by: string): Promise<void> => {
      for (let at = 0; at < CHAIN; at += 1) await post("/v1/chat/completions", { model, ...params }, by);
    };
    const runChain = async (): Promise<void> => {
      const run = await post("/v1/pipelines/runs", { definition: { steps } });
      if (run["status"] !== "succeeded") throw new Error(JSON.stringify(run));
    };
    const times: [lined: number, counted: number, chained: number][] = [];
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
      times.push([await timed(() => callAll(key)), await timed(() => callAll(countedKey)), await timed(runChain)]);
    }
    const [lined, counted, chained] = [0, 1, 2].map((at) =>
      median(times.slice(WARM_UP_ROUNDS).map((one) => one[at] ?? 0)),
    );
    if (lined === undefined || counted === undefined || chained === undefined) throw new Error("nothing was measured");
    say(
      `${model}: ${CHAIN} calls ${lined.toFixed(0)} ms, admitted one by one ${counted.toFixed(0)} ms, a chain of ${CHAIN} steps ` +
        `${chained.toFixed(0)} ms: ratio ${(chained / lined).toFixed(2)} and ${(chained / counted).toFixed(2)}, ` +
        `${((chained - lined) / CHAIN).toFixed(1)} ms more a step`,
    );
  }
  const list = Array.from({ length: ITEMS }, (_, at) => at);
  const before = bed.upstream.requests.length;
  const from = performance.now();
  const run = await post("/v1/pipelines/runs", {
    definition: {
      steps: [
        {
          id: "each",
          type: "model",
          model: "flat",
          for_each: list,
          concurrency: 32,
          params: { messages: [{ role: "user", content: "item ${{ item }}" }] },
        },
      ],
      output: { count: "${{ size(steps.each.output) }}" },
    },
  });
  const ms = performance.now() - from;
  say(
    `a list of ${ITEMS}: ${String(run["status"])}, output ${JSON.stringify(run["output"])}, ${bed.upstream.requests.length - before} calls, ${ms.toFixed(0)} ms, ${(ms / ITEMS).toFixed(2)} ms an item`,
  );
  const pair = {
    steps: [
      { id: "a", type: "model", model: "flat", params },
      { id: "b", type: "model", model: "flat", params, depends_on: ["a"] },
    ],
  };
  const runAtOnce = async (): Promise<void> => {
    await Promise.all(Array.from({ length: RUNS }, () => post("/v1/pipelines/runs", { definition: pair })));
  };
  await runAtOnce();
  const times: number[] = [];
  for (let round = 0; round < 3; round += 1) times.push(await timed(runAtOnce));
  say(
    `${RUNS} runs of two steps at once: ${median(times).toFixed(0)} ms, ${(median(times) / RUNS).toFixed(1)} ms a run`,
  );
} finally {
  await bed.stop();
  await closeShared();
  await closeReaper();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
