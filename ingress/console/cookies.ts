/**
 * Cookies of the console, and when they count. Pages elsewhere make a browser send our cookies, but not the header of ours: that takes
 * leave of a preflight, which no path here gives.
 */
import { ApiError } from "#shared/errors.ts";

const CONSOLE_HEADER = "x-sluice-console";
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface Jar {
  readonly prefix: string;
  readonly attributes: string;
}

/** https only, of this host only, for every path. */
const SECURE: Jar = { prefix: "__Host-", attributes: "Path=/; HttpOnly; Secure" };
/** For a service on one's own machine, which has no https. */
const OWN_MACHINE: Jar = { prefix: "", attributes: "Path=/; HttpOnly" };

/** The part of the settings that says how clients come here. */
export interface Place {
  /** Undefined: the origin that the request came to. */
  readonly publicUrl: string | undefined;
}

/** True for a request of a page of ours: one that the page itself sends, and no link or picture anywhere. */
function isFromConsole({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return headers.get(CONSOLE_HEADER) === "1" && (site === null || site === "same-origin");
}

/** @throws ApiError `permission_denied` */
export function requireConsole(request: Request, place: Place): void {
  if (!isFromConsole(request)) {
    throw new ApiError("permission_denied", "Missing the header X-Sluice-Console: 1, which pages of this origin send.");
  }
  if (!jarOf(request, place)) throw noHttps();
}

function noHttps(): ApiError {
  return new ApiError("permission_denied", "Sign-in requires https, or a browser on the machine of the service.");
}

/** The session's token, where the request may use it: undefined beside a key, and for requests that are of no page of ours. */
export function sessionTokenOf(request: Request, place: Place): string | undefined {
  const hasKey = ["authorization", "x-api-key"].some((name) => (request.headers.get(name) ?? "") !== "");
  return !hasKey && isFromConsole(request) ? readCookie(request, place, SESSION) : undefined;
}

export const SESSION = "sluice";

/** @returns undefined where there is none, or none that counts */
export function readCookie(request: Request, place: Place, name: string): string | undefined {
  const jar = jarOf(request, place);
  if (!jar) return undefined;
  const wanted = `${jar.prefix}${name}=`;
  const pair = (request.headers.get("cookie") ?? "").split("; ").find((one) => one.startsWith(wanted));
  return pair?.slice(wanted.length) || undefined;
}

/**
 * A header `Set-Cookie`. The value "" takes the cookie back.
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
