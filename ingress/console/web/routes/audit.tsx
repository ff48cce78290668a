/** Audit log: who changed which setting, with the state before and after. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { AuditLogList } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { keyName, keyNames } from "../api/names.ts";
import { session } from "../api/session.ts";
import { CSV, download } from "../parts/download.ts";
import { useQuery } from "../api/query.ts";
import { Json } from "../parts/code.tsx";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button } from "../parts/form.tsx";
import { timeText, zoneText } from "../parts/format.ts";
import { Sheet } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useCursor } from "../parts/table.tsx";
import { Id, KeyValues } from "../parts/values.tsx";

const LOG = "GET /workspaces/{workspaceId}/audit-log";
const FILTERS = ["actor", "action", "subject", "start_time", "end_time"] as const;

const NO_NAMES: ReadonlyMap<string, string> = new Map();

type Entry = AuditLogList["data"][number];

export default function AuditLog(): JSX.Element {
  const query = useUrlQuery();
  const cursor = useCursor(query.text);
  const [openId, setOpenId] = useState<string>();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
  const list = useQuery(`audit ${query.text} ${cursor.after ?? ""}`, (signal) =>
    call(LOG, { query: { ...filters, limit: 50, after: cursor.after }, signal }),
  );
  const members = useQuery("members", async (signal) => {
    const { data } = await call("GET /workspaces/{workspaceId}/members", { query: { limit: 100 }, signal });
    return new Map(data.map(({ id, name }) => [id, name]));
  });
  const rows = list.data?.data ?? [];
  const place = rows.findIndex(({ id }) => id === openId);
  const entry = rows[place];
  return (
    <Page
      title="Audit log"
      isWide
      about="Every change of a setting, with its author and the state before and after. Secrets are never recorded."
      actions={
        <Button icon="dl" onClick={() => download(LOG, { query: filters }, { accept: CSV, name: "audit-log.csv" })}>
          Export CSV
        </Button>
      }
      sheet={
        entry === undefined ? undefined : (
          <EntrySheet
            entry={entry}
            onClose={() => setOpenId(undefined)}
            onMove={(step) => setOpenId(rows[place + step]?.id ?? entry.id)}
          />
        )
      }
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "action",
            label: "Action",
            suggestions: ["key.create", "key.limits", "key.rotate", "key.revoke", "member.limits", "member.role"],
          },
          { name: "actor", label: "Author" },
          { name: "subject", label: "Subject" },
          { name: "start_time", label: `From, ${zoneText()}`, isTime: true },
          { name: "end_time", label: `Until, ${zoneText()}`, isTime: true },
        ]}
      />
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={({ id }) => id}
        selected={openId}
        columns={[
          {
            head: `Time, ${zoneText()}`,
            title: ({ at }) => timeText(at, "exact"),
            cell: ({ at }) => <span class="mono nw">{timeText(at, "minute")}</span>,
          },
          {
            head: "Action",
            place: "main",
            cell: ({ id, action }) => (
              <button type="button" class="link" onClick={() => setOpenId(id)}>
                {action}
              </button>
            ),
          },
          { head: "Author", place: "key", cell: authorOf },
          {
            head: "Subject",
            cut: "30%",
            title: ({ subject }) => subject,
            cell: (row) => subjectName(row, members.data ?? NO_NAMES),
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
  return type === "operator" ? `operator ${id}` : (name ?? id);
}

/** Returns the name of a key, member or workspace, the name in the recorded state, or the id. */
function subjectName({ subject, before, after }: Entry, members: ReadonlyMap<string, string>): string {
  const recorded = [after, before].map((state) => state?.["name"]).find((name) => typeof name === "string");
  return keyNames.value.get(subject)?.name ?? members.get(subject) ?? recorded ?? workspaceName(subject) ?? subject;
}

function workspaceName(subject: string): string | undefined {
  const { id, name } = session.value?.workspace ?? {};
  return subject === id ? name : undefined;
}

function EntrySheet({
  entry,
  onClose,
  onMove,
}: {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}): JSX.Element {
  return (
    <Sheet title={entry.action} onClose={onClose} onMove={onMove}>
      <section>
        <KeyValues
          of={[
            ["Time", `${timeText(entry.at, "day")}, ${timeText(entry.at, "exact")}`],
            ["Author", authorOf(entry)],
            ["Key", entry.key_id === null ? null : keyName(entry.key_id)],
            ["Address", entry.ip],
            ["Subject", <Id value={entry.subject} label="subject" />],
            ["Request", entry.request_id === null ? null : <Id value={entry.request_id} label="request id" />],
          ]}
        />
      </section>
      <section>
        <h3>Before</h3>
        {entry.before === null ? <p class="muted">It did not exist.</p> : <Json value={entry.before} />}
      </section>
      <section>
        <h3>After</h3>
        {entry.after === null ? <p class="muted">It no longer exists.</p> : <Json value={entry.after} />}
      </section>
    </Sheet>
  );
}
