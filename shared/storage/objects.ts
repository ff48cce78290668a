/** Reads and writes S3 objects. Every call has a deadline. Objects are written with a checksum and read as streams. */
import { Readable } from "node:stream";

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";

import { FairLimit } from "#shared/limits/fair-limit.ts";
import { paced } from "#shared/config/pace.ts";

import { checksumOf } from "./checksum.ts";
import { SMALL_OBJECT_BYTES_MAX, STORAGE_TIMEOUT_MS, type Storage } from "./client.ts";
import { STORAGE_ATTEMPTS } from "./with-retries.ts";

/** Part size of uploads, in bytes: the minimum of S3. An upload keeps one part in memory. */
export const UPLOAD_PART_BYTES = 5 * 1_048_576;

/** Timeout of sending one part, in milliseconds. 5 MiB at 256 KiB/s take this long. */
const STORAGE_PART_MS = paced(20_000);

/**
 * Maximum number of request bodies that a process sends at the same time. Each body occupies memory for copies of the bytes that the socket
 * has not sent yet.
 */
const STORAGE_SENDS_MAX = 2;

/** Pause before a body is sent again after an error of the store, in milliseconds. */
const STORAGE_RETRY_MS = 200;

/** Timeout of joining the parts of an upload, in milliseconds. There may be thousands of parts. */
const STORAGE_JOIN_MS = 60_000;

/** Maximum time without data from the store while it sends an object, in milliseconds. */
const STORAGE_STALL_MS = paced(10_000);

/** A stored part of a multipart upload. */
export interface StoredPart {
  readonly number: number;
  readonly etag: string;
}

/**
 * Stores an object. Returns true if the store's response contains the MD5 of the body, which proves that the object is complete. Stores
 * with encryption respond with another ETag.
 * @param signal ends the request, and prevents retries
 * @throws Error of the SDK; the object may exist nevertheless
 */
export async function putObject(
  storage: Storage,
  key: string,
  body: Uint8Array,
  signal?: AbortSignal,
): Promise<boolean> {
  let md5: string | undefined;
  const send: Send<{ ETag?: string | undefined }> = async (content, options) => {
    const { Body: small, ContentMD5: checksum } = content;
    md5 = Buffer.from(checksum, "base64").toString("hex");
    if (!(small instanceof Readable)) {
      const request = { operation: "PutObject", key, headers: { "content-md5": checksum }, body: small } as const;
      const answer = await storage.request(request, options.abortSignal);
      if (answer) return { ETag: answer.headers["etag"] };
    }
    return storage.client.send(new PutObjectCommand({ Bucket: storage.bucket, Key: key, ...content }), options);
  };
  const { ETag: etag } = await sendBytes(body, send, signal);
  return etag === `"${md5}"`;
}

/** Begins a multipart upload. Returns its id. */
export async function beginParts(storage: Storage, key: string): Promise<string> {
  const answer = await storage.client.send(
    new CreateMultipartUploadCommand({ Bucket: storage.bucket, Key: key }),
    deadline(),
  );
  if (answer.UploadId === undefined) throw new Error("S3 gave a multipart upload no id");
  return answer.UploadId;
}

/**
 * Sends one part of a multipart upload.
 * @param number number of the part, from 1
 * @param signal as for `putObject`
 */
export async function putPart(
  storage: Storage,
  key: string,
  uploadId: string,
  number: number,
  body: Uint8Array,
  signal?: AbortSignal,
): Promise<StoredPart> {
  const which = { Bucket: storage.bucket, Key: key, UploadId: uploadId, PartNumber: number };
  const send: Send<{ ETag?: string | undefined }> = (content, options) =>
    storage.client.send(new UploadPartCommand({ ...which, ...content }), options);
  const answer = await sendBytes(body, send, signal);
  return { number, etag: answer.ETag ?? "" };
}

export async function joinParts(
  storage: Storage,
  key: string,
  uploadId: string,
  parts: readonly StoredPart[],
  signal?: AbortSignal,
): Promise<void> {
  await storage.client.send(
    new CompleteMultipartUploadCommand({
      Bucket: storage.bucket,
      Key: key,
      UploadId: uploadId,
      MultipartUpload: { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
    }),
    { abortSignal: within(STORAGE_JOIN_MS, signal) },
  );
}

/** Aborts a multipart upload and deletes its parts. Idempotent. */
export async function dropParts(storage: Storage, key: string, uploadId: string): Promise<void> {
  try {
    await storage.client.send(
      new AbortMultipartUploadCommand({ Bucket: storage.bucket, Key: key, UploadId: uploadId }),
      deadline(),
    );
  } catch (error) {
    if (nameOf(error) !== "NoSuchUpload") throw error;
  }
}

/** Deletes an object. Idempotent. */
export async function deleteObject(storage: Storage, key: string): Promise<void> {
  const { abortSignal } = deadline();
  if (await storage.request({ operation: "DeleteObject", key }, abortSignal)) return;
  await storage.client.send(new DeleteObjectCommand({ Bucket: storage.bucket, Key: key }), { abortSignal });
}

/** Returns the size of an object in bytes; undefined if there is no such object. */
export async function objectSize(storage: Storage, key: string): Promise<number | undefined> {
  try {
    const answer = await storage.client.send(new HeadObjectCommand({ Bucket: storage.bucket, Key: key }), deadline());
    return answer.ContentLength;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Error of the object store. `silent`: the store sent no data, even after a retry. `damaged`: bytes are missing or differ from the stored
 * ones.
 */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly fault: "silent" | "damaged";

  constructor(fault: StorageError["fault"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/**
 * Yields the bytes of an object from `from` up to, but not including, `to`. Times out if the store sends no data for STORAGE_STALL_MS, or
 * needs longer for a whole small object. Time in which the consumer requests no data does not count.
 * @throws StorageError `silent`; Error of the SDK; the received bytes may be fewer than requested, or altered
 */
export async function* readObject(
  storage: Storage,
  key: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, void> {
  if (to - from <= SMALL_OBJECT_BYTES_MAX) {
    const small = await readSmall(storage, key, from, to);
    if (small) {
      if (small.length > 0) yield small;
      return;
    }
  }
  const { stallMs = STORAGE_STALL_MS } = storage;
  const stop = new AbortController();
  const timed = <T>(work: Promise<T>): Promise<T> => {
    // One promise per call: a race against a longer-lived promise would keep every chunk until that settles.
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new StorageError("silent", "the object store fell silent");
      stop.abort(error);
      reject(error);
    }, stallMs);
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  };
  try {
    const command = new GetObjectCommand({ Bucket: storage.bucket, Key: key, Range: rangeOf(from, to) });
    const answer = await timed(storage.client.send(command, { abortSignal: stop.signal }));
    const chunks = (answer.Body as AsyncIterable<Uint8Array> | undefined)?.[Symbol.asyncIterator]();
    if (!chunks) return;
    for (;;) {
      const next = await timed(chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Closes the connection if the object was not read to its end.
    stop.abort(new Error("the object is not read any further"));
  }
}

/** Reads a small object without the SDK. Returns undefined if the SDK must read it. @throws StorageError `silent` */
async function readSmall(storage: Storage, key: string, from: number, to: number): Promise<Uint8Array | undefined> {
  const headers = { range: rangeOf(from, to) };
  const signal = AbortSignal.timeout(storage.stallMs ?? STORAGE_STALL_MS);
  try {
    const answer = await storage.request({ operation: "GetObject", key, headers, bytesMax: to - from }, signal);
    return answer?.bytes;
  } catch (error) {
    throw new StorageError("silent", "the object store fell silent", { cause: error });
  }
}

function rangeOf(from: number, to: number): string {
  return `bytes=${from}-${to - 1}`;
}

/** Returns true if the store was unreachable, timed out, or had an internal error. */
export function isStorageAway(error: unknown): boolean {
  if (error instanceof StorageError) return error.fault === "silent";
  const name = nameOf(error);
  // The SDK marks all its errors with $metadata, including lost connections.
  const isOfSdk = (error as { $metadata?: object } | null)?.$metadata !== undefined;
  return name === "TimeoutError" || name === "AbortError" || (isOfSdk && mayPass(error));
}

/** Returns true for the error of a missing object. */
export function isMissing(error: unknown): boolean {
  const name = nameOf(error);
  return name === "NoSuchKey" || name === "NotFound";
}

export interface ListedObject {
  readonly key: string;
  readonly at: Date;
}

/**
 * Returns up to a thousand objects with keys after `after`, sorted by key, and a flag that is true if there are more. Uses the older of
 * S3's two list operations. Under Bun, the development server cannot page through the newer one, because its continuation tokens need DES.
 */
export async function listObjects(
  storage: Storage,
  prefix: string,
  after: string | undefined,
  max: number,
): Promise<{ readonly objects: ListedObject[]; readonly hasMore: boolean }> {
  const page = await storage.client.send(
    new ListObjectsCommand({
      Bucket: storage.bucket,
      Prefix: prefix,
      MaxKeys: max,
      ...(after === undefined ? {} : { Marker: after }),
    }),
    deadline(),
  );
  const objects = (page.Contents ?? []).map(({ Key: key = "", LastModified: at = new Date() }) => ({ key, at }));
  return { objects, hasMore: page.IsTruncated === true };
}

export interface ListedUpload extends ListedObject {
  readonly uploadId: string;
}

/** Returns up to a thousand multipart uploads that were neither completed nor aborted. */
export async function listUploads(storage: Storage, prefix: string): Promise<ListedUpload[]> {
  const page = await storage.client.send(
    new ListMultipartUploadsCommand({ Bucket: storage.bucket, Prefix: prefix }),
    deadline(),
  );
  return (page.Uploads ?? []).map(({ Key: key = "", UploadId: uploadId = "", Initiated: at = new Date() }) => ({
    key,
    uploadId,
    at,
  }));
}

/**
 * Sends bytes to S3 as a stream of small chunks, because both SDK and socket would copy a single large one. Measured: four concurrent parts
 * of 5 MiB grow the process by 110 MB, in chunks by half of that. For the same reason, few bodies are sent at the same time. A body of one
 * chunk is sent directly, which saves 0.7 ms. S3 verifies the MD5, so that data altered by a network is rejected while it is still in
 * memory.
 */
async function sendBytes<Answer>(
  body: Uint8Array,
  send: Send<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const permit = await sending.take({}, signal);
  try {
    const parts = Math.max(1, body.length / UPLOAD_PART_BYTES);
    const abortSignal = within(STORAGE_PART_MS * parts, signal);
    abortSignal.throwIfAborted();
    const ContentMD5 = await checksumOf(body, "md5", "base64");
    const content = { ContentLength: body.length, ContentMD5 };
    if (body.length <= PIECE_BYTES) return await send({ Body: body, ...content }, { abortSignal });
    for (let attempt = 1; ; attempt++) {
      const Body = Readable.from(piecesOf(body), { objectMode: false });
      try {
        return await send({ Body, ...content }, { abortSignal });
      } catch (error) {
        // The SDK does not retry streams.
        if (attempt >= STORAGE_ATTEMPTS || abortSignal.aborted || !mayPass(error)) throw error;
      } finally {
        Body.destroy();
      }
      await Bun.sleep(Math.random() * STORAGE_RETRY_MS * attempt);
      abortSignal.throwIfAborted();
    }
  } finally {
    permit.release();
  }
}

type Send<Answer> = (content: Content, options: { abortSignal: AbortSignal }) => Promise<Answer>;

interface Content {
  readonly Body: Readable | Uint8Array;
  readonly ContentLength: number;
  readonly ContentMD5: string;
}

const sending = new FairLimit({ max: STORAGE_SENDS_MAX });

function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

const PIECE_BYTES = 65_536;

/** Returns true for errors that a retry may avoid: a lost connection, an overload or an internal error. A rejection by S3 is final. */
function mayPass(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
  return status === undefined || status >= 500 || status === 429;
}

function deadline(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(STORAGE_TIMEOUT_MS) };
}

function within(ms: number, signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

function nameOf(error: unknown): string | undefined {
  const name = (error as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : undefined;
}
