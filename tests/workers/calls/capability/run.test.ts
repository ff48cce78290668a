/** Runs of capabilities: the time that one owes where its child has worked and nothing came of it, and what stays of its folder. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, spyOn, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { CAPABILITY_RUN_MS, CAPABILITY_RUN_MS_MAX } from "#shared/calls/capabilities/limits.ts";
import { newFileId } from "#shared/files/id.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createCapabilityHandler } from "#workers/calls/capability/run.ts";
import type { RunResult, RunTask } from "#workers/capabilities/child.ts";
import type { WorkerContext } from "#workers/context.ts";
import type { JobControl } from "#workers/job.ts";
import type { Outcome } from "#workers/outcome.ts";
import { MediaError } from "#shared/children/media-error.ts";
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

describe("the time of a run is counted as lost", () => {
  test("if it created more files than allowed", async () => {
    expect(await lostBy(CAPABILITY_FILES_MAX + 1)).toEqual([WORKED_MS]);
  });

  test("if its output exceeds the storage", async () => {
    const full = new ApiError("storage_limit_exceeded", "The workspace is full.");
    expect(await lostBy(1, full)).toEqual([WORKED_MS]);
  });
});

describe("the time of a run is not counted as lost", () => {
  test("if its output was stored", async () => {
    expect(await lostBy(0)).toEqual([]);
  });

  test("if the file store is unavailable", async () => {
    const away = new ApiError("service_unavailable", "Files cannot be stored right now.");
    expect(await lostBy(1, away)).toEqual([]);
  });
});

describe("a run whose child died", () => {
  /** @param waitedMs that the run waited for others and ran, before its child died @returns number of times that it began */
  async function beginningsAfter(waitedMs: number): Promise<number> {
    let [beginnings, now] = [0, 0];
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const context = {
      log: createLogger({ level: "silent", role: "test" }),
      database: { query: () => Promise.resolve([]) },
      results: { open: () => ({ add: () => Promise.resolve(), keep: () => undefined }) },
      capabilities: {
        run: () => {
          beginnings += 1;
          now += waitedMs;
          return Promise.reject(new MediaError("failed", "the child died"));
        },
        lose: () => undefined,
      },
    } as unknown as WorkerContext;
    const control = { signal: new AbortController().signal } as JobControl;
    try {
      await createCapabilityHandler(context).run(runOf(newId()), control);
    } finally {
      clock.mockRestore();
    }
    return beginnings;
  }

  test("begins again after a wait that is longer than its own time limit", async () => {
    expect(CAPABILITY_RUN_MS.code).toBeLessThan(15_000);
    expect(await beginningsAfter(15_000)).toBeGreaterThan(1);
  });

  test("does not begin again if the rest of its job's time is too short", async () => {
    expect(await beginningsAfter(CAPABILITY_RUN_MS_MAX)).toBe(1);
  });
});

describe("the small files of a run", () => {
  /** @param sizes of the files that the run makes @param one what is told of each in place of a name and type that are well */
  async function keep(sizes: readonly number[], one: object = {}, isFull = false) {
    const requests: string[] = [];
    const uploaded: number[] = [];
    const lost: number[] = [];
    const context = {
      log: createLogger({ level: "silent", role: "test" }),
      database: { query: () => Promise.resolve([]) },
      results: { open: () => ({ add: () => Promise.resolve(), keep: () => undefined }) },
      uploadPlaces: { open: () => ({ add: () => Promise.resolve(), keep: () => undefined }) },
      storage: {
        request({ operation, key, body }: { operation: string; key: string; body?: Uint8Array }) {
          requests.push(`${operation} ${key}`);
          if (isFull && operation === "PutObject") return Promise.reject(new ApiError("storage_limit_exceeded", "no"));
          const etag = `"${new Bun.CryptoHasher("md5").update(body ?? "").digest("hex")}"`;
          return Promise.resolve({ headers: { etag } });
        },
      },
      uploads: {
        run: (_workspaceId: string, _key: string, _work: unknown, bytes: number) => {
          requests.push("upload");
          uploaded.push(bytes);
          return Promise.resolve(newFileId());
        },
      },
      capabilities: {
        run: ({ folder }: RunTask): Promise<RunResult> => {
          const files = sizes.map((size, at) => {
            const path = join(folder, `out-${at}`);
            writeFileSync(path, "x".repeat(size));
            return { path, mediaType: "image/png", name: `${at}.png`, ...one };
          });
          return Promise.resolve({ files, ms: WORKED_MS });
        },
        lose: (_workspaceId: string, ms: number) => lost.push(ms),
      },
    } as unknown as WorkerContext;
    const control = { signal: new AbortController().signal } as JobControl;
    const outcome = await createCapabilityHandler(context).run(runOf(newId()), control);
    return { outcome, requests, uploaded, lost };
  }
  const SMALL = 65_536;
  const namedIn = (outcome: Outcome): string[] =>
    "result" in outcome
      ? (JSON.parse(outcome.result.text) as { files: { file_id: string }[] }).files.map(({ file_id }) => file_id)
      : [];
  const sent = (requests: readonly string[], operation: string): string[] =>
    requests.flatMap((line) => (line.startsWith(`${operation} files/`) ? [line.slice(operation.length + 7)] : []));

  test("are stored after the uploads of larger ones, and are part of its outcome in their order, as the answer names them", async () => {
    const { outcome, requests, uploaded, lost } = await keep([5, SMALL + 1, SMALL]);
    const files = "result" in outcome ? (outcome.files ?? []) : [];
    expect(files.map(({ filename, digested }) => [filename, digested.bytes])).toEqual([["0.png", 5], ["2.png", SMALL]]); // prettier-ignore
    const [first, , third] = namedIn(outcome);
    expect(files.map(({ id }) => id)).toEqual([first ?? "", third ?? ""]);
    // An upload may take longer than bytes without a row are let be.
    expect(requests).toEqual(["upload", `PutObject files/${first}`, `PutObject files/${third}`]);
    expect([uploaded, lost, sent(requests, "DeleteObject")]).toEqual([[SMALL + 1], [], []]);
  });

  test.each([
    ["a number for a name", { name: 5 }],
    ["no name", { name: undefined }],
    ["a thing for a media type", { mediaType: {} }],
    ["a media type that no header can have", { mediaType: "text/\u0000plain" }],
  ])("%s: the run fails immediately, and nothing is stored", async (_what, one) => {
    const { outcome, requests, lost } = await keep([5], one);
    expect("failure" in outcome && outcome.failure.code).toBe("internal_error");
    expect([requests, lost]).toEqual([[], [WORKED_MS]]);
  });

  test("beyond sixteen are uploads too", async () => {
    const { outcome, uploaded } = await keep(Array.from({ length: 18 }, () => 7));
    expect([namedIn(outcome).length, uploaded]).toEqual([18, [7, 7]]);
  });

  test("are deleted if a later one cannot be stored, and if their workspace is full, which costs it the time", async () => {
    const failed = await keep([5, 6], {}, true);
    expect(failed.outcome.status).toBe("failed");
    expect(sent(failed.requests, "DeleteObject")).toHaveLength(2);
    expect((await keep([5, 0])).requests).toEqual([]);
    const { outcome, requests, lost } = await keep([5, 6]);
    if ("result" in outcome) await outcome.onRefused?.();
    expect(sent(requests, "DeleteObject")).toEqual(namedIn(outcome));
    expect(lost).toEqual([WORKED_MS]);
  });
});

test("folders with slow deletions block the slots of their runs, all but two", async () => {
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
