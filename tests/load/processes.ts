/** Child processes of a load run and what the kernel knows about them: CPU time and resident memory from /proc. */
import { readFileSync, readdirSync } from "node:fs";

import { forget, watch } from "#deploy/embedded/reaper.mjs";

export interface Child {
  readonly pid: number;
  /** Next line of stdout. @throws when the process ends first */
  readLine(): Promise<string>;
  writeLine(text: string): void;
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 10_000;

/** Starts a process whose stdout is read line by line; its stderr is ours. */
export function startChild(command: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const child = Bun.spawn([...command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, ...env },
  });
  watch(child.pid, "TERM");
  const lines = readLines(child.stdout);
  return {
    pid: child.pid,
    async readLine() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${command.join(" ")} ended with ${String(await child.exited)}`);
      return value;
    },
    writeLine(text) {
      void child.stdin.write(`${text}\n`);
      void child.stdin.flush();
    },
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
      await child.exited;
      clearTimeout(timer);
      forget(child.pid);
    },
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const bytes of stream) {
    const parts = (pending + decoder.decode(bytes, { stream: true })).split("\n");
    pending = parts.pop() ?? "";
    yield* parts;
  }
}

/** CPU milliseconds (user and system) the processes and their ended children have used. Ticks are 10 ms on Linux. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (readStat(pid)?.cpuTicks ?? 0) * 10, 0);
}

/** Resident megabytes of the processes together; shared pages count once for each. */
export function residentMb(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      kilobytes += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return kilobytes / 1_024;
}

/** The process and all its descendants, such as a Postgres server and its backends. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? readStat(pid)?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at] ?? -1) ?? []));
  return tree;
}

function readStat(pid: number): { parent: number; cpuTicks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may contain spaces and brackets, so fields are counted from the last bracket: state is field 3.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const cpuTicks = fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0);
    return { parent: Number(fields[1]), cpuTicks };
  } catch {
    return undefined;
  }
}
