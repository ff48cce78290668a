/** Types for the cost of a step, and for the context of its estimate. */
import type { Caller } from "#shared/access/authenticate.ts";
import { readMaxCredits } from "#shared/calls/max-credits.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import type { Queryable } from "#shared/database/client.ts";

import type { EstimateWork } from "./work.ts";

/** Usual and maximum cost, in nano-credits. */
export interface Cost {
  readonly estimatedNano: bigint;
  readonly maxNano: bigint;
  /** Assumptions behind the two amounts, as sentences for the caller. */
  readonly assumption: string;
}

export interface CostContext {
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  readonly database: Queryable;
}

/** Context for estimating the cost of one call. */
export interface CallContext extends CostContext {
  /** Counts the computing work of the estimate. */
  readonly work: EstimateWork;
}

export const EXACT = "All parameters are known.";

export function nothing(assumption: string): Cost {
  return { estimatedNano: 0n, maxNano: 0n, assumption };
}

/** Returns a cost that is at most `max_credits`. @param credits amount in credits; undefined for no maximum */
export function atMost<C extends Omit<Cost, "assumption">>(cost: C, credits: number | undefined): C {
  if (credits === undefined) return cost;
  const most = readMaxCredits(credits);
  const lower = (nano: bigint): bigint => (nano < most ? nano : most);
  return { ...cost, estimatedNano: lower(cost.estimatedNano), maxNano: lower(cost.maxNano) };
}

export function sumOf(costs: readonly Cost[]): { readonly estimatedNano: bigint; readonly maxNano: bigint } {
  return {
    estimatedNano: costs.reduce((sum, { estimatedNano }) => sum + estimatedNano, 0n),
    maxNano: costs.reduce((sum, { maxNano }) => sum + maxNano, 0n),
  };
}
