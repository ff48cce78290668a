/** Uploads against real Postgres and S3: what they keep, what they leave, who owns them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { PutObjectCommand } from "@aws-sdk/client-s3";

import { endFile, findBlocks, findFreeStorage, FILES_PER_WORKSPACE_MAX } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { objectKey } from "#shared/files/id.ts";
import { readFile } from "#shared/files/read.ts";
import type { Upload } from "#shared/files/upload.ts";
import { type BegunUpload, openUploads, UPLOADS_PER_WORKSPACE_MAX } from "#shared/files/uploads.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { UPLOAD_PART_BYTES } from "#shared/storage/objects.ts";
import { FACTS, type FileBench, LIMITS_OF_BENCH, log, openFileBench, send, storageAt, storeFile } from "./bench.ts";

let bench: FileBench;
let workspaceId: string;

beforeAll(async () => {
  bench = await openFileBench();
  workspaceId = await createWorkspace(bench.db.database);
}, 120_000);
afterEach(async () => expect(await bench.differences()).toEqual([]));
afterAll(() => bench.close());

const MB = 1_048_576;
const PART = UPLOAD_PART_BYTES;
const uploadOf = (begun: BegunUpload): Upload => {
  if (begun.kind !== "upload") throw new Error("expected a new upload");
  return begun.upload;
};
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

async function contentOf(id: string, from?: number, to?: number): Promise<Buffer> {
  const blocks = await findBlocks(bench.db.database, id);
  if (!blocks) throw new Error("no such file");
  const pieces: Uint8Array[] = [];
  for await (const piece of readFile(bench.storage, blocks, from, to)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function usage(): Promise<{ used: bigint; reserved: bigint }> {
  const [row] = await bench.db.query<{ used: bigint; reserved: bigint }>(
    "select used, reserved from file_storage where workspace_id = $1",
    [workspaceId],
  );
  return row ?? { used: 0n, reserved: 0n };
}

describe("bytes", () => {
  test.each([1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1, MB, MB + 1])(
    "of a file of %d are returned as they were written",
    async (size) => {
      const bytes = randomBytes(size);
      const before = await usage();
      const id = await storeFile(bench.uploads, workspaceId, bytes);
      expect((await contentOf(id)).equals(bytes)).toBe(true);
      expect(await usage()).toEqual({ used: before.used + BigInt(size), reserved: 0n });
    },
  );

  test("of any range are exact", async () => {
    const bytes = randomBytes(3 * MB + 5);
    const id = await storeFile(bench.uploads, workspaceId, bytes);
    for (const [from, to] of [
      [0, 1],
      [MB - 1, MB + 1],
      [MB, 2 * MB],
      [3 * MB, 3 * MB + 5],
      [17, 3 * MB + 1],
    ] as const) {
      expect((await contentOf(id, from, to)).equals(bytes.subarray(from, to))).toBe(true);
    }
  });
});

describe("bytes changed by S3 are not served", () => {
  const damaged = async (size: number, damage: (bytes: Buffer) => Buffer): Promise<{ id: string; bytes: Buffer }> => {
    const bytes = randomBytes(size);
    const id = await storeFile(bench.uploads, workspaceId, bytes);
    await bench.storage.client.send(
      new PutObjectCommand({ Bucket: bench.storage.bucket, Key: objectKey(id), Body: damage(Buffer.from(bytes)) }),
    );
    return { id, bytes };
  };

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["a flipped bit", (bytes) => bytes.fill((bytes[2 * MB] ?? 0) ^ 1, 2 * MB, 2 * MB + 1)],
    ["a cut", (bytes) => bytes.subarray(0, 2 * MB + 10)],
    ["another file's bytes", (bytes) => Buffer.alloc(bytes.length)],
    // For an empty object the development server announces one byte and sends none.
    ["nothing", () => Buffer.alloc(0)],
  ])("%s", async (_name, damage) => {
    const { id, bytes } = await damaged(3 * MB, damage);
    const blocks = await findBlocks(bench.db.database, id);
    if (!blocks) throw new Error("no such file");
    let read = 0;
    const error = await refusal(
      (async () => {
        for await (const piece of readFile({ ...bench.storage, stallMs: 500 }, blocks)) {
          // Whatever comes before the damage is right.
          expect(bytes.subarray(read, read + piece.length).equals(piece)).toBe(true);
          read += piece.length;
        }
      })(),
    );
    expect(error).toBeDefined();
    expect(read).toBeLessThanOrEqual(2 * MB);
  });

  test("a range is verified without reading the remainder", async () => {
    const { id, bytes } = await damaged(3 * MB, (copy) => copy.fill(0, 0, 10));
    expect((await contentOf(id, 2 * MB, 2 * MB + 7)).equals(bytes.subarray(2 * MB, 2 * MB + 7))).toBe(true);
    expect(await refusal(contentOf(id, MB - 1, MB + 1))).toMatchObject({ name: "StorageError", fault: "damaged" });
  });
});

describe("an upload of known size", () => {
  const sized = (bytes: Uint8Array, said: number, uploads = bench.uploads): Promise<string> =>
    uploads.run(workspaceId, null, (begun) => send(uploadOf(begun), bytes), said);

  test.each([0, 1, PART, PART + 1])(
    "of %d bytes is stored like another, reserved at its start up to one part",
    async (size) => {
      const bytes = randomBytes(size);
      const before = await usage();
      const id = await bench.uploads.run(
        workspaceId,
        null,
        async (begun) => {
          const reserved = size <= PART ? BigInt(size) : 0n;
          expect(await usage()).toEqual({ used: before.used, reserved });
          return send(uploadOf(begun), bytes);
        },
        size,
      );
      expect((await contentOf(id)).equals(bytes)).toBe(true);
      expect(await usage()).toEqual({ used: before.used + BigInt(size), reserved: 0n });
    },
  );

  test("is rejected before a byte of it is sent if the workspace is full, and if its size differs: nothing of either stays", async () => {
    const [before, stored] = [await usage(), await bench.stored()];
    const limits = { ...LIMITS_OF_BENCH, storageBytesMax: Number(before.used) + 9 };
    const full = openUploads({ database: bench.db.database, storage: bench.storage, log, limits });
    let hasBegun = false;
    const work = (): Promise<void> => Promise.resolve(void (hasBegun = true));
    expect(await refusal(full.run(workspaceId, null, work, 10))).toMatchObject({ code: "storage_limit_exceeded" });
    expect(hasBegun).toBe(false);
    expect(await sized(randomBytes(9), 9, full)).toStartWith("file-");
    for (const size of [9, 11]) expect(await refusal(sized(randomBytes(size), 10))).toMatchObject({ code: "service_unavailable" }); // prettier-ignore
    full.close();
    expect(await usage()).toEqual({ used: before.used + 9n, reserved: 0n });
    expect((await bench.stored()).objects).toHaveLength(stored.objects.length + 1);
  });
});

describe("an upload that fails", () => {
  test.each<[string, number]>([
    ["before its first part is full", 1_000],
    ["in its third part", 2 * PART + 10],
  ])("%s leaves no row, no bytes and nothing reserved", async (_name, size) => {
    const [before, stored] = [await usage(), await bench.stored()];
    let id = "";
    const error = await refusal(
      bench.uploads.run(workspaceId, "failing", async (begun) => {
        const upload = uploadOf(begun);
        ({ id } = upload);
        await upload.write(randomBytes(size));
        throw new ApiError("request_timeout", "cut");
      }),
    );
    expect(error).toMatchObject({ code: "request_timeout" });
    expect(await usage()).toEqual(before);
    expect(await bench.stored()).toEqual(stored);
    expect(await bench.db.query("select * from file where id = $1", [id])).toEqual([]);
    expect(await bench.db.query("select * from idempotency_key where key = 'failing'")).toEqual([]);
  });

  test("because the workspace is full stores nothing, and the next that fits is stored", async () => {
    const small = await createWorkspace(bench.db.database);
    const uploads = openUploads({
      database: bench.db.database,
      storage: bench.storage,
      log,
      limits: { ...LIMITS_OF_BENCH, storageBytesMax: PART + 100 },
    });
    const stored = await bench.stored();
    const error = await refusal(storeFile(uploads, small, randomBytes(2 * PART)));
    expect(error).toMatchObject({ code: "storage_limit_exceeded" });
    expect(await bench.stored()).toEqual(stored);
    await storeFile(uploads, small, randomBytes(PART + 100));
    expect(await refusal(storeFile(uploads, small, randomBytes(1)))).toMatchObject({ code: "storage_limit_exceeded" });
    uploads.close();
  });

  test("for size is rejected at the first byte above the limit", async () => {
    const uploads = openUploads({
      database: bench.db.database,
      storage: bench.storage,
      log,
      limits: { ...LIMITS_OF_BENCH, fileBytesMax: 1_000 },
    });
    await storeFile(uploads, workspaceId, randomBytes(1_000));
    expect(await refusal(storeFile(uploads, workspaceId, randomBytes(1_001)))).toMatchObject({
      code: "request_too_large",
    });
    uploads.close();
  });
});

describe("the limit of a workspace", () => {
  test("is exact to the byte for concurrent uploads", async () => {
    const crowded = await createWorkspace(bench.db.database);
    const limit = 40_000;
    const uploads = openUploads({
      database: bench.db.database,
      storage: bench.storage,
      log,
      limits: { ...LIMITS_OF_BENCH, storageBytesMax: limit },
    });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => refusal(storeFile(uploads, crowded, randomBytes(7_000)))),
    );
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(Math.floor(limit / 7_000));
    const [row] = await bench.db.query("select used, reserved from file_storage where workspace_id = $1", [crowded]);
    expect(row).toEqual({ used: 35_000n, reserved: 0n });
    uploads.close();
  });

  test("applies to the number of files too, and a deleted one frees capacity", async () => {
    const crowded = await createWorkspace(bench.db.database);
    const uploads = openUploads({
      database: bench.db.database,
      storage: bench.storage,
      log,
      limits: LIMITS_OF_BENCH,
    });
    const first = await storeFile(uploads, crowded, randomBytes(1));
    const others = FILES_PER_WORKSPACE_MAX - 2;
    await bench.db.query("update file_storage set files = files + $2 where workspace_id = $1", [crowded, others]);
    await storeFile(uploads, crowded, randomBytes(1));
    const error = await refusal(storeFile(uploads, crowded, randomBytes(1)));
    expect(error).toMatchObject({ code: "storage_limit_exceeded" });
    expect(String(error)).toContain(`at most ${FILES_PER_WORKSPACE_MAX} files`);
    expect((await findFreeStorage(bench.db.database, crowded, 1_000)).files).toBe(0);
    expect(await endFile(bench.db.database, crowded, first, "deleted")).toBe(true);
    expect((await findFreeStorage(bench.db.database, crowded, 1_000)).files).toBe(1);
    await storeFile(uploads, crowded, randomBytes(1));
    await bench.db.query("update file_storage set files = files - $2 where workspace_id = $1", [crowded, others]);
    uploads.close();
  });

  test("of concurrent uploads is checked before a byte is read", async () => {
    const busy = await createWorkspace(bench.db.database);
    const release = Promise.withResolvers<void>();
    const running = Array.from({ length: UPLOADS_PER_WORKSPACE_MAX }, () =>
      refusal(
        bench.uploads.run(busy, null, async () => {
          await release.promise;
          throw new ApiError("request_timeout", "enough");
        }),
      ),
    );
    expect(await refusal(storeFile(bench.uploads, busy))).toMatchObject({ code: "overloaded" });
    await storeFile(bench.uploads, workspaceId);
    release.resolve();
    await Promise.all(running);
    await storeFile(bench.uploads, busy);
  });
});

describe("ownership", () => {
  test("an upload that the janitor discarded can neither continue nor end", async () => {
    const stored = await bench.stored();
    for (const size of [10, PART + 10]) {
      const error = await refusal(
        bench.uploads.run(workspaceId, null, async (begun) => {
          const upload = uploadOf(begun);
          await upload.write(randomBytes(size));
          await bench.db.query("select end_upload($1, false)", [upload.id]);
          await send(upload, randomBytes(10));
        }),
      );
      expect(error).toMatchObject({ code: "service_unavailable" });
    }
    await bench.db.query("delete from file where state = 'deleted'");
    // What the last write may have left has no row and is swept with the orphans.
    expect((await bench.stored()).objects.length).toBeLessThanOrEqual(stored.objects.length + 1);
  });

  test("an upload that was deleted during its last write leaves no bytes", async () => {
    const stored = await bench.stored();
    const error = await refusal(
      bench.uploads.run(workspaceId, null, async (begun) => {
        const upload = uploadOf(begun);
        await upload.write(randomBytes(10));
        await upload.end();
        await bench.db.query("select end_upload($1, false)", [upload.id]);
        await bench.db.query("delete from file where id = $1", [upload.id]);
        await upload.finish({ ...FACTS, ownerKeyId: null, repeat: null });
      }),
    );
    expect(error).toMatchObject({ code: "service_unavailable" });
    expect(await bench.stored()).toEqual(stored);
  });

  test("a key whose owner died is taken over when its lease is over, and not before", async () => {
    const [row] = await bench.db.query<{ verdict: string }>("select verdict from begin_upload($1, $2, 30000, 'dead')", [
      "file-00000000000000000000000000000001",
      workspaceId,
    ]);
    expect(row?.verdict).toBe("begun");
    const again = () => bench.uploads.run(workspaceId, "dead", (begun) => send(uploadOf(begun), randomBytes(5)));
    expect(await refusal(again())).toMatchObject({ code: "upload_in_progress" });
    await bench.db.query("update file set lease_until = clock_timestamp() where state = 'uploading'");
    const id = await again();
    expect((await contentOf(id)).length).toBe(5);
    await bench.db.query("select end_upload('file-00000000000000000000000000000001', true)");
  });

  test("one of many calls under the same key runs, the others receive a conflict", async () => {
    const { promise: othersHeard, resolve: tell } = Promise.withResolvers<void>();
    let heard = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const outcome = await refusal(
          bench.uploads.run(workspaceId, "race", async (begun) => {
            await othersHeard;
            return send(uploadOf(begun), randomBytes(50_000));
          }),
        );
        heard += 1;
        if (heard === 5) tell();
        return outcome;
      }),
    );
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
    const others = outcomes.filter((outcome) => outcome !== undefined);
    for (const error of others) expect(error).toMatchObject({ code: "upload_in_progress" });
  });
});

describe("an object store that fails", () => {
  type Mode = "down" | "busy" | "busy once" | "short" | "silent" | "names the MD5";
  let mode = "busy" as Mode;
  let asked = 0;
  let seen: string[] = [];
  const heldBack = new Set<() => void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const content = await request.arrayBuffer();
      asked += 1;
      seen.push(request.method);
      if (mode === "silent" && request.method === "PUT") {
        await new Promise<void>((resolve) => heldBack.add(resolve));
        return new Response("", { status: 500 });
      }
      if (mode === "busy" || (mode === "busy once" && asked === 1)) {
        return new Response("<Error><Code>SlowDown</Code><Message>slow</Message></Error>", { status: 503 });
      }
      if (mode === "silent" && request.method === "POST") {
        return new Response("<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>");
      }
      const etag = mode === "names the MD5" ? `"${new Bun.CryptoHasher("md5").update(content).digest("hex")}"` : '"x"';
      return new Response(null, { headers: { etag, "content-length": "3" } });
    },
  });
  // The pause between attempts is a random part of its maximum. Here it is zero.
  const random = spyOn(Math, "random");
  beforeEach(() => void random.mockReturnValue(0));
  afterAll(() => random.mockRestore());
  const failing = storageAt(`http://127.0.0.1:${server.port}`, "b");
  const uploads = () => openUploads({ database: bench.db.database, storage: failing, log, limits: LIMITS_OF_BENCH });
  afterAll(async () => {
    failing.close();
    await server.stop(true);
  });

  test.each<[string, Mode, number]>([
    ["is busy", "busy", 10],
    ["is busy in the middle", "busy", PART + 10],
    ["keeps fewer bytes than it was given", "short", 10],
    ["is away", "down", 10],
  ])("%s: 503, no file, nothing reserved", async (_name, next, size) => {
    mode = next;
    asked = 0;
    const before = await usage();
    const target =
      next === "down"
        ? openUploads({
            database: bench.db.database,
            storage: storageAt("http://127.0.0.1:9", "b"),
            log,
            limits: LIMITS_OF_BENCH,
          })
        : uploads();
    expect(await refusal(storeFile(target, workspaceId, randomBytes(size)))).toMatchObject({
      code: "service_unavailable",
    });
    expect(await usage()).toEqual(before);
    expect(await bench.db.query("select * from file where state not in ('ready', 'deleted')")).toEqual([]);
    target.close();
    await bench.db.query("delete from file where state = 'deleted'");
  });

  test.each([10, PART + 10])("is silent: a discarded upload is not sent again (%d bytes)", async (size) => {
    mode = "silent";
    seen = [];
    const target = uploads();
    const left = Promise.withResolvers<never>();
    let sending: Promise<unknown> | undefined;
    const given = refusal(
      target.run(workspaceId, null, (begun) => {
        const upload = uploadOf(begun);
        sending = refusal(send(upload, randomBytes(size)));
        return left.promise;
      }),
    );
    await eventually("it is on its way", () => seen.includes("PUT"));
    left.reject(new ApiError("request_timeout", "left"));
    await given;
    // The store comes back with a fault of its own, after which a part is usually sent again.
    for (const release of heldBack) release();
    expect(await sending).toBeDefined();
    await Bun.sleep(100);
    expect(seen.filter((method) => method === "PUT")).toHaveLength(1);
    expect(seen.at(-1)).toBe("DELETE");
    target.close();
  });

  test.each<[string, Mode, readonly string[]]>([
    ["is not asked for the size where it has named the MD5 of what came", "names the MD5", ["PUT"]],
    ["is asked for it else", "short", ["PUT", "HEAD"]],
  ])("%s", async (_name, next, methods) => {
    mode = next;
    seen = [];
    const target = uploads();
    await storeFile(target, workspaceId, randomBytes(3));
    expect(seen).toEqual([...methods]);
    target.close();
    await bench.db.query("update file_storage set used = used - 3, files = files - 1 where workspace_id = $1", [
      workspaceId,
    ]);
    await bench.db.query("delete from file where bytes = 3");
  });

  test("is busy once: the part is retried", async () => {
    mode = "busy once";
    asked = 0;
    const target = uploads();
    await storeFile(target, workspaceId, randomBytes(3));
    expect(asked).toBeGreaterThan(2);
    target.close();
    await bench.db.query("update file_storage set used = used - 3, files = files - 1 where workspace_id = $1", [
      workspaceId,
    ]);
    await bench.db.query("delete from file where bytes = 3");
  });
});
