/** Page of an audit log: who changed which setting, with the state before and after. */
import type { JSX } from "preact";

import type { AuditLogEntry as Entry } from "#schemas/generated/types.ts";
import { Json } from "./code.tsx";
import { CSV, download } from "./download.ts";
import { type Filter, FilterBar, useUrlQuery } from "./filters.tsx";
import { Button } from "./form.tsx";
import { movementText, operatorText, timeText, zoneText } from "./format.ts";
import { Sheet, type SheetControls } from "./layers.tsx";
import { Page } from "./page.tsx";
import { type Column, Empty, ListPanel, useList, useOpenRow } from "./table.tsx";
import { Id, KeyValues } from "./values.tsx";

const FILTERS = ["workspace_id", "actor", "action", "subject", "start_time", "end_time"] as const;

interface AuditLogProps {
  /** Path of the page. */
  readonly path: string;
  readonly log: "GET /workspaces/{workspaceId}/audit-log" | "GET /operator/audit-log";
  readonly actions: readonly string[];
  /** Additional columns, filters and sheet values of one of the two logs. */
  readonly columns?: readonly Column<Entry>[];
  readonly filters?: readonly Filter[];
  readonly values: (entry: Entry) => Parameters<typeof KeyValues>[0]["of"];
}

export function AuditLogPage({ path, log, actions, columns = [], filters = [], values }: AuditLogProps): JSX.Element {
  const query = useUrlQuery();
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
  const list = useList(log, { query: chosen });
  const open = useOpenRow(path, list, ({ id }) => id);
  return (
    <Page
      title="Audit log"
      isWide
      about="Every change of a setting, with its author and the state before and after. Secrets are never recorded."
      actions={
        <Button icon="dl" onClick={() => download(log, { query: chosen }, { accept: CSV, name: "audit-log.csv" })}>
          Export CSV
        </Button>
      }
      sheet={open.row && <EntrySheet key={open.id} entry={open.row} values={values(open.row)} {...open.sheet} />}
    >
      <FilterBar
        query={query}
        filters={[
          ...filters,
          { name: "action", label: "Action", suggestions: actions },
          { name: "actor", label: "Author" },
          { name: "subject", label: "Subject" },
          { name: "start_time", label: `From, ${zoneText()}`, isTime: true },
          { name: "end_time", label: `Until, ${zoneText()}`, isTime: true },
        ]}
      />
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        open={open}
        columns={[
          {
            head: `Time, ${zoneText()}`,
            place: "brk",
            title: ({ at }) => timeText(at, "exact"),
            cell: ({ at }) => <span class="mono nw">{timeText(at, "minute")}</span>,
          },
          { head: "Action", place: "main", cell: ({ action }) => action },
          { head: "Author", place: "key", cell: authorOf },
          ...columns,
          {
            head: "Subject",
            cut: "30%",
            title: ({ subject }) => subject,
            cell: (row) => nameOf(row) ?? row.subject,
            sub: movementOf,
          },
          { head: "Address", place: "low", cell: ({ ip }) => ip ?? "—" },
        ]}
        empty={
          <Empty title={query.text === "" ? "No changes yet" : "No changes match"}>
            <p>Changes of keys, members, limits, channels and other settings are listed here.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function authorOf({ actor: { type, name, id } }: Entry): string {
  if (type === "system") return "Sluice";
  return type === "operator" ? `operator, ${operatorText(id)}` : (name ?? id);
}

/** Returns the current name of the changed object, or the name in its recorded state. */
function nameOf({ subject_name: name, before, after }: Entry): string | undefined {
  return [name, after?.["name"], before?.["name"]].find((one) => typeof one === "string");
}

/** Returns the amount of a top-up or correction. */
function movementOf({ action, after }: Entry): string | undefined {
  const credits = after?.["credits"];
  return action.startsWith("credits.") && typeof credits === "string" ? movementText(credits) : undefined;
}

function EntrySheet({
  entry,
  values,
  ...controls
}: SheetControls & { readonly entry: Entry; readonly values: ReturnType<AuditLogProps["values"]> }): JSX.Element {
  return (
    <Sheet title={entry.action} {...controls}>
      <section>
        <KeyValues
          of={[
            ["Time", `${timeText(entry.at, "day")}, ${timeText(entry.at, "exact")}`],
            ["Author", authorOf(entry)],
            ...values,
            ["Address", entry.ip],
            ["Subject", nameOf(entry)],
            ["Amount", movementOf(entry)],
            ["Subject id", <Id value={entry.subject} label="subject id" />],
            ["Request", entry.request_id === null ? null : <Id value={entry.request_id} label="request id" />],
          ]}
        />
      </section>
      <section>
        <h3>Changes</h3>
        <Changes before={entry.before} after={entry.after} />
      </section>
      <section>
        <details>
          <summary>State before</summary>
          {entry.before === null ? <p class="muted">It did not exist.</p> : <Json value={entry.before} />}
        </details>
        <details>
          <summary>State after</summary>
          {entry.after === null ? <p class="muted">It no longer exists.</p> : <Json value={entry.after} />}
        </details>
      </section>
    </Sheet>
  );
}

/** Members whose values differ, by their path, with the old and the new value. */
function Changes({ before, after }: Pick<Entry, "before" | "after">): JSX.Element {
  const [old, next] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...old.keys(), ...next.keys()])].filter((name) => old.get(name) !== next.get(name));
  if (names.length === 0) return <p class="muted">No recorded member differs.</p>;
  return (
    <dl class="kv diff">
      {names.flatMap((name) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name}-values`}>
          {old.has(name) ? (
            <del>
              <span class="sr">Before: </span>
              {old.get(name)}
            </del>
          ) : null}
          {next.has(name) ? (
            <ins>
              <span class="sr">After: </span>
              {next.get(name)}
            </ins>
          ) : null}
        </dd>,
      ])}
    </dl>
  );
}

/** Returns the values of a state as texts, by paths such as `limits.credits.day`. Null and empty objects have no path. */
function membersOf(value: unknown, path = ""): ReadonlyMap<string, string> {
  if (value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) {
    return new Map([[path, typeof value === "string" ? value : JSON.stringify(value)]]);
  }
  return new Map(
    Object.entries(value).flatMap(([name, one]) => [...membersOf(one, path === "" ? name : `${path}.${name}`)]),
  );
}
