/** What a batch message may ask for: the endpoint's own checks, and the pool it must come in for. */
import type { BatchMessage } from "#schemas/generated/types.ts";
import type { StoredFiles } from "#shared/admission/chat-files.ts";
import type { Catalogue } from "#shared/catalogue/catalogue.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { readJson } from "#shared/json.ts";
import type { Pool } from "#shared/queue/subjects.ts";

import type { PaidCall } from "../calls/paid-call.ts";
import { type Prepare, prepareChat, prepareEmbeddings } from "../calls/prepare.ts";

interface Endpoint {
  readonly pool: Pool;
  readonly prepare: Prepare;
}

const ENDPOINTS: Readonly<Record<NonNullable<BatchMessage["endpoint"]>, Endpoint>> = {
  "/v1/chat/completions": { pool: "chat", prepare: prepareChat },
  "/v1/embeddings": { pool: "chat", prepare: prepareEmbeddings },
};

/**
 * @param findFiles the stored files that a body names
 * @throws ApiError as the endpoint over HTTP would answer, its params counted from `body`
 */
export async function readBatchCall(
  catalogue: Catalogue,
  pool: Pool,
  bytes: Uint8Array,
  findFiles: (body: object) => Promise<StoredFiles>,
): Promise<PaidCall> {
  const message = parse("BatchMessage", readJson(bytes).value);
  const name = message.endpoint ?? "/v1/chat/completions";
  const endpoint = ENDPOINTS[name];
  const expected: string = endpoint.pool;
  const got: string = pool;
  if (expected !== got) {
    throw new ApiError("unsupported_value", `The endpoint ${name} is taken on batch.${expected}, got batch.${got}.`, {
      param: "endpoint",
    });
  }
  if (message.body["stream"] === true) {
    throw new ApiError("unsupported_value", "A job is answered as a whole; leave out stream.", { param: "stream" });
  }
  const text = JSON.stringify(message.body);
  return endpoint.prepare(catalogue, text, message.body, Buffer.byteLength(text), await findFiles(message.body));
}
