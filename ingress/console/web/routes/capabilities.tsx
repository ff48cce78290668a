/** Capabilities: deterministic operations on media and documents, with a side sheet for one of them. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { CapabilityEntry } from "#schemas/generated/types.ts";
import { useCapabilities } from "../api/catalogue.ts";
import { fieldFor, inputSchemaOf, useStoredFile } from "../api/stored-files.ts";
import { Code } from "../parts/code.tsx";
import { countText } from "../parts/format.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { capabilityPriceText, shortPrice } from "../parts/price.ts";
import { labelOf, scalarText, type Schema } from "../api/schema.ts";
import { type Column, Empty, ListPanel, Table, useOpenRow } from "../parts/table.tsx";
import { CodeText, KeyValues } from "../parts/values.tsx";

const CATEGORIES = ["video", "audio", "image", "document", "archive", "web", "code"] as const;

export default function Capabilities(): JSX.Element {
  const query = useUrlQuery();
  const capabilities = useCapabilities();
  const [text, category, file] = [query.get("q").toLowerCase(), query.get("category"), query.get("file")];
  const stored = useStoredFile(file);
  const filename = stored.data?.filename ?? "";
  const rows = (capabilities.data ?? []).filter(
    (one) =>
      `${one.id} ${one.display_name} ${one.description}`.toLowerCase().includes(text) &&
      (category === "" || one.category === category) &&
      (file === "" || fieldFor(inputSchemaOf(one), filename) !== undefined),
  );
  const list = { ...capabilities, data: stored.isLoading ? undefined : capabilities.data && { data: rows } };
  const open = useOpenRow("/capabilities", list, ({ id }) => id);
  const entry = capabilities.data?.find(({ id }) => id === open.id);
  return (
    <Page
      title="Capabilities"
      isWide
      about="Operations on media, documents and code that need no model. They run alone and as steps of workflows."
      sheet={entry && <CapabilitySheet key={entry.id} entry={entry} file={file} {...open.sheet} />}
    >
      <FilterBar
        query={query}
        filters={[
          { name: "q", label: "Name", isFixed: true },
          {
            name: "category",
            label: "Category",
            isFixed: true,
            choices: [{ value: "", text: "All" }, ...CATEGORIES.map((value) => ({ value, text: labelOf(value) }))],
          },
          ...(file === ""
            ? []
            : [{ name: "file", label: "Accepts", choices: [{ value: file, text: filename || file }] }]),
        ]}
      />
      <ListPanel
        query={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        open={open}
        empty={
          query.text === "" ? (
            <Empty title="No capabilities">
              <p>The service has the engines of no capability, or the list of tools of your key contains none.</p>
            </Empty>
          ) : (
            <Empty title="No capabilities match">
              <p>Change the name or the category.</p>
            </Empty>
          )
        }
        note={`${countText(rows.length)} capabilities`}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<CapabilityEntry>[] = [
  {
    head: "Capability",
    place: "main",
    cut: "40%",
    title: ({ description }) => description.replaceAll("`", ""),
    cell: ({ display_name: name }) => name,
    sub: ({ description }) => <CodeText text={description} />,
  },
  { head: "Id", place: "mid", cell: ({ id }) => <code>{id}</code> },
  { head: "Result", place: "low", cell: ({ output_modality: output }) => output },
  {
    head: "Price in credits",
    place: "key",
    isNumber: true,
    title: capabilityPriceText,
    cell: ({ pricing }) => (pricing === undefined ? "free" : shortPrice(pricing)),
    sub: ({ minimum_megapixels: least }) => (least === undefined ? "" : `at least ${least} megapixels`),
  },
];

function CapabilitySheet({
  entry,
  file,
  ...controls
}: SheetControls & {
  readonly entry: CapabilityEntry;
  /** Id of the file for which a capability is searched, or "". */
  readonly file: string;
}): JSX.Element {
  const { id, display_name: name, description, long_description: more, examples = [] } = entry;
  const example = examples[0];
  return (
    <Sheet
      title={name}
      {...controls}
      actions={
        <Link
          class="btn primary"
          href={`/playground/capability?${new URLSearchParams({ id, ...(file === "" ? {} : { file }) })}`}
        >
          Try it
        </Link>
      }
    >
      <section>
        <p class="soft">
          <CodeText text={description} />
        </p>
        {more === undefined ? null : (
          <p class="reply soft">
            <CodeText text={more} />
          </p>
        )}
        <KeyValues
          of={[
            ["Id", <code>{id}</code>],
            ["Input", [entry.input_modality].flat().join(", ")],
            ["Result", entry.output_modality],
            ["Price", capabilityPriceText(entry)],
          ]}
        />
      </section>
      <section>
        <h3>Input</h3>
        <Members schema={entry.input_schema} />
      </section>
      {Object.keys((entry.params_schema as Schema).properties ?? {}).length === 0 ? null : (
        <section>
          <h3>Parameters</h3>
          <Members schema={entry.params_schema} />
        </section>
      )}
      {example === undefined ? null : (
        <section>
          <h3>Examples</h3>
          <Code
            variants={Object.fromEntries(examples.map(({ title, params }) => [title, JSON.stringify(params, null, 2)]))}
            title={example.title}
          />
        </section>
      )}
    </Sheet>
  );
}

/** Fields of an object with their types, ranges and defaults. */
function Members({ schema: { properties = {}, required = [] } }: { readonly schema: Schema }): JSX.Element {
  return (
    <Table
      columns={[
        {
          head: "Name",
          place: "main",
          cell: ([member]) => (
            <>
              <code>{member}</code>
              {required.includes(member) ? <span class="muted"> required</span> : null}
            </>
          ),
          sub: ([, { description }]) => description && <CodeText text={description} />,
        },
        { head: "Values", cell: ([, schema]) => valuesText(schema) },
        {
          head: "Default",
          label: "default",
          cell: ([, { default: fallback }]) =>
            fallback === undefined ? <span class="none">—</span> : scalarText(fallback),
        },
      ]}
      rows={Object.entries(properties)}
      idOf={([member]) => member}
    />
  );
}

function valuesText(schema: Schema): string {
  const { type, enum: values, minimum, maximum, "x-svc-unit": unit = "" } = schema;
  if (schema["x-svc-value-sources"] !== undefined) return "file";
  if (values !== undefined) return values.map(scalarText).join(", ");
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum} ${unit}`;
  return [type ?? "any"].flat().join(" or ");
}
