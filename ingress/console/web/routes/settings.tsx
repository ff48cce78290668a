/** Settings: the workspace's name and tags, kept requests and responses, and how this browser shows times and colours. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Workspace } from "#schemas/generated/types.ts";
import { ApiFault, call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { hasRole } from "../api/session.ts";
import { bodiesDraftOf, BodiesFields, bodiesOf } from "../parts/bodies-form.tsx";
import { Button, choicesOf, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { countText, isZone, setZone, sizeText, zone } from "../parts/format.ts";
import { Page, Section } from "../parts/page.tsx";
import { Empty, ListPanel, Loaded } from "../parts/table.tsx";
import { setTheme, theme } from "../parts/theme.ts";
import { toast } from "../parts/toast.tsx";
import { useForm } from "../parts/use-form.ts";
import { Id, KeyValues } from "../parts/values.tsx";

export default function Settings(): JSX.Element {
  const [name, setName] = useState(zone.value);
  const query = useCall("GET /workspaces/{workspaceId}");
  return (
    <Page title="Settings">
      <Section title="This browser">
        <div class="panel">
          <div class="pad grid2">
            <TextField
              label="Time zone"
              value={name}
              onInput={(text) => {
                setName(text);
                setZone(text.trim());
              }}
              param="zone"
              fault={isZone(name.trim()) ? undefined : new ApiFault("No time zone has this name.", { param: "zone" })}
              suggestions={Intl.supportedValuesOf("timeZone")}
              hint="Zone of all times. Days of usage, budgets and limits begin at 00:00 UTC."
            />
            <SelectField
              label="Colours"
              value={theme.value}
              onInput={setTheme}
              choices={choicesOf({ "": "As the system", light: "Light", dark: "Dark" })}
            />
          </div>
        </div>
      </Section>
      <Loaded query={query}>{(row) => <WorkspaceSettings row={row} reload={query.reload} />}</Loaded>
      <Presets />
    </Page>
  );
}

function WorkspaceSettings({ row, reload }: { readonly row: Workspace; readonly reload: () => void }): JSX.Element {
  return (
    <>
      <Section title="Workspace">
        <div class="panel">
          <div class="pad stack">
            <KeyValues
              of={[
                ["Id", <Id value={row.id} label="workspace id" />],
                [
                  "Calls in the last minute",
                  `${row.window.used}${row.window.limit === null ? "" : ` of ${row.window.limit}`}`,
                ],
                ["Files", `${sizeText(row.storage.used_bytes)} of ${sizeText(row.storage.limit_bytes)}`],
                ["Kept bodies", `${sizeText(row.kept_bodies.used_bytes)} of ${sizeText(row.kept_bodies.limit_bytes)}`],
              ]}
            />
            {hasRole("owner", "admin") ? <WorkspaceForm row={row} reload={reload} /> : null}
          </div>
        </div>
      </Section>
    </>
  );
}

/** Quota presets, which the operator defines. The dialogs of keys choose among them. */
function Presets(): JSX.Element {
  const query = useCall("GET /workspaces/{workspaceId}/presets");
  const limitText = (limit: number | null): string => (limit === null ? "no limit" : countText(limit));
  return (
    <Section title="Presets" note="limits that a key can have; the operator defines them">
      <ListPanel
        query={query}
        idOf={({ name }) => name}
        columns={[
          { head: "Preset", place: "main", cell: ({ name }) => name },
          {
            head: "Calls per minute",
            place: "key",
            isNumber: true,
            cell: ({ requests_per_minute: calls }) => (
              <>
                {limitText(calls)}
                {calls === null ? null : <span class="narrow"> calls per minute</span>}
              </>
            ),
          },
          {
            head: "Tokens per day",
            place: "mid",
            isNumber: true,
            label: "tokens per day",
            cell: ({ daily_tokens: tokens }) => limitText(tokens),
          },
          {
            head: "Your key may assign it",
            place: "low",
            label: "your key may assign it:",
            cell: ({ can_be_given: isAllowed }) => (isAllowed ? "yes" : "no"),
          },
        ]}
        empty={<Empty title="No presets" />}
      />
    </Section>
  );
}

function WorkspaceForm({ row, reload }: { readonly row: Workspace; readonly reload: () => void }): JSX.Element {
  const form = useForm(
    { name: row.name, tags: row.tags.join(", "), bodies: bodiesDraftOf(row.bodies) },
    async ({ name, tags, bodies }) => {
      const kept = bodiesOf(bodies);
      await call("PATCH /workspaces/{workspaceId}", {
        body: {
          ...(name.trim() === row.name ? {} : { name: name.trim() }),
          tags: tags.split(/[\s,]+/).filter(Boolean),
          ...(kept === null || JSON.stringify(bodies) === JSON.stringify(bodiesDraftOf(row.bodies))
            ? {}
            : { bodies: kept }),
        },
      });
      toast("Settings are saved");
      reload();
    },
  );
  return (
    <>
      <TextField label="Name" {...form.bind("name")} />
      <TextField
        label="Tags"
        {...form.bind("tags")}
        isOptional
        hint="At most three fields of a request's metadata, such as project. Usage can be grouped and limited by them."
      />
      {hasRole("owner") ? <BodiesFields {...form.bind("bodies")} /> : null}
      <FaultText fault={form.fault} />
      <div class="row">
        <Button kind="primary" isRunning={form.isRunning} onClick={() => form.run()}>
          Save settings
        </Button>
      </div>
    </>
  );
}
