/** Holds: credits that calls in progress reserve, and holds that no process will close. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { OperatorHoldList } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button } from "../parts/form.tsx";
import { relativeText } from "../parts/format.ts";
import { ConfirmDialog } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useCursor } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Ago, Amount, Status } from "../parts/values.tsx";
import { moneyBlocked } from "./session.ts";

type Hold = OperatorHoldList["data"][number];

export default function Holds(): JSX.Element {
  const [closing, setClosing] = useState<Hold>();
  const query = useUrlQuery();
  const cursor = useCursor(query.text);
  const show = query.get("show");
  const list = useQuery(`operator holds ${query.text} ${cursor.after ?? ""}`, (signal) =>
    call("GET /operator/holds", {
      query: { limit: 50, after: cursor.after, ...(show === "" ? {} : { [show]: true }) },
      signal,
    }),
  );
  return (
    <Page
      title="Holds"
      about="Credits that calls in progress reserve. A hold past its deadline is closed by the janitor."
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "show",
            label: "Show",
            isFixed: true,
            choices: [
              { value: "", text: "All" },
              { value: "overdue", text: "Past their deadline" },
              { value: "unknown", text: "Unknown results" },
            ],
          },
        ]}
      />
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={({ id }) => id}
        columns={[
          { head: "Model", place: "main", cut: "28%", title: ({ job_id }) => job_id, cell: ({ model }) => model },
          {
            head: "Workspace",
            cut: "20%",
            title: ({ workspace_id }) => workspace_id,
            cell: ({ workspace, workspace_id }) => (
              <Link href={`/operator/workspaces/${workspace_id}`}>{workspace}</Link>
            ),
          },
          {
            head: "State",
            cell: (hold) => (
              <Status of={hold.unknown_since === null ? (hold.is_overdue ? "retrying" : "running") : "lost"} />
            ),
          },
          { head: "Since", place: "mid", cell: ({ created_at }) => <Ago at={created_at} /> },
          { head: "Deadline", place: "low", cell: ({ deadline }) => relativeText(deadline) },
          { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
          {
            head: <span class="sr">Actions</span>,
            cell: (hold) => (
              <Button small blocked={moneyBlocked.value} onClick={() => setClosing(hold)}>
                Release
              </Button>
            ),
          },
        ]}
        empty={<Empty title="No open holds" />}
      />
      {closing === undefined ? null : (
        <ConfirmDialog
          title={`Release the hold of ${closing.model}?`}
          effect={`${closing.credits} credits return to ${closing.workspace}, and nothing is charged. If the call still runs, its result is not charged either.`}
          action="Release hold"
          onClose={() => setClosing(undefined)}
          run={async () => {
            const body = { before_deadline: !closing.is_overdue, note: "released in the console" };
            await call("POST /operator/holds/{id}/close", { path: { id: closing.id }, body });
            toast("The hold is released");
            list.reload();
          }}
        />
      )}
    </Page>
  );
}
