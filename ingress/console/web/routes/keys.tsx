/** Keys: list with limits and last use; creating, changing, rotating and revoking keys. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { ApiKey } from "#schemas/generated/types.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button } from "../parts/form.tsx";
import { zoneText } from "../parts/format.ts";
import { LimitBars, stateOf } from "../parts/limits-form.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Empty, ListPanel, useList, useOpenRow } from "../parts/table.tsx";
import { Ago, Status, Time } from "../parts/values.tsx";
import { CreateKey, KeySecret } from "./keys/create.tsx";
import { KeySheet } from "./keys/sheet.tsx";

export default function Keys(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<ApiKey>();
  const query = useUrlQuery();
  const search = query.get("search");
  const list = useList("GET /workspaces/{workspaceId}/api-keys", { query: { search } });
  const open = useOpenRow("/keys", list, ({ id }) => id);
  return (
    <Page
      title="Keys"
      isWide
      about="A key belongs to a member and can do what the member may do. Limits are exact: held credits count, and a call that does not fit is refused with 402."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          Create key
        </Button>
      }
      sheet={
        open.id && (
          <KeySheet
            key={open.id}
            id={open.id}
            {...open.sheet}
            onChange={list.reload}
            onSecret={(key) => {
              setSecret(key);
              open.show(key.id);
            }}
          />
        )
      }
    >
      <FilterBar
        query={query}
        filters={[{ name: "search", label: "Name or start of key", isFixed: true, urlText: startOfKey }]}
      />
      <ListPanel
        query={list}
        columns={columnsOf()}
        idOf={(key) => key.id}
        open={open}
        note="The hatched part of a bar is held for calls in progress. “Last used” is stored once a minute; requests of the console count as use of the key that signed in."
        empty={
          <Empty title={search === "" ? "No keys" : "No keys match"}>
            <p>Create a key for each service or person, so that its spend can be limited and seen.</p>
          </Empty>
        }
      />
      {isCreating ? (
        <CreateKey
          onClose={() => setCreating(false)}
          onSaved={(key) => {
            setSecret(key);
            list.reload();
          }}
        />
      ) : null}
      {secret === undefined ? null : <KeySecret created={secret} onClose={() => setSecret(undefined)} />}
    </Page>
  );
}

/** Returns the start of a pasted key, as lists show it: a whole key must not become part of the URL. */
function startOfKey(text: string): string {
  return /^[\w-]{20,}$/.test(text) ? text.slice(0, 8) : text;
}

const columnsOf = (): readonly Column<ApiKey>[] => [
  {
    head: "Name",
    place: "main",
    cut: "24%",
    title: ({ name, id }) => `${name} (${id})`,
    cell: ({ name }) => name,
    sub: ({ hint, member }) => (
      <>
        <span class="mono">{hint}</span> · {member.name}
      </>
    ),
  },
  { head: "Status", place: "key", cell: (key) => <Status of={stateOf(key)} /> },
  {
    head: "Spend limit, credits",
    place: "brk",
    cell: ({ limits, limit_usage }) => <LimitBars limits={limits} usage={limit_usage} isShort />,
  },
  {
    head: "Models",
    place: "mid",
    cut: "16%",
    title: ({ limits }) => limits?.models?.join(", ") ?? "All models",
    cell: ({ limits }) => limits?.models?.join(", ") ?? "All models",
  },
  { head: "Preset", place: "low", cell: ({ preset }) => preset },
  { head: "Last used", place: "mid", cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
  {
    head: `Expires, ${zoneText()}`,
    place: "low",
    cell: ({ expires_at }) =>
      expires_at === null ? <span class="muted">never</span> : <Time at={expires_at} style="minute" />,
  },
];
