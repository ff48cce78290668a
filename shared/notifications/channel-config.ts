/**
 * Settings of a channel: the members that its type has, those of them that are secrets, and the merge of a part that is sent.
 * Source: spec.md "PATCH …/notification-channels/{channelId}" and "Webhook delivery".
 */
import { ApiError } from "#shared/errors.ts";
import { isMailAddress } from "#shared/mail-address.ts";
import { isConnectionHeader } from "#shared/outbound/fetch.ts";
import { assertPublicUrl } from "#shared/outbound/guard.ts";

/** A shorter credential cannot be blanked in the answer of a receiver that echoes it: ordinary words would go with it. */
export const CREDENTIAL_CHARACTERS_MIN = 8;

export const CHANNEL_TYPES = ["email", "slack", "telegram", "webhook"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

type Values = Readonly<Record<string, string>>;

/** A config that a client sent, valid by its schema: members that we know are texts, others may be anything and are passed over. */
type Sent = Readonly<Record<string, unknown>>;

/** A channel's settings, secrets apart. */
export interface ChannelConfig {
  /** May be shown: URLs as they are redacted. */
  readonly config: Values;
  /** URLs and credentials, and under CREDENTIAL_ORIGINS which of them were given for another origin than that of the URL. */
  readonly secrets: Values;
}

/** Not among the credentials: JSON of names, each with the origin that it was given for. */
const CREDENTIAL_ORIGINS = "credentialOrigins";

interface TypeRules {
  /** Replaced as a whole by every config that is sent. */
  readonly plain: readonly string[];
  /** Kept when they are left out; an empty one is cleared. */
  readonly credentials: readonly string[];
  readonly hasUrl: boolean;
  readonly required: readonly string[];
}

const RULES: Readonly<Record<ChannelType, TypeRules>> = {
  webhook: {
    plain: ["authType", "authUsername", "authHeaderName"],
    credentials: ["authToken", "authPassword", "authApiKey", "authHeaderValue"],
    hasUrl: true,
    required: ["url"],
  },
  slack: { plain: [], credentials: [], hasUrl: true, required: ["url"] },
  telegram: { plain: ["chatId"], credentials: ["botToken"], hasUrl: false, required: ["botToken", "chatId"] },
  email: { plain: ["recipient"], credentials: [], hasUrl: false, required: ["recipient"] },
};

const KNOWN = new Set(Object.values(RULES).flatMap(({ plain, credentials }) => [...plain, ...credentials, "url"]));

/** Members that each way of signing in needs. */
const AUTH_NEEDS: Readonly<Record<string, readonly string[]>> = {
  none: [],
  bearer: ["authToken"],
  basic: ["authUsername", "authPassword"],
  api_key: ["authApiKey"],
  custom_header: ["authHeaderName", "authHeaderValue"],
};

/** Names of the secrets that two settings have not in common. */
export function changedSecrets(from: Values, to: Values): string[] {
  const names = Object.keys({ ...from, ...to }).filter((name) => name !== CREDENTIAL_ORIGINS);
  return names.filter((name) => from[name] !== to[name]);
}

export const credentialsOf = (type: ChannelType): readonly string[] => RULES[type].credentials;

/** @throws ApiError naming the member at fault; `unsafe_url` for a URL that leads inside */
export function newChannelConfig(type: ChannelType, sent: Sent): ChannelConfig {
  return mergeChannelConfig(type, { config: {}, secrets: {} }, sent);
}

/**
 * The settings after a config was sent: credentials and URLs that it leaves out stay, everything else is what it says. A credential
 * that stays is used at the origin that it was given for: else who may move a channel could have it sent to a server of its own.
 * @throws as `newChannelConfig`
 */
export function mergeChannelConfig(type: ChannelType, stored: ChannelConfig, asked: Sent): ChannelConfig {
  const rules = RULES[type];
  const sent = knownMembers(asked);
  for (const [name, value] of Object.entries(sent)) checkMember(type, name, value);
  const config: Record<string, string> = {};
  for (const name of rules.plain) if (sent[name] !== undefined && sent[name] !== "") config[name] = sent[name];
  const secrets: Record<string, string> = {};
  for (const name of rules.credentials) {
    const value = sent[name] ?? stored.secrets[name] ?? "";
    if (value !== "") secrets[name] = value;
  }
  if (rules.hasUrl) {
    const url = urlOf(sent["url"], stored.secrets["url"]);
    if (url !== undefined) {
      secrets["url"] = url;
      config["url"] = redactUrl(url);
    }
  }
  const origins = originsOfKept(stored.secrets, secrets, sent);
  if (Object.keys(origins).length > 0) secrets[CREDENTIAL_ORIGINS] = JSON.stringify(origins);
  const needed = [...rules.required, ...(AUTH_NEEDS[config["authType"] ?? "none"] ?? [])];
  const missing = needed.find((name) => config[name] === undefined && secrets[name] === undefined);
  if (missing !== undefined) {
    throw new ApiError("missing_required_parameter", `Missing required parameter: config.${missing}.`, {
      param: `config.${missing}`,
    });
  }
  const elsewhere = needed.find((name) => origins[name] !== undefined);
  if (elsewhere !== undefined) {
    throw new ApiError(
      "missing_required_parameter",
      `Missing required parameter: config.${elsewhere}. The stored value belongs to another origin than config.url.`,
      { param: `config.${elsewhere}` },
    );
  }
  return { config, secrets };
}

/** Returns the credentials that were not sent and were given for another origin than that of the URL now, each with its origin. */
function originsOfKept(from: Values, to: Values, sent: Values): Values {
  const [before, now] = [from["url"], to["url"]];
  if (before === undefined || now === undefined) return {};
  const earlier = JSON.parse(from[CREDENTIAL_ORIGINS] ?? "{}") as Values;
  const kept = Object.keys(to).filter((name) => name !== "url" && sent[name] === undefined);
  const origins = kept.map((name) => [name, earlier[name] ?? new URL(before).origin] as const);
  return Object.fromEntries(origins.filter(([, origin]) => origin !== new URL(now).origin));
}

function knownMembers(sent: Sent): Values {
  const known = Object.entries(sent).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(known.filter(([name]) => KNOWN.has(name)));
}

/** @throws ApiError */
function urlOf(sent: string | undefined, stored: string | undefined): string | undefined {
  if (sent === undefined) return stored;
  if (stored !== undefined && sent === redactUrl(stored)) return stored;
  if (looksRedacted(sent)) {
    throw refused("url", "a whole URL, got a redacted one that does not match the stored URL");
  }
  return sent === "" ? undefined : assertPublicUrl(sent, "config.url").href;
}

/** Names that HTTP takes as a header (RFC 9110, token). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Says what the body is, frames the message or proves that it is ours: a channel has no such header of its own. */
export function isReservedHeader(name: string): boolean {
  return /^(?:content-type|x-webhook-signature|webhook-.*)$/i.test(name) || isConnectionHeader(name);
}

const FORMS: Readonly<Record<string, { readonly is: (value: string) => boolean; readonly expected: string }>> = {
  recipient: { is: isMailAddress, expected: "exactly one e-mail address" },
  chatId: { is: (value) => /^(?:-?\d{1,20}|@[A-Za-z0-9_]{4,32})$/.test(value), expected: "digits, or @name" },
  botToken: { is: (value) => /^\d{5,20}:[A-Za-z0-9_-]{20,100}$/.test(value), expected: "the token of a bot" },
  authHeaderName: {
    is: (value) => HEADER_NAME.test(value) && !isReservedHeader(value),
    expected:
      "an HTTP field name other than Content-Type, x-webhook-signature, webhook-… and those of the connection, such as Host",
  },
  authUsername: { is: (value) => !value.includes(":"), expected: "a name without a colon" },
};

/** @throws ApiError; never with the value in it, which may be a secret */
function checkMember(type: ChannelType, name: string, value: string): void {
  const { plain, credentials, hasUrl } = RULES[type];
  if (!plain.includes(name) && !credentials.includes(name) && !(hasUrl && name === "url")) {
    throw refused(name, `absent for a channel of type ${type}`);
  }
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) throw refused(name, "without control characters");
  const least = CREDENTIAL_CHARACTERS_MIN;
  if (credentials.includes(name) && value !== "" && value.length < least) {
    throw refused(name, `at least ${least} characters long`);
  }
  const form = FORMS[name];
  if (form && value !== "" && !form.is(value)) throw refused(name, form.expected);
}

function refused(name: string, expected: string): ApiError {
  return new ApiError("unsupported_value", `Expected config.${name} to be ${expected}.`, { param: `config.${name}` });
}

// Form in which a URL that is a secret is shown: its origin and its last four characters.

const SHOWN_CHARS = 4;
/** No URL holds it as it stands, so what does was shown by us. Clients may have encoded it. */
const MARK = "…";
const REDACTED = /^https?:\/\/[^/?#]+\/(?:…|%E2%80%A6)/iu;

export function redactUrl(url: string): string {
  return `${new URL(url).origin}/${MARK}${url.slice(-SHOWN_CHARS)}`;
}

/** True if a text is the redacted form of a URL, rather than a URL. */
export function looksRedacted(text: string): boolean {
  return text.includes(MARK) || REDACTED.test(text);
}
