/**
 * Checks every URL that a caller can influence. This module checks only the URL. The code that connects must also check the resolved
 * address, because a name may resolve to any address. Our own fetch.ts does so, and so do providers that fetch media themselves.
 */
import { BlockList, isIP } from "node:net";

import { ApiError } from "#shared/base/errors.ts";

import { isAllowedAddress, isAllowedHost, plainHost, portOf } from "./allowance.ts";

/** Maximum characters of a caller's URL. Servers accept about as many, and signed URLs of object stores have 2,000. */
export const OUTBOUND_URL_CHARACTERS_MAX = 8_000;

const REFUSED_V4 = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["168.63.129.16", 32],
] as const) {
  REFUSED_V4.addSubnet(address, prefix, "ipv4");
}

/** Global unicast range. Only these IPv6 addresses are allowed, except the special ranges inside it. */
const ALLOWED_V6 = new BlockList();
ALLOWED_V6.addSubnet("2000::", 3, "ipv6");
const REFUSED_V6 = new BlockList();
for (const [address, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["2620:4f:8000::", 48],
] as const) {
  REFUSED_V6.addSubnet(address, prefix, "ipv6");
}

const INTERNAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|localdomain|svc)$/;
/**
 * Matches a URL with two slashes, a host without blanks or backslashes, and no control characters. This parser repairs some other URLs that
 * the connecting parser may read as another host (`https://good\@bad`).
 */
const PLAIN_URL = /^https?:\/\/[^\s\\/?#]+(?:[/?#]\P{Cc}*)?$/iu;
/** Rejected ports: those of services without authentication, including ours. */
const REFUSED_PORTS = new Set([2375, 2376, 2379, 2380, 4222, 5432, 6222, 6379, 8222, 9464, 11211, 27017]);

/** Returns true if an address literal is in the public internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !REFUSED_V4.check(address, "ipv4");
  if (version === 6) return ALLOWED_V6.check(address, "ipv6") && !REFUSED_V6.check(address, "ipv6");
  return false;
}

/** Returns true if a caller's URL may lead to this address, because it is public or in a range that the operator allowed. */
export function isDialable(address: string): boolean {
  return isPublicAddress(address) || isAllowedAddress(address);
}

/**
 * Parses and checks a caller's URL. Accepts http(s) URLs to public hosts and to hosts that the operator allowed.
 * @param param the request parameter to name in the error
 * @throws ApiError `unsafe_url`
 */
export function assertPublicUrl(text: string, param: string): URL {
  const refuse = (why: string): ApiError => new ApiError("unsafe_url", `This URL is not allowed: ${why}.`, { param });
  if (text.length > OUTBOUND_URL_CHARACTERS_MAX) throw refuse("it is too long");
  if (!URL.canParse(text)) throw refuse("it is not an absolute URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("expected http or https");
  if (!PLAIN_URL.test(text)) throw refuse("it contains characters that must be percent-encoded");
  if (url.username !== "" || url.password !== "") throw refuse("it contains a user name or password");
  if (isAllowedHost(url)) return url;
  const host = plainHost(url).replace(/^\[|\]$/g, "");
  const isPublic = isIP(host) === 0 ? isPublicName(host) : isDialable(host);
  if (!isPublic) throw refuse("its host is not public. The operator can allow hosts with SLUICE_OUTBOUND_ALLOW");
  const port = portOf(url);
  if ((port < 1024 && port !== 80 && port !== 443) || REFUSED_PORTS.has(port)) throw refuse("its port is not allowed");
  return url;
}

/** Returns true if a host name has at least two non-empty labels and is not in an internal zone. */
function isPublicName(host: string): boolean {
  const labels = host.split(".");
  return labels.length > 1 && !labels.includes("") && !INTERNAL_NAME.test(host);
}
