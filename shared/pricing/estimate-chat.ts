/** What a chat call typically uses, before it is made. The rule is told to clients in results/estimate.schema.json. */
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import type { CallBound } from "#shared/admission/call-bound.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";
import { LIMITS, TOKENS_PER_IMAGE } from "#shared/limits.ts";
import { countPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

import { NO_USAGE, type TokenUsage } from "./usage.ts";

/** Never more than the call is bound to, in and out. */
export function typicalChatUsage(
  request: ChatCompletionRequest,
  model: Model,
  bound: CallBound,
  tokenizer: Tokenizer,
): TokenUsage {
  let imageInput = 0;
  let audioInput = 0;
  const text = countPrompt(tokenizer, request, (part) => {
    if (part["type"] === "image_url") imageInput += model.tokens_per_image_max ?? TOKENS_PER_IMAGE;
    else if (part["type"] === "input_audio") audioInput += opaqueTokens(part);
    else return opaqueTokens(part);
    return 0;
  });
  const left = takeFrom(bound.tokensMax - bound.outputTokensMax);
  const n = request.n ?? 1;
  const output = Math.min(bound.outputTokensMax, n * LIMITS.estimateOutputTokens);
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

/** Only the provider can look inside a recording or a file; this is what our own count of a call takes it for. */
function opaqueTokens(part: Readonly<Record<string, unknown>>): number {
  return Math.ceil(JSON.stringify(part).length / 6);
}

function takeFrom(total: number): (wanted: number) => number {
  let left = total;
  return (wanted) => {
    const taken = Math.min(left, wanted);
    left -= taken;
    return taken;
  };
}
