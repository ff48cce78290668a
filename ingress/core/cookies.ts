/**
 * Cookies of the console, and when they are valid. Pages of other origins make browsers send these cookies, but cannot add the console's
 * header: that requires a preflight, which no path here allows.
 */
import { ApiError } from "#shared/base/errors.ts";

const CONSOLE_HEADER = "x-sluice-console";
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface Jar {
  readonly prefix: string;
  readonly attributes: string;
}

/** For https only, this host only, every path. */
const SECURE: Jar = { prefix: "__Host-", attributes: "Path=/; HttpOnly; Secure" };
/** For a service on the local machine, without https. */
const OWN_MACHINE: Jar = { prefix: "", attributes: "Path=/; HttpOnly" };

/** Part of the settings that determines how clients reach the service. */
export interface Place {
  /** Public origin. Undefined: the origin of the request. */
  readonly publicUrl: string | undefined;
}

/** True for a request that a page of the console sends itself, as opposed to links and images elsewhere. */
function isFromConsole({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return headers.get(CONSOLE_HEADER) === "1" && (site === null || site === "same-origin");
}

/** Requires a request of the console. @throws ApiError `permission_denied` */
export function requireConsole(request: Request, place: Place): void {
  if (!isFromConsole(request)) {
    throw new ApiError("permission_denied", "Missing the header X-Sluice-Console: 1, which pages of this origin send.");
  }
  if (!jarOf(request, place)) throw noHttps();
}

function noHttps(): ApiError {
  return new ApiError("permission_denied", "Sign-in requires https, or a browser on the machine of the service.");
}

/** Returns the session token; undefined if the request has a key or does not come from the console. */
export function sessionTokenOf(request: Request, place: Place): string | undefined {
  const hasKey = ["authorization", "x-api-key"].some((name) => (request.headers.get(name) ?? "") !== "");
  return !hasKey && isFromConsole(request) ? readCookie(request, place, SESSION) : undefined;
}

export const SESSION = "sluice";

/** Returns a cookie; undefined if it is absent or not valid here. */
export function readCookie(request: Request, place: Place, name: string): string | undefined {
  const jar = jarOf(request, place);
  if (!jar) return undefined;
  const wanted = `${jar.prefix}${name}=`;
  const pair = (request.headers.get("cookie") ?? "").split("; ").find((one) => one.startsWith(wanted));
  return pair?.slice(wanted.length) || undefined;
}

/**
 * Returns a `Set-Cookie` header. The value "" deletes the cookie.
 * @throws ApiError `permission_denied` where no cookie would be safe
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
