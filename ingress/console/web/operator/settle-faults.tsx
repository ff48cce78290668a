/** Settle faults: holds that were closed without charging what the call used, and their resolution. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { OperatorSettleFault } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { Button, TextField } from "../parts/form.tsx";
import { timeText, zoneText } from "../parts/format.ts";
import { FormDialog, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useList, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Amount, Id, KeyValues } from "../parts/values.tsx";
import { writeBlocked } from "./session.ts";
import { WorkspaceLink } from "./workspace-link.tsx";

export default function SettleFaults(): JSX.Element {
  const list = useList("GET /operator/settle-faults");
  const open = useOpenRow("/operator/settle-faults", list, ({ id }) => id);
  return (
    <Page
      title="Settle faults"
      isWide
      about="Holds that were closed without charging what the call used. Correct the balance, then resolve the fault."
      sheet={
        open.row && (
          <FaultSheet
            key={open.id}
            row={open.row}
            {...open.sheet}
            onResolved={() => {
              open.show(undefined);
              list.reload();
            }}
          />
        )
      }
    >
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        open={open}
        columns={[
          { head: `Time, ${zoneText()}`, place: "brk", cell: ({ at }) => timeText(at, "minute") },
          { head: "Reason", place: "main", cell: ({ fault }) => reasonOf(fault) },
          { head: "Workspace", cell: ({ workspace_id }) => <WorkspaceLink id={workspace_id} /> },
          {
            head: "Source",
            place: "low",
            cut: "20%",
            title: ({ source }) => source ?? "",
            cell: ({ source }) => source ?? "—",
          },
          { head: "Held, credits", place: "mid", isNumber: true, cell: ({ held }) => <Amount credits={held} /> },
          {
            head: "Charged, credits",
            place: "mid",
            isNumber: true,
            cell: ({ settled }) => <Amount credits={settled} />,
          },
          {
            head: "Used, credits",
            place: "key",
            isNumber: true,
            cell: ({ used }) => (
              <>
                <span class="narrow">used </span>
                {used === null ? "—" : <Amount credits={Number(used)} />}
              </>
            ),
          },
        ]}
        empty={
          <Empty title="No settle faults">
            <p>Every closed hold was charged with what its call used.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function reasonOf(fault: string): string {
  const isSettled = fault === "usage_record" || fault === "ledger_entry";
  return isSettled ? "The call was charged before" : `Postgres rejected the usage, ${fault}`;
}

function FaultSheet({
  row,
  onResolved,
  ...controls
}: SheetControls & { readonly row: OperatorSettleFault; readonly onResolved: () => void }): JSX.Element {
  const [isResolving, setResolving] = useState(false);
  return (
    <Sheet title={reasonOf(row.fault)} {...controls}>
      <section>
        <div class="row">
          <Button small kind="primary" blocked={writeBlocked.value} onClick={() => setResolving(true)}>
            Resolve fault
          </Button>
        </div>
        <KeyValues
          of={[
            ["Time", `${timeText(row.at, "day")}, ${timeText(row.at, "exact")}`],
            ["Workspace", <WorkspaceLink id={row.workspace_id} />],
            ["Held", <Amount credits={row.held} />],
            ["Used", row.used === null ? null : `${row.used} credits`],
            ["Charged", <Amount credits={row.settled} />],
            ["Result", row.status],
            ["Source", row.source],
            ["Job", <Id value={row.job_id} label="job id" />],
            ["Attempt", row.attempt],
            ["Fault", <code>{row.fault}</code>],
          ]}
        />
        <p class="hint">
          To charge the difference, correct the balance of the{" "}
          <Link href={`/operator/workspaces/${row.workspace_id}`}>workspace</Link>.
        </p>
      </section>
      {isResolving ? <Resolve row={row} onClose={() => setResolving(false)} onSaved={onResolved} /> : null}
    </Sheet>
  );
}

function Resolve({ row, ...dialog }: DialogProps & { readonly row: OperatorSettleFault }): JSX.Element {
  const form = useForm(
    { note: "" },
    async ({ note }) => {
      const body = note.trim() === "" ? {} : { note: note.trim() };
      await call("POST /operator/settle-faults/{id}/resolve", { path: { id: row.id }, body });
      toast("The settle fault is resolved");
    },
    dialog,
  );
  return (
    <FormDialog
      title="Resolve the settle fault?"
      hint="The fault leaves the list, and its alert ends. No credits move."
      onClose={dialog.onClose}
      action="Resolve fault"
      submit={form}
    >
      <TextField label="Note" {...form.bind("note")} isOptional hint="The audit log has the note." />
    </FormDialog>
  );
}
