/** Cost of a call once it is known, in the ledger's terms and in those of metrics and log. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

import type { CallSettlement, Settled, UsageStatus } from "./settle.ts";

export interface Charge {
  readonly nano: bigint;
  /** Measured units, for the usage record. */
  readonly units: Readonly<Record<string, number>>;
  /** Corrects the daily counter. */
  readonly tokens: number;
  /** Why the figures are ours and not the provider's; undefined when they are the provider's. */
  readonly estimated: "missing" | "impossible" | "cut" | undefined;
}

/** A line of a batch, of whose price a share is held and taken. */
type BatchLine = JobMessage["batch_line"];

const WHOLE = 1_000_000n;

/** Returns the nano-credits that a call costs where its whole price is `nano`; a fraction is rounded up, as in a price. */
export function priceAt(nano: bigint, line: BatchLine): bigint {
  if (line === undefined) return nano;
  return (nano * BigInt(line.price_millionths) + WHOLE - 1n) / WHOLE;
}

/** The same of a charge. */
export function chargeAt(charge: Charge | undefined, line: BatchLine): Charge | undefined {
  return charge && { ...charge, nano: priceAt(charge.nano, line) };
}

/** A `CallSettlement` without the call that it is of. */
export type Settlement = Omit<CallSettlement, "workspaceId" | "jobId" | "attempt" | "isPatient" | "isDelivered">;

/** @param charge undefined releases the hold. @param source `provider/model` that served, null when none did */
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

/** Ending of the units that count tokens. */
const TOKENS = "_tokens";

/** Counts what a settlement took. Run once for each, by the process that closed the hold. */
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
    "the provider reported impossible usage; the call was settled at its hold",
  );
}

/** Counts what became of an answer that its caller has, when another process had closed its hold before. */
export function countDelivered(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
  charge: Pick<Charge, "nano">,
  { takenNano, lateNano = 0n }: Settled,
  requestId: string,
): void {
  if (lateNano > 0n) {
    metrics.creditsSettled.addNano(lateNano);
    metrics.creditsSettledLate.addNano(lateNano);
    log.warn({ request_id: requestId }, "an answer was paid after its hold had been released");
  }
  if (takenNano >= charge.nano) return;
  metrics.creditsUnbilled.addNano(charge.nano - takenNano);
  log.error({ request_id: requestId }, "an answer was delivered whose hold had been released");
}
