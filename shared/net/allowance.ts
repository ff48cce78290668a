/**
 * Destinations outside the public internet that an operator allows in callers' URLs, such as an internal media server. One list for the
 * whole process, because every check must agree: on accepting a URL and on connecting.
 */
import { BlockList, isIP } from "node:net";

import type { Logger } from "../base/logger.ts";

/** Ranges allow addresses, regardless of the host name; the rules for names and ports still apply. */
let ranges = new BlockList();
/** `host:port` as in a URL: all addresses of the name are allowed. */
let hosts: ReadonlySet<string> = new Set();

/**
 * Replaces the list; called once when a process starts. Logs the list, since it extends the reach of callers.
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

/** Returns true if a range of the list contains this address literal. */
export function isAllowedAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && ranges.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** Returns true if the list contains this URL's host and port. */
export function isAllowedHost(url: URL): boolean {
  return hosts.has(`${plainHost(url)}:${portOf(url)}`);
}

/** Returns the host without a trailing dot; an IPv6 address in brackets. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/\.$/, "").toLowerCase();
}

/** Returns the port for the connection. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

/** Normalised by the URL parser, so that 127.1:80 matches. */
function canonical(entry: string): string {
  const colon = entry.lastIndexOf(":");
  return `${plainHost(new URL(`http://${entry.slice(0, colon)}/`))}:${entry.slice(colon + 1)}`;
}
