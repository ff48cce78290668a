/** What a work message says of an admitted call beside its request: the same from every entry point. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";
import type { CallBound } from "#shared/kinds/call-bound.ts";
import type { StoredInputs } from "#shared/kinds/input-media.ts";
import { type Price, serializePrice } from "#shared/pricing/price.ts";

import type { Caller } from "./authenticate.ts";

interface WorkFacts {
  readonly kind: { readonly name: JobMessage["kind"] };
  /** Whose format the answer has. */
  readonly api: "openai" | "anthropic";
  readonly model: Pick<Model, "slug" | "price">;
  readonly bound: CallBound;
  /** Where the answer is kept, when it is whole. */
  readonly cache?: { readonly key: string; readonly ttlS: number } | undefined;
  /** Of what the call asks for; absent: the model's. */
  readonly price?: Price;
  /** Media in the object store. */
  readonly storedInputs?: StoredInputs;
  /** Its states are shown to its caller as they come. */
  readonly isStreamed?: boolean;
  /** Of a batch message. */
  readonly fingerprint?: string;
}

/** @param deadlineMs Unix milliseconds */
export function workHead(
  caller: Caller,
  jobId: string,
  { kind, api, model, bound, cache, price, storedInputs = {}, isStreamed, fingerprint }: WorkFacts,
  deadlineMs: number,
): JobMessage {
  // A streamed image has no fallback models.
  const fallbacks = isStreamed === true ? undefined : caller.fallbackChains?.get(model.slug);
  return {
    job_id: jobId,
    attempt: 1,
    dispatch: 1,
    kind: kind.name,
    ...(api === "openai" ? {} : { api }),
    request_id: jobId,
    workspace_id: caller.workspaceId,
    key_id: caller.keyId,
    model: model.slug,
    ...(fallbacks === undefined ? {} : { fallbacks: [...fallbacks] }),
    ...(kind.name === "chat" && caller.continuedChains?.has(model.slug) === true ? { continue_streams: true } : {}),
    hold_nano: bound.holdNano.toString(),
    may_exceed: bound.mayExceed,
    output_tokens_max: bound.outputTokensMax,
    price: serializePrice(price ?? model.price),
    ...(isStreamed === true ? { stream: true } : {}),
    ...(cache === undefined ? {} : { cache: { key: cache.key, ttl_s: cache.ttlS } }),
    ...(Object.keys(storedInputs).length === 0 ? {} : { stored_inputs: storedInputs }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    deadline_ms: deadlineMs,
  };
}
