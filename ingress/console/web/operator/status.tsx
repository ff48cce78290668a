/** Status of the installation: dependencies, versions and counts that need attention. */
import type { JSX } from "preact";

import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { countText } from "../parts/format.ts";
import { Callout, FaultCallout } from "../parts/layers.tsx";
import { Page, Section, Stat } from "../parts/page.tsx";
import { Skeleton, Table } from "../parts/table.tsx";
import { KeyValues, Status as State } from "../parts/values.tsx";

const REFRESH_MS = 10_000;

export default function Status(): JSX.Element {
  const { data, fault, reload } = useQuery("operator status", (signal) => call("GET /operator/status", { signal }), {
    everyMs: REFRESH_MS,
  });
  const { counts } = data ?? {};
  return (
    <Page title="Status" about="Health of the whole installation, reported by the ingress process that answers.">
      {fault === undefined ? null : <FaultCallout fault={fault} retry={reload} />}
      {data === undefined ? (
        fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          {data.ok ? (
            <Callout tone="ok">Every dependency that calls need is reachable.</Callout>
          ) : (
            <Callout tone="bad">A dependency is unreachable. New calls are refused until it is back.</Callout>
          )}
          {counts == null ? null : (
            <section class="section" aria-label="Figures">
              <div class="stats">
                <Stat name="Workspaces" figure={countText(counts.workspaces)} href="/console/operator/workspaces" />
                <Stat
                  name="Open holds"
                  figure={countText(counts.open_holds)}
                  href="/console/operator/holds"
                  note="credits of calls in progress"
                />
                <Stat
                  name="Unknown results"
                  figure={countText(counts.unknown_jobs)}
                  href="/console/operator/holds?show=unknown"
                  note="jobs whose paid work has no known result"
                />
                <Stat
                  name="Dead letters"
                  figure={countText(counts.dead_letters)}
                  href="/console/operator/dead-letters"
                  note="messages that could not be processed"
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
    </Page>
  );
}
