/** Audit of the ledger: recomputes every balance and lists the differences. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorLedgerAudit } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction } from "../api/query.ts";
import { Button, FaultText } from "../parts/form.tsx";
import { timeText } from "../parts/format.ts";
import { Callout } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Table } from "../parts/table.tsx";
import { writeBlocked } from "./session.ts";
import { WorkspaceLink } from "./workspace-link.tsx";

export default function LedgerAudit(): JSX.Element {
  const [result, setResult] = useState<OperatorLedgerAudit & { readonly at: number }>();
  const audit = useAction(async () => {
    setResult(undefined);
    setResult({ ...(await call("POST /operator/ledger/audit")), at: Date.now() });
  });
  const faults = result?.faults ?? [];
  return (
    <Page
      title="Ledger audit"
      about="Recomputes every balance from all entries and holds of one snapshot. The audit takes a minute at most; calls continue."
      actions={
        <Button kind="primary" blocked={writeBlocked.value} isRunning={audit.isRunning} onClick={() => audit.run()}>
          Audit ledger
        </Button>
      }
    >
      <div role="status">
        {audit.isRunning ? <p class="soft">The audit is running.</p> : null}
        {result === undefined && !audit.isRunning ? <p class="soft">No audit was started in this tab.</p> : null}
        <FaultText fault={audit.fault} />
        {result === undefined ? null : (
          <Callout tone={result.ok ? "ok" : "bad"}>
            {result.ok
              ? "The ledger is exact: every balance is the sum of its entries and holds."
              : `The audit found ${faults.length} ${faults.length === 1 ? "difference" : "differences"}.`}{" "}
            Audited at {timeText(result.at, "exact")}.
          </Callout>
        )}
      </div>
      {faults.length === 0 ? null : (
        <div class="panel">
          <Table
            rows={faults}
            idOf={({ workspace_id, fault }) => `${workspace_id} ${fault}`}
            columns={[
              { head: "Workspace", place: "main", cell: ({ workspace_id: id }) => <WorkspaceLink id={id} /> },
              { head: "Difference", place: "brk", cell: ({ fault }) => fault },
              { head: "Expected, nano-credits", isNumber: true, label: "expected", cell: ({ expected }) => expected },
              { head: "Stored, nano-credits", isNumber: true, label: "stored", cell: ({ found }) => found },
            ]}
          />
        </div>
      )}
    </Page>
  );
}
