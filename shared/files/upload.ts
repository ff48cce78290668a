/**
 * One upload: received bytes are counted, hashed and collected into parts. The storage of each part is reserved in Postgres before it is
 * sent to S3. The file exists only after `finish` has written the row; every other end leaves neither row nor bytes.
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

/** Lease of an upload, and the interval of its renewal, in milliseconds; an upload without owner is freed after it. */
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
  /** Key whose member owns the file; null: all members of the workspace see it. */
  readonly ownerKeyId: string | null;
  /** Fingerprint for comparison with a repeat under the same key, and the response for that repeat; null for a call without key. */
  readonly repeat: { readonly fingerprint: string; readonly answer: string } | null;
}

/** Destination of the bytes of a request body. */
export interface ByteSink {
  /** @throws ApiError `request_too_large` */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the bytes. */
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
  /** Reserved size, if it was known at the start of the upload. */
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

  /** @throws ApiError `request_too_large`, `storage_limit_exceeded`, `service_unavailable` */
  async write(bytes: Uint8Array): Promise<void> {
    checkSize(this.digest.bytes + bytes.length, this.tools.limits.fileBytesMax);
    this.digest.update(bytes);
    for (let remaining = bytes; remaining.length > 0;) {
      // A full part waits for the next byte: a file of exactly one part needs no multipart upload.
      if (this.part.isFull) await this.sendPart();
      remaining = this.part.fill(remaining);
    }
  }

  /** Sends the last bytes to S3 and checks that S3 has all of them. @throws ApiError as `write` */
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
   * Creates the file. Call this after `end`.
   * @throws ApiError `service_unavailable` if the row is gone; after any other error, the file may or may not exist
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

  /** Stops sending: data that arrived after the deletion would stay in the store. */
  abandon(): void {
    this.abandoned.abort(new Error("the upload was given up"));
  }

  /** Frees the memory after any outcome. A part whose sending failed may still be used by a socket, so it is not reused. */
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

/** Stores an object and checks that the store has all of it. */
async function putWhole(storage: Storage, key: string, content: Uint8Array, signal?: AbortSignal): Promise<void> {
  const isProven = await putObject(storage, key, content, signal);
  failpoint("upload.stored");
  if (!isProven) await checkStored(storage, key, content.length);
}

async function checkStored(storage: Storage, key: string, bytes: number): Promise<void> {
  const size = await objectSize(storage, key);
  if (size !== bytes) throw new Error(`stored ${bytes} bytes, found ${size ?? "none"}`);
}

/** A file whose bytes are stored, and whose row is written at the end of the job that created it. */
export interface StoredFile extends Pick<FileFacts, "filename" | "purpose" | "mediaType"> {
  readonly id: string;
  readonly digested: Digested;
}

/**
 * Stores the bytes of a small file in S3; idempotent. Its row is written later.
 * @param signal as for `putObject`
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

/** @throws ApiError if the bytes of an upload exceed the workspace's limit */
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

/** Error of an upload whose lease was not renewed in time, so that the janitor considered it dead. */
function lostOwnership(): ApiError {
  return new ApiError("service_unavailable", "The upload was interrupted; send it again.");
}

// Initial buffer of a part: memory grows with the received bytes, up to one part.

const FIRST_BYTES = 64 * 1024;
/** Growth factor: two steps from the initial size to a full part, each with a copy. */
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

  /** Copies as much as fits. Returns the remaining bytes. */
  fill(bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.bytesMax - this.length);
    this.reserveBytes(this.length + taken.length);
    this.memory.set(taken, this.length);
    this.length += taken.length;
    return bytes.subarray(taken.length);
  }

  /** Valid until the next call. */
  get content(): Buffer {
    return this.memory.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Frees the memory. */
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
