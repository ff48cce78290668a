/** Spend limits of end users and of values of tags: exact limits of all calls with the same label, by all keys of the workspace. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { EndUserLimits, TagLimits } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { Button, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog, Menu } from "../../parts/layers.tsx";
import { draftOf, LimitAmountFields, LimitBars, limitsOf } from "../../parts/limits-form.tsx";
import { Section } from "../../parts/page.tsx";
import { type Column, Empty, ListPanel, useList } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";

type Row = EndUserLimits | TagLimits;

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
  const [edited, setEdited] = useState<Row | "new">();
  const users = useList("GET /workspaces/{workspaceId}/end-users", {}, { limit: 25 });
  const tags = useList("GET /workspaces/{workspaceId}/tags", {}, { limit: 25 });
  const changed = (): void => {
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
            { text: "Change limit", onClick: () => setEdited(row) },
            {
              text: "Delete limit",
              confirm: {
                title: `Delete the limit of “${nameOf(row)}”?`,
                effect: "Its calls are no longer limited, within a second. Its usage stays.",
                action: "Delete limit",
                run: async () => {
                  await remove(row);
                  toast("The limit is deleted");
                  changed();
                },
              },
            },
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
        <Button small icon="plus" onClick={() => setEdited("new")}>
          Set limit
        </Button>
      }
    >
      <h3>End users</h3>
      <ListPanel
        query={users}
        idOf={nameOf}
        hrefOf={hrefOf}
        columns={columnsOf("End user")}
        empty={
          <Empty title="No limits of end users">
            <p>A limit of an end user counts all calls that name the same user.</p>
          </Empty>
        }
      />
      <h3>Tags</h3>
      <ListPanel
        query={tags}
        idOf={nameOf}
        hrefOf={hrefOf}
        columns={columnsOf("Tag")}
        empty={
          <Empty title="No limits of tags">
            <p>A limit of a tag counts all calls with the same value, such as project=alpha.</p>
          </Empty>
        }
      />
      {edited === undefined ? null : (
        <SetLimit row={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={changed} />
      )}
    </Section>
  );
}

function remove(row: Row): Promise<unknown> {
  return row.object === "tag.limits"
    ? call("DELETE /workspaces/{workspaceId}/tags/{tag}/{value}/limits", { path: { tag: row.tag, value: row.value } })
    : call("DELETE /workspaces/{workspaceId}/end-users/{user}/limits", { path: { user: row.user } });
}

function SetLimit({ row, ...dialog }: DialogProps & { readonly row: Row | undefined }): JSX.Element {
  const tags = useCall("GET /workspaces/{workspaceId}").data?.tags;
  const form = useForm(
    {
      label: row?.object === "tag.limits" ? row.tag : USER,
      value: row === undefined ? "" : row.object === "tag.limits" ? row.value : row.user,
      limits: draftOf(row === undefined ? null : { credits: row.credits, warn_at: row.warn_at }),
    },
    async ({ label, value, limits: draft }) => {
      const limits = limitsOf(draft, null);
      if (limits?.credits == null) throw new Error("Expected a number of credits for at least one period.");
      const body = { credits: limits.credits, warn_at: limits.warn_at ?? [] };
      return label === USER
        ? call("PUT /workspaces/{workspaceId}/end-users/{user}/limits", { path: { user: value }, body })
        : call("PUT /workspaces/{workspaceId}/tags/{tag}/{value}/limits", { path: { tag: label, value }, body });
    },
    dialog,
  );
  const { label, value } = form.values;
  return (
    <FormDialog
      title={row === undefined ? "Set limit" : `Change the limit of “${nameOf(row)}”`}
      hint="The limit applies within a second, to all keys of the workspace."
      onClose={dialog.onClose}
      action="Save limit"
      submit={form}
      blocked={value === "" ? "Enter the end user or the value of the tag." : undefined}
    >
      {row === undefined ? (
        <div class="grid2">
          <SelectField
            label="Calls with the same"
            {...form.bind("label")}
            choices={[
              { value: USER, text: "end user" },
              ...(tags ?? []).map((name) => ({ value: name, text: `tag ${name}` })),
            ]}
            hint={tags?.length === 0 ? "The page Settings adds tags." : undefined}
          />
          <TextField label={label === USER ? "End user" : "Value"} {...form.bind("value")} isRequired />
        </div>
      ) : null}
      <LimitAmountFields {...form.bind("limits")} />
    </FormDialog>
  );
}
