/** Side sheet of one key: its limits and facts, and the actions that change it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { ApiKey } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useQuery } from "../../api/query.ts";
import { Button, FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { zonedText } from "../../parts/format.ts";
import { ConfirmDialog, FaultCallout, FormDialog, Sheet, type SheetControls } from "../../parts/layers.tsx";
import { LimitBars, stateOf } from "../../parts/limits-form.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Ago, Id, KeyValues, Status } from "../../parts/values.tsx";
import { changesOf, keyDraftOf, KeyFields } from "./fields.tsx";

interface Props extends SheetControls {
  readonly id: string;
  /** Called after a change, so that the list is read again. */
  readonly onChange: () => void;
  /** Receives the key with its new secret. */
  readonly onSecret: (key: ApiKey) => void;
}

type Open = "edit" | "rotate" | "revoke" | undefined;

export function KeySheet({ id, onChange, onSecret, ...controls }: Props): JSX.Element {
  const query = useQuery(`key ${id}`, (signal) =>
    call("GET /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id }, signal }),
  );
  const [open, setOpen] = useState<Open>();
  const changed = (): void => {
    setOpen(undefined);
    query.reload();
    onChange();
  };
  const { data: row } = query;
  return (
    <Sheet title={row?.name ?? "Key"} {...controls}>
      {query.fault === undefined ? null : <FaultCallout fault={query.fault} retry={query.reload} />}
      {row === undefined ? (
        query.fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          <section>
            <div class="row wrap">
              <Status of={stateOf(row)} />
              {row.status === "active" ? (
                <span class="push row">
                  <Button small onClick={() => setOpen("edit")}>
                    Change key
                  </Button>
                  <Button small onClick={() => setOpen("rotate")}>
                    Rotate key
                  </Button>
                  <Button small kind="danger" onClick={() => setOpen("revoke")}>
                    Revoke key
                  </Button>
                </span>
              ) : null}
            </div>
            <LimitBars limits={row.limits} usage={row.limit_usage} />
          </section>
          <Facts row={row} />
        </>
      )}
      {row !== undefined && open === "edit" ? (
        <EditKey row={row} onClose={() => setOpen(undefined)} onChanged={changed} />
      ) : null}
      {row !== undefined && open === "rotate" ? (
        <RotateKey
          row={row}
          onClose={() => setOpen(undefined)}
          onRotated={(key) => {
            changed();
            onSecret(key);
          }}
        />
      ) : null}
      {row !== undefined && open === "revoke" ? (
        <ConfirmDialog
          title={`Revoke “${row.name}”?`}
          effect="Its calls are refused within a second, and its open streams end. This cannot be undone."
          action={`Revoke “${row.name}”`}
          onClose={() => setOpen(undefined)}
          run={async () => {
            await call("DELETE /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id } });
            toast(`Key “${row.name}” is revoked`);
            changed();
          }}
        />
      ) : null}
    </Sheet>
  );
}

const KEPT = { none: "none", errors: "of failed calls", all: "of all calls" } as const;

function Facts({ row }: { readonly row: ApiKey }): JSX.Element {
  const { limits } = row;
  const all = (list: readonly string[] | null | undefined): string => list?.join(", ") ?? "All";
  return (
    <section>
      <h3>Details</h3>
      <KeyValues
        of={[
          ["Member", `${row.member.name}, ${row.member.role}`],
          ["Starts with", <code>{row.hint}</code>],
          ["Id", <Id value={row.id} label="key id" />],
          ["Preset", row.preset],
          ["Models", all(limits?.models)],
          ["Endpoints", all(limits?.endpoints)],
          ["Tools", all(row.tools)],
          ["Addresses", all(limits?.ips)],
          ["Kept bodies", row.bodies === null ? "as the workspace" : KEPT[row.bodies.keep]],
          ["Created", zonedText(row.created_at)],
          ["Last used", <Ago at={row.last_used_at} />],
          ["Expires", row.expires_at === null ? "never" : zonedText(row.expires_at)],
          ["Revoked", row.revoked_at === null ? null : zonedText(row.revoked_at)],
        ]}
      />
      <p class="row">
        <Link href={`/requests?key_id=${row.id}`}>Show its requests</Link>
        <Link href={`/usage?key_id=${row.id}`}>Show its usage</Link>
      </p>
    </section>
  );
}

function EditKey({
  row,
  onClose,
  onChanged,
}: {
  readonly row: ApiKey;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  const [draft, setDraft] = useState(keyDraftOf(row));
  const save = useAction(async () => {
    await call("PATCH /workspaces/{workspaceId}/api-keys/{keyId}", {
      path: { keyId: row.id },
      body: changesOf(draft, row),
    });
    onChanged();
  });
  return (
    <FormDialog
      title={`Change “${row.name}”`}
      hint="Changes apply within a second."
      onClose={onClose}
      action="Save key"
      submit={save}
    >
      <TextField
        label="Name"
        value={draft.name}
        onInput={(name) => setDraft({ ...draft, name })}
        param="name"
        fault={save.fault}
      />
      <KeyFields draft={draft} onInput={setDraft} fault={save.fault} row={row} />
      <FaultText fault={save.fault} />
    </FormDialog>
  );
}

const OVERLAPS = [
  { value: "0", text: "End at once" },
  { value: "3600", text: "One hour" },
  { value: "86400", text: "One day" },
  { value: "604800", text: "One week" },
];

function RotateKey({
  row,
  onClose,
  onRotated,
}: {
  readonly row: ApiKey;
  readonly onClose: () => void;
  readonly onRotated: (key: ApiKey) => void;
}): JSX.Element {
  const [overlap, setOverlap] = useState("3600");
  const rotate = useAction(async () =>
    onRotated(
      await call("POST /workspaces/{workspaceId}/api-keys/{keyId}/rotate", {
        path: { keyId: row.id },
        body: { overlap_seconds: Number(overlap) },
      }),
    ),
  );
  return (
    <FormDialog
      title={`Rotate “${row.name}”`}
      hint="A new secret replaces the old one. Limits and spend continue."
      onClose={onClose}
      action="Rotate key"
      submit={rotate}
    >
      <SelectField label="The old secret works for" value={overlap} onInput={setOverlap} choices={OVERLAPS} />
      <FaultText fault={rotate.fault} />
    </FormDialog>
  );
}
