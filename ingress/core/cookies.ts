/**
 * Cookies of the console, and the rules for accepting them. A page of another origin can make a browser send these cookies. It cannot add
 * the console's header, because that requires a preflight, which no route allows.
 */
import { ApiError } from "#shared/base/errors.ts";

const CONSOLE_HEADER = "x-sluice-console";
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface Jar {
  readonly prefix: string;
  readonly attributes: string;
}

/** Cookie settings for https: only this host, every path. */
const SECURE: Jar = { prefix: "__Host-", attributes: "Path=/; HttpOnly; Secure" };
/** Cookie settings for a service on the local machine, without https. */
const OWN_MACHINE: Jar = { prefix: "", attributes: "Path=/; HttpOnly" };

/** Settings that determine the address at which clients reach the service. */
export interface Place {
  /** Public origin of the service. Undefined: the origin of the request is used. */
  readonly publicUrl: string | undefined;
}

/** Returns true for a request that the console's own page sends, as opposed to links and images on other sites. */
function isFromConsole({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return headers.get(CONSOLE_HEADER) === "1" && (site === null || site === "same-origin");
}

/** Checks that a request comes from the console. @throws ApiError `permission_denied` otherwise */
export function requireConsole(request: Request, place: Place): void {
  if (!isFromConsole(request)) {
    throw new ApiError("permission_denied", "Missing the header X-Sluice-Console: 1, which pages of this origin send.");
  }
  if (!jarOf(request, place)) throw noHttps();
}

function noHttps(): ApiError {
  return new ApiError("permission_denied", "Sign-in requires https, or a browser on the machine of the service.");
}

/**
 * Returns the session token in a request's cookie. Returns undefined if the request has an API key or a token, or does not come from the
 * console.
 */
export function sessionTokenOf(request: Request, place: Place, name: string = SESSION): string | undefined {
  const hasKey = ["authorization", "x-api-key"].some((header) => (request.headers.get(header) ?? "") !== "");
  return !hasKey && isFromConsole(request) ? readCookie(request, place, name) : undefined;
}

/** Name of the cookie of a member's session. */
export const SESSION = "sluice";
/** Name of the cookie of an operator's session. */
export const OPERATOR_SESSION = "sluice-operator";

/** Returns the value of a cookie. Returns undefined if the cookie is absent, or if this address does not permit safe cookies. */
export function readCookie(request: Request, place: Place, name: string): string | undefined {
  const jar = jarOf(request, place);
  if (!jar) return undefined;
  const wanted = `${jar.prefix}${name}=`;
  const pair = (request.headers.get("cookie") ?? "").split("; ").find((one) => one.startsWith(wanted));
  return pair?.slice(wanted.length) || undefined;
}

/**
 * Returns a `Set-Cookie` header. The value "" deletes the cookie.
 * @throws ApiError `permission_denied` when a cookie would not be safe at this address
 */
export function cookie(
  request: Request,
  place: Place,
  { name, value, seconds, site }: { name: string; value: string; seconds: number; site: "Strict" | "Lax" },
): string {
  const jar = jarOf(request, place);
  if (!jar) throw noHttps();
  const age = value === "" ? 0 : seconds;
  return `${jar.prefix}${name}=${value}; ${jar.attributes}; SameSite=${site}; Max-Age=${age}`;
}

function jarOf(request: Request, { publicUrl }: Place): Jar | undefined {
  const { protocol, hostname } = new URL(publicUrl ?? request.url);
  if (protocol === "https:") return SECURE;
  return LOOPBACK.has(hostname) ? OWN_MACHINE : undefined;
}
