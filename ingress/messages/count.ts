/** Input tokens of a conversation by our own tokenizer, in the time an ingress can spare. Pure. */
import type { Model } from "#shared/catalogue/catalogue.ts";
import { LIMITS, TOKENS_PER_IMAGE } from "#shared/limits.ts";
import { type CountedRequest, countPrompt } from "#shared/tokens/count.ts";
import type { Tokenizer } from "#shared/tokens/tokenizer.ts";

/** What a text without structure has on average, where it is too long to count. */
const CHARACTERS_PER_TOKEN = 4;
/** Characters of base64 a token of a document is taken for: our own guess, as where a source reports nothing. */
const ENCODED_PER_TOKEN = 6;

/** Texts beyond `LIMITS.countedCharactersMax` together are taken by their length, pictures at the model's bound. */
export function countInput(
  tokenizer: Pick<Tokenizer, "count">,
  request: CountedRequest,
  model: Pick<Model, "tokens_per_image_max">,
): number {
  let left: number = LIMITS.countedCharactersMax;
  const count = (text: string): number => {
    left -= text.length;
    return left >= 0 ? tokenizer.count(text) : Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  };
  return countPrompt({ count, pieces: () => [] }, request, (part) =>
    part["type"] === "image_url"
      ? (model.tokens_per_image_max ?? TOKENS_PER_IMAGE)
      : Math.ceil(JSON.stringify(part).length / ENCODED_PER_TOKEN),
  );
}
