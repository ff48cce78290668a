/** The script of the children that run capabilities: one run at a time, in a folder of its own. */
import { type Task, serveTasks } from "#shared/children/serve-tasks.ts";
import { joinTagTexts } from "#workers/children/id3.ts";

import type { InputFile, RunOutput, Run } from "./define.ts";
import { faultOfEngine, loadEngine } from "./engines.ts";
import { loadCapability } from "./list.ts";
import type { Tools } from "./tools.ts";
import type { RobotsTask } from "./web/robots.ts";

/** Files of one member of `input`. */
export type RunFiles = InputFile | readonly InputFile[] | Readonly<Record<string, InputFile>>;

export interface RunTask {
  readonly capability: string;
  readonly folder: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, RunFiles>>;
  readonly guard?: string;
}

/** A run as a child gets it, with the tools that the worker has found. */
export interface ChildRun extends RunTask {
  readonly tools: Tools;
}

export interface EngineTrial {
  readonly engine: string;
  readonly folder: string;
  readonly tools: Tools;
}

export interface RunResult extends RunOutput {
  /** Wall clock of the engine, without the loading of its code. */
  readonly ms: number;
}

/** Between runs: their folders go when they end, and code that is loaded from one that has gone cannot ask where it stands. */
const HOME = "/";

const run: Task = async (task, _parts, emit) => {
  const { capability: id, folder, params, inputs, tools, guard } = task as ChildRun;
  const capability = await loadCapability(id);
  let told = 0;
  const progress = (share: number): void => {
    if (share - told < 0.01) return;
    told = share;
    emit(new Uint8Array(Float64Array.of(share).buffer));
  };
  const startedAt = performance.now();
  if (capability.engine === "ffmpeg") for (const file of Object.values(inputs).flatMap(filesIn)) settleTags(file);
  // What is written without naming a folder goes with the run.
  process.chdir(folder);
  try {
    const given = { params, inputs, folder, progress, tools, guard } as unknown as Run<never, never>;
    const made = await capability.run(given);
    const result: RunResult = { ...made, ms: performance.now() - startedAt };
    return { output: result };
  } finally {
    process.chdir(HOME);
  }
};

function filesIn(given: RunFiles): readonly InputFile[] {
  if (Array.isArray(given)) return given as readonly InputFile[];
  return typeof (given as InputFile).path === "string" ? [given as InputFile] : Object.values(given);
}

/** FFmpeg opens inputs by their paths. */
function settleTags({ path, mediaType, bytes }: InputFile): void {
  if (mediaType.startsWith("audio/") && bytes > 0) joinTagTexts(Bun.mmap(path));
}

/** Tells whether a robots.txt allows a visit; it is read in a child, like everything that strangers wrote. */
const robots: Task = async (task) => {
  const { isVisitAllowed } = await import("./web/robots.ts");
  return { output: isVisitAllowed(task as RobotsTask) };
};

/** Why an engine does not work here; null where it does. */
const tryEngine: Task = async (task) => {
  const { engine, folder, tools } = task as EngineTrial;
  return { output: (await faultOfEngine(engine, folder, tools)) ?? null };
};

/** Loaded ahead, so that the first run does not wait for it; one that cannot be loaded says so when it is tried. */
const [engine] = process.argv.slice(2);
process.chdir(HOME);
if (engine !== undefined) await loadEngine(engine).catch(() => undefined);
await serveTasks({ run, robots, tryEngine });
