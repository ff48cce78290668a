/** Catalogue: every model with the reason why one is not offered, and a check of files before they are used. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { OperatorCatalogueCheck } from "#schemas/generated/types.ts";
import { MODALITIES } from "../api/catalogue.ts";
import { call } from "../api/client.ts";
import { useAction, useCall } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, choicesOf, FaultText } from "../parts/form.tsx";
import { countText } from "../parts/format.ts";
import { Callout } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Table } from "../parts/table.tsx";
import { Status } from "../parts/values.tsx";
import { writeBlocked } from "./session.ts";

export default function Catalogue(): JSX.Element {
  const query = useUrlQuery();
  const show = query.get("show");
  const name = query.get("name").toLowerCase();
  const list = useCall("GET /operator/catalogue");
  const isShown = ({ is_routable, model }: { readonly is_routable: boolean; readonly model: string }): boolean =>
    (show === "" || !is_routable) && model.toLowerCase().includes(name);
  const input = useRef<HTMLInputElement>(null);
  const [result, setResult] = useState<OperatorCatalogueCheck>();
  const check = useAction(async (chosen: readonly File[]) => {
    setResult(undefined);
    const files = await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })));
    setResult(await call("POST /operator/catalogue/check", { body: { files } }));
  });
  return (
    <Page
      title="Catalogue"
      about="Models of this installation with their sources. A check reads files for SLUICE_CATALOGUE and changes nothing."
      actions={
        <>
          <input
            ref={input}
            type="file"
            hidden
            multiple
            accept=".yaml,.yml"
            aria-label="Catalogue files"
            onChange={(event) => {
              const files = [...(event.currentTarget.files ?? [])];
              event.currentTarget.value = "";
              if (files.length > 0) void check.run(files);
            }}
          />
          <Button
            icon="upload"
            blocked={writeBlocked.value}
            isRunning={check.isRunning}
            onClick={() => input.current?.click()}
          >
            Check files
          </Button>
        </>
      }
    >
      <div class="stack" role="status">
        <FaultText fault={check.fault} />
        {result === undefined ? null : <Result of={result} />}
      </div>
      <FilterBar
        query={query}
        filters={[
          {
            name: "show",
            label: "Show",
            isFixed: true,
            choices: choicesOf({ "": "All", unavailable: "Not available" }),
          },
          { name: "name", label: "Part of the name", isFixed: true },
        ]}
      />
      <ListPanel
        query={{ ...list, data: list.data && { data: list.data.data.filter(isShown) } }}
        idOf={({ model }) => model}
        columns={[
          { head: "Model", place: "main", cell: ({ model }) => model },
          { head: "Kind", place: "low", cell: ({ modality }) => kindText(modality) },
          {
            head: "State",
            place: "key",
            cell: ({ is_routable }) => <Status of={is_routable ? "available" : "Not available"} />,
          },
          {
            head: "Sources, or reason",
            place: "brk",
            cell: ({ reason, sources }) => reason ?? sources.map(({ provider }) => provider).join(", "),
          },
        ]}
        empty={<Empty title={name === "" ? "Every model is available" : "No models match"} />}
        note={list.data === undefined ? undefined : `Version ${list.data.version}`}
      />
    </Page>
  );
}

/** Result of a check: the number of models that would be available, or the faults with their lines. */
function Result({ of }: { readonly of: OperatorCatalogueCheck }): JSX.Element {
  const { is_valid, models, unroutable, faults } = of;
  return (
    <>
      <Callout tone={is_valid ? "ok" : "bad"}>
        {is_valid
          ? `The files are valid. With the built-in files, ${countText(models)} models would be available and ${countText(unroutable.length)} not.`
          : `The files have ${faults.length} ${faults.length === 1 ? "fault" : "faults"}. A service with these files would not start.`}
      </Callout>
      {faults.length === 0 ? null : (
        <div class="panel">
          <Table
            rows={faults}
            idOf={({ file, line, place, message }) => `${file} ${line} ${place} ${message}`}
            columns={[
              { head: "File", place: "main", cell: ({ file }) => file },
              { head: "Line", place: "key", isNumber: true, cell: ({ line }) => line ?? "—" },
              { head: "Place", cell: ({ place }) => <code>{place}</code> },
              { head: "Fault", place: "brk", cell: ({ message }) => message },
            ]}
          />
        </div>
      )}
    </>
  );
}

/** Returns the name of a kind of models, as the page of models shows it. A model that is not available may have none. */
function kindText(modality: string | null): string {
  return modality === null ? "—" : ((MODALITIES as Readonly<Record<string, string>>)[modality] ?? modality);
}
