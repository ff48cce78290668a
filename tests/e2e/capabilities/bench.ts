/** A stack that runs capabilities, and calls of it. */
import { readdirSync, readlinkSync } from "node:fs";

import { type Stack, type StackOptions, startStack } from "#tests/support/stack.ts";

export interface RunAnswer {
  readonly id: string;
  readonly object: "capability.run";
  readonly capability: string;
  readonly status: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly files: readonly {
    readonly file_id: string;
    readonly url: string;
    readonly content_type: string;
    readonly bytes: number;
  }[];
  readonly credits_used: number;
  readonly duration_ms: number;
}

export interface CapabilityBench {
  readonly stack: Stack;
  call(path: string, body?: object, key?: string): Promise<Response>;
  run(id: string, body: object, key?: string): Promise<Response>;
  /** @throws Error with the answer when it is not 200 */
  made(id: string, body: object): Promise<RunAnswer>;
  /** The bytes of a file that a run made, as its link gives them. */
  bytes(run: RunAnswer, at?: number): Promise<Uint8Array>;
  stop(): Promise<void>;
}

export async function startCapabilityBench(options: StackOptions = {}): Promise<CapabilityBench> {
  const stack = await startStack({ pools: ["capability"], ...options });
  const call: CapabilityBench["call"] = (path, body, key = stack.key) =>
    fetch(`${stack.baseUrls[0]}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const run: CapabilityBench["run"] = (id, body, key) => call(`/v1/capabilities/${id}/run`, body, key);
  return {
    stack,
    call,
    run,
    async made(id, body) {
      const answer = await run(id, body);
      if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as RunAnswer;
    },
    async bytes(answer, at = 0) {
      return new Uint8Array(await (await fetch(answer.files[at]?.url ?? "")).arrayBuffer());
    },
    stop: () => stack.stop(),
  };
}

/** Children that stand in a run's folder of this worker. */
export function childrenAtWork(worker: number | undefined): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`).includes(`/sluice-runs-${worker}.`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
