/** Dialog that creates or changes a channel. Its fields depend on the type of the channel. */
import type { JSX } from "preact";

import type { Channel, ChannelCreateRequest } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { choicesOf, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";

type Type = Channel["type"];
type Config = ChannelCreateRequest["config"];
type AuthType = NonNullable<Config["authType"]>;

export const TYPES: Readonly<Record<Type, string>> = {
  webhook: "Webhook",
  slack: "Slack",
  telegram: "Telegram",
  email: "E-mail",
};

interface ConfigField {
  readonly name: Exclude<keyof Config, "authType">;
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

const AUTH_FIELDS: Readonly<Record<AuthType, readonly ConfigField[]>> = {
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

const AUTH_TYPES: Readonly<Record<AuthType, string>> = {
  none: "Signature only",
  bearer: "Bearer token",
  basic: "User name and password",
  api_key: "API key in a header",
  custom_header: "Header of your own",
};

export function ChannelDialog({
  channel,
  ...dialog
}: DialogProps<Channel> & {
  /** Channel to change. Absent: a new one is created. */
  readonly channel?: Channel;
}): JSX.Element {
  const form = useForm(
    {
      type: channel?.type ?? "webhook",
      name: channel?.name ?? "",
      authType: (channel?.config["authType"] ?? "none") as AuthType,
      ...textsOf(channel),
    },
    ({ type, name, authType, ...texts }) => {
      // An omitted credential of a stored channel keeps its value.
      const filled = fields.filter((field) => texts[field.name].trim() !== "");
      const config: Config = {
        ...Object.fromEntries(filled.map((field) => [field.name, texts[field.name].trim()])),
        ...(type === "webhook" ? { authType } : {}),
      };
      return channel === undefined
        ? call("POST /workspaces/{workspaceId}/notification-channels", { body: { type, name, config } })
        : call("PATCH /workspaces/{workspaceId}/notification-channels/{channelId}", {
            path: { channelId: channel.id },
            body: { name, config },
          });
    },
    dialog,
  );
  const { type, name, authType } = form.values;
  const authFields = type === "webhook" ? AUTH_FIELDS[authType] : [];
  const fields = [...FIELDS[type], ...authFields];
  const draw = ({ name: member, label, hint, isSecret, type: kind }: ConfigField): JSX.Element => (
    <TextField
      key={member}
      label={label}
      type={isSecret === true ? "password" : (kind ?? "text")}
      {...form.bind(member, `config.${member}`)}
      hint={channel !== undefined && isSecret === true ? "Leave empty to keep the stored value." : hint}
    />
  );
  return (
    <FormDialog
      title={channel === undefined ? "Create channel" : `Change “${channel.name}”`}
      hint={channel === undefined ? undefined : "The next attempt of every delivery uses the new settings."}
      onClose={dialog.onClose}
      action={channel === undefined ? "Create channel" : "Save channel"}
      submit={form}
      blocked={name.trim() === "" ? "Enter a name." : undefined}
    >
      {channel === undefined ? (
        <SelectField
          label="Type"
          {...form.bind("type")}
          onInput={(chosen) => form.set({ ...textsOf(undefined), type: chosen })}
          choices={choicesOf(TYPES)}
        />
      ) : null}
      <TextField label="Name" {...form.bind("name")} />
      {FIELDS[type].map(draw)}
      {type === "webhook" ? (
        <SelectField
          label="Authentication"
          {...form.bind("authType", "config.authType")}
          choices={choicesOf(AUTH_TYPES)}
          hint={authType === "none" ? undefined : "In addition to the signature."}
        />
      ) : null}
      {authFields.map(draw)}
    </FormDialog>
  );
}

/** Returns the texts of all fields. A credential is empty, because the API never returns it. */
function textsOf(channel: Channel | undefined): Readonly<Record<ConfigField["name"], string>> {
  const fields = [...Object.values(FIELDS), ...Object.values(AUTH_FIELDS)].flat();
  return Object.fromEntries(fields.map(({ name }) => [name, channel?.config[name] ?? ""])) as Record<
    ConfigField["name"],
    string
  >;
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
