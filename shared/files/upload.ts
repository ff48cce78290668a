/**
 * One upload. Received bytes are counted, hashed and collected into parts. The storage of each part is reserved in Postgres before the part
 * is sent to S3. The file exists only after `finish` has written its row. If the upload ends in any other way, neither row nor bytes
 * remain.
 */
import type { Database } from "#shared/database/client.ts";
import { extendUpload, finishUpload, FILES_PER_WORKSPACE_MAX, type Taking } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Storage } from "#shared/storage/client.ts";
import {
  beginParts,
  joinParts,
  objectSize,
  putObject,
  putPart,
  type StoredPart,
  UPLOAD_PART_BYTES,
} from "#shared/storage/objects.ts";
import { IDEMPOTENCY_MS } from "#shared/json/same-request.ts";
import { paced } from "#shared/config/pace.ts";

import { Digest, type Digested, FILE_BLOCK_BYTES } from "./digest.ts";
import { objectKey } from "./id.ts";
import { freeMemory, takeMemory } from "./memory.ts";
import { unavailable } from "./unavailable.ts";

/**
 * Lease of an upload (UPLOAD_LEASE_MS) and interval of its renewal (UPLOAD_BEAT_MS), in milliseconds. An upload that is not renewed is
 * freed when the lease expires.
 */
export const UPLOAD_LEASE_MS = paced(30_000);
export const UPLOAD_BEAT_MS = paced(8_000);

const NOT_STORED = "The file cannot be stored right now; try again shortly.";

export interface UploadLimits {
  readonly fileBytesMax: number;
  readonly storageBytesMax: number;
}

/** Properties of a file besides its bytes. */
export interface FileFacts {
  readonly filename: string;
  readonly purpose: string;
  readonly mediaType: string;
  /** Lifetime in seconds after its creation; null: unlimited. */
  readonly expiresS: number | null;
  /** Key whose member owns the file; null if all members of the workspace see the file. */
  readonly ownerKeyId: string | null;
  /**
   * Fingerprint of the request, and response text for an identical repeat under the same idempotency key. Null for a call without
   * idempotency key.
   */
  readonly repeat: { readonly fingerprint: string; readonly answer: string } | null;
}

/** Destination of the bytes of a request body. */
export interface ByteSink {
  /** @throws ApiError `request_too_large` */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the data and returns its checksums. */
  end(): Promise<Digested>;
}

/** Counts and hashes bytes without storing them. */
export class CountingSink implements ByteSink {
  private readonly digest = new Digest();
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  write(bytes: Uint8Array): Promise<void> {
    return Promise.try(() => {
      checkSize(this.digest.bytes + bytes.length, this.bytesMax);
      this.digest.update(bytes);
    });
  }

  end(): Promise<Digested> {
    return Promise.resolve(this.digest.end());
  }
}

export class Upload implements ByteSink {
  readonly id: string;
  readonly createdAt: Date;
  private readonly tools: { readonly database: Database; readonly storage: Storage; readonly limits: UploadLimits };
  private readonly key: string;
  /** Reserved size in bytes, if it was known at the start of the upload. */
  private readonly reservedBytes: number | undefined;
  private readonly digest = new Digest();
  private readonly part = new PartBuffer(UPLOAD_PART_BYTES);
  private readonly parts: StoredPart[] = [];
  private uploadId: string | null = null;
  private digested: Digested | undefined;
  private readonly abandoned = new AbortController();

  constructor(tools: Upload["tools"], id: string, createdAt: Date, reservedBytes?: number) {
    this.tools = tools;
    this.id = id;
    this.createdAt = createdAt;
    this.reservedBytes = reservedBytes;
    this.key = objectKey(id);
  }

  /** Adds bytes to the upload. @throws ApiError `request_too_large`, `storage_limit_exceeded`, `service_unavailable` */
  async write(bytes: Uint8Array): Promise<void> {
    checkSize(this.digest.bytes + bytes.length, this.tools.limits.fileBytesMax);
    this.digest.update(bytes);
    for (let remaining = bytes; remaining.length > 0;) {
      // A full part waits for the next byte: a file of exactly one part needs no multipart upload.
      if (this.part.isFull) await this.sendPart();
      remaining = this.part.fill(remaining);
    }
  }

  /** Sends the last bytes to S3 and checks that S3 has all bytes. @throws the errors of `write` */
  async end(): Promise<Digested> {
    const digested = this.digest.end();
    await unavailable(NOT_STORED, this.complete(digested.bytes));
    this.digested = digested;
    return digested;
  }

  private async complete(bytes: number): Promise<void> {
    const { storage } = this.tools;
    const { signal } = this.abandoned;
    if (this.uploadId === null) {
      // The row already has the reserved size.
      if (this.reservedBytes === undefined) await this.reserve(bytes);
      else if (this.reservedBytes !== bytes) throw new Error(`reserved ${this.reservedBytes} bytes, got ${bytes}`);
      await putWhole(storage, this.key, this.part.content, signal);
      return;
    }
    await this.sendPart();
    await joinParts(storage, this.key, this.uploadId, this.parts, signal);
    failpoint("upload.stored");
    await checkStored(storage, this.key, bytes);
  }

  /**
   * Creates the file's row. Call this after `end`.
   * @throws ApiError `service_unavailable` if the upload's row is gone; after any other error, the file may or may not exist
   */
  async finish({ repeat, ...facts }: FileFacts): Promise<void> {
    const { digested } = this;
    if (!digested) throw new Error("an upload is finished after its end");
    const isDone = await finishUpload(this.tools.database, this.id, {
      ...facts,
      sha256: digested.sha256,
      blockSha256: digested.blockSha256,
      blockBytes: FILE_BLOCK_BYTES,
      repeat: repeat && { ...repeat, keepMs: IDEMPOTENCY_MS },
    });
    if (!isDone) throw lostOwnership();
    failpoint("upload.finished");
  }

  /** Aborts all requests of this upload to the object store. Bytes that arrived after the upload's deletion would stay in the store. */
  abandon(): void {
    this.abandoned.abort(new Error("the upload was given up"));
  }

  /** Frees the upload's memory, after success or failure. A part whose sending failed is not reused, because a socket may still use it. */
  close(): void {
    if (this.digested) this.part.free();
  }

  private async sendPart(): Promise<void> {
    await unavailable(NOT_STORED, this.putPart(this.part.content));
    this.part.clear();
  }

  private async putPart(content: Uint8Array): Promise<void> {
    const { storage } = this.tools;
    const { signal } = this.abandoned;
    signal.throwIfAborted();
    this.uploadId ??= await beginParts(storage, this.key);
    await this.reserve(content.length);
    this.parts.push(await putPart(storage, this.key, this.uploadId, this.parts.length + 1, content, signal));
  }

  private async reserve(bytes: number): Promise<void> {
    const { storageBytesMax } = this.tools.limits;
    const taken = await extendUpload(this.tools.database, this.id, {
      bytes,
      limitBytes: storageBytesMax,
      leaseMs: UPLOAD_LEASE_MS,
      uploadId: this.uploadId,
    });
    checkTaking(taken, storageBytesMax);
  }
}

/** Stores an object and checks that the store has all bytes. */
async function putWhole(storage: Storage, key: string, content: Uint8Array, signal?: AbortSignal): Promise<void> {
  const isProven = await putObject(storage, key, content, signal);
  failpoint("upload.stored");
  if (!isProven) await checkStored(storage, key, content.length);
}

async function checkStored(storage: Storage, key: string, bytes: number): Promise<void> {
  const size = await objectSize(storage, key);
  if (size !== bytes) throw new Error(`stored ${bytes} bytes, found ${size ?? "none"}`);
}

/** A file whose bytes are stored but whose row is written only when the job that created the file ends. */
export interface StoredFile extends Pick<FileFacts, "filename" | "purpose" | "mediaType"> {
  readonly id: string;
  readonly digested: Digested;
}

/**
 * Stores the bytes of a small file in S3, and returns their checksums. Idempotent. The file's row is written later.
 * @param signal aborts the request to S3
 * @throws ApiError `service_unavailable`
 */
export async function storeBytes(
  storage: Storage,
  id: string,
  content: Uint8Array,
  signal: AbortSignal,
): Promise<Digested> {
  const digest = new Digest();
  digest.update(content);
  await unavailable(NOT_STORED, putWhole(storage, objectKey(id), content, signal));
  return digest.end();
}

/**
 * Checks the result of reserving storage for an upload.
 * @throws ApiError if the upload would exceed a limit of the workspace, or no longer exists
 */
export function checkTaking(taking: Taking, storageBytesMax: number): void {
  if (taking === "gone") throw lostOwnership();
  failpoint("upload.reserved");
  if (taking !== "taken") throw storageRefusal(taking, storageBytesMax);
}

export function storageRefusal(taking: "full" | "crowded", storageBytesMax: number): ApiError {
  return new ApiError(
    "storage_limit_exceeded",
    taking === "crowded"
      ? `A workspace has at most ${FILES_PER_WORKSPACE_MAX} files; delete other files first.`
      : `The file would exceed the workspace's storage limit of ${storageBytesMax} bytes; delete other files first.`,
  );
}

function checkSize(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new ApiError("request_too_large", `Expected a file of at most ${bytesMax} bytes.`, { param: "file" });
}

/** Returns the error of an upload whose lease was not renewed in time, so that the janitor considered the upload dead. */
function lostOwnership(): ApiError {
  return new ApiError("service_unavailable", "The upload was interrupted; send it again.");
}

// Initial buffer of a part: memory grows with the received bytes, up to one part.

const FIRST_BYTES = 64 * 1024;
/** Growth factor of the part buffer. The buffer reaches a full part in two steps from its initial size, each with a copy. */
const GROWTH = 10;

class PartBuffer {
  private memory: Buffer<ArrayBuffer>;
  private length = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.memory = Buffer.allocUnsafeSlow(Math.min(FIRST_BYTES, bytesMax));
  }

  get isFull(): boolean {
    return this.length === this.bytesMax;
  }

  /** Copies as many bytes as fit into the buffer. Returns the remaining bytes. */
  fill(bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.bytesMax - this.length);
    this.reserveBytes(this.length + taken.length);
    this.memory.set(taken, this.length);
    this.length += taken.length;
    return bytes.subarray(taken.length);
  }

  /** Bytes in the buffer. Valid until the next call of any method. */
  get content(): Buffer {
    return this.memory.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Frees the buffer's memory. */
  free(): void {
    this.length = 0;
    freeMemory(this.memory, this.memory.length === this.bytesMax);
    this.memory = Buffer.alloc(0);
  }

  private reserveBytes(wanted: number): void {
    if (wanted <= this.memory.length) return;
    let size = Math.max(1, this.memory.length);
    while (size < wanted) size = Math.min(this.bytesMax, size * GROWTH);
    const grown = takeMemory(size) as Buffer<ArrayBuffer>;
    grown.set(this.content);
    freeMemory(this.memory);
    this.memory = grown;
  }
}
