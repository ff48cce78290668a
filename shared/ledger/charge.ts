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
  /** Reason why the usage is estimated; undefined if the provider reported it. */
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

/** Returns the charge at the price share of a batch line. */
export function chargeAt(charge: Charge | undefined, line: BatchLine): Charge | undefined {
  return charge && { ...charge, nano: priceAt(charge.nano, line) };
}

/** `CallSettlement` without the fields that identify the call. */
export type Settlement = Omit<CallSettlement, "workspaceId" | "jobId" | "attempt" | "isPatient" | "isDelivered">;

/**
 * Returns the settlement of a call.
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

/** Counts a settlement in the metrics. Called once per settlement, by the process that closed the hold. */
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

/** Counts the settlement of a delivered response whose hold another process had already closed. */
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
