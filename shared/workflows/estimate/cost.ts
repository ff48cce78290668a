/** Cost of a step, and the context that estimates of it need. */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import type { Queryable } from "#shared/database/client.ts";

import type { EstimateWork } from "./work.ts";

/** Nano-credits. */
export interface Cost {
  readonly estimatedNano: bigint;
  readonly maxNano: bigint;
  /** Sentences. */
  readonly assumption: string;
}

export interface CostContext {
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  readonly database: Queryable;
}

/** Context in which the cost of one call is worked out. */
export interface CallContext extends CostContext {
  /** Counts what is done. */
  readonly work: EstimateWork;
}

export const EXACT = "All parameters are known.";

export function nothing(assumption: string): Cost {
  return { estimatedNano: 0n, maxNano: 0n, assumption };
}

export function sumOf(costs: readonly Cost[]): { readonly estimatedNano: bigint; readonly maxNano: bigint } {
  return {
    estimatedNano: costs.reduce((sum, { estimatedNano }) => sum + estimatedNano, 0n),
    maxNano: costs.reduce((sum, { maxNano }) => sum + maxNano, 0n),
  };
}
