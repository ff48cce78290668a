/**
 * Redacts secrets and content in log lines, in one scan with limited work. Two independent checks find secrets: members by name, strings by
 * format. A secret in a message, a URL or truncated JSON is found regardless of its origin.
 */

/** Names of members (lower case, without `-`, `_` and spaces) whose values are never logged. A test pins this list. */
export const SECRET_MEMBERS: readonly string[] = Object.freeze(["bearer", "key", "keyhash", "signature"]);

/**
 * Endings of member names whose values are never logged either: openai_api_key, signing_secret, proxy-authorization … Plurals such as
 * tokens do not match.
 */
export const SECRET_ENDINGS: readonly string[] = Object.freeze([
  "accesskey",
  "accesskeyid",
  "apikey",
  "authorization",
  "bootstrapkey",
  "cookie",
  "credentials",
  "encryptionkey",
  "masterkey",
  "passphrase",
  "passwd",
  "password",
  "privatekey",
  "secret",
  "secretkey",
  "signingkey",
  "token",
]);

/** Names of members that contain texts of callers or models. */
export const CONTENT_MEMBERS: readonly string[] = Object.freeze([
  "arguments",
  "body",
  "choices",
  "content",
  "delta",
  "input",
  "messages",
  "output",
  "payload",
  "prompt",
]);

const REDACTED = "[redacted]";
const OMITTED = "[omitted]";
const UNREADABLE = "[unreadable]";
const TEXT_CHARS_MAX = 500;
const STACK_CHARS_MAX = 4_000;
const DEPTH_MAX = 6;
const MEMBERS_MAX = 50;
const NODES_MAX = 500;
const CAUSES_MAX = 4;
const NAMES_MAX = 2_000;
const NAME_CHARS_MAX = 64;
/** Matches ids. Their redacted form is not cached, because an id rarely occurs again. */
const ID = /^[0-9a-f-]{20,}$/;
/** Minimum length of a known secret that is redacted, in characters. A shorter one would redact ordinary words. */
const KNOWN_SECRET_CHARS_MIN = 8;

type Rule = readonly [pattern: RegExp, replacement: string];

/**
 * Patterns of credentials, with their replacements. Every character class ends at quotes, spaces or backslashes, so that surrounding JSON
 * stays readable.
 */
const TEXT_RULES: readonly Rule[] = [
  // scheme://user:password@host; also catches a password with an unescaped slash or @.
  [/([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'`<>\\]*@/gi, `$1${REDACTED}@`],
  [/([?&;](?:[a-z-]*(?:key|token|secret|signature|credential|password)|sig)=)[^&\s"'`\\#]+/gi, `$1${REDACTED}`],
  [/\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi, `$1$2${REDACTED}`],
  // Addresses that contain a credential: Telegram's path, Slack's incoming webhooks.
  [/(\/bot)\d{3,}:[A-Za-z0-9_-]+/g, `$1${REDACTED}`],
  [/(\/services\/)T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]+/g, `$1${REDACTED}`],
  // Tokens by prefix: ours, then those of providers, clouds and chat tools.
  [/\b(sl[ko]_|sk-|sk_|pk_|rk_|whsec_|gsk_|hf_|r8_|xai-|key-|xox[a-z]-|gh[a-z]_)[A-Za-z0-9_-]{6,}/g, `$1${REDACTED}`],
  [/\b(AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g, `$1${REDACTED}`],
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, REDACTED],
  // Members inside text: JSON (whole, escaped or truncated), headers, assignments.
  [
    /((?:authorization|cookie|passw(?:or)?d|passphrase|secret|token|api[-_ ]?key|(?:signing|private|master|encryption|access|secret)[-_ ]?key|"key)(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?)(?!\[redacted\]|(?:bearer|basic) \[redacted\])[^\s"'`\\,;&}]+/gi,
    `$1${REDACTED}`,
  ],
  // The value of such a member may have any length, so the remainder of the string is removed.
  [/(\\?["'](?:messages|prompt|input|content|arguments)\\?["']\s*:\s*)(?!\d)[\s\S]*/gi, `$1${OMITTED}`],
];

/** Matches strings to which `TEXT_RULES` must be applied. Most strings are ids and short names, for which this single scan suffices. */
const SUSPICIOUS =
  /:\/\/|[?&;]sig=|bearer|basic|\/bot\d|\/services\/|sl[ko]_|[spr]k[-_]|whsec_|gsk_|hf_|r8_|xai-|key|xox|gh[a-z]_|AKIA|ASIA|AIza|eyJ|authorization|cookie|passw|passphrase|secret|token|messages|prompt|input|content|arguments/i;

/** Converts any value to a value that is safe and cheap to log. Never throws. */
export interface Redactor {
  text(value: string, charsMax?: number): string;
  value(value: unknown): unknown;
}

/**
 * Creates a redactor.
 * @param secrets known secrets of any format (provider keys, database password, bootstrap key); those under 8 characters are ignored
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= KNOWN_SECRET_CHARS_MIN)
    .toSorted((a, b) => b.length - a.length);

  // Routes, model names and messages repeat often; cached as harmless, they cost one look-up.
  const harmless = new Set<string>();

  function text(value: string, charsMax = TEXT_CHARS_MAX): string {
    if (value.length <= NAME_CHARS_MAX && harmless.has(value)) return value;
    const clean = scrub(value, charsMax);
    if (clean === value && value.length <= NAME_CHARS_MAX && !ID.test(value)) {
      if (harmless.size >= NAMES_MAX) harmless.clear();
      harmless.add(value);
    }
    return clean;
  }

  function scrub(value: string, charsMax: number): string {
    // Checks more characters than are logged, so that a token at the cut is still recognised.
    let clean = value.length > 2 * charsMax ? value.slice(0, 2 * charsMax) : value;
    for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    // An earlier truncation may have split the last secret.
    for (const secret of known) {
      const at = clean.lastIndexOf(secret.slice(0, KNOWN_SECRET_CHARS_MIN));
      if (at >= 0 && secret.startsWith(clean.slice(at))) clean = clean.slice(0, at) + REDACTED;
    }
    if (SUSPICIOUS.test(clean)) {
      for (const [pattern, replacement] of TEXT_RULES) clean = clean.replace(pattern, replacement);
    }
    return clean.length > charsMax ? `${clean.slice(0, charsMax)}… (${value.length} characters)` : clean;
  }

  // Names repeat often; the bound keeps foreign objects from growing the table.
  const judgements = new Map<string, Judgement>();
  function judgeMember(name: string): Judgement {
    const seen = judgements.get(name);
    if (seen !== undefined) return seen;
    const judgement = { verdict: judge(name), loggedName: text(name, 100) };
    if (judgements.size < NAMES_MAX) judgements.set(name, judgement);
    return judgement;
  }

  function walk(value: unknown, depth: number, budget: { nodes: number }): unknown {
    if (typeof value === "string") return text(value);
    if (typeof value === "bigint") return value.toString();
    if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
    if (typeof value !== "object" || value === null) return value;
    budget.nodes -= 1;
    if (depth >= DEPTH_MAX || budget.nodes <= 0) return Array.isArray(value) ? "[array]" : "[object]";
    if (value instanceof Error) return error(value, depth, budget, CAUSES_MAX);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof URL) return text(value.href);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Headers) return members([...value.entries()], depth, budget);
    if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`;
    if (Array.isArray(value)) {
      const items = value.slice(0, MEMBERS_MAX).map((item) => walk(item, depth + 1, budget));
      if (value.length > MEMBERS_MAX) items.push(`… (${value.length} items)`);
      return items;
    }
    return members(readableEntries(value), depth, budget);
  }

  function members(
    entries: readonly (readonly [string, unknown])[],
    depth: number,
    budget: { nodes: number },
  ): unknown {
    const result: Record<string, unknown> = {};
    for (const [name, value] of entries.slice(0, MEMBERS_MAX)) {
      const { verdict, loggedName } = judgeMember(name);
      // Numbers and booleans pass: token counts have names such as `input`, and none of our secrets is a number.
      if (verdict === "plain" || isBare(value)) result[loggedName] = walk(value, depth + 1, budget);
      else result[loggedName] = verdict === "secret" ? REDACTED : OMITTED;
    }
    return result;
  }

  function error(
    value: Error,
    depth: number,
    budget: { nodes: number },
    remainingCauses: number,
  ): Record<string, unknown> {
    // A parser's message quotes the invalid text of a caller or a model.
    const isParser = value instanceof SyntaxError;
    const result: Record<string, unknown> = { type: value.name, message: isParser ? OMITTED : text(value.message) };
    // Only the code of an error's own members is logged: a database error's detail quotes whole rows.
    const code: unknown = Reflect.get(value, "code");
    if (typeof code === "string") result["code"] = text(code);
    else if (typeof code === "number") result["code"] = code;
    if (value.stack !== undefined) {
      const stack = isParser ? value.stack.replaceAll(value.message, OMITTED) : value.stack;
      result["stack"] = text(stack, STACK_CHARS_MAX);
    }
    if (remainingCauses > 0) {
      if (value.cause instanceof Error) result["cause"] = error(value.cause, depth, budget, remainingCauses - 1);
      else if (value.cause !== undefined) result["cause"] = walk(value.cause, depth + 1, budget);
      if (value instanceof AggregateError) {
        result["errors"] = value.errors.slice(0, 5).map((inner) => walk(inner, depth + 1, budget));
      }
    }
    return result;
  }

  return {
    text,
    value(value) {
      try {
        return walk(value, 0, { nodes: NODES_MAX });
      } catch {
        // A throwing proxy must not crash the caller.
        return { value: UNREADABLE };
      }
    },
  };
}

interface Judgement {
  readonly verdict: "plain" | "secret" | "content";
  /** Redacted name of the member, as it is logged. The name itself can contain a secret, because foreign objects may have any names. */
  readonly loggedName: string;
}

const SECRETS = new Set(SECRET_MEMBERS);
const CONTENTS = new Set(CONTENT_MEMBERS);

function judge(name: string): Judgement["verdict"] {
  const plain = name.toLowerCase().replace(/[-_ ]/g, "");
  if (SECRETS.has(plain) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending))) return "secret";
  return CONTENTS.has(plain) ? "content" : "plain";
}

function readableEntries(value: object): [string, unknown][] {
  return Object.keys(value)
    .slice(0, MEMBERS_MAX)
    .map((name) => {
      try {
        return [name, Reflect.get(value, name)];
      } catch {
        return [name, UNREADABLE];
      }
    });
}

function isBare(value: unknown): boolean {
  return value === null || value === undefined || typeof value === "number" || typeof value === "boolean";
}
