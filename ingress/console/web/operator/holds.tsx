/** Holds: credits that calls in progress reserve, and holds that no process will close. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import { call } from "../api/client.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { choicesOf } from "../parts/form.tsx";
import { relativeText } from "../parts/format.ts";
import { ConfirmButton } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useList } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Ago, Amount, Status } from "../parts/values.tsx";
import { moneyBlocked } from "./session.ts";

export default function Holds(): JSX.Element {
  const query = useUrlQuery();
  const show = query.get("show");
  const list = useList("GET /operator/holds", { query: show === "" ? {} : { [show]: true } });
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
            choices: choicesOf({ "": "All", overdue: "Past their deadline", unknown: "Unknown results" }),
          },
        ]}
      />
      <ListPanel
        query={list}
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
          { head: "Since", place: "mid", label: "since", cell: ({ created_at }) => <Ago at={created_at} /> },
          { head: "Deadline", place: "low", label: "deadline", cell: ({ deadline }) => relativeText(deadline) },
          { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
          {
            head: <span class="sr">Actions</span>,
            cell: (hold) => (
              <ConfirmButton
                small
                blocked={moneyBlocked.value}
                title={`Release the hold of ${hold.model}?`}
                effect={`${hold.credits} credits return to ${hold.workspace}, and nothing is charged. If the call still runs, its result is not charged either.`}
                action="Release hold"
                run={async () => {
                  const body = { before_deadline: !hold.is_overdue, note: "released in the console" };
                  await call("POST /operator/holds/{id}/close", { path: { id: hold.id }, body });
                  toast("The hold is released");
                  list.reload();
                }}
              >
                Release
              </ConfirmButton>
            ),
          },
        ]}
        empty={<Empty title="No open holds" />}
      />
    </Page>
  );
}
