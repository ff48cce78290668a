/** Maximum cost that a caller sets for a call, run or batch with `max_credits`, in nano-credits. Pure. */
import { ApiError } from "#shared/base/errors.ts";
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";
import { priceAt } from "#shared/ledger/charge.ts";

import { type CallBound, CHAT_DEFAULT_OUTPUT_TOKENS } from "./kinds/call-bound.ts";
import { batchLineOf, type Price } from "./pricing/price.ts";

/** Name of the member in request bodies, and `param` of the errors. */
const MAX_CREDITS = "max_credits";

const CREDITS_MAX = 1_000_000_000;

/**
 * Converts an amount of credits to nano-credits.
 * @param param name of the member or header, for the error
 * @throws ApiError `unsupported_value` unless the amount is above 0, at most CREDITS_MAX, and has at most 9 decimal places
 */
export function readMaxCredits(credits: number | string, param: string = MAX_CREDITS): bigint {
  try {
    const nano = parseCredits(String(credits));
    if (nano > 0n && nano <= BigInt(CREDITS_MAX) * 1_000_000_000n) return nano;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const expected = `a number of credits above 0, at most ${CREDITS_MAX}, with at most 9 decimal places`;
  throw new ApiError("unsupported_value", `Expected ${param} to be ${expected}.`, { param });
}

/** Returns the lower of two maximums; undefined if neither is set. */
export function lowerMax(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/**
 * Removes `max_credits` from a request, because providers and workers do not know it. Returns a request without the member unchanged.
 * @throws ApiError `unsupported_value`; `unknown_parameter` for a misspelt `max_credits`
 */
export function takeMaxCredits<R extends object>(request: R): { readonly request: R; readonly maxNano?: bigint } {
  const limited: R & { readonly [MAX_CREDITS]?: number } = request;
  refuseMisspelt<typeof MAX_CREDITS>(limited, [MAX_CREDITS]);
  const { [MAX_CREDITS]: credits, ...rest } = limited;
  if (credits === undefined) return { request };
  return { request: rest as unknown as R, maxNano: readMaxCredits(credits) };
}

/** Bytes of `,"max_credits":` in a body. */
const MEMBER_BYTES = 15;

/**
 * Returns the number of bytes that the member adds to a body at least. A call may then cost as much as its estimate, which was made without
 * the member.
 */
export function maxCreditsBytes(body: unknown): number {
  const credits = (body as { readonly [MAX_CREDITS]?: unknown } | null)?.[MAX_CREDITS];
  if (typeof credits !== "number") return 0;
  return MEMBER_BYTES + Math.min(String(credits).length, credits.toExponential().length);
}

/** Batch line of a call. Its charge is a share of the full price. */
type BatchLine = Parameters<typeof priceAt>[1];

/** Maximums of a call that are not in its body. */
export interface OuterMax {
  /** Maximum of this call, from a header or from the tool loop that makes the call. */
  readonly nano?: bigint | undefined;
  /**
   * Amount that is left of `max_credits` of the run or batch that the call belongs to. It lowers the output limit of a chat call without a
   * limit. The admission refuses calls that exceed it.
   */
  readonly sharedNano?: bigint | undefined;
  readonly line?: BatchLine;
}

/** Maximum cost of one call, at its full price. The charge for a line of a batch is a share of it. */
export interface CostMax {
  /** Maximum of the call itself; a call that could cost more is refused. Undefined if only its run or batch has one. */
  readonly nano: bigint | undefined;
  /** Amount to which the output limit of a chat call without a limit is lowered. */
  readonly fitNano: bigint;
  readonly line?: BatchLine;
  /** Both amounts as charges of the batch line. Present for a line of a batch. */
  readonly charges?: { readonly single: bigint | undefined; readonly lowest: bigint };
  /** Highest output limit per choice that a chat call without a limit gets, in tokens. Default: the limit of the model. */
  readonly outputTokensMax?: number;
  /** Lowest output limit per choice that a chat call without a limit gets, in tokens. Default: 1. */
  readonly outputTokensMin?: number;
}

/**
 * Output tokens per choice below which the limit of a chat call is not lowered to what is left of its run or batch. The call is then
 * refused, because a cut answer would spoil the steps that use it.
 */
export const SHARED_OUTPUT_TOKENS_MIN = 256;

const WHOLE = 1_000_000n;

/**
 * Returns the maximum cost of a call; undefined if none is set.
 * @param ownNano maximum in the body of the call
 */
export function costMaxOf(ownNano: bigint | undefined, { nano, sharedNano, line }: OuterMax = {}): CostMax | undefined {
  const single = lowerMax(ownNano, nano);
  const lowest = lowerMax(single, sharedNano);
  if (lowest === undefined) return undefined;
  return {
    nano: single,
    fitNano: lowest,
    ...(line === undefined ? {} : fullPrices({ single, lowest }, line)),
    // A single call must not hold all credits that the calls share.
    ...(single === undefined ? { outputTokensMax: CHAT_DEFAULT_OUTPUT_TOKENS } : {}),
    ...(sharedNano === undefined ? {} : { outputTokensMin: SHARED_OUTPUT_TOKENS_MIN }),
  };
}

/** Returns maximums of a batch line at the full price: the largest price whose share, rounded up as in `priceAt`, is at most the charge. */
function fullPrices(charges: NonNullable<CostMax["charges"]>, line: NonNullable<BatchLine>) {
  const full = (part: bigint): bigint => (part * WHOLE) / BigInt(line.price_millionths);
  const { single, lowest } = charges;
  return { line, charges, nano: single === undefined ? undefined : full(single), fitNano: full(lowest) };
}

/** Returns the maximum cost of a call at a model, whose price may have its own share for batch lines. */
export function costMaxAt(max: CostMax | undefined, { price }: { readonly price: Price }): CostMax | undefined {
  if (max?.line === undefined || max.charges === undefined) return max;
  return { ...max, ...fullPrices(max.charges, batchLineOf(price, max.line.price_millionths)) };
}

/**
 * Checks that a call cannot cost more than its caller allows, and returns its bound with the maximum.
 * @param advice what to change in the request so that the call fits
 * @throws ApiError `max_credits_exceeded`
 */
export function withinMax(bound: CallBound, max: CostMax | undefined, advice = "request less"): CallBound {
  if (max === undefined) return bound;
  if (max.nano === undefined || bound.holdNano <= max.nano) return { ...bound, maxNano: max.fitNano };
  const [most, allowed] = [bound.holdNano, max.nano].map((nano) => formatCredits(priceAt(nano, max.line)));
  throw new ApiError(
    "max_credits_exceeded",
    `This call may cost up to ${most} credits, and max_credits allows ${allowed}. Raise max_credits, or ${advice}.`,
    { param: MAX_CREDITS },
  );
}
