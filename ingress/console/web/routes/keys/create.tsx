/** Dialogs that create a key and show its secret once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { ApiKey } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useQuery } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { zonedTime, zoneText } from "../../parts/format.ts";
import { FormDialog } from "../../parts/layers.tsx";
import { draftOf, LimitsFields, limitsOf } from "../../parts/limits-form.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";

export function CreateKey({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: ApiKey) => void;
}): JSX.Element {
  const [name, setName] = useState("");
  const [memberId, setMemberId] = useState("");
  const [preset, setPreset] = useState("");
  const [expires, setExpires] = useState("");
  const [limits, setLimits] = useState(draftOf(null));
  const mayChooseMember = hasRole("owner", "admin");
  const members = useQuery(mayChooseMember ? "members" : "", (signal) =>
    call("GET /workspaces/{workspaceId}/members", { query: { limit: 100 }, signal }),
  );
  const presets = useQuery("presets", (signal) => call("GET /workspaces/{workspaceId}/presets", { signal }));
  const create = useAction(async () => {
    const chosen = limitsOf(limits, null);
    onCreated(
      await call("POST /workspaces/{workspaceId}/api-keys", {
        body: {
          name: name.trim(),
          ...(memberId === "" ? {} : { member_id: memberId }),
          ...(preset === "" ? {} : { preset }),
          ...(expires === "" ? {} : { expires_at: zonedTime(`${expires}:00`).toISOString() }),
          ...(chosen === null ? {} : { limits: chosen }),
        },
      }),
    );
  });
  const { fault } = create;
  return (
    <FormDialog
      title="Create key"
      hint="The secret is shown once."
      onClose={onClose}
      action="Create key"
      submit={create}
      blocked={name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
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
      <div class="grid2">
        <SelectField
          label="Preset"
          value={preset}
          onInput={setPreset}
          param="preset"
          fault={fault}
          hint="Limits of calls per minute and tokens per day."
          choices={[
            { value: "", text: `${session.value?.preset} (yours)` },
            ...(presets.data?.data ?? [])
              .filter(({ can_be_given: isAllowed, name: one }) => isAllowed && one !== session.value?.preset)
              .map(({ name: one }) => ({ value: one, text: one })),
          ]}
        />
        <TextField
          label={`Expires, ${zoneText()}`}
          type="datetime-local"
          value={expires}
          onInput={setExpires}
          isOptional
          param="expires_at"
          fault={fault}
        />
      </div>
      <LimitsFields draft={limits} onInput={setLimits} fault={fault} />
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
