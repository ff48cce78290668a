/** Dialog that creates or changes a channel. Its fields depend on the type of the channel. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Channel, ChannelCreateRequest } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction } from "../../api/query.ts";
import { FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";

type Type = Channel["type"];
type Config = ChannelCreateRequest["config"];

export const TYPES: Readonly<Record<Type, string>> = {
  webhook: "Webhook",
  slack: "Slack",
  telegram: "Telegram",
  email: "E-mail",
};

interface ConfigField {
  readonly name: keyof Config;
  readonly label: string;
  readonly hint?: string;
  /** True for a credential, which the API never returns. */
  readonly isSecret?: boolean;
  readonly type?: "url" | "email";
}

const FIELDS: Readonly<Record<Type, readonly ConfigField[]>> = {
  webhook: [
    { name: "url", label: "URL", type: "url", hint: "The service sends signed POST requests to this address." },
  ],
  slack: [
    {
      name: "url",
      label: "URL of the incoming webhook",
      type: "url",
      hint: "Begins with https://hooks.slack.com/services/.",
    },
  ],
  telegram: [
    { name: "botToken", label: "Token of the bot", isSecret: true },
    { name: "chatId", label: "Chat", hint: "Digits, or @name." },
  ],
  email: [{ name: "recipient", label: "E-mail address", type: "email" }],
};

const AUTH_FIELDS: Readonly<Record<NonNullable<Config["authType"]>, readonly ConfigField[]>> = {
  none: [],
  bearer: [{ name: "authToken", label: "Bearer token", isSecret: true }],
  basic: [
    { name: "authUsername", label: "User name" },
    { name: "authPassword", label: "Password", isSecret: true },
  ],
  api_key: [
    { name: "authHeaderName", label: "Header", hint: "Default: x-api-key." },
    { name: "authApiKey", label: "API key", isSecret: true },
  ],
  custom_header: [
    { name: "authHeaderName", label: "Header" },
    { name: "authHeaderValue", label: "Value", isSecret: true },
  ],
};

const AUTH_CHOICES = [
  { value: "none", text: "Signature only" },
  { value: "bearer", text: "Bearer token" },
  { value: "basic", text: "User name and password" },
  { value: "api_key", text: "API key in a header" },
  { value: "custom_header", text: "Header of your own" },
];

export function ChannelDialog({
  channel,
  onClose,
  onSaved,
}: {
  /** Channel to change. Absent: a new one is created. */
  readonly channel?: Channel;
  readonly onClose: () => void;
  readonly onSaved: (channel: Channel) => void;
}): JSX.Element {
  const [type, setType] = useState<Type>(channel?.type ?? "webhook");
  const [name, setName] = useState(channel?.name ?? "");
  const [config, setConfig] = useState<Config>(channel?.config ?? {});
  const { authType = "none" } = config;
  const fields = [...FIELDS[type], ...(type === "webhook" ? AUTH_FIELDS[authType] : [])];
  const save = useAction(async () => {
    const members = fields.flatMap((field) => {
      const value = (config[field.name] ?? "").trim();
      // An omitted credential of a stored channel keeps its value.
      return value === "" ? [] : [[field.name, value] as const];
    });
    const sent: Config = { ...Object.fromEntries(members), ...(type === "webhook" ? { authType } : {}) };
    onSaved(
      channel === undefined
        ? await call("POST /workspaces/{workspaceId}/notification-channels", { body: { type, name, config: sent } })
        : await call("PATCH /workspaces/{workspaceId}/notification-channels/{channelId}", {
            path: { channelId: channel.id },
            body: { name, config: sent },
          }),
    );
  });
  const { fault } = save;
  const text = ({ name: member, label, hint, isSecret, type: kind }: ConfigField): JSX.Element => {
    const isStored = channel !== undefined && isSecret === true;
    return (
      <TextField
        key={member}
        label={label}
        type={isSecret === true ? "password" : (kind ?? "text")}
        value={config[member] ?? ""}
        onInput={(value) => setConfig({ ...config, [member]: value })}
        hint={isStored ? "Leave empty to keep the stored value." : hint}
        param={`config.${member}`}
        fault={fault}
      />
    );
  };
  return (
    <FormDialog
      title={channel === undefined ? "Create channel" : `Change “${channel.name}”`}
      hint={channel === undefined ? undefined : "The next attempt of every delivery uses the new settings."}
      onClose={onClose}
      action={channel === undefined ? "Create channel" : "Save channel"}
      submit={save}
      blocked={name.trim() === "" ? "Enter a name." : undefined}
    >
      {channel === undefined ? (
        <SelectField
          label="Type"
          value={type}
          onInput={(value) => {
            setType(value as Type);
            setConfig({});
          }}
          choices={Object.entries(TYPES).map(([value, label]) => ({ value, text: label }))}
          param="type"
          fault={fault}
        />
      ) : null}
      <TextField label="Name" value={name} onInput={setName} param="name" fault={fault} />
      {FIELDS[type].map(text)}
      {type === "webhook" ? (
        <SelectField
          label="Authentication"
          value={authType}
          onInput={(value) => setConfig({ ...config, authType: value as NonNullable<Config["authType"]> })}
          choices={AUTH_CHOICES}
          hint={authType === "none" ? undefined : "In addition to the signature."}
          param="config.authType"
          fault={fault}
        />
      ) : null}
      {type === "webhook" ? AUTH_FIELDS[authType].map(text) : null}
      <FaultText
        fault={fault}
        except={["type", "name", "config.authType", ...fields.map((field) => `config.${field.name}`)]}
      />
    </FormDialog>
  );
}

/** State of a channel: `disabled`, `failing` while its attempts fail, or `active`. */
export function stateOf({ enabled, failingSince }: Pick<Channel, "enabled" | "failingSince">): string {
  if (!enabled) return "disabled";
  return failingSince === null ? "active" : "failing";
}

/** Receiver of a channel: redacted URL, address or chat. */
export function targetOf({ config }: Pick<Channel, "config">): string {
  return config["url"] ?? config["recipient"] ?? config["chatId"] ?? "";
}
