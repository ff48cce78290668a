/** Reads and presents spend limits by period: amounts with every digit, and the spend that counts against them. */
import type { LimitPeriods } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber, parseCredits } from "#shared/base/money.ts";
import { SPEND_WINDOWS, type SpendCaps, type SpendLimitState, type SpendWindow } from "#shared/ledger/spend-limits.ts";
import type { SpendAmounts } from "#shared/ledger/spend-terms.ts";

/** Amounts of a request by period, as the digits that the client sent (`exactJson`). An absent or null period has no limit. */
export type AmountDigits = Readonly<Record<string, string | null>> | null | undefined;

/** Reads the amounts of a request. @param place member of the body that contains them. @throws ApiError `unsupported_value` */
export function amountsOf(digits: AmountDigits, place: string): SpendAmounts {
  const amounts = SPEND_WINDOWS.flatMap((window) => {
    const amount = digits?.[window] ?? null;
    return amount === null ? [] : [[window, amountOf(amount, `${place}.${window}`)] as const];
  });
  return Object.fromEntries(amounts);
}

function amountOf(digits: string, param: string): bigint {
  try {
    return parseCredits(digits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ApiError("unsupported_value", `Expected ${param} to have at most nine decimal places.`, { param });
  }
}

/** Returns the percentages at which a warning is sent, each once, ascending. */
export function warningsOf(percentages: readonly number[] | null | undefined): readonly number[] {
  return [...new Set(percentages ?? [])].toSorted((a, b) => a - b);
}

export function presentAmounts(amounts: SpendCaps): Record<SpendWindow, number | null> {
  return byPeriod((window) => {
    const nano = amounts[window] ?? null;
    return nano === null ? null : creditsNumber(nano);
  });
}

/** Presents the spend in each period that has a limit; null for the others. */
export function presentPeriods({ windows, heldNano }: SpendLimitState): LimitPeriods {
  return byPeriod((window) => {
    const { spentNano, leftNano, resetsAt } = windows[window];
    if (leftNano === null) return null;
    return {
      credits_used: creditsNumber(spentNano),
      credits_held: creditsNumber(heldNano),
      credits_left: creditsNumber(leftNano > 0n ? leftNano : 0n),
      resets_at: resetsAt?.toISOString() ?? null,
    };
  });
}

/** Returns the values of a function for all periods. */
export function byPeriod<T>(of: (window: SpendWindow) => T): Record<SpendWindow, T> {
  return { day: of("day"), week: of("week"), month: of("month"), total: of("total") };
}
