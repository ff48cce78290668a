/** Spend limits of end users and of values of tags: exact limits of all calls with the same label, by all keys of the workspace. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { EndUserLimits, TagLimits } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useQuery } from "../../api/query.ts";
import { Button, FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { ConfirmDialog, FormDialog, Menu } from "../../parts/layers.tsx";
import { draftOf, LimitAmountFields, LimitBars, limitsOf } from "../../parts/limits-form.tsx";
import { Section } from "../../parts/page.tsx";
import { type Column, Empty, ListPanel, useCursor } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";

type Row = EndUserLimits | TagLimits;
type Open = { readonly kind: "set"; readonly row?: Row } | { readonly kind: "delete"; readonly row: Row } | undefined;

/** Value of the selection that means the end user instead of a tag. */
const USER = "user";

function nameOf(row: Row): string {
  return row.object === "tag.limits" ? `${row.tag}=${row.value}` : row.user;
}

/** Returns the address of the calls that a limit counts. */
function hrefOf(row: Row): string {
  const filter = row.object === "tag.limits" ? { tag: `${row.tag}:${row.value}` } : { user: row.user };
  return `/requests?${new URLSearchParams(filter)}`;
}

export function LabelLimits(): JSX.Element {
  const [open, setOpen] = useState<Open>();
  const cursor = useCursor("end-users");
  const users = useQuery(`end-users ${cursor.after ?? ""}`, (signal) =>
    call("GET /workspaces/{workspaceId}/end-users", { query: { limit: 25, after: cursor.after }, signal }),
  );
  const tagCursor = useCursor("tags");
  const tags = useQuery(`tags ${tagCursor.after ?? ""}`, (signal) =>
    call("GET /workspaces/{workspaceId}/tags", { query: { limit: 25, after: tagCursor.after }, signal }),
  );
  const close = (): void => setOpen(undefined);
  const changed = (): void => {
    close();
    users.reload();
    tags.reload();
  };
  const columnsOf = (name: string): readonly Column<Row>[] => [
    {
      head: name,
      place: "main",
      cut: "40%",
      title: (row: Row) => `Show the requests of ${nameOf(row)}`,
      cell: nameOf,
    },
    {
      head: "Spend limit, credits",
      place: "brk",
      cell: (row: Row) => <LimitBars limits={{ credits: row.credits }} usage={row.limit_usage} />,
    },
    {
      head: <span class="sr">Actions</span>,
      cell: (row: Row) => (
        <Menu
          label={`Actions of ${nameOf(row)}`}
          entries={[
            { text: "Change limit", onClick: () => setOpen({ kind: "set", row }) },
            { text: "Delete limit", isDangerous: true, onClick: () => setOpen({ kind: "delete", row }) },
          ]}
        />
      ),
    },
  ];
  return (
    <Section
      title="Limits of end users and tags"
      note="refused with 402 when a call does not fit"
      link={
        <Button small icon="plus" onClick={() => setOpen({ kind: "set" })}>
          Set limit
        </Button>
      }
    >
      <ListPanel
        query={users}
        cursor={cursor}
        idOf={nameOf}
        hrefOf={hrefOf}
        columns={columnsOf("End user")}
        empty={
          <Empty title="No limits of end users">
            <p>A limit of an end user counts all calls that name the same user.</p>
          </Empty>
        }
      />
      <ListPanel
        query={tags}
        cursor={tagCursor}
        idOf={nameOf}
        hrefOf={hrefOf}
        columns={columnsOf("Tag")}
        empty={
          <Empty title="No limits of tags">
            <p>A limit of a tag counts all calls with the same value, such as project=alpha.</p>
          </Empty>
        }
      />
      {open?.kind === "set" ? <SetLimit row={open.row} onClose={close} onSaved={changed} /> : null}
      {open?.kind === "delete" ? (
        <ConfirmDialog
          title={`Delete the limit of “${nameOf(open.row)}”?`}
          effect="Its calls are no longer limited, within a second. Its usage stays."
          action="Delete limit"
          onClose={close}
          run={async () => {
            await remove(open.row);
            toast("The limit is deleted");
            users.reload();
            tags.reload();
          }}
        />
      ) : null}
    </Section>
  );
}

function remove(row: Row): Promise<unknown> {
  return row.object === "tag.limits"
    ? call("DELETE /workspaces/{workspaceId}/tags/{tag}/{value}/limits", { path: { tag: row.tag, value: row.value } })
    : call("DELETE /workspaces/{workspaceId}/end-users/{user}/limits", { path: { user: row.user } });
}

function SetLimit({
  row,
  onClose,
  onSaved,
}: {
  readonly row: Row | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const [label, setLabel] = useState(row?.object === "tag.limits" ? row.tag : USER);
  const [value, setValue] = useState(row === undefined ? "" : row.object === "tag.limits" ? row.value : row.user);
  const [draft, setDraft] = useState(
    draftOf(row === undefined ? null : { credits: row.credits, warn_at: row.warn_at }),
  );
  const names = useQuery(
    "workspace tags",
    async (signal) => (await call("GET /workspaces/{workspaceId}", { signal })).tags,
  );
  const save = useAction(async () => {
    const limits = limitsOf(draft, null);
    if (limits?.credits == null) throw new Error("Expected a number of credits for at least one period.");
    const body = { credits: limits.credits, warn_at: limits.warn_at ?? [] };
    if (label === USER) {
      await call("PUT /workspaces/{workspaceId}/end-users/{user}/limits", { path: { user: value }, body });
    } else {
      await call("PUT /workspaces/{workspaceId}/tags/{tag}/{value}/limits", { path: { tag: label, value }, body });
    }
    onSaved();
  });
  const { fault } = save;
  return (
    <FormDialog
      title={row === undefined ? "Set limit" : `Change the limit of “${nameOf(row)}”`}
      hint="The limit applies within a second, to all keys of the workspace."
      onClose={onClose}
      action="Save limit"
      submit={save}
      blocked={value === "" ? "Enter the end user or the value of the tag." : undefined}
    >
      {row === undefined ? (
        <div class="grid2">
          <SelectField
            label="Calls with the same"
            value={label}
            onInput={setLabel}
            choices={[
              { value: USER, text: "end user" },
              ...(names.data ?? []).map((name) => ({ value: name, text: `tag ${name}` })),
            ]}
            hint={names.data?.length === 0 ? "The page Settings adds tags." : undefined}
          />
          <TextField label={label === USER ? "End user" : "Value"} value={value} onInput={setValue} isRequired />
        </div>
      ) : null}
      <LimitAmountFields draft={draft} onInput={setDraft} fault={fault} />
      <FaultText fault={fault} />
    </FormDialog>
  );
}
