/** POST /operator/ledger/audit: checks that the ledger balances. */
import type { OperatorLedgerAudit } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { auditAlone } from "#shared/ledger/audit.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { WRITE } from "./common.ts";

/** Maximum duration of an audit in a request, in milliseconds. An audit by command may take longer. */
const OPERATOR_AUDIT_MS = 60_000;

export function ledgerAudit(context: IngressContext): OperatorRoute {
  return {
    ...WRITE,
    method: "POST",
    path: "/operator/ledger/audit",
    operationId: "auditOperatorLedger",
    summary: "Audit ledger",
    description:
      "Recomputes every balance from all entries and holds of one snapshot. Only one audit runs at a time, for a " +
      "minute at most. For longer ledgers use `admin credits check`.",
    responses: { 200: { description: "The result of the audit", schema: "OperatorLedgerAudit" } },
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
