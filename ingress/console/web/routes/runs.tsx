/** Runs: list of the workflow runs of the workspace, or one run. */
import type { JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { Link, useParams } from "wouter-preact";

import type { WorkflowRunSummary } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { nameIn, type Names, useWorkflowNames } from "../api/names-of.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { choicesOf } from "../parts/form.tsx";
import { durationText, timeText, zoneText } from "../parts/format.ts";
import { Page } from "../parts/page.tsx";
import { type Column, Empty, ListPanel, Skeleton, useOffsetList } from "../parts/table.tsx";
import { Amount, Status, statusChoices } from "../parts/values.tsx";

const REFRESH_MS = 5_000;

// The page of a run loads the layout of its graph.
const RunPage = lazy(() => import("./runs/run.tsx"));

export default function Runs(): JSX.Element {
  const { id } = useParams<{ id?: string }>();
  return id === undefined ? (
    <RunList />
  ) : (
    <Suspense fallback={<Skeleton />}>
      <RunPage key={id} id={id} />
    </Suspense>
  );
}

function RunList(): JSX.Element {
  const query = useUrlQuery();
  const names = useWorkflowNames();
  const [status, workflow] = [query.get("status"), query.get("workflow")];
  const list = useOffsetList<WorkflowRunSummary>(
    `runs ${status} ${workflow}`,
    (page, signal) => {
      const options = { query: { ...page, status }, signal };
      return workflow === ""
        ? call("GET /v1/workflows/runs", options)
        : call("GET /v1/workflows/{id}/runs", { ...options, path: { id: workflow } });
    },
    { everyMs: REFRESH_MS },
  );
  return (
    <Page
      title="Runs"
      about="Runs of workflows and of inline definitions, newest first. Runs that a step started are listed on the page of their parent."
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "status",
            label: "Status",
            choices: statusChoices("queued", "running", "succeeded", "failed", "cancelled"),
          },
          { name: "workflow", label: "Workflow", choices: choicesOf(Object.fromEntries(names)) },
        ]}
      />
      <ListPanel
        query={list}
        columns={columnsOf(names)}
        idOf={({ id }) => id}
        hrefOf={({ id }) => `/runs/${id}`}
        empty={
          status === "" && workflow === "" ? (
            <Empty title="No runs yet">
              <p>
                Every run is listed here with its cost. <Link href="/workflows">Open a workflow</Link> to start the
                first one.
              </p>
            </Empty>
          ) : (
            <Empty title="No runs match">
              <p>Remove a filter.</p>
            </Empty>
          )
        }
      />
    </Page>
  );
}

/** Name and version of a run's workflow. */
export function runName(
  { workflowId, version }: Pick<WorkflowRunSummary, "workflowId" | "version">,
  names: Names,
): string {
  return workflowId === undefined ? "Inline definition" : `${nameIn(names, workflowId)}, version ${version}`;
}

export function isOpen({ status }: Pick<WorkflowRunSummary, "status">): boolean {
  return status === "queued" || status === "running";
}

function columnsOf(names: Names): readonly Column<WorkflowRunSummary>[] {
  return [
    {
      head: "Workflow",
      place: "main",
      cut: "34%",
      title: (run) => `${runName(run, names)} (run ${run.id})`,
      cell: (run) => runName(run, names),
    },
    { head: "Status", place: "key", cell: ({ status }) => <Status of={status} /> },
    {
      head: `Created, ${zoneText()}`,
      cell: ({ createdAt }) => <span title={timeText(createdAt, "exact")}>{timeText(createdAt, "minute")}</span>,
    },
    { head: "Mode", place: "low", cell: ({ mode }) => mode },
    {
      head: "Duration",
      place: "mid",
      isNumber: true,
      cell: (run) => (isOpen(run) ? "—" : durationText(run.durationMs)),
    },
    { head: "Credits", isNumber: true, cell: ({ creditsUsed }) => <Amount credits={creditsUsed} /> },
  ];
}
