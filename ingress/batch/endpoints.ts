/** What a batch message may ask for: the endpoints it may name, each with its own checks. Their pool is in BATCH_POOLS. */
import type { BatchMessage } from "#schemas/generated/types.ts";
import type { StoredFiles } from "#shared/kinds/chat/files.ts";
import type { Catalogue } from "#shared/catalogue/catalogue.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { readJson } from "#shared/json.ts";

import type { PaidCall } from "../calls/paid-call.ts";
import { type Prepare, prepareChat, prepareEmbeddings } from "../calls/prepare.ts";

const ENDPOINTS: Readonly<Record<NonNullable<BatchMessage["endpoint"]>, Prepare>> = {
  "/v1/chat/completions": prepareChat,
  "/v1/embeddings": prepareEmbeddings,
};

/**
 * @param findFiles the stored files that a body names
 * @throws ApiError as the endpoint over HTTP would answer, its params counted from `body`
 */
export async function readBatchCall(
  catalogue: Catalogue,
  bytes: Uint8Array,
  findFiles: (body: object) => Promise<StoredFiles>,
): Promise<PaidCall> {
  const message = parse("BatchMessage", readJson(bytes).value);
  const prepare = ENDPOINTS[message.endpoint ?? "/v1/chat/completions"];
  if (message.body["stream"] === true) {
    throw new ApiError("unsupported_value", "A job is answered as a whole; leave out stream.", { param: "stream" });
  }
  const text = JSON.stringify(message.body);
  return prepare(catalogue, text, message.body, Buffer.byteLength(text), await findFiles(message.body));
}
