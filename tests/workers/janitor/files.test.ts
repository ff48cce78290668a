/** The janitor and the file store: what dead processes left, in both directions. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { PutObjectCommand } from "@aws-sdk/client-s3";

import { beginUpload, extendUpload } from "#shared/database/files.ts";
import { newFileId, objectKey } from "#shared/files/id.ts";
import { newId } from "#shared/base/ids.ts";
import { resultKey } from "#shared/jobs/kept-results.ts";
import { beginParts, deleteObject, listUploads, putObject, putPart } from "#shared/storage/objects.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { type FileBench, log, openFileBench, send, storeFile } from "#tests/shared/files/bench.ts";
import { sweepOrphans, sweepUploads, ORPHAN_AGE_MS } from "#workers/janitor/files.ts";

let bench: FileBench;
let workspaceId: string;

beforeAll(async () => {
  bench = await openFileBench();
}, 120_000);
beforeEach(async () => {
  workspaceId = await createWorkspace(bench.db.database);
});
afterEach(async () => expect(await bench.differences()).toEqual([]));
afterAll(() => bench.close());

const context = () => ({ storage: bench.storage, database: bench.db.database, log });
const uploads = () => sweepUploads(context());
/** Sweeps orphans as if everything had been there for two hours. */
const orphans = (page?: number) => sweepOrphans({ ...context(), now: () => Date.now() + 2 * ORPHAN_AGE_MS }, page);
const age = () => bench.db.query("update file set created_at = created_at - interval '2 hours'");
const stateOf = async (id: string): Promise<unknown> =>
  (await bench.db.query("select state from file where id = $1", [id]))[0]?.["state"];

/** An upload as a process leaves it that is killed in the middle. */
async function dieUploading(key: string | null = null): Promise<string> {
  const { database } = bench.db;
  const id = newFileId();
  await beginUpload(database, { id, workspaceId, leaseMs: 1, key });
  const uploadId = await beginParts(bench.storage, objectKey(id));
  await putPart(bench.storage, objectKey(id), uploadId, 1, randomBytes(1_000));
  await extendUpload(database, id, { bytes: 1_000, limitBytes: 1e9, leaseMs: 1, uploadId });
  return id;
}

describe("uploads", () => {
  test("without an owner are discarded with all their bytes", async () => {
    const id = await dieUploading("left");
    expect((await bench.stored()).uploads).toEqual([objectKey(id)]);
    await uploads();
    expect(await bench.stored()).toMatchObject({ uploads: [] });
    expect(await stateOf(id)).toBeUndefined();
    expect(await bench.db.query("select * from idempotency_key where key = 'left'")).toEqual([]);
    const [row] = await bench.db.query("select used, reserved from file_storage where workspace_id = $1", [
      workspaceId,
    ]);
    expect(row).toEqual({ used: 0n, reserved: 0n });
  });

  test("in progress are not discarded", async () => {
    const id = newFileId();
    await beginUpload(bench.db.database, { id, workspaceId, leaseMs: 60_000, key: null });
    await uploads();
    expect(await stateOf(id)).toBe("uploading");
    await bench.db.query("delete from file where id = $1", [id]);
  });

  test("that were stored and not committed lose their bytes (killed between put and commit)", async () => {
    const id = newFileId();
    await beginUpload(bench.db.database, { id, workspaceId, leaseMs: 1, key: null });
    await putObject(bench.storage, objectKey(id), randomBytes(10));
    await uploads();
    expect((await bench.stored()).objects).not.toContain(objectKey(id));
  });

  test("can be discarded by any number of janitors concurrently", async () => {
    const id = await dieUploading();
    await Promise.all([uploads(), uploads(), uploads()]);
    expect(await stateOf(id)).toBeUndefined();
  });
});

describe("deleted files", () => {
  test("lose the bytes that their deletion left", async () => {
    const id = await storeFile(bench.uploads, workspaceId);
    await bench.db.query("select end_file($1, $2, 'deleted')", [workspaceId, id]);
    await uploads();
    // Not yet: whoever deleted it may be at it.
    expect(await stateOf(id)).toBe("deleted");
    await bench.db.query("update file set ended_at = ended_at - interval '2 minutes' where id = $1", [id]);
    await uploads();
    expect(await stateOf(id)).toBeUndefined();
    expect((await bench.stored()).objects).not.toContain(objectKey(id));
  });

  test("include expired ones", async () => {
    const id = await storeFile(bench.uploads, workspaceId);
    await bench.db.query("update file set expires_at = clock_timestamp() where id = $1", [id]);
    await uploads();
    expect(await stateOf(id)).toBeUndefined();
    expect((await bench.stored()).objects).not.toContain(objectKey(id));
  });
});

describe("keys", () => {
  test("are deleted when their day is over", async () => {
    const insert = `insert into idempotency_key values ($1, 'files', $2, 'file-x', '\\x00', '{}', clock_timestamp() + $3 * interval '1 hour')`;
    await bench.db.query(insert, [workspaceId, "old", -1]);
    await bench.db.query(insert, [workspaceId, "young", 1]);
    await uploads();
    expect(await bench.db.query("select key from idempotency_key where workspace_id = $1", [workspaceId])).toEqual([
      { key: "young" },
    ]);
  });
});

describe("files stored during jobs", () => {
  /** A job in this state, whose result names the first of these files, and its files. */
  async function jobWith(state: string, count = 2): Promise<{ readonly job: string; readonly files: string[] }> {
    const job = newId();
    const files: string[] = [];
    for (let at = 0; at < count; at++) {
      files.push(
        await bench.uploads.run(workspaceId, resultKey({ id: job }, "a provider", at), (begun) => {
          if (begun.kind !== "upload") throw new Error("expected a new upload");
          return send(begun.upload, randomBytes(100), {
            fingerprint: "00".repeat(32),
            answer: begun.upload.id,
          });
        }),
      );
    }
    const result = state === "completed" ? JSON.stringify({ data: [{ file_id: files[0] }] }) : null;
    await bench.db.query(
      `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work, result)
       values ($1, $2, 'image', 'live', 'images', 'image', $3, clock_timestamp(), '{}', $4)`,
      [job, workspaceId, state, result],
    );
    return { job, files };
  }
  const keys = () => bench.db.query("select key from idempotency_key where key like ' job %'");
  const states = (files: readonly string[]) => Promise.all(files.map(stateOf));

  test("are deleted with a job that failed or was cancelled, and release their storage immediately", async () => {
    const all = [await jobWith("failed"), await jobWith("cancelled")];
    await uploads();
    for (const { files } of all) expect(await states(files)).toEqual([undefined, undefined]);
    expect(await keys()).toEqual([]);
    const [row] = await bench.db.query("select used from file_storage where workspace_id = $1", [workspaceId]);
    expect(row).toEqual({ used: 0n });
  });

  test("stay while the job runs, for any time", async () => {
    const { job, files } = await jobWith("running");
    await bench.db.query("update idempotency_key set expires_at = clock_timestamp() - interval '1 hour'");
    await uploads();
    expect(await states(files)).toEqual(["ready", "ready"]);
    expect(await keys()).toHaveLength(2);
    await bench.db.query("update job set state = 'failed' where id = $1", [job]);
    await uploads();
    expect(await keys()).toEqual([]);
  });

  test("stay when they are the result; other files of a former owner are deleted", async () => {
    const { files } = await jobWith("completed");
    await uploads();
    expect(await states(files)).toEqual(["ready", undefined]);
    expect(await keys()).toEqual([]);
  });

  test("of many results lose their keys in one statement", async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => jobWith("completed", 1)));
    const asked: string[] = [];
    const { database } = bench.db;
    const heard: typeof database = {
      ...database,
      query: (text, values, name) => {
        asked.push(text);
        return database.query(text, values, name);
      },
    };
    await sweepUploads({ ...context(), database: heard });
    for (const { files } of all) expect(await states(files)).toEqual(["ready"]);
    expect(await keys()).toEqual([]);
    expect(asked.filter((text) => text.includes("drop_kept_result"))).toEqual([]);
  });

  test("belong to their workspace once the job is deleted", async () => {
    const { job, files } = await jobWith("completed");
    await bench.db.query("delete from job where id = $1", [job]);
    await uploads();
    expect(await states(files)).toEqual(["ready", "ready"]);
    expect(await keys()).toEqual([]);
  });

  test("of many jobs are deleted by any number of concurrent janitors", async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => jobWith("failed", 1)));
    await Promise.all([uploads(), uploads(), uploads()]);
    for (const { files } of all) expect(await states(files)).toEqual([undefined]);
  });
});

describe("orphans", () => {
  const put = (key: string) =>
    bench.storage.client.send(new PutObjectCommand({ Bucket: bench.storage.bucket, Key: key, Body: Buffer.from("x") }));

  test("bytes without a row are deleted, page by page; files, foreign and recent ones stay", async () => {
    const kept = [];
    const lost = [];
    for (let i = 0; i < 5; i++) {
      kept.push(await storeFile(bench.uploads, workspaceId));
      lost.push(newFileId());
      await put(objectKey(lost.at(-1) ?? ""));
    }
    await put("files/readme.txt");
    expect(await sweepOrphans(context())).toMatchObject({ objects: 0 });
    expect(await orphans(2)).toEqual({ objects: 5, uploads: 0, lost: 0 });
    const { objects } = await bench.stored();
    for (const id of kept) expect(objects).toContain(objectKey(id));
    for (const id of lost) expect(objects).not.toContain(objectKey(id));
    expect(objects).toContain("files/readme.txt");
    await deleteObject(bench.storage, "files/readme.txt");
  });

  test("multipart uploads without a row are aborted, running ones are not", async () => {
    const stray = newFileId();
    await beginParts(bench.storage, objectKey(stray));
    const running = await dieUploading();
    expect(await orphans()).toMatchObject({ uploads: 1 });
    expect((await bench.stored()).uploads).toEqual([objectKey(running)]);
    await uploads();
  });

  test("parts of media during their offload are deleted too", async () => {
    const key = `claims/${newId()}/image`;
    await putPart(bench.storage, key, await beginParts(bench.storage, key), 1, randomBytes(1_000));
    const left = async () => (await listUploads(bench.storage, "claims/")).map((upload) => upload.key);
    await sweepOrphans(context());
    expect(await left()).toEqual([key]);
    await orphans();
    expect(await left()).toEqual([]);
  });

  test("a file without bytes is no longer listed, counts for nothing, and is kept for the operator", async () => {
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await storeFile(bench.uploads, workspaceId, randomBytes(10)));
    const [gone = "", ...rest] = ids;
    await deleteObject(bench.storage, objectKey(gone));
    expect(await orphans(3)).toMatchObject({ lost: 0 });
    await age();
    expect(await orphans(3)).toMatchObject({ lost: 1 });
    expect(await stateOf(gone)).toBe("lost");
    for (const id of rest) expect(await stateOf(id)).toBe("ready");
    const [row] = await bench.db.query("select used from file_storage where workspace_id = $1", [workspaceId]);
    expect(row).toEqual({ used: 30n });
  });

  test("a bucket that has lost nearly everything is not trusted", async () => {
    await bench.db.query("delete from file");
    await bench.db.query("delete from file_storage");
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push(await storeFile(bench.uploads, workspaceId, randomBytes(10)));
    for (const id of ids) await deleteObject(bench.storage, objectKey(id));
    await age();
    expect(await orphans()).toMatchObject({ lost: 0 });
    expect(await stateOf(ids[0] ?? "")).toBe("ready");
  });
});
