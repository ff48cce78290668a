/** Dialogs that create a key and show its secret once. */
import type { JSX } from "preact";

import type { ApiKey, ApiKeyCreateRequest } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";
import { changesOf, keyDraftOf, KeyFields } from "./fields.tsx";

export function CreateKey(dialog: DialogProps<ApiKey>): JSX.Element {
  const mayChooseMember = hasRole("owner", "admin");
  const members = useCall("GET /workspaces/{workspaceId}/members", mayChooseMember ? { query: { limit: 100 } } : null);
  const form = useForm(
    { ...keyDraftOf(), member: "" },
    ({ member, ...draft }) =>
      call("POST /workspaces/{workspaceId}/api-keys", {
        body: {
          ...(member === "" ? {} : { member_id: member }),
          ...changesOf(draft),
          name: draft.name.trim(),
        } as ApiKeyCreateRequest,
      }),
    dialog,
  );
  return (
    <FormDialog
      title="Create key"
      hint="The secret is shown once."
      onClose={dialog.onClose}
      action="Create key"
      submit={form}
      blocked={form.values.name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField label="Name" {...form.bind("name")} isRequired hint="The service or person that uses it." />
      {mayChooseMember ? (
        <SelectField
          label="Member"
          {...form.bind("member", "member_id")}
          choices={[
            { value: "", text: `${session.value?.member.name} (you)` },
            ...(members.data?.data ?? [])
              .filter(({ id }) => id !== session.value?.member.id)
              .map(({ id, name: text, role }) => ({ value: id, text: `${text}, ${role}` })),
          ]}
        />
      ) : null}
      <KeyFields form={form} />
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
