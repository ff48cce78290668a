/** Settings of a notification channel: the members of each channel type, which of them are secret, and how a partial update is merged. */
import { ApiError } from "#shared/base/errors.ts";
import { isMailAddress } from "#shared/base/mail-address.ts";
import { isConnectionHeader } from "#shared/net/fetch.ts";
import { assertPublicUrl } from "#shared/net/guard.ts";

/**
 * Minimum length of a credential, in characters. A shorter one could not be redacted where a receiver echoes it, because ordinary words
 * would be redacted too.
 */
export const CREDENTIAL_CHARACTERS_MIN = 8;

export const CHANNEL_TYPES = ["email", "slack", "telegram", "webhook"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

type Values = Readonly<Record<string, string>>;

/**
 * Settings that a client sent, already validated against their schema. The values of known members are texts; unknown members are ignored.
 */
type Sent = Readonly<Record<string, unknown>>;

/** Settings of a channel, separated into displayable values and secrets. */
export interface ChannelConfig {
  /** Displayable settings; URLs are redacted. */
  readonly config: Values;
  /**
   * URLs and credentials. The entry CREDENTIAL_ORIGINS lists credentials that were entered for a URL with another origin than the current
   * URL.
   */
  readonly secrets: Values;
}

/**
 * Name of an entry among the secrets that is no credential. Its value is JSON: names of credentials, each with the origin for which it was
 * entered.
 */
const CREDENTIAL_ORIGINS = "credentialOrigins";

interface TypeRules {
  /** Members that every update replaces; an absent one is deleted. */
  readonly plain: readonly string[];
  /** Secret members. An absent one is kept by an update; an empty one is deleted. */
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

/** Members that each authentication method requires. */
const AUTH_NEEDS: Readonly<Record<string, readonly string[]>> = {
  none: [],
  bearer: ["authToken"],
  basic: ["authUsername", "authPassword"],
  api_key: ["authApiKey"],
  custom_header: ["authHeaderName", "authHeaderValue"],
};

/** Returns the names of secrets that differ between two settings. */
export function changedSecrets(from: Values, to: Values): string[] {
  const names = Object.keys({ ...from, ...to }).filter((name) => name !== CREDENTIAL_ORIGINS);
  return names.filter((name) => from[name] !== to[name]);
}

export const credentialsOf = (type: ChannelType): readonly string[] => RULES[type].credentials;

/** Creates the settings of a new channel. @throws ApiError that names the invalid member; `unsafe_url` for a URL to an internal address */
export function newChannelConfig(type: ChannelType, sent: Sent): ChannelConfig {
  return mergeChannelConfig(type, { config: {}, secrets: {} }, sent);
}

/**
 * Merges an update into the settings of a channel, and returns the result. Absent credentials and URLs are kept; everything else is
 * replaced. A kept credential is used only for its original origin. Otherwise a member who may change the URL could send the credential to
 * a server of their own.
 * @throws the errors of `newChannelConfig`
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

/**
 * Returns credentials that the update keeps but that were entered for another origin than that of the new URL. Each has the origin for
 * which it was entered.
 */
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

/** Returns the channel's URL after an update. @throws ApiError for an invalid or unsafe URL */
function urlOf(sent: string | undefined, stored: string | undefined): string | undefined {
  if (sent === undefined) return stored;
  if (stored !== undefined && sent === redactUrl(stored)) return stored;
  if (isRedacted(sent)) {
    throw refused("url", "a whole URL, got a redacted one that does not match the stored URL");
  }
  return sent === "" ? undefined : assertPublicUrl(sent, "config.url").href;
}

/** Matches valid names of HTTP headers (RFC 9110, token). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Returns true for a header that channels cannot set, because it describes the body, frames the message or authenticates us. */
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

/**
 * Checks one member of the settings.
 * @throws ApiError if the value is invalid; its message never contains the value, which may be a secret
 */
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

// Characters displayed of a secret URL, after its origin.

const VISIBLE_SUFFIX_CHARS = 4;
/** Character that marks a redacted URL. No URL contains it unencoded; clients may have encoded it. */
const MARK = "…";
const REDACTED = /^https?:\/\/[^/?#]+\/(?:…|%E2%80%A6)/iu;

export function redactUrl(url: string): string {
  return `${new URL(url).origin}/${MARK}${url.slice(-VISIBLE_SUFFIX_CHARS)}`;
}

/** Returns true if a text is the redacted form of a URL. */
export function isRedacted(text: string): boolean {
  return text.includes(MARK) || REDACTED.test(text);
}
