/**
 * Destinations beside the public internet that an operator lets callers' URLs reach, such as a media server of the house. One list
 * for the whole process, since every gate must judge alike: the one that accepts a URL and the one that dials it.
 */
import { BlockList, isIP } from "node:net";

import type { Logger } from "../logger.ts";

/** Ranges open addresses, however they are reached; the rules for names and ports still hold. */
let ranges = new BlockList();
/** `host:port` as a URL writes it: whatever the name resolves to is dialled. */
let hosts: ReadonlySet<string> = new Set();

/**
 * Replaces the list; called once when a process starts. Says so in the log, since it widens what callers can reach.
 * @param entries checked ones of SLUICE_OUTBOUND_ALLOW: `host:port`, an address, or a range such as 10.1.0.0/16
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
  if (entries.length > 0) log.warn({ allowed: entries }, "callers' URLs may reach more than the public internet");
}

/** True if a range of the list holds this address literal. */
export function isAllowedAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && ranges.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** True if the list names this URL's host and port. */
export function isAllowedHost(url: URL): boolean {
  return hosts.has(`${plainHost(url)}:${portOf(url)}`);
}

/** The host without the dot that may end a name, in brackets when it is an IPv6 address. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/\.$/, "").toLowerCase();
}

/** The port that is dialled. */
export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

/** Spelt as the URL parser spells it, so that 127.1:80 is found. */
function canonical(entry: string): string {
  const colon = entry.lastIndexOf(":");
  return `${plainHost(new URL(`http://${entry.slice(0, colon)}/`))}:${entry.slice(colon + 1)}`;
}
