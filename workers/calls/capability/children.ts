/**
 * Child processes that run capabilities: one pool per engine, and one workspace at a time per child. A workspace has at most as many
 * concurrent runs as there are cores.
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

/** Most bytes of all output files of one run. */
const CAPABILITY_OUTPUT_BYTES_MAX = 2_048 * 1_048_576;

/** Run time above which a run counts as long, in milliseconds. Permits leave capacity to shorter runs, so they wait at most this long. */
const CAPABILITY_LONG_MS = 10_000;

/** Timeout of loading an engine when a worker starts, in milliseconds. */
const ENGINE_TRY_MS = 20_000;

/**
 * Address space of a child, in bytes; the last bound if memory grows faster than it is sampled. Bun and FFmpeg reserve 2.8 GB of addresses
 * before any work. A child without addresses crashes, whereas a child above its memory limit fails with a reason.
 */
const CAPABILITY_ADDRESS_SPACE_BYTES = 8_000_000_000;

/** Most resident memory of a child, in bytes. */
export const CAPABILITY_MEMORY_BYTES = 1_500 * 1_048_576;
const CAPABILITY_PROCESSOR_SECONDS = 1_800;

export interface CapabilityChildren {
  /** Runs a capability in a child. @throws MediaError as a child pool's run */
  run(task: RunTask, options: RunOptions): Promise<RunResult>;
  /** Adds the time of a run whose results could not be stored to the debt of its workspace. */
  lose(workspaceId: string, ms: number): void;
  /** Returns true if a site's robots.txt lets an agent request an address. @throws MediaError as a child pool's run */
  judgeRobots(task: RobotsTask, options: ChildOptions): Promise<boolean>;
  /** Returns the reason, for operators, why an engine cannot be used; undefined if it can. */
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
/** Runs after which a child is replaced, to bound leaks. */
const RUNS_MAX = 200;
/** The same for engines with programs: dead programs that outlive their parents stay in the child's process table. */
const PROGRAM_RUNS_MAX = 20;
const IDLE_MS = 30_000;
/** Engines that start programs of their own. Their address space is unlimited; the memory of all their processes is sampled. */
const PROGRAMS: ReadonlySet<string> = new Set(["browser", "libreoffice"]);

/** @param engines with children that are started in advance */
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
 * Measures a folder four times a second.
 * @param folder returns its present path
 * @returns a signal that aborts with a MediaError when the folder has grown by more than `bytesMax` bytes on the disk since the start
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

/** Returns the bytes that a folder takes on the disk; holes in sparse files take none. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readNames(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : blocksOf(path) * 512;
  }
  return bytes;
}

/** Returns 0 for a file that cannot be read: its path is too long, or its folder was closed or removed in the meantime. */
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
