/** Tokens of operators: list, creation with a scope, and revocation. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorToken } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { Button, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { ConfirmDialog, FormDialog } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import { Empty, ListPanel, useCursor } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Status, Time } from "../parts/values.tsx";
import { moneyBlocked } from "./session.ts";

type Scope = OperatorToken["scope"];

export default function Tokens(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<OperatorToken>();
  const [revoking, setRevoking] = useState<OperatorToken>();
  const cursor = useCursor("");
  const list = useQuery(`operator tokens ${cursor.after ?? ""}`, (signal) =>
    call("GET /operator/tokens", { query: { limit: 50, after: cursor.after }, signal }),
  );
  return (
    <Page
      title="Operator tokens"
      about="A token opens the operator’s API and these pages. Its scope limits what it may change."
      actions={
        <Button kind="primary" icon="plus" blocked={moneyBlocked.value} onClick={() => setCreating(true)}>
          Create token
        </Button>
      }
    >
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={({ id }) => id}
        columns={[
          { head: "Name", place: "main", title: ({ id }) => id, cell: ({ name }) => name },
          { head: "Scope", cell: ({ scope }) => scope },
          {
            head: "Status",
            place: "key",
            cell: ({ revoked_at }) => <Status of={revoked_at === null ? "active" : "revoked"} />,
          },
          {
            head: "Expires",
            place: "mid",
            cell: ({ expires_at }) => (expires_at === null ? "never" : <Time at={expires_at} style="minute" />),
          },
          {
            head: <span class="sr">Actions</span>,
            cell: (token) =>
              token.revoked_at === null ? (
                <Button small kind="danger" blocked={moneyBlocked.value} onClick={() => setRevoking(token)}>
                  Revoke
                </Button>
              ) : null,
          },
        ]}
        empty={
          <Empty title="No tokens">
            <p>The token in SLUICE_OPERATOR_TOKEN is not listed.</p>
          </Empty>
        }
      />
      {isCreating ? (
        <CreateToken
          onClose={() => setCreating(false)}
          onCreated={(token) => {
            setCreating(false);
            setCreated(token);
            list.reload();
          }}
        />
      ) : null}
      {created === undefined ? null : (
        <SecretDialog
          title={`Token “${created.name}”`}
          hint="Store the token now. It cannot be shown again."
          noun="token"
          variants={{ Token: created.token ?? "" }}
          onClose={() => setCreated(undefined)}
        />
      )}
      {revoking === undefined ? null : (
        <ConfirmDialog
          title={`Revoke “${revoking.name}”?`}
          effect="Its requests are refused within a second, and sessions that it opened end. This cannot be undone."
          action={`Revoke “${revoking.name}”`}
          onClose={() => setRevoking(undefined)}
          run={async () => {
            await call("DELETE /operator/tokens/{id}", { path: { id: revoking.id } });
            toast(`Token “${revoking.name}” is revoked`);
            list.reload();
          }}
        />
      )}
    </Page>
  );
}

function CreateToken({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (token: OperatorToken) => void;
}): JSX.Element {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("read");
  const create = useAction(async () =>
    onCreated(await call("POST /operator/tokens", { body: { name: name.trim(), scope } })),
  );
  return (
    <FormDialog
      title="Create token"
      onClose={onClose}
      action="Create token"
      submit={create}
      blocked={name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField label="Name" value={name} onInput={setName} param="name" fault={create.fault} isRequired />
      <SelectField
        label="Scope"
        value={scope}
        onInput={(value) => setScope(value as Scope)}
        choices={[
          { value: "read", text: "Read: every page, no change" },
          { value: "write", text: "Write: workspaces, sources, dead letters" },
          { value: "money", text: "Money: also credits, holds and tokens" },
        ]}
      />
      <FaultText fault={create.fault} except={["name"]} />
    </FormDialog>
  );
}
