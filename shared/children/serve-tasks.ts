/** Child side of a child pool: runs jobs from stdin one after the other and writes results to stdout. */
import { writeSync } from "node:fs";

import { encodeFrame, readFrames } from "./frames.ts";
import { MediaError } from "./media-error.ts";

export interface TaskResult {
  readonly output?: unknown;
  readonly parts?: readonly Uint8Array[];
}

/** A task that a child can run. `emit` sends a chunk of the result before the task has ended. */
export type Task = (
  input: unknown,
  parts: readonly Uint8Array[],
  emit: (chunk: Uint8Array) => void,
) => Promise<TaskResult>;

/** Runs jobs from stdin until stdin closes. A crash of the parent process closes stdin, too. */
export async function serveTasks(tasks: Readonly<Record<string, Task>>): Promise<void> {
  // A task may wait for the rejected promise forever: exiting informs the parent now rather than at the deadline.
  process.on("unhandledRejection", () => process.exit(1));
  for await (const { head, parts } of readFrames(Bun.stdin.stream())) {
    const { job } = head;
    const task = tasks[String(head["task"])];
    try {
      if (task === undefined) throw new Error("no such task");
      const { output, parts: results = [] } = await task(head["input"], parts, (chunk) =>
        send({ job, kind: "chunk" }, [chunk]),
      );
      const { user, system } = process.cpuUsage();
      const processorSeconds = (user + system) / 1e6;
      const rssBytes = process.memoryUsage.rss();
      send({ job, kind: "done", output: output ?? null, rssBytes, processorSeconds }, results);
    } catch (error) {
      const fault = error instanceof MediaError ? error.fault : "failed";
      send({ job, kind: "error", fault, message: error instanceof Error ? error.message : String(error) }, []);
    }
  }
  process.exit(0);
}

function send(head: Record<string, unknown>, parts: readonly Uint8Array[]): void {
  for (const bytes of encodeFrame({ head, parts })) {
    for (let at = 0; at < bytes.byteLength;) at += writeSync(1, bytes, at);
  }
}
