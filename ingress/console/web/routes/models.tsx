/** Models and prices: the models that the key may call, with a side sheet for one of them. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { ModelEntry } from "#schemas/generated/types.ts";
import { MODALITIES, useModels } from "../api/catalogue.ts";
import { useCall } from "../api/query.ts";
import { choicesOf } from "../parts/form.tsx";
import { countText, timeText, zoneText } from "../parts/format.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Callout, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { ratesOf, shortPrice } from "../parts/price.ts";
import { labelOf } from "../api/schema.ts";
import { type Column, Empty, ListPanel, Table, useOpenRow } from "../parts/table.tsx";
import { Amount, Id, KeyValues } from "../parts/values.tsx";
import { kindIdOf } from "./playground/kinds.ts";

export default function Models(): JSX.Element {
  const query = useUrlQuery();
  const models = useModels();
  const retries = useRetries();
  const [text, kind] = [query.get("q").toLowerCase(), query.get("kind")];
  const rows = (models.data ?? []).filter(
    ({ id, owned_by: owner, _svc }) =>
      `${id} ${owner}`.toLowerCase().includes(text) && (kind === "" || _svc.modality === kind),
  );
  const list = { ...models, data: models.data && { data: rows } };
  const open = useOpenRow("/models", list, ({ id }) => id);
  const entry = models.data?.find(({ id }) => id === open.id);
  return (
    <Page
      title="Models and prices"
      isWide
      about="Models that your key may call. Prices are in credits; one credit is 0.01 US dollars."
      sheet={entry && <ModelSheet key={entry.id} entry={entry} retryAt={retries.get(entry.id)} {...open.sheet} />}
    >
      <FilterBar
        query={query}
        filters={[
          { name: "q", label: "Name", isFixed: true },
          {
            name: "kind",
            label: "Kind",
            isFixed: true,
            choices: choicesOf({ "": "All", ...MODALITIES }),
          },
        ]}
      />
      <ListPanel
        query={list}
        columns={columnsOf(retries)}
        idOf={({ id }) => id}
        open={open}
        empty={
          query.text === "" ? (
            <Empty title="No models">
              <p>A model is listed when a provider key of the service serves it and your key may call it.</p>
            </Empty>
          ) : (
            <Empty title="No models match">
              <p>Change the name or the kind.</p>
            </Empty>
          )
        }
        note={`${countText(rows.length)} models`}
      />
    </Page>
  );
}

/** Interval at which the unavailable models are read again, in milliseconds. */
const RETRIES_MS = 30_000;

/** Returns the time of the next attempt for each model whose providers are all disabled after errors. */
function useRetries(): ReadonlyMap<string, string> {
  const { data } = useCall("GET /workspaces/{workspaceId}/unavailable-models", {}, { everyMs: RETRIES_MS });
  return new Map((data?.data ?? []).map(({ model, next_attempt_at: at }) => [model, at]));
}

function retryText(at: string): string {
  return `Unavailable after errors; next attempt ${timeText(at, "time")} ${zoneText()}`;
}

function columnsOf(retries: ReadonlyMap<string, string>): readonly Column<ModelEntry>[] {
  return [
    {
      head: "Model",
      place: "main",
      cut: "36%",
      title: ({ id }) => id,
      cell: ({ id }) => id,
      sub: ({ id }) => {
        const retryAt = retries.get(id);
        return retryAt === undefined ? null : <span class="whole">{retryText(retryAt)}</span>;
      },
    },
    { head: "Kind", cell: ({ _svc }) => MODALITIES[_svc.modality] },
    { head: "Provider", place: "low", cell: ({ owned_by: owner }) => owner },
    {
      head: "Context, tokens",
      place: "mid",
      isNumber: true,
      cell: ({ _svc: { max_context_tokens: tokens } }) => (tokens === 0 ? "—" : countText(tokens)),
    },
    { head: "Price in credits", place: "key", isNumber: true, cell: ({ _svc }) => shortPrice(_svc.pricing) },
  ];
}

function ModelSheet({
  entry: { id, owned_by: owner, _svc: facts },
  retryAt,
  ...controls
}: SheetControls & {
  readonly entry: ModelEntry;
  /** Time of the next attempt; undefined for an available model. */
  readonly retryAt: string | undefined;
}): JSX.Element {
  const { max_context_tokens: context, max_output_tokens: output, pricing, allowed_params: params } = facts;
  const abilities = [
    facts.supports_chat ? "chat" : "",
    facts.supports_streaming ? "streaming" : "",
    facts.supports_tools ? "tools" : "",
    facts.supports_embeddings ? "embeddings" : "",
  ].filter(Boolean);
  const limits = Object.entries(params).map(([name, value]) => [labelOf(name), paramText(value)] as const);
  return (
    <Sheet
      title={id}
      {...controls}
      actions={
        <Link
          class="btn primary"
          href={`/playground/${kindIdOf({ _svc: facts } as ModelEntry)}?model=${encodeURIComponent(id)}`}
        >
          Try it
        </Link>
      }
    >
      <section>
        {retryAt === undefined ? null : <Callout tone="warn">{retryText(retryAt)}.</Callout>}
        <KeyValues
          of={[
            ["Name in calls", <Id value={id} label="name" />],
            ["Provider", owner],
            ["Kind", MODALITIES[facts.modality]],
            ["Abilities", abilities.length === 0 ? null : abilities.join(", ")],
            ["Context", context === 0 ? null : `${context.toLocaleString("en")} tokens`],
            ["Output", output === 0 ? null : `at most ${output.toLocaleString("en")} tokens`],
          ]}
        />
      </section>
      <section>
        <h3>Prices</h3>
        <Table
          columns={[
            { head: "Rate", place: "main", cell: ({ name }) => name },
            { head: "Per", label: "per", cell: ({ per }) => per },
            { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
          ]}
          rows={ratesOf(pricing)}
          idOf={({ name }) => name}
        />
        {pricing.batch_factor === undefined || pricing.batch_factor === 1 ? null : (
          <p class="hint">Lines of a batch pay {pricing.batch_factor * 100} % of the price.</p>
        )}
      </section>
      {limits.length === 0 ? null : (
        <section>
          <h3>Accepted parameters</h3>
          <KeyValues of={limits} />
        </section>
      )}
    </Sheet>
  );
}

function paramText(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  const { min, max, required, ...others } = value as Readonly<Record<string, unknown>>;
  if (typeof min === "number" && typeof max === "number" && required !== true && Object.keys(others).length === 0) {
    return `${min} to ${max}`;
  }
  return Object.entries(value)
    .map(([name, one]) => `${name.replaceAll("_", " ")} ${String(one)}`)
    .join(", ");
}
