/** Runs of capabilities: the time that one owes where its child has worked and nothing came of it, and what stays of its folder. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createCapabilityHandler } from "#workers/calls/capability/run.ts";
import type { RunResult, RunTask } from "#workers/capabilities/child.ts";
import type { WorkerContext } from "#workers/context.ts";
import type { JobControl } from "#workers/job.ts";
import { CAPABILITY_FILES_MAX } from "#workers/capabilities/limits.ts";

const WORKED_MS = 12_345;

/**
 * @param files that the run makes
 * @param fault of the store, which takes none of them
 * @returns milliseconds that its workspace lost
 */
async function lostBy(files: number, fault?: ApiError): Promise<readonly number[]> {
  const lost: number[] = [];
  const context = {
    log: createLogger({ level: "silent", role: "test" }),
    database: { query: () => Promise.resolve([]) },
    results: { open: () => ({ add: () => Promise.resolve(), keep: () => undefined }) },
    uploadPlaces: {
      open: () => ({ add: () => (fault ? Promise.reject(fault) : Promise.resolve()), keep: () => undefined }),
    },
    capabilities: {
      run: ({ folder }: RunTask): Promise<RunResult> => {
        const path = join(folder, "out-a.txt");
        writeFileSync(path, "text");
        const one = { path, mediaType: "text/plain", name: "a.txt" };
        return Promise.resolve({ files: Array.from({ length: files }, () => one), ms: WORKED_MS });
      },
      lose: (_workspaceId: string, ms: number) => lost.push(ms),
    },
  } as unknown as WorkerContext;
  const job = runOf(newId());
  const control = { signal: new AbortController().signal } as JobControl;
  await createCapabilityHandler(context)
    .run(job, control)
    .catch(() => undefined);
  return lost;
}

function runOf(id: string): JobMessage {
  return {
    job_id: id,
    workspace_id: newId(),
    model: "code.regex",
    request: { input: { text: { text: "abc" } }, params: { pattern: "b" } },
    price: { unit: "per_operation", operation_price: "0.001" },
    hold_nano: "1000000",
  } as unknown as JobMessage;
}

describe("the time of a run is lost", () => {
  test("where it made more files than one may", async () => {
    expect(await lostBy(CAPABILITY_FILES_MAX + 1)).toEqual([WORKED_MS]);
  });

  test("where there is no room for what it made", async () => {
    const full = new ApiError("storage_limit_exceeded", "The workspace is full.");
    expect(await lostBy(1, full)).toEqual([WORKED_MS]);
  });
});

describe("it is not", () => {
  test("where what it made was kept", async () => {
    expect(await lostBy(0)).toEqual([]);
  });

  test("where the file store is away", async () => {
    const away = new ApiError("service_unavailable", "Files cannot be stored right now.");
    expect(await lostBy(1, away)).toEqual([]);
  });
});

test("folders that take long to remove keep their runs in their places, all but two", async () => {
  const parent = mkdtempSync(join(tmpdir(), "sluice-folders-"));
  const large = Array.from({ length: 5 }, (_, at) => join(parent, String(at)));
  for (const folder of large) {
    mkdirSync(folder);
    for (let at = 0; at < 2_000; at++) symlinkSync("nothing", join(folder, String(at)));
  }
  const folders: string[] = [];
  const context = {
    log: createLogger({ level: "silent", role: "test" }),
    results: { open: () => ({ add: () => Promise.resolve(), keep: () => undefined }) },
    capabilities: {
      run: ({ folder }: RunTask): Promise<RunResult> => {
        renameSync(large[folders.length] ?? "", join(folder, "large"));
        folders.push(folder);
        return Promise.resolve({ ms: 1 });
      },
    },
  } as unknown as WorkerContext;
  for (const _ of large) {
    await createCapabilityHandler(context).run(runOf(newId()), { signal: new AbortController().signal } as JobControl);
    expect(folders.filter((folder) => existsSync(folder)).length).toBeLessThanOrEqual(2);
  }
  expect(folders).toHaveLength(large.length);
  await eventually("all are gone", () => folders.every((folder) => !existsSync(folder)));
  rmSync(parent, { recursive: true });
});
