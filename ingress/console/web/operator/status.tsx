/** Status of the installation: dependencies, versions, running processes and counts that need attention. */
import type { JSX } from "preact";

import type { OperatorStatus } from "#schemas/generated/types.ts";
import { useCall } from "../api/query.ts";
import { countText } from "../parts/format.ts";
import { Callout } from "../parts/layers.tsx";
import { Page, Section, Stat } from "../parts/page.tsx";
import { Loaded, Table } from "../parts/table.tsx";
import { Icon } from "../parts/icon.tsx";
import { Ago, KeyValues, Status as State } from "../parts/values.tsx";

const REFRESH_MS = 10_000;

export default function Status(): JSX.Element {
  const query = useCall("GET /operator/status", {}, { everyMs: REFRESH_MS });
  return (
    <Page title="Status" about="Health of the whole installation, reported by the ingress process that answers.">
      <Loaded query={query}>
        {(data) => (
          <>
            {data.ok ? (
              <Callout tone="ok">Every dependency that calls need is reachable.</Callout>
            ) : (
              <Callout tone="bad">A dependency is unreachable. New calls are refused until it is back.</Callout>
            )}
            {data.counts === null ? null : (
              <section class="section" aria-label="Figures">
                <div class="stats">
                  <Stat
                    name="Workspaces"
                    figure={countText(data.counts.workspaces)}
                    href="/console/operator/workspaces"
                  />
                  <Stat
                    name="Open holds"
                    figure={countText(data.counts.open_holds)}
                    href="/console/operator/holds"
                    note="calls with reserved credits"
                  />
                  <Stat
                    name="Unknown results"
                    figure={countText(data.counts.unknown_jobs)}
                    href="/console/operator/holds?show=unknown"
                    note="jobs whose paid work has no known result"
                  />
                  <Stat
                    name="Dead letters"
                    figure={countText(data.counts.dead_letters)}
                    href="/console/operator/dead-letters"
                    note="messages that could not be processed"
                  />
                  <Stat
                    name="Settle faults"
                    figure={countText(data.counts.settle_faults)}
                    href="/console/operator/settle-faults"
                    note="holds closed without charging the usage"
                  />
                </div>
              </section>
            )}
            <Section title="Dependencies">
              <div class="panel">
                <Table
                  rows={data.dependencies}
                  idOf={({ name }) => name}
                  columns={[
                    { head: "Name", place: "main", cell: ({ name }) => name },
                    { head: "State", place: "key", cell: ({ ok }) => <State of={ok ? "available" : "failed"} /> },
                    { head: "Detail", place: "brk", cell: ({ detail }) => detail },
                  ]}
                />
              </div>
            </Section>
            <Processes {...data} />
            <Section title="Versions">
              <div class="panel">
                <div class="pad">
                  <KeyValues
                    of={[
                      ["Sluice", data.versions.sluice],
                      ["Schema", data.versions.schema],
                      ["Postgres", data.versions.postgres],
                      ["NATS", data.versions.nats],
                    ]}
                  />
                </div>
              </div>
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Processes by role, pool and version. Versions that differ from the answering ingress are marked. */
function Processes({ processes, versions }: OperatorStatus): JSX.Element {
  const running = [...new Set([versions.sluice, ...processes.map(versionOf)])];
  return (
    <Section title="Processes">
      {running.length === 1 ? null : (
        <Callout tone="warn">
          <b>{running.length === 2 ? "Two" : running.length} versions are running:</b> {running.join(", ")}. After an
          upgrade, one version should remain.
        </Callout>
      )}
      <div class="panel">
        <Table
          rows={processes}
          idOf={(row) => `${row.role} ${row.pool} ${row.version}`}
          columns={[
            {
              head: "Role",
              place: "main",
              cell: ({ role, pool }) => (
                <>
                  {role} <span class="muted">{pool}</span>
                </>
              ),
            },
            { head: "Processes", isNumber: true, label: "processes", cell: ({ count }) => countText(count) },
            {
              head: "Version",
              place: "key",
              cell: (row) =>
                row.version === versions.sluice ? (
                  row.version
                ) : (
                  <span class="badge warn">
                    <Icon name="warn" />
                    {versionOf(row)}
                  </span>
                ),
            },
            {
              head: "Started",
              label: "started",
              cell: ({ first_started_at: first, last_started_at: last }) => (
                <>
                  <Ago at={first} none="unknown" />
                  {first === last ? null : (
                    <>
                      {" to "}
                      <Ago at={last} />
                    </>
                  )}
                </>
              ),
            },
          ]}
        />
      </div>
      <p class="hint">Janitors and workers of the pool webhook do not report themselves.</p>
    </Section>
  );
}

function versionOf({ version }: OperatorStatus["processes"][number]): string {
  return version ?? "unknown";
}
