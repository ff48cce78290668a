/** Versions of a workflow: the differences between one version and the latest, and the restoring of an earlier version. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Workflow, WorkflowVersionList } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { nameIn, type Names, useMemberNames } from "../../api/names-of.ts";
import { useQuery } from "../../api/query.ts";
import { LineDiff } from "../../parts/diff.tsx";
import { useUrlQuery } from "../../parts/filters.tsx";
import { Button } from "../../parts/form.tsx";
import { zoneText } from "../../parts/format.ts";
import { ConfirmDialog, FaultCallout } from "../../parts/layers.tsx";
import { type Column, Empty, ListPanel, type ListPage, Skeleton, useCursor } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";
import { textOf } from "./steps.ts";

type Version = WorkflowVersionList["items"][number];

const ROWS = 20;

export function Versions({
  workflow,
  onRestored,
}: {
  readonly workflow: Workflow;
  readonly onRestored: (definition: unknown) => void;
}): JSX.Element {
  const { id, latestVersion, definition } = workflow;
  const url = useUrlQuery();
  const cursor = useCursor(String(latestVersion));
  const offset = Number(cursor.after ?? 0);
  const members = useMemberNames();
  const [isRestoring, setRestoring] = useState(false);
  const list = useQuery<ListPage<Version>>(`versions ${id} ${latestVersion} ${offset}`, async (signal) => {
    const { items, total } = await call("GET /v1/workflows/{id}/versions", {
      path: { id },
      query: { limit: ROWS, offset },
      signal,
    });
    return { data: items, has_more: offset + items.length < total, last_id: String(offset + items.length) };
  });
  const asked = Number(url.get("version"));
  const chosen =
    Number.isInteger(asked) && asked >= 1 && asked < latestVersion ? asked : Math.max(1, latestVersion - 1);
  const other = useQuery(latestVersion === 1 ? "" : `workflow ${id} ${chosen}`, (signal) =>
    call("GET /v1/workflows/{id}", { path: { id }, query: { version: chosen }, signal }),
  );
  return (
    <>
      <ListPanel
        query={list}
        cursor={cursor}
        columns={columnsOf(latestVersion, members, (version) => url.set({ version: String(version) }))}
        idOf={({ version }) => String(version)}
        selected={latestVersion === 1 ? undefined : String(chosen)}
        empty={<Empty title="No versions" />}
      />
      {other.fault === undefined ? null : <FaultCallout fault={other.fault} retry={other.reload} />}
      {latestVersion === 1 ? (
        <p class="soft">There is one version. After the next save, its changes are shown here.</p>
      ) : other.data === undefined ? (
        other.fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <section class="code">
          <header>
            <h2 class="grow">
              Changes from version {chosen} to version {latestVersion}
            </h2>
            <Button small onClick={() => setRestoring(true)}>
              Restore version {chosen}
            </Button>
          </header>
          <LineDiff from={textOf(other.data.definition)} to={textOf(definition)} same="The definitions are equal." />
        </section>
      )}
      {isRestoring && other.data !== undefined ? (
        <ConfirmDialog
          title={`Restore version ${chosen}?`}
          effect={`Its definition is stored as version ${latestVersion + 1}, which new runs use. Version ${latestVersion} stays in the list. Unsaved changes in the editor are lost.`}
          action={`Restore version ${chosen}`}
          onClose={() => setRestoring(false)}
          run={async () => {
            const restored = other.data?.definition;
            if (restored === undefined) return;
            const { version } = await call("PUT /v1/workflows/{id}", {
              path: { id },
              body: { definition: { ...restored } },
            });
            toast(`Version ${chosen} is stored as version ${version}`);
            onRestored(restored);
          }}
        />
      ) : null}
    </>
  );
}

function columnsOf(latest: number, members: Names, choose: (version: number) => void): readonly Column<Version>[] {
  return [
    {
      head: "Version",
      place: "main",
      cell: ({ version }) =>
        version === latest ? (
          `${version}, the latest`
        ) : (
          <button type="button" class="link" aria-label={`Compare version ${version}`} onClick={() => choose(version)}>
            {version}
          </button>
        ),
    },
    { head: `Created, ${zoneText()}`, place: "key", cell: ({ createdAt }) => <Time at={createdAt} style="minute" /> },
    {
      head: "By",
      title: ({ createdByUserId }) => createdByUserId,
      cell: ({ createdByUserId }) => nameIn(members, createdByUserId),
    },
  ];
}
