/** Versions of a workflow: the differences between one version and the latest, and the restoring of an earlier version. */
import type { JSX } from "preact";

import type { Workflow, WorkflowVersionList } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { nameIn, type Names, useMemberNames } from "../../api/names-of.ts";
import { useCall } from "../../api/query.ts";
import { LineDiff } from "../../parts/diff.tsx";
import { useUrlQuery } from "../../parts/filters.tsx";
import { zoneText } from "../../parts/format.ts";
import { ConfirmButton } from "../../parts/layers.tsx";
import { type Column, Empty, ListPanel, Loaded, useOffsetList } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";
import { textOf } from "./steps.ts";

type Version = WorkflowVersionList["items"][number];

export function Versions({
  workflow,
  onRestored,
}: {
  readonly workflow: Workflow;
  readonly onRestored: (definition: unknown) => void;
}): JSX.Element {
  const { id, latestVersion, definition } = workflow;
  const url = useUrlQuery();
  const members = useMemberNames();
  const list = useOffsetList<Version>(`versions ${id} ${latestVersion}`, (page, signal) =>
    call("GET /v1/workflows/{id}/versions", { path: { id }, query: page, signal }),
  );
  const asked = Number(url.get("version"));
  const chosen =
    Number.isInteger(asked) && asked >= 1 && asked < latestVersion ? asked : Math.max(1, latestVersion - 1);
  const other = useCall(
    "GET /v1/workflows/{id}",
    latestVersion === 1 ? null : { path: { id }, query: { version: chosen } },
  );
  return (
    <>
      <ListPanel
        query={list}
        columns={columnsOf(latestVersion, members, (version) => url.set({ version: String(version) }))}
        idOf={({ version }) => String(version)}
        selected={latestVersion === 1 ? undefined : String(chosen)}
        empty={<Empty title="No versions" />}
      />
      {latestVersion === 1 ? (
        <p class="soft">There is one version. After the next save, its changes are shown here.</p>
      ) : (
        <Loaded query={other}>
          {({ definition: before }) => (
            <section class="code">
              <header>
                <h2 class="grow">
                  Changes from version {chosen} to version {latestVersion}
                </h2>
                <ConfirmButton
                  small
                  title={`Restore version ${chosen}?`}
                  effect={`Its definition is stored as version ${latestVersion + 1}, which new runs use. Version ${latestVersion} stays in the list. Unsaved changes in the editor are lost.`}
                  action={`Restore version ${chosen}`}
                  run={async () => {
                    const body = { definition: { ...before } };
                    const { version } = await call("PUT /v1/workflows/{id}", { path: { id }, body });
                    toast(`Version ${chosen} is stored as version ${version}`);
                    onRestored(before);
                  }}
                />
              </header>
              <LineDiff from={textOf(before)} to={textOf(definition)} same="The definitions are equal." />
            </section>
          )}
        </Loaded>
      )}
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
