/**
 * Child processes that run capabilities. Each engine has one pool, and each child serves one workspace at a time. A workspace has at most
 * as many concurrent runs as there are cores.
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { MediaError } from "#shared/children/media-error.ts";
import { type ChildPool, createChildPool } from "#shared/children/pool.ts";

import type { ChildRun, EngineTrial, RunResult, RunTask } from "../../capabilities/child.ts";
import { needsOf } from "../../capabilities/engines.ts";
import type { Tools } from "../../capabilities/tools.ts";
import type { RobotsTask } from "../../capabilities/web/robots.ts";

import { openHome, placeOf, runFolders } from "./home.ts";
import { giveTo, type Isolation } from "./isolation.ts";
import { createCapabilityPermits } from "./permits.ts";
import { WEB_ROBOTS_MS } from "./pages.ts";

/** Maximum total size of all output files of one run, in bytes. */
const CAPABILITY_OUTPUT_BYTES_MAX = 2_048 * 1_048_576;

/**
 * Duration above which a run counts as long, in milliseconds. Permits reserve capacity for shorter runs, so that these wait at most this
 * long.
 */
const CAPABILITY_LONG_MS = 10_000;

/** Timeout of loading an engine when a worker starts, in milliseconds. */
const ENGINE_TRY_MS = 20_000;

/**
 * Address space of a child, in bytes. It is the last limit if memory grows faster than it is sampled. Bun and FFmpeg reserve 2.8 GB of
 * addresses before any work. A child without addresses crashes, whereas a child above its memory limit fails with a reason.
 */
const CAPABILITY_ADDRESS_SPACE_BYTES = 8_000_000_000;

/** Maximum resident memory of a child, in bytes. */
export const CAPABILITY_MEMORY_BYTES = 1_500 * 1_048_576;
const CAPABILITY_PROCESSOR_SECONDS = 1_800;

export interface CapabilityChildren {
  /**
   * Runs a capability in a child process.
   * @throws the errors of `ChildPool.run`
   */
  run(task: RunTask, options: RunOptions): Promise<RunResult>;
  /**
   * Adds the duration of a run whose results could not be stored, in milliseconds, to the time that its workspace owes (permits.ts). A
   * workspace that owes much time queues behind all other workspaces.
   */
  lose(workspaceId: string, ms: number): void;
  /**
   * Returns true if a site's robots.txt permits an agent to request an address.
   * @throws the errors of `ChildPool.run`
   */
  judgeRobots(task: RobotsTask, options: ChildOptions): Promise<boolean>;
  /** Tries an engine. Returns the reason why it cannot be used, for operators; undefined if it can. */
  tryEngine(engine: string): Promise<string | undefined>;
  close(): Promise<void>;
}

interface ChildOptions {
  readonly engine: string;
  readonly workspaceId: string;
  readonly signal: AbortSignal;
}

interface RunOptions extends ChildOptions {
  readonly runMs: number;
  readonly onProgress: (share: number) => void;
}

const CHILD = fileURLToPath(new URL("../../capabilities/child.ts", import.meta.url));
const FONTS = fileURLToPath(new URL("../../children/fonts.conf", import.meta.url));
/** Number of runs after which a child is replaced, to limit memory leaks. */
const RUNS_MAX = 200;
/**
 * Number of runs after which a child whose engine starts programs is replaced. Dead programs that outlive their parents stay in the child's
 * process table.
 */
const PROGRAM_RUNS_MAX = 20;
const IDLE_MS = 30_000;
/** Engines that start other programs. Their address space is unlimited; instead, the memory of all their processes is sampled. */
const PROGRAMS: ReadonlySet<string> = new Set(["browser", "libreoffice"]);

/** Opens the pools of child processes. @param engines engines whose children are started in advance */
export function openCapabilityChildren(
  isolation: Isolation,
  { chromium, ...others }: Tools,
  engines: readonly string[] = [],
): CapabilityChildren {
  const tools: Tools = chromium
    ? { ...others, chromium: { ...chromium, hasSandbox: isolation.makesNamespaces } }
    : others;
  const cores = availableParallelism();
  const pools = new Map<string, ChildPool>();
  const trials = new Set<ChildPool>();
  const permits = createCapabilityPermits(cores);
  const openPool = (engine: string, spares: number): ChildPool =>
    createChildPool({
      script: CHILD,
      args: [engine],
      launch: () => openHome(isolation),
      spares,
      // One more than can be busy: the idle child of a workspace stays while another one works.
      childrenMax: permits.max + 1,
      queueMax: 10_000,
      jobMs: 60_000,
      idleMs: IDLE_MS,
      addressSpaceBytes: PROGRAMS.has(engine) ? Infinity : CAPABILITY_ADDRESS_SPACE_BYTES,
      memoryBytesMax: CAPABILITY_MEMORY_BYTES,
      watchMs: 100,
      processorSeconds: CAPABILITY_PROCESSOR_SECONDS,
      jobsMax: PROGRAMS.has(engine) ? PROGRAM_RUNS_MAX : RUNS_MAX,
      residentBytesMax: CAPABILITY_MEMORY_BYTES / 3,
      environment: { FONTCONFIG_FILE: FONTS, MALLOC_ARENA_MAX: "2", SVT_LOG: "1" },
    });
  const poolOf = (engine: string): ChildPool => {
    const known = pools.get(engine);
    if (known) return known;
    const pool = openPool(engine, 1);
    pools.set(engine, pool);
    return pool;
  };
  for (const engine of engines) poolOf(engine);

  return {
    async run(task, { engine, workspaceId, runMs, signal, onProgress }) {
      const giveBack = await permits.take({ workspaceId, isLong: runMs > CAPABILITY_LONG_MS, signal });
      const beganAt = performance.now();
      let lostMs = 0;
      const disk = watchFolder(() => placeOf(task.folder), CAPABILITY_OUTPUT_BYTES_MAX);
      try {
        giveTo(task.folder, isolation.user);
        const { output } = await poolOf(engine).run({
          task: "run",
          input: { ...task, tools } satisfies ChildRun,
          owner: workspaceId,
          folder: task.folder,
          jobMs: runMs,
          signal: AbortSignal.any([signal, disk.full]),
          onChunk: (bytes) => onProgress(new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true)),
        });
        return output as RunResult;
      } catch (error) {
        lostMs = performance.now() - beganAt;
        throw disk.full.aborted && !signal.aborted ? disk.full.reason : error;
      } finally {
        disk.close();
        giveBack(lostMs);
      }
    },
    lose: (workspaceId, ms) => permits.lose(workspaceId, ms),
    async judgeRobots(task, { engine, workspaceId, signal }) {
      const giveBack = await permits.take({ workspaceId, isLong: false, signal });
      try {
        const one = { task: "robots", input: task, owner: workspaceId, jobMs: WEB_ROBOTS_MS, signal };
        return (await poolOf(engine).run(one)).output === true;
      } finally {
        giveBack();
      }
    },
    async tryEngine(engine) {
      const giveBack = await permits.take({ workspaceId: "", isLong: false });
      const folder = mkdtempSync(join(runFolders(), "engine-"));
      // A trial leaves no child running: one per engine would take a third of a gigabyte.
      const known = pools.get(engine);
      const pool = known ?? openPool(engine, 0);
      if (!known) trials.add(pool);
      try {
        giveTo(folder, isolation.user);
        const input: EngineTrial = { engine, folder, tools };
        const { output } = await pool.run({ task: "tryEngine", input, folder, jobMs: ENGINE_TRY_MS });
        return typeof output === "string" ? output : undefined;
      } catch (error) {
        // An engine whose child crashes or times out cannot be used.
        if (error instanceof MediaError) return needsOf(engine);
        throw error;
      } finally {
        if (trials.delete(pool)) await pool.close();
        rmSync(folder, { recursive: true, force: true });
        giveBack();
      }
    },
    async close() {
      await Promise.all([...pools.values(), ...trials].map((pool) => pool.close()));
    },
  };
}

// Limits the bytes that a run writes to the disk while it runs.

const FOLDER_CHECK_INTERVAL_MS = 250;

/**
 * Measures the size of a folder four times a second.
 * @param folder returns the current path of the folder
 * @returns a signal that aborts with a MediaError when the folder has grown by more than `bytesMax` bytes since the call
 */
export function watchFolder(folder: () => string, bytesMax: number): { readonly full: AbortSignal; close(): void } {
  const full = new AbortController();
  const before = bytesIn(folder());
  const timer = setInterval(() => {
    if (bytesIn(folder()) - before <= bytesMax) return;
    clearInterval(timer);
    full.abort(new MediaError("too_large", `Expected a run to write at most ${bytesMax} bytes, got more.`));
  }, FOLDER_CHECK_INTERVAL_MS);
  return { full: full.signal, close: () => clearInterval(timer) };
}

/** Returns the bytes that a folder uses on the disk. Holes in sparse files use none. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readNames(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : blocksOf(path) * 512;
  }
  return bytes;
}

/**
 * Returns the disk usage of a file. Returns 0 if it cannot be read: its path is too long, or its folder was closed or removed meanwhile.
 */
function blocksOf(path: string): number {
  try {
    return lstatSync(path).blocks;
  } catch {
    return 0;
  }
}

/**
 * Returns the entries of a folder. Returns none if a child has just removed the folder, or replaced it by a link, which may lead to all
 * files of the worker.
 */
function readNames(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return [];
  }
}
