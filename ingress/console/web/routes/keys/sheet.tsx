/** Side sheet of one key: its limits and facts, and the actions that change it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { ApiKey } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { Button, SelectField, TextField } from "../../parts/form.tsx";
import { zonedText } from "../../parts/format.ts";
import { ConfirmButton, FormDialog, Sheet, type SheetControls } from "../../parts/layers.tsx";
import { LimitBars, stateOf } from "../../parts/limits-form.tsx";
import { Loaded } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";
import { Ago, Id, KeyValues, Status } from "../../parts/values.tsx";
import { changesOf, keyDraftOf, KeyFields } from "./fields.tsx";

interface Props extends SheetControls {
  readonly id: string;
  /** Called after a change, so that the list is read again. */
  readonly onChange: () => void;
  /** Receives the key with its new secret. */
  readonly onSecret: (key: ApiKey) => void;
}

export function KeySheet({ id, onChange, onSecret, ...controls }: Props): JSX.Element {
  const query = useCall("GET /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id } });
  const [open, setOpen] = useState<"edit" | "rotate">();
  const close = (): void => setOpen(undefined);
  const changed = (): void => {
    query.reload();
    onChange();
  };
  return (
    <Sheet title={query.data?.name ?? "Key"} {...controls}>
      <Loaded query={query}>
        {(row) => (
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
                    <ConfirmButton
                      small
                      kind="danger"
                      title={`Revoke “${row.name}”?`}
                      effect="Its calls are refused within a second, and its open streams end. This cannot be undone."
                      action={`Revoke “${row.name}”`}
                      run={async () => {
                        await call("DELETE /workspaces/{workspaceId}/api-keys/{keyId}", { path: { keyId: id } });
                        toast(`Key “${row.name}” is revoked`);
                        changed();
                      }}
                    >
                      Revoke key
                    </ConfirmButton>
                  </span>
                ) : null}
              </div>
              <LimitBars limits={row.limits} usage={row.limit_usage} />
            </section>
            <Facts row={row} />
            {open === "edit" ? <EditKey row={row} onClose={close} onSaved={changed} /> : null}
            {open === "rotate" ? (
              <RotateKey
                row={row}
                onClose={close}
                onSaved={(key) => {
                  changed();
                  onSecret(key);
                }}
              />
            ) : null}
          </>
        )}
      </Loaded>
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

function EditKey({ row, ...dialog }: DialogProps & { readonly row: ApiKey }): JSX.Element {
  const form = useForm(
    keyDraftOf(row),
    (draft) =>
      call("PATCH /workspaces/{workspaceId}/api-keys/{keyId}", {
        path: { keyId: row.id },
        body: changesOf(draft, row),
      }),
    dialog,
  );
  return (
    <FormDialog
      title={`Change “${row.name}”`}
      hint="Changes apply within a second."
      onClose={dialog.onClose}
      action="Save key"
      submit={form}
    >
      <TextField label="Name" {...form.bind("name")} />
      <KeyFields form={form} row={row} />
    </FormDialog>
  );
}

const OVERLAPS = [
  { value: "0", text: "End at once" },
  { value: "3600", text: "One hour" },
  { value: "86400", text: "One day" },
  { value: "604800", text: "One week" },
];

function RotateKey({ row, ...dialog }: DialogProps<ApiKey> & { readonly row: ApiKey }): JSX.Element {
  const form = useForm(
    { overlap: "3600" },
    ({ overlap }) =>
      call("POST /workspaces/{workspaceId}/api-keys/{keyId}/rotate", {
        path: { keyId: row.id },
        body: { overlap_seconds: Number(overlap) },
      }),
    dialog,
  );
  return (
    <FormDialog
      title={`Rotate “${row.name}”`}
      hint="A new secret replaces the old one. Limits and spend continue."
      onClose={dialog.onClose}
      action="Rotate key"
      submit={form}
    >
      <SelectField label="The old secret works for" {...form.bind("overlap", "overlap_seconds")} choices={OVERLAPS} />
    </FormDialog>
  );
}
