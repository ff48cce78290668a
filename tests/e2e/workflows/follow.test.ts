/** A streamed run is followed with the stream reader of the Vercel AI SDK, and with curl; both lose it in the middle and come back. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { jsonSchema, parseJsonEventStream } from "ai";

import type { WorkflowRunFrame } from "#schemas/generated/types.ts";

import { type RunsBench, say, startRunsBench } from "./runs-bench.ts";

let bench: RunsBench;
beforeAll(async () => {
  bench = await startRunsBench();
}, 120_000);
afterAll(() => bench.close());

const DEFINITION = {
  steps: [
    say("first", "one two three"),
    { ...say("slow", "four five six", { depends_on: ["first"] }), model: "sandbox-slow" },
    say("last", "${{ steps.slow.output.text }} seven"),
  ],
  output: "${{ steps.last.output.text }}",
};

async function readUntil(
  body: ReadableStream<Uint8Array>,
  isEnough: (frame: WorkflowRunFrame) => boolean,
): Promise<WorkflowRunFrame[]> {
  const frames: WorkflowRunFrame[] = [];
  for await (const part of parseJsonEventStream({
    stream: body,
    schema: jsonSchema<WorkflowRunFrame>({ type: "object" }),
  })) {
    if (!part.success) throw part.error;
    frames.push(part.value);
    if (isEnough(part.value)) break;
  }
  return frames;
}

const told = (frames: readonly WorkflowRunFrame[]) =>
  frames.filter(({ type }) => type !== "step.delta").map(({ type, stepRun }) => `${type} ${stepRun?.id ?? ""}`.trim());

test("with the AI SDK", async () => {
  const answer = await bench.call("/v1/pipelines/runs", { definition: DEFINITION, mode: "stream" });
  const id = answer.headers.get("x-run-id") ?? "";
  const begun = await readUntil(answer.body as ReadableStream<Uint8Array>, ({ type }) => type === "step.delta");
  expect(told(begun)).toEqual(["run.started", "step.started first"]);
  const rest = await fetch(`${bench.stack.baseUrls[0]}/v1/workflows/runs/${id}/events`, {
    headers: { authorization: `Bearer ${bench.stack.key}`, "last-event-id": "2" },
  });
  const frames = await readUntil(rest.body as ReadableStream<Uint8Array>, () => false);
  expect(told(frames)).toEqual([
    "step.finished first",
    "step.started slow",
    "step.finished slow",
    "step.started last",
    "step.finished last",
    "run.finished",
  ]);
  const deltas = frames.filter(({ type, stepId }) => type === "step.delta" && stepId === "slow");
  expect(deltas.map(({ delta }) => delta?.content).join("")).toBe("four five six");
  expect(frames.at(-1)?.run).toMatchObject({ status: "succeeded", output: "four five six seven" });
});

async function curl(...args: string[]): Promise<string> {
  const process = Bun.spawn(["curl", "-sN", "-H", `authorization: Bearer ${bench.stack.key}`, ...args], {
    stdout: "pipe",
    stderr: "ignore",
  });
  return new Response(process.stdout).text();
}

test("with curl", async () => {
  const base = bench.stack.baseUrls[0] ?? "";
  const body = JSON.stringify({ definition: DEFINITION, mode: "stream" });
  // It is cut while the slow step thinks.
  const first = await curl(
    "-m",
    "1.5",
    "-H",
    "content-type: application/json",
    "-d",
    body,
    `${base}/v1/pipelines/runs`,
  );
  const last = [...first.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? "";
  const runId = /"runId":"([^"]+)"/.exec(first)?.[1] ?? "";
  expect(first).not.toContain("[DONE]");
  const rest = await curl("-H", `last-event-id: ${last}`, `${base}/v1/workflows/runs/${runId}/events`);
  expect(rest.trimEnd()).toEndWith("data: [DONE]");
  const ids = [...(first + rest).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
