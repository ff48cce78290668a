/** Sources: each provider with its state, the reason of a disablement, a test and a reset. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorSource, OperatorSourceTest } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, FaultText } from "../parts/form.tsx";
import { durationText } from "../parts/format.ts";
import { Callout, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Ago, KeyValues, Status } from "../parts/values.tsx";
import { writeBlocked } from "./session.ts";

const REFRESH_MS = 10_000;
const STATES = { available: "available", disabled: "suspended", not_configured: "Not configured" } as const;

export default function Sources(): JSX.Element {
  const query = useUrlQuery();
  const state = query.get("state");
  const list = useQuery(
    `operator sources ${state}`,
    async (signal) => {
      const { data } = await call("GET /operator/sources", { signal });
      return { data: data.filter((row) => state === "" || row.state === state) };
    },
    { everyMs: REFRESH_MS },
  );
  const open = useOpenRow("/operator/sources", list, ({ id }) => id);
  return (
    <Page
      title="Providers"
      isWide
      about="A source is a model at a provider. After errors it is disabled for a time, and tried again by itself."
      sheet={open.row && <SourceSheet key={open.id} row={open.row} {...open.sheet} onChange={list.reload} />}
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "state",
            label: "Show",
            isFixed: true,
            choices: [
              { value: "", text: "All" },
              { value: "disabled", text: "Disabled after errors" },
              { value: "available", text: "Available" },
              { value: "not_configured", text: "Not configured" },
            ],
          },
        ]}
      />
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        open={open}
        columns={[
          {
            head: "Source",
            place: "main",
            cut: "40%",
            title: ({ id }) => id,
            cell: ({ id }) => id,
          },
          { head: "State", place: "key", cell: ({ state }) => <Status of={STATES[state]} /> },
          {
            head: "Reason",
            place: "mid",
            cut: "24%",
            title: ({ reason }) => reason ?? "",
            cell: ({ reason, setting }) => reason ?? (setting === null ? "—" : `set ${setting}`),
          },
          {
            head: "Next attempt",
            place: "low",
            cell: ({ next_attempt_seconds: seconds }) => (seconds === null ? "—" : `in ${seconds} s`),
          },
        ]}
        empty={
          <Empty title={state === "" ? "No sources" : "No sources match"}>
            <p>Sources come from the catalogue. Set the key of a provider to use its models.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function SourceSheet({
  row,
  onChange,
  ...controls
}: SheetControls & { readonly row: OperatorSource; readonly onChange: () => void }): JSX.Element {
  const [result, setResult] = useState<OperatorSourceTest>();
  const path = { source: row.id };
  const test = useAction(async () => setResult(await call("POST /operator/sources/{source}/test", { path })));
  const reset = useAction(async () => {
    await call("POST /operator/sources/{source}/reset", { path });
    toast("The source is tried again by the next call");
    onChange();
  });
  return (
    <Sheet title={row.id} {...controls}>
      <section>
        <div class="row wrap">
          <Status of={STATES[row.state]} />
          <span class="push row">
            <Button small blocked={writeBlocked.value} isRunning={test.isRunning} onClick={() => test.run()}>
              Test source
            </Button>
            <Button small blocked={writeBlocked.value} isRunning={reset.isRunning} onClick={() => reset.run()}>
              Reset source
            </Button>
          </span>
        </div>
        <FaultText fault={test.fault ?? reset.fault} />
        {result === undefined ? null : (
          <Callout tone={result.is_working ? "ok" : "bad"}>
            {result.is_working
              ? `${result.model} answered in ${durationText(result.duration_ms)}.`
              : `${result.model} failed: ${result.error}${result.provider_status === null ? "" : `, status ${result.provider_status}`}. ${result.provider_text ?? ""}`}
          </Callout>
        )}
        <KeyValues
          of={[
            ["Provider", row.provider],
            ["Models", row.models.join(", ")],
            ["Setting of its key", row.setting],
            ["Reason", row.reason],
            ["Provider’s status", row.provider_status],
            ["Disabled", row.disabled_since === null ? null : <Ago at={row.disabled_since} />],
            ["Next attempt", row.next_attempt_seconds === null ? null : `in ${row.next_attempt_seconds} s`],
          ]}
        />
        <p class="hint">A test sends one small request to the provider, which the provider may charge.</p>
      </section>
    </Sheet>
  );
}
