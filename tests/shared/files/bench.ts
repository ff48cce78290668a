/** A file store for tests: real Postgres, real S3, or an S3 that fails as a test says. */
import { randomBytes } from "node:crypto";

import type { FileFacts, Upload } from "#shared/files/upload.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { openUploads, type Uploads } from "#shared/files/uploads.ts";
import { createLogger } from "#shared/base/logger.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { listObjects, listUploads } from "#shared/storage/objects.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";

export const log = createLogger({ level: "silent", role: "test" });

export interface FileBench {
  readonly db: TestDatabase;
  readonly storage: Storage;
  readonly uploads: Uploads;
  /** Everything there is in the bucket: keys of objects and of multipart uploads. */
  stored(): Promise<{ objects: string[]; uploads: string[] }>;
  /** Differences between what is counted and what there is: no rows when both agree. */
  differences(): Promise<object[]>;
  close(): Promise<void>;
}

export const LIMITS_OF_BENCH = { fileBytesMax: 32 * 1_048_576, storageBytesMax: 1_024 * 1_048_576 };

export async function openFileBench(): Promise<FileBench> {
  const [db, bucket] = await Promise.all([createTestDatabase(), createTestBucket()]);
  const storage = storageOf(bucket.env);
  const uploads = openUploads({ database: db.database, storage, log, limits: LIMITS_OF_BENCH });
  return {
    db,
    storage,
    uploads,
    async stored() {
      const [objects, parts] = await Promise.all([
        listObjects(storage, "files/", undefined, 1_000),
        listUploads(storage, "files/"),
      ]);
      return { objects: objects.objects.map(({ key }) => key), uploads: parts.map(({ key }) => key) };
    },
    differences: () => auditStorage(db.database),
    async close() {
      uploads.close();
      storage.close();
      await db.drop();
    },
  };
}

/** The bucket of a stack, by the environment of its roles. */
export function storageOf(env: Readonly<Record<string, string>>): Storage {
  return storageAt(env["S3_ENDPOINT"] ?? "", env["SLUICE_S3_BUCKET"] ?? "", env);
}

export function storageAt(endpoint: string, bucket: string, env: Readonly<Record<string, string>> = {}): Storage {
  return openStorage({
    endpoint,
    region: env["AWS_REGION"] ?? "us-east-1",
    bucket,
    accessKeyId: env["AWS_ACCESS_KEY_ID"] ?? "key",
    secretAccessKey: env["AWS_SECRET_ACCESS_KEY"] ?? "secret",
  });
}

export const FACTS = {
  filename: "a.bin",
  purpose: "user_data",
  mediaType: "application/octet-stream",
  expiresS: null,
} as const;

const PIECE_BYTES = 700_001;

/** Writes the bytes in pieces and finishes. */
export async function send(upload: Upload, bytes: Uint8Array, repeat: FileFacts["repeat"] = null): Promise<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) await upload.write(bytes.subarray(at, at + PIECE_BYTES));
  await upload.end();
  await upload.finish({ ...FACTS, ownerKeyId: null, repeat });
  return upload.id;
}

/** A stored file of these bytes, or random ones. */
export function storeFile(
  uploads: Uploads,
  workspaceId: string,
  bytes: Uint8Array = randomBytes(1_000),
): Promise<string> {
  return uploads.run(workspaceId, null, (begun) => {
    if (begun.kind !== "upload") throw new Error("expected a new upload");
    return send(begun.upload, bytes);
  });
}
