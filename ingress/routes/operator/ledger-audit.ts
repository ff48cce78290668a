/** POST /operator/ledger/audit: whether the books add up. */
import type { OperatorLedgerAudit } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/errors.ts";
import { auditAlone } from "#shared/ledger/audit.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import type { Route } from "../../serve.ts";
import { WRITE } from "./common.ts";

/** Longest audit for a request; the command may take longer. */
const OPERATOR_AUDIT_MS = 60_000;

export function ledgerAudit(context: IngressContext): Route {
  return {
    ...WRITE,
    method: "POST",
    path: "/operator/ledger/audit",
    operationId: "auditOperatorLedger",
    summary: "Recompute every balance from all entries and holds",
    description:
      "One at a time, of one snapshot, for a minute at most: where the ledger is too long for that, `admin credits check` has more time.",
    responses: { 200: { description: "Whether the books add up", schema: "OperatorLedgerAudit" } },
    errors: ["conflict"],
    async handle() {
      const found = await auditAlone(context.database, OPERATOR_AUDIT_MS);
      if (found === "busy")
        throw new ApiError("conflict", "Another audit of the ledger is running; try again when it has ended.");
      if (found === "late") {
        const seconds = OPERATOR_AUDIT_MS / 1_000;
        const message = `The audit takes longer than ${seconds} seconds; the command \`admin credits check\` has more time.`;
        throw new ApiError("service_unavailable", message, { shouldRetry: false });
      }
      return json({
        ok: found.length === 0,
        faults: found.map((fault) => ({ ...fault })),
      } satisfies OperatorLedgerAudit);
    },
  };
}
