/** Evaluates robots.txt by RFC 9309. For child processes only, because the file is untrusted. */

export interface RobotsTask {
  readonly robots: string;
  /** URL of the robots.txt. Its rules apply only to the host of this URL. */
  readonly address: string;
  readonly url: string;
  readonly agent: string;
}

interface Rule {
  readonly isAllowed: boolean;
  readonly patterns: Forms;
  /** Length of the rule's pattern in octets. The longest of all matching rules applies. */
  readonly length: number;
}

/**
 * Returns true if a robots.txt allows a request to `url`. The longest matching rule decides. Returns true if no rule matches, for other
 * hosts, and for the robots.txt itself.
 */
export function isVisitAllowed({ robots, address, url, agent }: RobotsTask): boolean {
  const { origin, pathname, search } = new URL(url);
  if (origin !== new URL(address).origin || pathname === "/robots.txt") return true;
  const paths = formsOf(pathname + search, false);
  let [best, length] = [true, -1];
  for (const rule of rulesFor(robots, agent)) {
    if (rule.length < length || (rule.length === length && best)) continue;
    if (rule.patterns.some((pattern, at) => matches(pattern, paths[at] ?? "")))
      [best, length] = [rule.isAllowed, rule.length];
  }
  return best;
}

export function sitemapsOf(robots: string): readonly string[] {
  return linesOf(robots).flatMap(({ name, value }) => (name === "sitemap" && value !== "" ? [value] : []));
}

/** Splits a robots.txt into lines of a name, in lower case, and a value. The colon is optional, as in Google's parser. */
function linesOf(robots: string): readonly { readonly name: string; readonly value: string }[] {
  return robots.split(/\r\n|\r|\n/).flatMap((line) => {
    const [, name = "", value = ""] = /^\s*([a-z-]+)(?:\s*:|\s)([^#]*)/i.exec(line) ?? [];
    return name === "" ? [] : [{ name: name.toLowerCase(), value: value.trim() }];
  });
}

/**
 * Returns the rules of all groups for the agent, or of the groups for `*` if there are none. Other lines do not end a group (RFC 9309,
 * 2.2.4).
 */
function rulesFor(robots: string, agent: string): readonly Rule[] {
  const token = tokenOf(agent);
  const [own, common]: [Rule[], Rule[]] = [[], []];
  let [isNamed, isOwn, isCommon, isInAgents] = [false, false, false, false];
  for (const { name, value } of linesOf(robots)) {
    if (name === "user-agent") {
      if (!isInAgents) [isOwn, isCommon] = [false, false];
      isInAgents = true;
      isCommon ||= /^\*(?:\s|$)/.test(value);
      isOwn ||= token !== "" && tokenOf(value) === token;
      isNamed ||= isOwn;
    } else if (name === "allow" || name === "disallow") {
      isInAgents = false;
      if (value === "") continue;
      const rule = { isAllowed: name === "allow", patterns: formsOf(value, true), length: octetsOf(value) };
      if (isOwn) own.push(rule);
      if (isCommon) common.push(rule);
    }
  }
  return isNamed ? own : common;
}

/** Returns the product token of a user agent, without its version (RFC 9309, 2.2.1). */
function tokenOf(agent: string): string {
  return /^[^\s/]+/.exec(agent.trim())?.[0].toLowerCase() ?? "";
}

/**
 * URL path in two forms (RFC 9309, 2.2.2): with the slashes of the query percent-encoded, and with these slashes unencoded. A pattern
 * without a question mark can match either form.
 */
type Forms = readonly [string, string];

function formsOf(path: string, isPattern: boolean): Forms {
  const [start, ...query] = encoded(path, isPattern).split("?");
  const queryText = query.map((part) => `?${part}`).join("");
  return [start + queryText.replaceAll("/", "%2F"), start + queryText];
}

/** Delimiters of path and query. They have another meaning when percent-encoded. */
const DELIMITERS = "/?&=";

/**
 * Normalizes the percent-encoding of a path. All octets are encoded except unreserved characters, delimiters and the special characters of
 * patterns.
 */
function encoded(path: string, isPattern: boolean): string {
  return path.replaceAll(/%[\da-f]{2}|[^]/giu, (sign, at: number) => {
    if (sign.length === 3 && sign.startsWith("%")) {
      const octet = String.fromCodePoint(Number.parseInt(sign.slice(1), 16));
      return /[\w.~-]/.test(octet) ? octet : sign.toUpperCase();
    }
    if (/[\w.~-]/.test(sign) || DELIMITERS.includes(sign)) return sign;
    if (isPattern && (sign === "*" || (sign === "$" && at === path.length - 1))) return sign;
    return Array.from(Buffer.from(sign), (octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  });
}

/** Returns the length of a pattern in octets. A reserved character counts as one octet. */
function octetsOf(pattern: string): number {
  return pattern.replaceAll(/%[\da-f]{2}|[^\0-\x7f]/giu, (sign) => encoded(sign, true)).length;
}

/**
 * True if the pattern matches the start of the path. `*` matches any characters. `$` at the end of the pattern matches only the end of the
 * path. The path is scanned once per part between asterisks.
 */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith("$");
  const [first = "", ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  const last = isWhole ? parts.pop() : undefined;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}
