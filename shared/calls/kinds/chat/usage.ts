/** Estimates the typical usage of a chat call in advance. The rule is documented for clients in results/estimate.schema.json. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { Model } from "#shared/calls/model.ts";
import { countingPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { blockKind, fileIdOf, NO_FILES, type StoredFiles } from "./files.ts";

/** Number of tokens counted for an image whose model has no bound in the catalogue, also for the hold. */
export const TOKENS_PER_IMAGE = 4_096;

/** Typical number of output tokens of a chat call in estimates. A lower limit of the call applies instead. */
export const ESTIMATE_OUTPUT_TOKENS = 512;

/**
 * Estimates the typical usage of a chat call. Yields while it counts, because other calls share the thread. The result never exceeds the
 * maximum input and output of the call.
 */
export function* typicalChatUsage(
  request: ChatCompletionRequest,
  model: Model,
  bound: CallBound,
  tokenizer: Pick<Tokenizer, "counting">,
  files: StoredFiles = NO_FILES,
): Generator<void, TokenUsage> {
  let imageInput = 0;
  let audioInput = 0;
  const text = yield* countingPrompt(tokenizer, request, (part) => {
    const file = files.get(fileIdOf(part));
    const kind = file ? blockKind(file.mediaType) : KINDS[String(part["type"])];
    const size = file ? Math.ceil(file.bytes / 3) * 4 : JSON.stringify(part).length;
    if (kind === "image") imageInput += model.tokens_per_image_max ?? TOKENS_PER_IMAGE;
    else if (kind === "audio") audioInput += opaqueTokens(size);
    else return opaqueTokens(size);
    return 0;
  });
  const takeTokens = takeFrom(bound.tokensMax - bound.outputTokensMax);
  const n = request.n ?? 1;
  const output = Math.min(bound.outputTokensMax, n * ESTIMATE_OUTPUT_TOKENS);
  const speaks = request.modalities?.includes("audio") === true;
  return {
    ...NO_USAGE,
    input: takeTokens(text),
    imageInput: takeTokens(imageInput),
    audioInput: takeTokens(audioInput),
    ...(speaks ? { audioOutput: output } : { output }),
    estimated: true,
  };
}

/** Returns the number of tokens assumed for audio or a file in base64. Only the provider can measure the real number. */
function opaqueTokens(encoded: number): number {
  return Math.ceil(encoded / 6);
}

const KINDS: Readonly<Record<string, "image" | "audio">> = { image_url: "image", input_audio: "audio" };

function takeFrom(total: number): (wanted: number) => number {
  let remaining = total;
  return (wanted) => {
    const taken = Math.min(remaining, wanted);
    remaining -= taken;
    return taken;
  };
}
