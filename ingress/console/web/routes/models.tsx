/** Models and prices: the models that the key may call, with a side sheet for one of them. */
import type { JSX } from "preact";
import { Link, useLocation, useParams } from "wouter-preact";

import type { ModelEntry } from "#schemas/generated/types.ts";
import { useModels } from "../api/catalogue.ts";
import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { countText, timeText, zoneText } from "../parts/format.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Callout, Sheet } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { ratesOf, shortPrice } from "../parts/price.ts";
import { labelOf } from "../api/schema.ts";
import { type Column, Empty, ListPanel, Table } from "../parts/table.tsx";
import { Amount, Id, KeyValues } from "../parts/values.tsx";
import { kindIdOf } from "./playground/kinds.ts";

const MODALITIES: Readonly<Record<ModelEntry["_svc"]["modality"], string>> = {
  text: "Text",
  vision: "Vision",
  image: "Image",
  upscale: "Upscaling",
  audio: "Speech",
  stt: "Transcription",
  music: "Music",
  video: "Video",
  object_3d: "3D",
  embedding: "Embedding",
};

export default function Models(): JSX.Element {
  const params = useParams<{ slug?: string }>();
  const [, navigate] = useLocation();
  const query = useUrlQuery();
  const models = useModels();
  // The router decodes all but the reserved characters, such as the slash of a slug.
  const slug = models.data?.find(({ id }) => [id, decodeURI(encodeURIComponent(id))].includes(params.slug ?? ""))?.id;
  const retries = useRetries();
  const [text, kind] = [query.get("q").toLowerCase(), query.get("kind")];
  const rows = (models.data ?? []).filter(
    ({ id, owned_by: owner, _svc }) =>
      `${id} ${owner}`.toLowerCase().includes(text) && (kind === "" || _svc.modality === kind),
  );
  const suffix = query.text === "" ? "" : `?${query.text}`;
  const hrefOf = (id: string): string => `/models/${encodeURIComponent(id)}${suffix}`;
  const place = rows.findIndex(({ id }) => id === slug);
  const entry = models.data?.find(({ id }) => id === slug);
  return (
    <Page
      title="Models and prices"
      isWide
      about="Models that your key may call. Prices are in credits; one credit is 0.01 US dollars."
      sheet={
        entry === undefined ? undefined : (
          <ModelSheet
            key={entry.id}
            entry={entry}
            retryAt={retries.get(entry.id)}
            onClose={() => navigate(`/models${suffix}`)}
            onMove={(step) => {
              const next = rows[place + step];
              if (next !== undefined) navigate(hrefOf(next.id));
            }}
          />
        )
      }
    >
      <FilterBar
        query={query}
        filters={[
          { name: "q", label: "Name", isFixed: true },
          {
            name: "kind",
            label: "Kind",
            isFixed: true,
            choices: [
              { value: "", text: "All" },
              ...Object.entries(MODALITIES).map(([value, name]) => ({ value, text: name })),
            ],
          },
        ]}
      />
      <ListPanel
        query={{ ...models, data: models.data && { data: rows, has_more: false } }}
        columns={columnsOf(hrefOf, retries)}
        idOf={({ id }) => id}
        selected={slug}
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
  const { data } = useQuery(
    "unavailable models",
    async (signal) => (await call("GET /workspaces/{workspaceId}/unavailable-models", { signal })).data,
    { everyMs: RETRIES_MS },
  );
  return new Map((data ?? []).map(({ model, next_attempt_at: at }) => [model, at]));
}

function retryText(at: string): string {
  return `Unavailable after errors; next attempt ${timeText(at, "time")} ${zoneText()}`;
}

function columnsOf(
  hrefOf: (id: string) => string,
  retries: ReadonlyMap<string, string>,
): readonly Column<ModelEntry>[] {
  return [
    {
      head: "Model",
      place: "main",
      cut: "36%",
      title: ({ id }) => id,
      cell: ({ id }) => {
        const retryAt = retries.get(id);
        return (
          <>
            <Link href={hrefOf(id)}>{id}</Link>
            {retryAt === undefined ? null : <span class="sub">{retryText(retryAt)}</span>}
          </>
        );
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
    { head: "Price, credits", place: "key", isNumber: true, cell: ({ _svc }) => shortPrice(_svc.pricing) },
  ];
}

function ModelSheet({
  entry: { id, owned_by: owner, _svc: facts },
  retryAt,
  onClose,
  onMove,
}: {
  readonly entry: ModelEntry;
  /** Time of the next attempt; undefined for an available model. */
  readonly retryAt: string | undefined;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
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
      onClose={onClose}
      onMove={onMove}
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
  return Object.entries(value)
    .map(([name, one]) => `${name.replaceAll("_", " ")} ${String(one)}`)
    .join(", ");
}
