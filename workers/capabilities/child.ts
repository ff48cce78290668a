/** Entry point of the child processes that run capabilities. A child process executes one run at a time, each run in its own folder. */
import { type Task, serveTasks } from "#shared/children/serve-tasks.ts";
import { joinTagTexts } from "#workers/children/id3.ts";

import type { InputFile, RunOutput, Run } from "./define.ts";
import { faultOfEngine, loadEngine } from "./engines.ts";
import { loadCapability } from "./list.ts";
import type { Tools } from "./tools.ts";
import type { RobotsTask } from "./web/robots.ts";

/** Files of one input member: a single file, a list of files, or files by name. */
export type RunFiles = InputFile | readonly InputFile[] | Readonly<Record<string, InputFile>>;

export interface RunTask {
  readonly capability: string;
  readonly folder: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, RunFiles>>;
  readonly guard?: string;
}

/** Task of a child: one run, with the programs that the worker has found. */
export interface ChildRun extends RunTask {
  readonly tools: Tools;
}

export interface EngineTrial {
  readonly engine: string;
  readonly folder: string;
  readonly tools: Tools;
}

export interface RunResult extends RunOutput {
  /** Run time in milliseconds, without the loading of the capability's code. */
  readonly ms: number;
}

/** Working directory between runs. A run's folder is deleted afterwards, and `process.cwd()` would fail in a deleted folder. */
const HOME = "/";

const run: Task = async (task, _parts, emit) => {
  const { capability: id, folder, params, inputs, tools, guard } = task as ChildRun;
  const capability = await loadCapability(id);
  let reportedShare = 0;
  const progress = (share: number): void => {
    if (share - reportedShare < 0.01) return;
    reportedShare = share;
    emit(new Uint8Array(Float64Array.of(share).buffer));
  };
  const startedAt = performance.now();
  if (capability.engine === "ffmpeg") for (const file of Object.values(inputs).flatMap(filesIn)) settleTags(file);
  // Files written to relative paths are deleted with the run's folder.
  process.chdir(folder);
  try {
    const runArguments = { params, inputs, folder, progress, tools, guard } as unknown as Run<never, never>;
    const runOutput = await capability.run(runArguments);
    const result: RunResult = { ...runOutput, ms: performance.now() - startedAt };
    return { output: result };
  } finally {
    process.chdir(HOME);
  }
};

function filesIn(runFiles: RunFiles): readonly InputFile[] {
  if (Array.isArray(runFiles)) return runFiles as readonly InputFile[];
  return typeof (runFiles as InputFile).path === "string" ? [runFiles as InputFile] : Object.values(runFiles);
}

/** Joins tag texts that are split into several parts. The input file itself is changed, because FFmpeg opens inputs by path. */
function settleTags({ path, mediaType, bytes }: InputFile): void {
  if (mediaType.startsWith("audio/") && bytes > 0) joinTagTexts(Bun.mmap(path));
}

/** Returns whether a robots.txt allows the visit of a page. A robots.txt is untrusted data, so a child process parses it. */
const robots: Task = async (task) => {
  const { isVisitAllowed } = await import("./web/robots.ts");
  return { output: isVisitAllowed(task as RobotsTask) };
};

/** Tests an engine. Returns the reason why it does not work on this machine, or null if it works. */
const tryEngine: Task = async (task) => {
  const { engine, folder, tools } = task as EngineTrial;
  return { output: (await faultOfEngine(engine, folder, tools)) ?? null };
};

/** Engine that is loaded before the first run. A failure to load is ignored here, because `tryEngine` reports it. */
const [engine] = process.argv.slice(2);
process.chdir(HOME);
if (engine !== undefined) await loadEngine(engine).catch(() => undefined);
await serveTasks({ run, robots, tryEngine });
