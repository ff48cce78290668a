/** Earlier results of the tab. They are gone after a reload; finished work is in Requests, Jobs and Files. */
import type { JSX } from "preact";

import { timeText, zoneText } from "../../parts/format.ts";
import { Section } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Amount, Status } from "../../parts/values.tsx";
import { earlier, type Result } from "./run.ts";

export function Earlier({ onShow }: { readonly onShow: (result: Result) => void }): JSX.Element | null {
  if (earlier.value.length === 0) return null;
  const columns: readonly Column<Result>[] = [
    {
      head: "Call",
      place: "main",
      cut: "50%",
      cell: (result) => (
        <button type="button" class="link" onClick={() => onShow(result)}>
          {result.name}
        </button>
      ),
    },
    { head: `Time, ${zoneText()}`, place: "mid", cell: ({ endedAt }) => timeText(endedAt, "time") },
    { head: "Status", cell: ({ status }) => <Status of={status} /> },
    {
      head: "Credits",
      place: "key",
      isNumber: true,
      cell: ({ credits }) => (credits === null ? <span class="none">—</span> : <Amount credits={credits} />),
    },
  ];
  return (
    <Section title="Earlier in this tab">
      <div class="panel">
        <Table columns={columns} rows={earlier.value} idOf={({ endedAt, id }) => `${endedAt} ${id}`} />
      </div>
    </Section>
  );
}
