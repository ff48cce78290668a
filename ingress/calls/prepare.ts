/** A parsed body → a paid call: contract, model, the model's constraints, bound. The same through both doors. */
import { NO_FILES, type StoredFiles } from "#shared/kinds/chat/files.ts";
import { checkChat } from "#shared/kinds/chat/constraints.ts";
import { checkEmbeddings } from "#shared/kinds/embeddings.ts";
import { resolveChatModel, resolveEmbeddingModel } from "#shared/kinds/resolve-model.ts";
import type { Catalogue } from "#shared/catalogue/catalogue.ts";
import { parse } from "#shared/contracts.ts";

import type { PaidCall } from "./paid-call.ts";

/** @param files those that the body names by id. @throws ApiError naming the parameter at fault */
export type Prepare = (
  catalogue: Catalogue,
  text: string,
  value: unknown,
  textBytes: number,
  files?: StoredFiles,
) => PaidCall;

export const prepareChat: Prepare = (catalogue, text, value, textBytes, files = NO_FILES) => {
  const request = parse("ChatCompletionRequest", value);
  const model = resolveChatModel(catalogue, request.model);
  const bound = checkChat(request, model, textBytes, files);
  return { kind: "chat", api: "openai", model, bound, text, textBytes };
};

export const prepareEmbeddings: Prepare = (catalogue, text, value, textBytes) => {
  const request = parse("EmbeddingsRequest", value);
  const model = resolveEmbeddingModel(catalogue, request.model);
  const bound = checkEmbeddings(request, model);
  return { kind: "embeddings", api: "openai", model, bound, text, textBytes };
};
