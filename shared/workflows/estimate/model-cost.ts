/** Cost of a call of a model, as far as its params are known: usually, and at most. */
import type { Model } from "#shared/calls/model.ts";
import { ApiError } from "#shared/errors.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";

import { kindOf } from "../step-work.ts";
import { chatCost, embeddingsCost } from "./chat-cost.ts";
import type { CallContext, Cost } from "./cost.ts";
import { type Given, knownMembers, openNames } from "./known.ts";
import { mediaCost } from "./media-cost.ts";

/** @throws ApiError as the call itself would answer, where its params are known */
export async function modelCost(context: CallContext, slug: string, given: Given): Promise<Cost> {
  const model = context.catalogue.models.get(slug);
  if (!model) throw new ApiError("model_not_found", `There is no model ${slug}.`, { param: "model" });
  const [kind, ...others] = kindsOf(model, given);
  const own = await costOn(context, model, kind, given);
  let { maxNano } = own;
  for (const other of others) {
    const cost = await costOn(context, model, other, given).catch(passOver);
    if (cost && cost.maxNano > maxNano) maxNano = cost.maxNano;
  }
  const isContinued = context.caller.continuedChains?.has(slug) === true;
  // A fallback serves at its own price; of a stream that others go on with, all that wrote are paid.
  for (const name of context.caller.fallbackChains?.get(slug) ?? []) {
    const other = context.catalogue.models.get(name);
    const cost = other && kind.isOfKind(other) ? await costOn(context, other, kind, given).catch(passOver) : undefined;
    if (!cost) continue;
    if (isContinued) maxNano += cost.maxNano;
    else if (cost.maxNano > maxNano) maxNano = cost.maxNano;
  }
  return { ...own, maxNano };
}

/** Returns the kinds that the call may be of: an image that is open may come to null, and the call makes one of words. */
function kindsOf(model: Model, given: Given): readonly [Kind, ...Kind[]] {
  const known = knownMembers(given);
  const open = Object.fromEntries(openNames(given).map((name) => [name, ""]));
  const [kind, other] = [kindOf(model, { ...known, ...open }), kindOf(model, known)];
  return kind === other ? [kind] : [kind, other];
}

/** A fallback that does not take the call is passed over when it is made, too. */
function passOver(error: unknown): undefined {
  if (error instanceof ApiError) return undefined;
  throw error;
}

async function costOn(context: CallContext, model: Model, kind: Kind, given: Given): Promise<Cost> {
  if (kind === CHAT) return chatCost(context, model, given);
  if (kind === EMBEDDINGS) return embeddingsCost(context, model, given);
  return mediaCost(context, model, kind, given);
}
