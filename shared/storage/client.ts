/** Opens the S3 client. Checksums are set to WHEN_REQUIRED, because with the SDK's defaults some servers store the chunk framing too. */
import { Readable } from "node:stream";

import { HeadBucketCommand, CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";

import { beforeAbort } from "#shared/base/abortable.ts";
import type { Config } from "#shared/config/config.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { paced } from "#shared/config/pace.ts";

export interface Storage {
  readonly client: S3Client;
  readonly bucket: string;
  /** Maximum time without data from the store during a read, in milliseconds. Default: STORAGE_STALL_MS. */
  readonly stallMs?: number;
  /**
   * Reads, stores or deletes a small object. Uses the SDK's signer and sockets, but not its other layers, which cause most of a request's
   * CPU time. Works only with stores whose address is configured.
   * @returns undefined after an unexpected response. The caller then repeats the request with the SDK, which reports the error
   * @throws the signal's reason
   */
  request(request: ObjectRequest, signal: AbortSignal): Promise<ObjectAnswer | undefined>;
  close(): void;
}

export interface ObjectRequest {
  readonly operation: keyof typeof OPERATIONS;
  readonly key: string;
  /** Request headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Maximum size of the response, in bytes. Default: SMALL_OBJECT_BYTES_MAX. */
  readonly bytesMax?: number;
}

export interface ObjectAnswer {
  /** Response headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** HTTP method and success status of each operation. */
const OPERATIONS = {
  GetObject: { method: "GET", status: 206 },
  PutObject: { method: "PUT", status: 200 },
  DeleteObject: { method: "DELETE", status: 204 },
} as const;

/** Maximum size of a response that is read without the SDK, in bytes. The SDK streams longer ones. */
export const SMALL_OBJECT_BYTES_MAX = 65_536;

/** Timeout of every call to S3, in milliseconds. */
export const STORAGE_TIMEOUT_MS = paced(10_000);

/** Opens the object store. @param metrics if absent, durations are not recorded */
export function openStorage(config: Config["s3"], metrics?: Pick<Metrics, "storageSeconds">): Storage {
  const client = new S3Client({
    region: config.region,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    expectContinueHeader: false,
    // By default, the SDK prints warnings to stderr instead of our log. Errors are thrown anyway.
    logger: SILENT,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(config.accessKeyId && config.secretAccessKey
      ? { credentials: { accessKeyId: config.accessKeyId, secretAccessKey: config.secretAccessKey } }
      : {}),
  });
  // Streams are sent with a signed MD5. A SHA-256 of the body in the signature would cost four times the CPU of everything else.
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { readonly body?: unknown; readonly headers: Record<string, string> };
      if (request.body instanceof Readable) request.headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD";
      return next(args);
    },
    { step: "build", name: "unsignedStreams" },
  );
  const observe = (operation: string, beganAt: number): void =>
    metrics?.storageSeconds.observe((performance.now() - beganAt) / 1_000, operation);
  if (metrics) {
    client.middlewareStack.add(
      (next, { commandName = "other" }) =>
        async (args) => {
          const beganAt = performance.now();
          try {
            return await next(args);
          } finally {
            observe(commandName.replace(/Command$/, ""), beganAt);
          }
        },
      { step: "initialize", name: "timed" },
    );
  }
  const send = config.endpoint ? openRequests(client, config.bucket, new URL(config.endpoint)) : undefined;
  return {
    client,
    bucket: config.bucket,
    async request(request, signal) {
      const beganAt = performance.now();
      const answer = await send?.(request, signal).catch(() => undefined);
      // If the SDK takes over, its request is measured instead.
      if (answer || signal.aborted) observe(request.operation, beganAt);
      signal.throwIfAborted();
      return answer;
    },
    close: () => client.destroy(),
  };
}

/** Matches object keys that need no encoding in a URL. */
const PLAIN_KEY = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

function openRequests(client: S3Client, bucket: string, { protocol, hostname, host, port, pathname }: URL) {
  const { config } = client;
  const root = `${pathname.replace(/\/$/, "")}/${bucket}`;
  let signer: Awaited<ReturnType<typeof config.signer>> | undefined;
  return async (
    { operation, key, headers = {}, body, bytesMax = SMALL_OBJECT_BYTES_MAX }: ObjectRequest,
    abortSignal: AbortSignal,
  ): Promise<ObjectAnswer | undefined> => {
    if (!PLAIN_KEY.test(key)) return undefined;
    const { method, status } = OPERATIONS[operation];
    signer ??= await config.signer();
    const request = {
      method,
      protocol,
      hostname,
      ...(port === "" ? {} : { port: Number(port) }),
      path: `${root}/${key}`,
      query: {},
      headers: { host, ...headers, ...(body ? { "content-length": String(body.length) } : {}) },
      body,
    };
    const signingDate = new Date(Date.now() + config.systemClockOffset);
    const signed = await signer.sign(request, { signingDate });
    const { response } = await config.requestHandler.handle(signed as never, { abortSignal });
    const bytes = await beforeAbort(readWhole(response.body as Readable, bytesMax), abortSignal);
    const { "content-length": length = bytes?.length } = response.headers;
    if (response.statusCode !== status || bytes?.length !== Number(length)) return undefined;
    return { headers: response.headers as Readonly<Record<string, string>>, bytes };
  };
}

/** Reads a body completely. Returns undefined if it is longer than `bytesMax` bytes. */
async function readWhole(body: Readable, bytesMax: number): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > bytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

const quiet = (): void => undefined;
const SILENT = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Checks that the bucket is accessible. @throws Error of the SDK if it is not */
export async function checkBucket(storage: Storage, abortSignal: AbortSignal): Promise<void> {
  await storage.client.send(new HeadBucketCommand({ Bucket: storage.bucket }), { abortSignal });
}

/** Creates the bucket if it is missing. @throws Error of the SDK if it neither exists nor can be created */
export async function ensureBucket(storage: Storage): Promise<void> {
  const abortSignal = AbortSignal.timeout(STORAGE_TIMEOUT_MS);
  try {
    await storage.client.send(new HeadBucketCommand({ Bucket: storage.bucket }), { abortSignal });
  } catch {
    await storage.client.send(new CreateBucketCommand({ Bucket: storage.bucket }), { abortSignal });
  }
}
