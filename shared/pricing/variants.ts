/** Which of a model's prices a call has, by what it asks for (catalogue `price_variants`). */
import type { Model } from "#shared/catalogue/catalogue.ts";

import type { Price } from "./price.ts";

/** @param asked the call's parameters, the model's defaults included; what the model has no field for is absent */
export function priceOf(
  model: Pick<Model, "price" | "price_variants">,
  asked: Readonly<Record<string, unknown>>,
): Price {
  const said: Readonly<Record<string, unknown>> = { ...asked, prompt_extend: asked["prompt_extend"] ?? true };
  const fits = model.price_variants?.find(({ when }) =>
    Object.entries(when).every(([name, value]) => said[name] === value),
  );
  return fits?.price ?? model.price;
}
