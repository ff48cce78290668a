/** Dead letters: messages that could not be processed, with redrive and deletion. */
import type { JSX } from "preact";

import type { OperatorDeadLetter } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction } from "../api/query.ts";
import { Button, FaultText } from "../parts/form.tsx";
import { sizeText, timeText, zoneText } from "../parts/format.ts";
import { ConfirmButton, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useList, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Id, KeyValues } from "../parts/values.tsx";
import { writeBlocked } from "./session.ts";
import { WorkspaceLink } from "./workspace-link.tsx";

const RESULTS = {
  done: "The job is queued again",
  unknown: "The dead letter no longer exists",
  over: "The job cannot run again",
  funds: "The credits of the workspace do not cover the job",
  limit: "A spend limit leaves less than the job may cost",
} as const;

export default function DeadLetters(): JSX.Element {
  const list = useList("GET /operator/dead-letters");
  const open = useOpenRow("/operator/dead-letters", list, ({ id }) => id);
  return (
    <Page
      title="Dead letters"
      isWide
      about="Messages that could not be processed. Their credits are released."
      sheet={
        open.row && (
          <LetterSheet
            key={open.id}
            row={open.row}
            {...open.sheet}
            onChange={() => {
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
          {
            head: "Subject",
            place: "main",
            cut: "36%",
            title: ({ subject }) => subject,
            cell: subjectOf,
          },
          {
            head: "Workspace",
            cell: ({ workspace_id: id }) => (id === null ? "—" : <WorkspaceLink id={id} />),
          },
          { head: "Reason", place: "mid", cut: "30%", title: ({ reason }) => reason, cell: ({ reason }) => reason },
          {
            head: "Deliveries",
            place: "key",
            isNumber: true,
            cell: ({ deliveries }) => (
              <>
                <span class="narrow">deliveries </span>
                {deliveries}
              </>
            ),
          },
        ]}
        empty={
          <Empty title="No dead letters">
            <p>Every message was processed.</p>
          </Empty>
        }
      />
    </Page>
  );
}

/** Returns the subject of the message without the id of its workspace, which the page shows by its name. */
function subjectOf({ subject, workspace_id: id }: OperatorDeadLetter): string {
  return id === null ? subject : subject.replace(`.${id}`, "");
}

function LetterSheet({
  row,
  onChange,
  ...controls
}: SheetControls & { readonly row: OperatorDeadLetter; readonly onChange: () => void }): JSX.Element {
  const redrive = useAction(async () => {
    const { data } = await call("POST /operator/dead-letters/redrive", { body: { ids: [row.id] } });
    const result = data[0]?.result ?? "unknown";
    toast(RESULTS[result], result === "done" ? "ok" : "bad");
    onChange();
  });
  return (
    <Sheet title={subjectOf(row)} {...controls}>
      <section>
        <div class="row">
          <Button
            small
            kind="primary"
            blocked={writeBlocked.value}
            isRunning={redrive.isRunning}
            onClick={() => redrive.run()}
          >
            Queue job again
          </Button>
          <ConfirmButton
            small
            kind="danger"
            blocked={writeBlocked.value}
            title="Delete the dead letter?"
            effect="Its message is gone and cannot be queued again. This cannot be undone."
            action="Delete dead letter"
            run={async () => {
              await call("DELETE /operator/dead-letters/{id}", { path: { id: row.id } });
              onChange();
            }}
          />
        </div>
        <FaultText fault={redrive.fault} />
        <KeyValues
          of={[
            ["Reason", row.reason],
            ["Time", `${timeText(row.at, "day")}, ${timeText(row.at, "exact")}`],
            ["Deliveries", row.deliveries],
            ["Size", sizeText(row.body_bytes)],
            ["Stream", `${row.stream}, ${row.stream_seq}`],
            ["Subject", row.subject],
            ["Workspace", row.workspace_id === null ? null : <WorkspaceLink id={row.workspace_id} />],
            ["Job", row.job_id === null ? null : <Id value={row.job_id} label="job id" />],
          ]}
        />
      </section>
    </Sheet>
  );
}
