/** Computes the charge of a finished call for the ledger, metrics and log. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";

import type { CallSettlement, Settled, UsageStatus } from "./settle.ts";

export interface Charge {
  readonly nano: bigint;
  /** Usage in measured units, for the usage record. */
  readonly units: Readonly<Record<string, number>>;
  /** Number of tokens used, for the daily limit of the key. */
  readonly tokens: number;
  /**
   * Reason why the usage is estimated; undefined if the provider reported it. `missing`: the provider sent no usage report. `impossible`:
   * its report contained invalid counts. `cut`: the call was interrupted.
   */
  readonly estimated: "missing" | "impossible" | "cut" | undefined;
}

/** Batch line of a call. Its hold and charge are a share of the full price. */
type BatchLine = JobMessage["batch_line"];

const WHOLE = 1_000_000n;

/** Returns the price of a call whose full price is `nano`, in nano-credits. Rounds fractions up. */
export function priceAt(nano: bigint, line: BatchLine): bigint {
  if (line === undefined) return nano;
  return (nano * BigInt(line.price_millionths) + WHOLE - 1n) / WHOLE;
}

/** Returns the charge for a call of a batch line, which pays a share of the full price. Undefined if there is no charge. */
export function chargeAt(charge: Charge | undefined, line: BatchLine): Charge | undefined {
  return charge && { ...charge, nano: priceAt(charge.nano, line) };
}

/**
 * Returns the nano-credits that the settlement of a call takes: at most the hold, or the whole charge if the call may exceed its hold. The
 * settlement takes less only if the balance or a spend limit does not cover the part above the hold.
 * @param nano charge at the full price, as is `holdNano`
 */
export function takenOf(
  nano: bigint,
  call: { readonly holdNano: bigint; readonly mayExceed: boolean; readonly line: BatchLine },
): bigint {
  const isWhole = call.mayExceed || nano <= call.holdNano;
  return priceAt(isWhole ? nano : call.holdNano, call.line);
}

/** `CallSettlement` without the fields that identify the call. */
export type Settlement = Omit<CallSettlement, "workspaceId" | "jobId" | "attempt" | "isPatient" | "isDelivered">;

/**
 * Converts the charge of a call to its settlement.
 * @param charge undefined releases the hold
 * @param source `provider/model`; null if no source served the call
 */
export function settlementOf(status: UsageStatus, source: string | null, charge: Charge | undefined): Settlement {
  return {
    status,
    source,
    usedNano: charge?.nano ?? null,
    units: charge?.units ?? {},
    tokens: charge?.tokens ?? 0,
    isEstimated: charge?.estimated !== undefined,
  };
}

/** Suffix of units that count tokens. */
const TOKENS = "_tokens";

/** Adds the charge of a settled call to the metrics. Called once per settlement, by the process that closed the hold. */
export function countCharge(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
  charge: Charge,
  takenNano: bigint,
  of: { readonly requestId: string; readonly source: string | null },
): void {
  metrics.creditsSettled.addNano(takenNano);
  metrics.creditsUncollected.addNano(charge.nano - takenNano);
  for (const [unit, count] of Object.entries(charge.units)) {
    if (unit.endsWith(TOKENS)) metrics.tokens.add(count, unit.slice(0, -TOKENS.length));
  }
  if (charge.estimated) metrics.usageEstimated.inc(charge.estimated);
  if (charge.estimated !== "impossible") return;
  log.error(
    { request_id: of.requestId, source: of.source },
    "the provider reported impossible usage; the call was charged its full hold",
  );
}

/** Adds the late charge of a delivered response to the metrics and the log. The hold of its call was already closed by another process. */
export function countDelivered(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
  charge: Pick<Charge, "nano">,
  { takenNano, lateNano = 0n }: Settled,
  requestId: string,
): void {
  if (lateNano > 0n) {
    metrics.creditsSettled.addNano(lateNano);
    metrics.creditsSettledLate.addNano(lateNano);
    log.warn({ request_id: requestId }, "a response was charged after its hold had been released");
  }
  if (takenNano >= charge.nano) return;
  metrics.creditsUnbilled.addNano(charge.nano - takenNano);
  log.error({ request_id: requestId }, "a delivered response could not be charged; its hold had been released");
}
