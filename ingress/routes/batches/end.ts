/** Ends a batch: records its final state and its event. */
import { endBatch, Superseded } from "#shared/database/batch-work.ts";
import type { BatchEnd, BatchRow } from "#shared/database/batches.ts";
import { storableText } from "#shared/jobs/error.ts";

import type { IngressContext } from "../../context.ts";

import type { WrittenFiles } from "./write-files.ts";

export interface BatchFault {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** Final state of a batch. A failed batch has at least one fault; any other batch has output files. */
type End =
  | ({ readonly state: BatchEnd } & WrittenFiles)
  | { readonly state: "failed"; readonly faults: readonly BatchFault[] };

/**
 * Ends the batch, and updates metrics for the batch and for its lines that never ran. @throws Superseded when another process leads the
 * batch
 */
export async function endLed(
  { database, metrics }: Pick<IngressContext, "database" | "metrics">,
  batch: BatchRow,
  end: End,
): Promise<void> {
  const errors = end.state === "failed" ? JSON.stringify(end.faults) : null;
  if (!(await endBatch(database, batch, { ...end, errors, error: errorOf(end) }))) throw new Superseded();
  metrics.batches.inc(end.state);
  metrics.batchLines.add(batch.total - batch.completed - batch.failed, "failed");
}

const EXPIRED = {
  code: "batch_expired",
  message: "The completion window of the batch ended before all lines were processed.",
};

/** Returns the error for the batch's event: the first fault with its line number, and the number of faults. */
function errorOf(end: End): Pick<BatchFault, "code" | "message"> | null {
  if (end.state !== "failed") return end.state === "expired" ? EXPIRED : null;
  const { faults } = end;
  const [first] = faults;
  if (!first) throw new Error("a batch failed without a fault");
  const place = first.line === null ? "" : `Line ${first.line}: `;
  const others = faults.length === 1 ? "" : ` This is the first of ${faults.length} errors of the batch.`;
  return { code: first.code, message: storableText(`${place}${first.message}${others}`) };
}
