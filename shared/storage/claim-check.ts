/** Stores requests too large for a NATS message in S3 under `claims/<job id>`. The message then contains a reference to the object. */
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";

import { SMALL_BODY_BYTES_MAX } from "#shared/json/tokens.ts";

import { checksumOf } from "./checksum.ts";
import { STORAGE_TIMEOUT_MS, type Storage } from "./client.ts";
import { withRetries } from "./with-retries.ts";
import { listObjects, putObject } from "./objects.ts";

export const CLAIMS_PREFIX = "claims/";
/** Key prefix of the parts of batch files. The keys of each part continue with the id of the batch. */
export const BATCHES_PREFIX = "batches/";
const RESULTS = "results/";
const RUN_OUTPUTS = "runs/";
const RUN_INPUTS = "run-inputs/";
const RESPONSES = "responses/";
const BODIES = "bodies/";

/**
 * Stores a job's request text and returns its reference, `key#sha256`.
 * @param part distinguishes the object from other objects of the job
 */
export function storeClaim(storage: Storage, jobId: string, text: string, part = ""): Promise<string> {
  return storeText(storage, `${CLAIMS_PREFIX}${jobId}${part === "" ? "" : `/${part}`}`, text);
}

/**
 * Stores the result of a job and returns its reference, for `readClaim` and `deleteClaim`. Each owner of the job writes a separate object.
 * @param epoch number of the ownership, which distinguishes the objects
 */
export function storeResult(storage: Storage, jobId: string, epoch: number, text: string): Promise<string> {
  return storeText(storage, `${RESULTS}${jobId}/${epoch}`, text);
}

/**
 * Stores the output of a workflow step and returns its reference. The object exists as long as the run.
 * @param place step, attempt and item, which distinguish the object from other outputs of the run
 */
export function storeRunOutput(storage: Storage, runId: string, place: string, text: string): Promise<string> {
  return storeText(storage, `${RUN_OUTPUTS}${runId}/${place}`, text);
}

/**
 * Stores the input of a run and returns its reference.
 * @param part distinguishes the object from the inputs of other attempts to start the run
 */
export function storeRunInput(storage: Storage, runId: string, part: string, text: string): Promise<string> {
  return storeText(storage, `${RUN_INPUTS}${runId}/${part}`, text);
}

/**
 * Stores an encrypted response with its input and returns the reference. The object exists as long as the response's row.
 * @param part distinguishes the object from the objects of other attempts to store the response
 */
export function storeResponseText(storage: Storage, id: string, part: string, text: string): Promise<string> {
  return storeText(storage, `${RESPONSES}${id}/${part}`, text);
}

/** Stores the encrypted bodies of a call and returns the reference. The object exists as long as the row of the body. */
export function storeBodies(storage: Storage, requestId: string, text: string): Promise<string> {
  return storeText(storage, `${BODIES}${requestId}`, text);
}

/** Deletes the bodies of a call. Idempotent. */
export function deleteBodies(storage: Storage, requestId: string): Promise<void> {
  return deleteClaim(storage, `${BODIES}${requestId}`);
}

async function storeText(storage: Storage, key: string, text: string): Promise<string> {
  const body = Buffer.from(text, "utf8");
  const digest = await checksumOf(body, "sha256", "hex");
  await withRetries<unknown>(body.length, (abortSignal) => {
    // The SDK hashes a whole body at once, which is acceptable only for small ones.
    if (body.length > SMALL_BODY_BYTES_MAX) return putObject(storage, key, body, abortSignal);
    const command = { Bucket: storage.bucket, Key: key, Body: body, ContentLength: body.length };
    return storage.client.send(new PutObjectCommand(command), { abortSignal });
  });
  return `${key}#${digest}`;
}

/** Reads the text behind a reference. @throws Error if the object is missing or altered */
export async function readClaim(storage: Storage, reference: string): Promise<string> {
  const [key = "", expected = ""] = reference.split("#");
  const answer = await storage.client.send(new GetObjectCommand({ Bucket: storage.bucket, Key: key }), {
    abortSignal: AbortSignal.timeout(STORAGE_TIMEOUT_MS),
  });
  const bytes = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
  if ((await checksumOf(bytes, "sha256", "hex")) !== expected)
    throw new Error(`claim ${key} is damaged: its checksum differs`);
  return bytes.toString("utf8");
}

/** Deletes the object behind a reference. Idempotent. */
export async function deleteClaim(storage: Storage, reference: string): Promise<void> {
  const [key = ""] = reference.split("#");
  await storage.client.send(new DeleteObjectCommand({ Bucket: storage.bucket, Key: key }), {
    abortSignal: AbortSignal.timeout(STORAGE_TIMEOUT_MS),
  });
}

export interface StoredClaim {
  readonly key: string;
  readonly jobId: string;
  readonly at: Date;
}

type Pages = AsyncGenerator<readonly StoredClaim[], void, void>;

/** Lists all claims, in pages of up to a thousand. @param pageMax claims per page */
export function listClaims(storage: Storage, pageMax = 1_000): Pages {
  return list(storage, CLAIMS_PREFIX, pageMax);
}

/** Lists all stored results. */
export function listResults(storage: Storage, pageMax = 1_000): Pages {
  return list(storage, RESULTS, pageMax);
}

/** Lists all stored outputs of steps, sorted by the ids of their runs. */
export function listRunOutputs(storage: Storage, pageMax = 1_000): Pages {
  return list(storage, RUN_OUTPUTS, pageMax);
}

/** Lists all inputs of runs. */
export function listRunInputs(storage: Storage, pageMax = 1_000): Pages {
  return list(storage, RUN_INPUTS, pageMax);
}

/** Lists all stored texts of responses, sorted by the ids of the responses. */
export function listResponseTexts(storage: Storage, pageMax = 1_000): Pages {
  return list(storage, RESPONSES, pageMax);
}

async function* list(storage: Storage, prefix: string, pageMax: number): Pages {
  let after: string | undefined;
  for (let hasMore = true; hasMore;) {
    const page = await listObjects(storage, prefix, after, pageMax);
    // Media of a call have keys one level deeper than its body, like results by owner.
    yield page.objects.map(({ key, at }) => ({ key, jobId: key.slice(prefix.length).split("/", 1).join(""), at }));
    after = page.objects.at(-1)?.key;
    hasMore = page.hasMore && after !== undefined;
  }
}
