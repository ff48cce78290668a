/**
 * The children that run capabilities: a pool for each engine, a child for one workspace at a time, and of a workspace no more runs at
 * once than there are cores.
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

/** Bytes of all files that one run makes. */
const CAPABILITY_OUTPUT_BYTES_MAX = 2_048 * 1_048_576;

/** Work that may take longer than this leaves a turn to what takes less: so long at most a short run waits behind others'. */
const CAPABILITY_LONG_MS = 10_000;

/** Loading an engine when a worker starts. */
const ENGINE_TRY_MS = 20_000;

/**
 * Address space of a child. Addresses are no memory: Bun and FFmpeg reserve 2.8 GB of them before any work, and a child that runs out
 * of them crashes, where one that runs out of memory is told so. They are the last bound, should memory grow faster than it is watched.
 */
const CAPABILITY_ADDRESS_SPACE_BYTES = 8_000_000_000;

/** Resident memory of a child. */
export const CAPABILITY_MEMORY_BYTES = 1_500 * 1_048_576;
const CAPABILITY_PROCESSOR_SECONDS = 1_800;

export interface CapabilityChildren {
  /** @throws MediaError as a child pool's run */
  run(task: RunTask, options: RunOptions): Promise<RunResult>;
  /** Counts the time of a run whose results could not be kept as owed by its workspace. */
  lose(workspaceId: string, ms: number): void;
  /** True if a site's robots.txt lets an agent request an address. @throws MediaError as a child pool's run */
  judgeRobots(task: RobotsTask, options: ChildOptions): Promise<boolean>;
  /** Why an engine cannot be used, for operators; undefined where it can. */
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
/** A child is replaced after so many runs, so that what leaks in it stays small. */
const RUNS_MAX = 200;
/** The programs of a run that outlive their parents stay in the child's process space as entries of dead processes. */
const PROGRAM_RUNS_MAX = 20;
const IDLE_MS = 30_000;
/** Engines that start programs of their own, under no bound of address space; the memory of all their processes is watched. */
const PROGRAMS: ReadonlySet<string> = new Set(["browser", "libreoffice"]);

/** @param engines with children started ahead */
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
      // One more than can be busy: a workspace's own child rests while another's works.
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
      // A trial leaves no child behind: one for each engine would take a third of a gigabyte.
      const known = pools.get(engine);
      const pool = known ?? openPool(engine, 0);
      if (!known) trials.add(pool);
      try {
        giveTo(folder, isolation.user);
        const input: EngineTrial = { engine, folder, tools };
        const { output } = await pool.run({ task: "tryEngine", input, folder, jobMs: ENGINE_TRY_MS });
        return typeof output === "string" ? output : undefined;
      } catch (error) {
        // A child that ends, or does not answer, is an engine that cannot be used.
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

// Limits the bytes that a run writes to the disk, while it runs.

const LOOK_MS = 250;

/**
 * Looks at a folder four times a second.
 * @param folder where it is now
 * @returns a signal that is aborted with a MediaError once there are more than `bytesMax` on the disk beyond those at the start
 */
export function watchFolder(folder: () => string, bytesMax: number): { readonly full: AbortSignal; close(): void } {
  const full = new AbortController();
  const before = bytesIn(folder());
  const timer = setInterval(() => {
    if (bytesIn(folder()) - before <= bytesMax) return;
    clearInterval(timer);
    full.abort(new MediaError("too_large", `Expected a run to write at most ${bytesMax} bytes, got more.`));
  }, LOOK_MS);
  return { full: full.signal, close: () => clearInterval(timer) };
}

/** Returns the bytes that a folder takes on the disk; a hole in a file takes none. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readNames(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : blocksOf(path) * 512;
  }
  return bytes;
}

/** Returns 0 for a file that cannot be read: its path is too long, or its folder was closed or removed meanwhile. */
function blocksOf(path: string): number {
  try {
    return lstatSync(path).blocks;
  } catch {
    return 0;
  }
}

/** Returns nothing for a folder that a child has just removed, or replaced by a link, which may lead to all files of the worker. */
function readNames(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return [];
  }
}
