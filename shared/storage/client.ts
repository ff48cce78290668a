/** S3, and nothing else. Checksums WHEN_REQUIRED: with the SDK's defaults some servers store the chunk framing too. */
import { Readable } from "node:stream";

import { HeadBucketCommand, CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";

import type { Config } from "#shared/config.ts";
import type { Metrics } from "#shared/metrics.ts";
import { paced } from "#shared/pace.ts";

export interface Storage {
  readonly client: S3Client;
  readonly bucket: string;
  close(): void;
}

/** Every call to S3 ends within this time. */
export const STORAGE_TIMEOUT_MS = paced(10_000);

/** @param metrics absent: nobody asks how long requests take */
export function openStorage(config: Config["s3"], metrics?: Pick<Metrics, "storageSeconds">): Storage {
  const client = new S3Client({
    region: config.region,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    expectContinueHeader: false,
    // Else it warns on stderr, past our log. What goes wrong is thrown anyway.
    logger: SILENT,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    ...(config.accessKeyId && config.secretAccessKey
      ? { credentials: { accessKeyId: config.accessKeyId, secretAccessKey: config.secretAccessKey } }
      : {}),
  });
  // Streams carry an MD5, which the signature covers. A SHA-256 of the body in it would cost four times the CPU of all else.
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { readonly body?: unknown; readonly headers: Record<string, string> };
      if (request.body instanceof Readable) request.headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD";
      return next(args);
    },
    { step: "build", name: "unsignedStreams" },
  );
  if (metrics) {
    client.middlewareStack.add(
      (next, { commandName = "other" }) =>
        async (args) => {
          const beganAt = performance.now();
          try {
            return await next(args);
          } finally {
            const operation = commandName.replace(/Command$/, "");
            metrics.storageSeconds.observe((performance.now() - beganAt) / 1_000, operation);
          }
        },
      { step: "initialize", name: "timed" },
    );
  }
  return { client, bucket: config.bucket, close: () => client.destroy() };
}

const quiet = (): void => undefined;
const SILENT = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** @throws Error of the SDK when the bucket cannot be asked for */
export async function checkBucket(storage: Storage, abortSignal: AbortSignal): Promise<void> {
  await storage.client.send(new HeadBucketCommand({ Bucket: storage.bucket }), { abortSignal });
}

/** Makes sure the bucket exists. @throws Error of the SDK when it neither exists nor can be made */
export async function ensureBucket(storage: Storage): Promise<void> {
  const abortSignal = AbortSignal.timeout(STORAGE_TIMEOUT_MS);
  try {
    await storage.client.send(new HeadBucketCommand({ Bucket: storage.bucket }), { abortSignal });
  } catch {
    await storage.client.send(new CreateBucketCommand({ Bucket: storage.bucket }), { abortSignal });
  }
}
