/** Tokens of operators: list, creation with a scope, and revocation. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorToken } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { Button, choicesOf, SelectField, TextField } from "../parts/form.tsx";
import { ConfirmButton, FormDialog } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import { Empty, ListPanel, useList } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Status, Time } from "../parts/values.tsx";
import { moneyBlocked } from "./session.ts";

const SCOPES: Readonly<Record<OperatorToken["scope"], string>> = {
  read: "Read: every page, no change",
  write: "Write: workspaces, sources, dead letters",
  money: "Money: also credits, holds and tokens",
};

export default function Tokens(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<OperatorToken>();
  const list = useList("GET /operator/tokens");
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
            label: "expires",
            cell: ({ expires_at }) => (expires_at === null ? "never" : <Time at={expires_at} style="minute" />),
          },
          {
            head: <span class="sr">Actions</span>,
            cell: (token) =>
              token.revoked_at === null ? (
                <ConfirmButton
                  small
                  kind="danger"
                  blocked={moneyBlocked.value}
                  title={`Revoke “${token.name}”?`}
                  effect="Its requests are refused within a second, and sessions that it opened end. This cannot be undone."
                  action={`Revoke “${token.name}”`}
                  run={async () => {
                    await call("DELETE /operator/tokens/{id}", { path: { id: token.id } });
                    toast(`Token “${token.name}” is revoked`);
                    list.reload();
                  }}
                >
                  Revoke
                </ConfirmButton>
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
          onSaved={(token) => {
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
    </Page>
  );
}

function CreateToken(dialog: DialogProps<OperatorToken>): JSX.Element {
  const form = useForm(
    { name: "", scope: "read" },
    ({ name, scope }: Pick<OperatorToken, "name" | "scope">) =>
      call("POST /operator/tokens", { body: { name: name.trim(), scope } }),
    dialog,
  );
  return (
    <FormDialog
      title="Create token"
      onClose={dialog.onClose}
      action="Create token"
      submit={form}
      blocked={form.values.name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField label="Name" {...form.bind("name")} isRequired />
      <SelectField label="Scope" {...form.bind("scope")} choices={choicesOf(SCOPES)} />
    </FormDialog>
  );
}
