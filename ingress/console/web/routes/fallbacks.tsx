/** Fallback chains: the models that serve the calls of another model, in order or by weight. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FallbackChain, FallbackChainRequest } from "#schemas/generated/types.ts";
import { useModels } from "../api/catalogue.ts";
import { type ApiFault, call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { hasRole } from "../api/session.ts";
import { Button, CheckField, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { percentText } from "../parts/format.ts";
import { ConfirmDialog, FormDialog, Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Time } from "../parts/values.tsx";

type Open =
  | { readonly kind: "set"; readonly chain?: FallbackChain }
  | { readonly kind: "delete"; readonly chain: FallbackChain }
  | undefined;

export default function FallbackChains(): JSX.Element {
  const [open, setOpen] = useState<Open>();
  const list = useQuery("fallback chains", (signal) =>
    call("GET /workspaces/{workspaceId}/fallback-chains", { signal }),
  );
  const mayChange = hasRole("owner", "admin");
  const close = (): void => setOpen(undefined);
  return (
    <Page
      title="Fallback chains"
      about="When every provider of a model fails, the next model of its chain serves the call, at the price of that model."
      actions={
        mayChange ? (
          <Button kind="primary" icon="plus" onClick={() => setOpen({ kind: "set" })}>
            Create chain
          </Button>
        ) : undefined
      }
    >
      <ListPanel
        query={{ ...list, data: list.data && { data: list.data.data, has_more: false } }}
        idOf={({ model }) => model}
        columns={[
          { head: "Model", place: "main", cut: "24%", title: ({ model }) => model, cell: ({ model }) => model },
          { head: "Order of attempts", place: "brk", cell: (chain) => <Order chain={chain} /> },
          {
            head: "Streams",
            place: "low",
            cell: (chain) => (chain.continue_streams ? "continue" : "end with an error"),
          },
          { head: "Changed", place: "low", cell: ({ updated_at: at }) => <Time at={at} style="minute" /> },
          {
            head: <span class="sr">Actions</span>,
            cell: (chain) =>
              mayChange ? (
                <Menu
                  label={`Actions of ${chain.model}`}
                  entries={[
                    { text: "Change chain", onClick: () => setOpen({ kind: "set", chain }) },
                    { text: "Delete chain", isDangerous: true, onClick: () => setOpen({ kind: "delete", chain }) },
                  ]}
                />
              ) : null,
          },
        ]}
        empty={
          <Empty title="No fallback chains">
            <p>Without a chain, a call fails when every provider of its model fails.</p>
          </Empty>
        }
      />
      {open?.kind === "set" ? (
        <ChainDialog
          {...(open.chain && { chain: open.chain })}
          taken={(list.data?.data ?? []).map(({ model }) => model)}
          onClose={close}
          onSaved={() => {
            close();
            list.reload();
          }}
        />
      ) : null}
      {open?.kind === "delete" ? (
        <ConfirmDialog
          title={`Delete the chain of “${open.chain.model}”?`}
          effect="Within a second, its calls fail when every provider of the model fails."
          action="Delete chain"
          onClose={close}
          run={async () => {
            const { model } = open.chain;
            await call("DELETE /workspaces/{workspaceId}/fallback-chains/{model}", { path: { model } });
            toast(`The chain of ${model} is deleted`);
            list.reload();
          }}
        />
      ) : null}
    </Page>
  );
}

/** Models of a chain in the order of attempts. With weights: the share of calls that try a model first. */
function Order({ chain: { model, fallbacks, weight, sticky } }: { readonly chain: FallbackChain }): JSX.Element {
  const entries = [
    { model, weight: weight ?? 0 },
    ...fallbacks.map((one) => (typeof one === "string" ? { model: one, weight: 0 } : one)),
  ];
  const sum = entries.reduce((total, one) => total + one.weight, 0);
  const shareOf = (one: (typeof entries)[number]): string => (sum === 0 ? "" : ` ${percentText(one.weight, sum)}`);
  const draws = { user: "the same for an end user", conversation: "the same for a conversation" } as const;
  return (
    <>
      {entries.map((one, index) => (
        <span key={one.model}>
          {index === 0 ? "" : " → "}
          {one.model}
          <span class="muted">{shareOf(one)}</span>
        </span>
      ))}
      {sticky == null ? null : <span class="sub">First model is {draws[sticky]}</span>}
    </>
  );
}

/** Field texts of a model of a chain. */
interface Entry {
  readonly model: string;
  readonly weight: string;
}

/** Maximum number of fallbacks of a chain. */
const FALLBACKS_MAX = 10;

function ChainDialog({
  chain,
  taken,
  onClose,
  onSaved,
}: {
  /** Chain to change. Absent: a new one is created. */
  readonly chain?: FallbackChain;
  /** Models that have a chain, which a new one would replace. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const [own, setOwn] = useState<Entry>({ model: chain?.model ?? "", weight: String(chain?.weight ?? "") });
  const [entries, setEntries] = useState<readonly Entry[]>(
    (chain?.fallbacks ?? [""]).map((one) =>
      typeof one === "string" ? { model: one, weight: "" } : { model: one.model, weight: String(one.weight) },
    ),
  );
  const [isWeighted, setWeighted] = useState(chain?.weight !== undefined);
  const [sticky, setSticky] = useState<string>(chain?.sticky ?? "");
  const [continues, setContinues] = useState(chain?.continue_streams ?? false);
  const models = (useModels().data ?? []).map(({ id }) => id);
  const save = useAction(async () => {
    const weights = { weight: weightIn(own), sticky: (sticky || null) as FallbackChainRequest["sticky"] };
    await call("PUT /workspaces/{workspaceId}/fallback-chains/{model}", {
      path: { model: own.model.trim() },
      body: {
        fallbacks: entries.map((one) =>
          isWeighted ? { model: one.model.trim(), weight: weightIn(one) } : one.model.trim(),
        ),
        ...(isWeighted ? weights : {}),
        continue_streams: continues,
      } as FallbackChainRequest,
    });
    onSaved();
  });
  const { fault } = save;
  const isTaken = chain === undefined && taken.includes(own.model.trim());
  const blocked =
    own.model.trim() === "" || entries.some(({ model }) => model.trim() === "")
      ? "Enter a name in each model field."
      : isTaken
        ? "This model has a chain. Change that chain instead."
        : undefined;
  return (
    <FormDialog
      title={chain === undefined ? "Create chain" : `Change the chain of “${chain.model}”`}
      hint="The chain applies within a second."
      onClose={onClose}
      action="Save chain"
      submit={save}
      blocked={blocked}
    >
      <div class={isWeighted ? "grid2 pair" : "stack"}>
        {chain === undefined ? (
          <TextField
            label="Model"
            value={own.model}
            onInput={(model) => setOwn({ ...own, model })}
            suggestions={models}
            param="model"
            fault={fault}
            isRequired
          />
        ) : null}
        {isWeighted ? (
          <TextField
            label={chain === undefined ? "Weight of the model" : `Weight of ${chain.model}`}
            value={own.weight}
            onInput={(weight) => setOwn({ ...own, weight })}
            param="weight"
            fault={fault}
          />
        ) : null}
      </div>
      <FallbackFields entries={entries} onInput={setEntries} isWeighted={isWeighted} models={models} fault={fault} />
      <CheckField label="Draw the first model of each call by weight" isChecked={isWeighted} onInput={setWeighted} />
      {isWeighted ? (
        <SelectField
          label="Draw"
          value={sticky}
          onInput={setSticky}
          param="sticky"
          fault={fault}
          choices={[
            { value: "", text: "For each call" },
            { value: "user", text: "Once for an end user" },
            { value: "conversation", text: "Once for a conversation" },
          ]}
        />
      ) : null}
      <CheckField
        label="The next model continues an interrupted text stream"
        isChecked={continues}
        onInput={setContinues}
      />
      <FaultText fault={fault} />
    </FormDialog>
  );
}

/** Ordered fallbacks of a chain: their names and weights, with buttons that move, remove and add one. */
function FallbackFields({
  entries,
  onInput,
  isWeighted,
  models,
  fault,
}: {
  readonly entries: readonly Entry[];
  readonly onInput: (entries: readonly Entry[]) => void;
  readonly isWeighted: boolean;
  /** Suggested names. */
  readonly models: readonly string[];
  readonly fault: ApiFault | undefined;
}): JSX.Element {
  const set = (place: number, changes: Partial<Entry>): void =>
    onInput(entries.map((one, index) => (index === place ? { ...one, ...changes } : one)));
  const moveUp = (place: number): void =>
    onInput(entries.toSpliced(place - 1, 2, ...entries.slice(place - 1, place + 1).toReversed()));
  return (
    <>
      {entries.map((one, place) => (
        <div key={place} class="row entry">
          <div class={isWeighted ? "grid2 pair grow" : "grow"}>
            <TextField
              label={`Fallback ${place + 1}`}
              value={one.model}
              onInput={(model) => set(place, { model })}
              suggestions={models}
              param={`fallbacks[${place}]`}
              fault={fault}
            />
            {isWeighted ? (
              <TextField
                label={`Weight ${place + 1}`}
                value={one.weight}
                onInput={(weight) => set(place, { weight })}
                param={`fallbacks[${place}].weight`}
                fault={fault}
              />
            ) : null}
          </div>
          <Button
            kind="quiet"
            only
            icon="up"
            label={`Move fallback ${place + 1} up`}
            blocked={place === 0 ? "It is the first fallback." : undefined}
            onClick={() => moveUp(place)}
          />
          <Button
            kind="quiet"
            only
            icon="x"
            label={`Remove fallback ${place + 1}`}
            blocked={entries.length === 1 ? "A chain has at least one fallback." : undefined}
            onClick={() => onInput(entries.toSpliced(place, 1))}
          />
        </div>
      ))}
      <div class="row">
        <Button
          small
          icon="plus"
          blocked={entries.length < FALLBACKS_MAX ? undefined : `A chain has at most ${FALLBACKS_MAX} fallbacks.`}
          onClick={() => onInput([...entries, { model: "", weight: "" }])}
        >
          Add fallback
        </Button>
      </div>
    </>
  );
}

/** Returns the weight of an entry; 0 if it is empty. @throws Error for a text that is no weight */
function weightIn({ model, weight }: Entry): number {
  const text = weight.trim();
  if (/^\d{0,4}$/.test(text) && Number(text) <= 1_000) return Number(text);
  throw new Error(`Expected the weight of ${model} to be a whole number from 0 to 1000, got “${text}”.`);
}
