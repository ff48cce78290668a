/** Counts the input tokens of a conversation with the service's tokenizer, within a time limit. Pure. */
import {
  blockKind,
  fileIdOf,
  filePlaces,
  NO_FILES,
  type StoredFile,
  type StoredFiles,
} from "#shared/calls/kinds/chat/files.ts";
import type { Model } from "#shared/calls/model.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type CountedRequest, countingPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";
import { COUNTED_CHARACTERS_MAX } from "#shared/calls/estimate/estimate.ts";
import { TOKENS_PER_IMAGE } from "#shared/calls/kinds/chat/usage.ts";

/** Average number of characters per token in plain text. Used to estimate texts that are too long to count. */
const CHARACTERS_PER_TOKEN = 4;
/** Assumed number of base64 characters per token of a document. The same estimate is used when a provider reports no usage. */
const ENCODED_PER_TOKEN = 6;

/**
 * Counts input tokens in steps, so that the thread can serve other requests between them. Texts beyond `COUNTED_CHARACTERS_MAX` in total
 * are estimated by length. Each image counts as the maximum number of tokens that the model uses for an image.
 * @throws ApiError `file_not_found`
 */
export function countingInput(
  tokenizer: Pick<Tokenizer, "counting">,
  request: CountedRequest,
  model: Pick<Model, "tokens_per_image_max">,
  files: StoredFiles = NO_FILES,
): Generator<void, number> {
  let remainingCharacters: number = COUNTED_CHARACTERS_MAX;
  const counting = function* (text: string): Generator<void, number> {
    remainingCharacters -= text.length;
    return remainingCharacters >= 0 ? yield* tokenizer.counting(text) : Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  };
  const image = model.tokens_per_image_max ?? TOKENS_PER_IMAGE;
  const stored = new Map(filePlaces(request).map(({ fileId, param }) => [fileId, fileOf(files, fileId, param)]));
  return countingPrompt({ counting }, request, (part) => {
    const file = stored.get(fileIdOf(part));
    if (part["type"] === "image_url" || (file && blockKind(file.mediaType) === "image")) return image;
    const encoded = file ? Math.ceil(file.bytes / 3) * 4 : JSON.stringify(part).length;
    return Math.ceil(encoded / ENCODED_PER_TOKEN);
  });
}

function fileOf(files: StoredFiles, id: string, param: string): StoredFile {
  const file = files.get(id);
  if (!file) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  return file;
}
