/** A parsed body → a paid call that its model takes. */
import { NO_FILES, type StoredFiles } from "#shared/calls/kinds/chat/files.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";

import type { ReadBody } from "../body.ts";
import type { PaidCall } from "./paid-call.ts";

/** @param files those that the body names by id. @throws ApiError naming the parameter at fault */
export async function prepareCall(
  kind: Kind,
  catalogue: Catalogue,
  { text, value, textBytes, pause }: ReadBody,
  files: StoredFiles = NO_FILES,
): Promise<PaidCall> {
  await pause();
  const request = kind.read(value);
  const model = modelOf(kind, catalogue, request.model);
  await pause();
  return {
    kind,
    api: "openai",
    model,
    ...kind.check(request, model, { bodyBytes: textBytes, files }),
    text,
    textBytes,
  };
}
