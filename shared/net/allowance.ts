/**
 * Destinations outside the public internet that an operator allows in callers' URLs, such as an internal media server. The whole process
 * uses one list, because the check of a received URL and the check of a connection must agree.
 */
import { BlockList, isIP } from "node:net";

import type { Logger } from "../base/logger.ts";

/** Allowed address ranges. A URL to such an address is allowed for any host name, but the rules for host names and ports still apply. */
let ranges = new BlockList();
/** Allowed hosts, as `host:port` like in a URL. All addresses of such a host are allowed. */
let hosts: ReadonlySet<string> = new Set();

/**
 * Replaces the list of allowed destinations. Called once when a process starts. Logs the list, because it extends what callers can reach.
 * @param entries valid entries of SLUICE_OUTBOUND_ALLOW: `host:port`, an address, or a range such as 10.1.0.0/16
 */
export function allowOutbound(entries: readonly string[], log: Pick<Logger, "warn">): void {
  const named = new Set<string>();
  const open = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const version = isIP(address);
    if (version === 0) named.add(canonical(entry));
    else open.addSubnet(address, Number(prefix ?? (version === 6 ? 128 : 32)), version === 6 ? "ipv6" : "ipv4");
  }
  ranges = open;
  hosts = named;
  if (entries.length > 0) log.warn({ allowed: entries }, "URLs of callers may reach private destinations");
}

/** Returns true if this address is in an allowed range. */
export function isAllowedAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && ranges.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** Returns true if the list contains this URL's host and port. */
export function isAllowedHost(url: URL): boolean {
  return hosts.has(`${plainHost(url)}:${portOf(url)}`);
}

/** Returns the URL's host in lower case and without a trailing dot. An IPv6 address is in brackets. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/\.$/, "").toLowerCase();
}

/** Returns the port to which a connection for the URL is opened. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

/** Normalises an entry with the URL parser, so that 127.1:80 matches too. */
function canonical(entry: string): string {
  const colon = entry.lastIndexOf(":");
  return `${plainHost(new URL(`http://${entry.slice(0, colon)}/`))}:${entry.slice(colon + 1)}`;
}
