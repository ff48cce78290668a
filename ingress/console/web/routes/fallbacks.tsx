/** Fallback chains: the models that serve the calls of another model, in order or by weight. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { FallbackChain, FallbackChainRequest } from "#schemas/generated/types.ts";
import { useModels } from "../api/catalogue.ts";
import { type ApiFault, call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { hasRole } from "../api/session.ts";
import { Button, CheckField, choicesOf, SelectField, TextField } from "../parts/form.tsx";
import { percentText } from "../parts/format.ts";
import { FormDialog, Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Time } from "../parts/values.tsx";

export default function FallbackChains(): JSX.Element {
  const [edited, setEdited] = useState<FallbackChain | "new">();
  const list = useCall("GET /workspaces/{workspaceId}/fallback-chains");
  const mayChange = hasRole("owner", "admin");
  return (
    <Page
      title="Fallback chains"
      about="When every provider of a model fails, the next model of its chain serves the call, at the price of that model."
      actions={
        mayChange ? (
          <Button kind="primary" icon="plus" onClick={() => setEdited("new")}>
            Create chain
          </Button>
        ) : undefined
      }
    >
      <ListPanel
        query={list}
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
                    { text: "Change chain", onClick: () => setEdited(chain) },
                    {
                      text: "Delete chain",
                      confirm: {
                        title: `Delete the chain of “${chain.model}”?`,
                        effect: "Within a second, its calls fail when every provider of the model fails.",
                        action: "Delete chain",
                        run: async () => {
                          const path = { model: chain.model };
                          await call("DELETE /workspaces/{workspaceId}/fallback-chains/{model}", { path });
                          toast(`The chain of ${chain.model} is deleted`);
                          list.reload();
                        },
                      },
                    },
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
      {edited === undefined ? null : (
        <ChainDialog
          {...(edited === "new" ? {} : { chain: edited })}
          taken={(list.data?.data ?? []).map(({ model }) => model)}
          onClose={() => setEdited(undefined)}
          onSaved={list.reload}
        />
      )}
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
  ...dialog
}: DialogProps & {
  /** Chain to change. Absent: a new one is created. */
  readonly chain?: FallbackChain;
  /** Models that have a chain, which a new one would replace. */
  readonly taken: readonly string[];
}): JSX.Element {
  const models = (useModels().data ?? []).map(({ id }) => id);
  const form = useForm(
    {
      model: chain?.model ?? "",
      weight: String(chain?.weight ?? ""),
      entries: entriesOf(chain),
      isWeighted: chain?.weight !== undefined,
      sticky: chain?.sticky ?? "",
      continues: chain?.continue_streams ?? false,
    },
    async ({ entries, isWeighted, sticky, continues, ...own }) => {
      const weights = { weight: weightIn(own), sticky: sticky || null };
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
    },
    dialog,
  );
  const { model, entries, isWeighted, continues } = form.values;
  const isTaken = chain === undefined && taken.includes(model.trim());
  const blocked =
    model.trim() === "" || entries.some((one) => one.model.trim() === "")
      ? "Enter a name in each model field."
      : isTaken
        ? "This model has a chain. Change that chain instead."
        : undefined;
  return (
    <FormDialog
      title={chain === undefined ? "Create chain" : `Change the chain of “${chain.model}”`}
      hint="The chain applies within a second."
      onClose={dialog.onClose}
      action="Save chain"
      submit={form}
      blocked={blocked}
    >
      <div class={isWeighted ? "grid2 pair" : "stack"}>
        {chain === undefined ? (
          <TextField label="Model" {...form.bind("model")} suggestions={models} isRequired />
        ) : null}
        {isWeighted ? (
          <TextField
            label={chain === undefined ? "Weight of the model" : `Weight of ${chain.model}`}
            {...form.bind("weight")}
          />
        ) : null}
      </div>
      <FallbackFields
        entries={entries}
        onInput={(changed) => form.set({ entries: changed })}
        isWeighted={isWeighted}
        models={models}
        fault={form.fault}
      />
      <CheckField
        label="Draw the first model of each call by weight"
        isChecked={isWeighted}
        onInput={(isOn) => form.set({ isWeighted: isOn })}
      />
      {isWeighted ? (
        <SelectField
          label="Draw"
          {...form.bind("sticky")}
          choices={choicesOf({
            "": "For each call",
            user: "Once for an end user",
            conversation: "Once for a conversation",
          })}
        />
      ) : null}
      <CheckField
        label="The next model continues an interrupted text stream"
        isChecked={continues}
        onInput={(isOn) => form.set({ continues: isOn })}
      />
    </FormDialog>
  );
}

/** Returns the fallbacks of a chain as texts of fields. A new chain has one empty fallback. */
function entriesOf(chain: FallbackChain | undefined): readonly Entry[] {
  return (chain?.fallbacks ?? [""]).map((one) =>
    typeof one === "string" ? { model: one, weight: "" } : { model: one.model, weight: String(one.weight) },
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
