/** Workflows: list of stored workflows with templates to start from, or one workflow. */
import type { JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { Link, useLocation, useParams } from "wouter-preact";

import type { WorkflowRunSummary, WorkflowSummary } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useCall, useQuery } from "../api/query.ts";
import { Button } from "../parts/form.tsx";
import { timeText, zoneText } from "../parts/format.ts";
import { FaultCallout } from "../parts/layers.tsx";
import { Page, Section } from "../parts/page.tsx";
import { type Column, Empty, ListPanel, Skeleton, useOffsetList } from "../parts/table.tsx";
import { Status, Time } from "../parts/values.tsx";

/** Number of newest runs among which the last run of each workflow is looked up. */
const RUNS_READ = 100;

// The page of a workflow loads the editor and the layout of its graph.
const WorkflowPage = lazy(() => import("./workflows/page.tsx"));

export default function Workflows(): JSX.Element {
  const { id } = useParams<{ id?: string }>();
  return id === undefined ? (
    <WorkflowList />
  ) : (
    <Suspense fallback={<Skeleton />}>
      <WorkflowPage key={id} id={id} />
    </Suspense>
  );
}

function WorkflowList(): JSX.Element {
  const [, navigate] = useLocation();
  const list = useOffsetList<WorkflowSummary>("workflows", (page, signal) =>
    call("GET /v1/workflows", { query: page, signal }),
  );
  const runs = useQuery("last runs", async (signal) => {
    const { items } = await call("GET /v1/workflows/runs", { query: { limit: RUNS_READ }, signal });
    // Newest first: the last entry of a workflow in the reversed list is its newest run.
    return new Map(
      items.toReversed().flatMap((run) => (run.workflowId === undefined ? [] : [[run.workflowId, run] as const])),
    );
  });
  return (
    <Page
      title="Workflows"
      about="A workflow chains model calls, capabilities and other workflows. Each save of its definition is a version; runs keep the version that they started with."
      actions={
        <Button kind="primary" icon="plus" onClick={() => navigate("/workflows/new")}>
          Create workflow
        </Button>
      }
    >
      <ListPanel
        query={list}
        columns={columnsOf(runs.data ?? new Map<string, WorkflowRunSummary>())}
        idOf={({ id }) => id}
        hrefOf={({ id }) => `/workflows/${id}`}
        empty={
          <Empty title="No workflows yet">
            <p>
              Stored workflows are listed here with their last run. Start from a template below, or from an empty
              definition.
            </p>
          </Empty>
        }
      />
      <Templates />
    </Page>
  );
}

function Templates(): JSX.Element | null {
  const query = useCall("GET /v1/workflows/templates");
  if (query.data === undefined) return <FaultCallout fault={query.fault} retry={query.reload} />;
  if (query.data.data.length === 0) return null;
  return (
    <Section title="Start from a template" note="Templates run unchanged on test models.">
      <div class="nexts">
        {query.data.data.map(({ id, name, description }) => (
          <Link key={id} class="next" href={`/workflows/new?template=${id}`}>
            <b>{name}</b>
            <span>{description}</span>
          </Link>
        ))}
      </div>
    </Section>
  );
}

/** Visibility of a workflow in words. */
export function visibilityOf({
  sharingScope,
  sharePermission,
}: Pick<WorkflowSummary, "sharingScope" | "sharePermission">): string {
  if (sharingScope === "private") return "Private";
  return { read: "Members may read", run: "Members may run", edit: "Members may edit" }[sharePermission];
}

function columnsOf(runs: ReadonlyMap<string, WorkflowRunSummary>): readonly Column<WorkflowSummary>[] {
  return [
    {
      head: "Name",
      place: "main",
      cut: "44%",
      title: ({ name, id }) => `${name} (${id})`,
      cell: ({ name }) => name,
      sub: ({ description }) => description,
    },
    {
      head: "Last run",
      place: "key",
      title: ({ id }) => (runs.has(id) ? "" : `Not among the ${RUNS_READ} newest runs of the workspace`),
      cell: ({ id }) => {
        const run = runs.get(id);
        return run === undefined ? (
          <span class="muted">—</span>
        ) : (
          <Link href={`/runs/${run.id}`} title={timeText(run.createdAt, "exact")}>
            <Status of={run.status} />
          </Link>
        );
      },
    },
    { head: "Versions", place: "mid", isNumber: true, cell: ({ latestVersion }) => latestVersion },
    { head: "Visibility", place: "low", cell: visibilityOf },
    { head: `Changed, ${zoneText()}`, place: "mid", cell: ({ updatedAt }) => <Time at={updatedAt} style="minute" /> },
  ];
}
