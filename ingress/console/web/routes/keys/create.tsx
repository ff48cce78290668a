/** Dialogs that create a key and show its secret once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { ApiKey, ApiKeyCreateRequest } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useQuery } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { changesOf, keyDraftOf, KeyFields } from "./fields.tsx";

export function CreateKey({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: ApiKey) => void;
}): JSX.Element {
  const [draft, setDraft] = useState(keyDraftOf());
  const [memberId, setMemberId] = useState("");
  const mayChooseMember = hasRole("owner", "admin");
  const members = useQuery(mayChooseMember ? "members" : "", (signal) =>
    call("GET /workspaces/{workspaceId}/members", { query: { limit: 100 }, signal }),
  );
  const create = useAction(async () =>
    onCreated(
      await call("POST /workspaces/{workspaceId}/api-keys", {
        body: {
          ...(memberId === "" ? {} : { member_id: memberId }),
          ...changesOf(draft),
          name: draft.name.trim(),
        } as ApiKeyCreateRequest,
      }),
    ),
  );
  const { fault } = create;
  return (
    <FormDialog
      title="Create key"
      hint="The secret is shown once."
      onClose={onClose}
      action="Create key"
      submit={create}
      blocked={draft.name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField
        label="Name"
        value={draft.name}
        onInput={(name) => setDraft({ ...draft, name })}
        param="name"
        fault={fault}
        isRequired
        hint="The service or person that uses it."
      />
      {mayChooseMember ? (
        <SelectField
          label="Member"
          value={memberId}
          onInput={setMemberId}
          param="member_id"
          fault={fault}
          choices={[
            { value: "", text: `${session.value?.member.name} (you)` },
            ...(members.data?.data ?? [])
              .filter(({ id }) => id !== session.value?.member.id)
              .map(({ id, name: text, role }) => ({ value: id, text: `${text}, ${role}` })),
          ]}
        />
      ) : null}
      <KeyFields draft={draft} onInput={setDraft} fault={fault} />
      <FaultText fault={fault} />
    </FormDialog>
  );
}

/** Shows the secret of a new key, and how to use it. */
export function KeySecret({
  created: { name, key = "" },
  onClose,
}: {
  readonly created: ApiKey;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <SecretDialog
      title={`Key “${name}”`}
      hint="Store the secret now. It cannot be shown again; a lost secret is replaced by rotating the key."
      noun="key"
      variants={{
        Key: key,
        curl: `curl ${location.origin}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}'`,
        Shell: `export OPENAI_BASE_URL=${location.origin}/v1\nexport OPENAI_API_KEY=${key}`,
      }}
      onClose={onClose}
    />
  );
}
