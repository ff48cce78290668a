/** A streamed run is followed with the stream reader of the Vercel AI SDK, and with curl; both lose it in the middle and come back. */
import { beforeAll, expect, test } from "bun:test";

import { jsonSchema, parseJsonEventStream } from "ai";

import type { WorkflowRunFrame } from "#schemas/generated/types.ts";

import { type RunsBench, say } from "./runs-bench.ts";
import { runsOfNewWorkspace, sharedRuns } from "./shared-runs.ts";

let bench: RunsBench;
beforeAll(async () => {
  bench = await runsOfNewWorkspace(sharedRuns());
}, 120_000);

const DEFINITION = {
  steps: [
    say("first", "one two three"),
    { ...say("slow", "four five six", { depends_on: ["first"] }), model: "sandbox-slow" },
    say("last", "${{ steps.slow.output.text }} seven"),
  ],
  output: { text: "${{ steps.last.output.text }}" },
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
  expect(frames.at(-1)?.run).toMatchObject({ status: "succeeded", output: { text: "four five six seven" } });
});

function curl(...args: string[]) {
  const headers = ["-H", `authorization: Bearer ${bench.stack.key}`];
  return Bun.spawn(["curl", "-sN", ...headers, ...args], { stdout: "pipe", stderr: "ignore" });
}

test("with curl", async () => {
  const base = bench.stack.baseUrls[0] ?? "";
  const body = JSON.stringify({ definition: DEFINITION, mode: "stream" });
  const process = curl("-H", "content-type: application/json", "-d", body, `${base}/v1/pipelines/runs`);
  let first = "";
  for await (const piece of process.stdout) {
    first += new TextDecoder().decode(piece);
    // The connection is lost while the slow step thinks.
    if (/"step.started".*"slow"/.test(first)) break;
  }
  process.kill();
  const last = [...first.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? "";
  const runId = /"runId":"([^"]+)"/.exec(first)?.[1] ?? "";
  const rest = await new Response(
    curl("-H", `last-event-id: ${last}`, `${base}/v1/workflows/runs/${runId}/events`).stdout,
  ).text();
  expect(rest.trimEnd()).toEndWith("data: [DONE]");
  const ids = [...(first + rest).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
