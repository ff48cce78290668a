/** Typical usage of a chat call, before it is made. The rule is documented for clients in results/estimate.schema.json. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { Model } from "#shared/calls/model.ts";
import { countingPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { blockKind, fileIdOf, NO_FILES, type StoredFiles } from "./files.ts";

/** Tokens an image is held and counted for where the catalogue gives no bound. */
export const TOKENS_PER_IMAGE = 4_096;

/** Output of a chat call that an estimate takes for typical, where the call sets no lower limit. */
export const ESTIMATE_OUTPUT_TOKENS = 512;

/** Never more than the call is bound to, in and out. With stops, for a thread that others wait for. */
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
  const left = takeFrom(bound.tokensMax - bound.outputTokensMax);
  const n = request.n ?? 1;
  const output = Math.min(bound.outputTokensMax, n * ESTIMATE_OUTPUT_TOKENS);
  const speaks = request.modalities?.includes("audio") === true;
  return {
    ...NO_USAGE,
    input: left(text),
    imageInput: left(imageInput),
    audioInput: left(audioInput),
    ...(speaks ? { audioOutput: output } : { output }),
    estimated: true,
  };
}

/** Only the provider can look inside audio or a file; this is what our own count of a call takes its base64 for. */
function opaqueTokens(encoded: number): number {
  return Math.ceil(encoded / 6);
}

const KINDS: Readonly<Record<string, "image" | "audio">> = { image_url: "image", input_audio: "audio" };

function takeFrom(total: number): (wanted: number) => number {
  let left = total;
  return (wanted) => {
    const taken = Math.min(left, wanted);
    left -= taken;
    return taken;
  };
}
