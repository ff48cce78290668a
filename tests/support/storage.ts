/** Creates buckets on the shared S3 server. */
import { randomBytes } from "node:crypto";

import { S3_ACCOUNT } from "#deploy/embedded/s3.mjs";
import type { Config } from "#shared/config/config.ts";

import { sharedS3Url } from "./infrastructure.ts";

export interface TestBucket {
  readonly bucket: string;
  readonly endpoint: string;
  /** Settings with which `openStorage` opens the bucket. */
  readonly settings: Config["s3"];
  /** Environment variables with which a role uses the bucket. */
  readonly env: Readonly<Record<string, string>>;
}

/** Creates an empty bucket. It is removed together with the server's directory after the run. */
export async function createTestBucket(): Promise<TestBucket> {
  const endpoint = await sharedS3Url();
  const bucket = `test-${randomBytes(8).toString("hex")}`;
  // s3rver ignores credentials here, and loading the SDK would take each test file longer than everything else.
  const response = await fetch(`${endpoint}/${bucket}`, { method: "PUT" });
  if (!response.ok) throw new Error(`no bucket was made: ${response.status}`);
  return {
    bucket,
    endpoint,
    settings: {
      endpoint,
      bucket,
      region: S3_ACCOUNT.region,
      accessKeyId: S3_ACCOUNT.accessKeyId,
      secretAccessKey: S3_ACCOUNT.secretAccessKey,
    },
    env: {
      S3_ENDPOINT: endpoint,
      SLUICE_S3_BUCKET: bucket,
      AWS_ACCESS_KEY_ID: S3_ACCOUNT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_ACCOUNT.secretAccessKey,
      AWS_REGION: S3_ACCOUNT.region,
    },
  };
}
