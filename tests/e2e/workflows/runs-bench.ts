/** Shared parts of tests of runs: a service with the pools that they need, and calls that begin, read and follow runs. */
import { expect } from "bun:test";

import type { WorkflowRun, WorkflowRunFrame } from "#schemas/generated/types.ts";
import { type Bench, benchOf, startBench } from "#tests/e2e/media/bench.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack, StackOptions } from "#tests/support/stack.ts";

export interface RunsBench extends Bench {
  /** An inline run. @returns the answer, and its body as JSON */
  run(definition: object, more?: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Runs a stored workflow. */
  runStored(id: string, body?: object): Promise<Answered>;
  store(definition: object, more?: object): Promise<string>;
  read(id: string): Promise<WorkflowRun>;
  /** The run as it ended. */
  ended(id: string, withinMs?: number): Promise<WorkflowRun>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly run: WorkflowRun;
}

export async function startRunsBench(options: StackOptions = {}): Promise<RunsBench> {
  return runsOf(await startBench({ pools: ["chat", "capability", "workflow"], ...options }));
}

/** Runs with the stack's key. */
export function runsBenchOf(stack: Stack): RunsBench {
  return runsOf(benchOf(stack));
}

function runsOf(bench: Bench): RunsBench {
  const post = async (
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> => {
    const answer = await fetch((bench.stack.baseUrls[0] ?? "") + path, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, run: (await answer.json()) as WorkflowRun };
  };
  const read = async (id: string): Promise<WorkflowRun> =>
    (await (await bench.call(`/v1/workflows/runs/${id}`)).json()) as WorkflowRun;
  return {
    ...bench,
    run: (definition, more = {}, headers = {}) => post("/v1/pipelines/runs", { definition, ...more }, headers),
    runStored: (id, body = {}) => post(`/v1/workflows/${id}/runs`, body),
    async store(definition, more = {}) {
      const { status, run } = await post("/v1/workflows", { name: "Stored", definition, ...more });
      if (status !== 201) throw new Error(JSON.stringify(run));
      return run.id;
    },
    read,
    async close() {
      expect(await bench.stack.query("select * from audit_storage()")).toEqual([]);
      await bench.close();
    },
    ended: (id, withinMs = 30_000) =>
      eventually(
        `the end of run ${id}`,
        async () => {
          const run = await read(id);
          const isOpen = [run, ...run.stepRuns].some(({ status }) => status === "queued" || status === "running");
          return isOpen ? undefined : run;
        },
        withinMs,
      ),
  };
}

/** A chat step that says its text, with up to two seconds of thought: sandbox models answer at once. */
export const say = (id: string, text: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content: `Say exactly and nothing else: ${text}` }] },
  ...more,
});

/** The frames of a stream, up to its end. */
export async function framesOf(
  answer: Response,
): Promise<{ id: string | undefined; frame: WorkflowRunFrame | "[DONE]" }[]> {
  return (await answer.text())
    .split("\n\n")
    .filter((event) => event.includes("data: "))
    .map((event) => {
      const id = /^id: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? "";
      return { id, frame: data === "[DONE]" ? data : (JSON.parse(data) as WorkflowRunFrame) };
    });
}
