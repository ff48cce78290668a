/** Usage of an embeddings call: the provider's report, or our own count where there is none that can be true. */
import type { EmbeddingInput } from "#shared/calls/kinds/embeddings.ts";
import type { EmbeddingModel } from "#shared/calls/model.ts";
import { priceChat } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { countInputs } from "#shared/tokens/count-inputs.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import type { ChatUsage } from "../../providers/provider.ts";

import type { Metered } from "../chat/meter.ts";
import type { HeldPrice } from "../media/held-price.ts";

/** Vendors count otherwise than we bound (templates around an input), but never this much more. */
const BOUND_SLACK = 2;
const SLACK_PER_INPUT = 16;

export async function meterEmbeddings(
  report: ChatUsage,
  call: {
    readonly held: HeldPrice;
    readonly inputs: readonly EmbeddingInput[];
    readonly model: EmbeddingModel;
    /** The most tokens the inputs can have. */
    readonly tokensMax: number;
  },
): Promise<Metered> {
  const { inputs, model, tokensMax } = call;
  const { price, holdNano: held } = call.held;
  const believedMax = tokensMax * BOUND_SLACK + inputs.length * SLACK_PER_INPUT;
  if (report !== null && report !== "impossible" && promptTokens(report) <= believedMax) {
    return { nano: priceChat(price, report), usage: report, estimated: undefined };
  }
  const input = await countInputs(await loadTokenizer(), inputs, model.max_context_tokens);
  const usage: TokenUsage = { ...NO_USAGE, input, estimated: true };
  if (report !== null) return { nano: held, usage, estimated: "impossible" };
  const nano = priceChat(price, usage);
  return { nano: nano > held ? held : nano, usage, estimated: "missing" };
}
