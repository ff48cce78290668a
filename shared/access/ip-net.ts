/**
 * Limits the requests per IP address in ten minutes, before all other limits. The counts are in memory. Ingresses exchange them, so that
 * the limit applies to all ingresses together, with a short delay. An IPv6 network of 64 bits counts as one address, because customers
 * receive at least that much. The table has a maximum size: under a flood of addresses, the least recently used ones are evicted.
 */
import { BlockList, isIP } from "node:net";

import { ApiError } from "#shared/base/errors.ts";

const WINDOW_MS = 600_000;
const BUCKETS = 20;
const BUCKET_MS = WINDOW_MS / BUCKETS;
const ADDRESSES_MAX = 100_000;
/** Maximum number of IP addresses in a message to other ingresses. The addresses with the most requests are sent. */
const REPORTED_ADDRESSES_MAX = 1_000;

/** Number of requests by IP address, or by IPv6 network. */
export type AddressCounts = Readonly<Record<string, number>>;

export interface IpNet {
  /** Counts a request of an IP address. @throws ApiError `ip_rate_limit_exceeded` with the header `retry-after`, in seconds */
  check(address: string): void;
  /** Returns the requests that this process has counted since the previous `counted`, for the IP addresses with the most requests. */
  counted(): AddressCounts;
  /** Adds the counts that another ingress has sent. */
  add(counts: AddressCounts): void;
  /**
   * Returns the client's IP address. If the peer is a trusted proxy, it is the last untrusted address in X-Forwarded-For; otherwise it is
   * the peer.
   */
  clientAddress(peer: string, forwardedFor: string | null): string;
}

interface Counter {
  readonly counts: Uint32Array;
  bucket: number;
  total: number;
}

/**
 * Creates the limit. @param limit maximum number of requests in ten minutes; 0 means no limit. @param trustedProxies addresses or CIDR
 * ranges
 */
export function createIpNet(
  limit: number,
  trustedProxies: readonly string[],
  // Monotonic: a clock that is set back must not freeze the buckets.
  now: () => number = () => performance.now(),
): IpNet {
  const trusted = addressList(trustedProxies);
  const counters = new Map<string, Counter>();
  let fresh = new Map<string, number>();

  const counterOf = (address: string, bucket: number): Counter => {
    let counter = counters.get(address);
    if (!counter) {
      if (counters.size >= ADDRESSES_MAX) {
        const oldest = counters.keys().next().value;
        if (oldest !== undefined) counters.delete(oldest);
      }
      counter = { counts: new Uint32Array(BUCKETS), bucket, total: 0 };
      counters.set(address, counter);
    }
    return counter;
  };

  /** Adds requests of a network, and returns its requests in the last ten minutes. */
  const count = (network: string, requests: number): number => {
    const bucket = Math.floor(now() / BUCKET_MS);
    const counter = counterOf(network, bucket);
    const passed = Math.min(BUCKETS, Math.max(0, bucket - counter.bucket));
    if (passed > 0) {
      // Moves the address to the end of the map: an active address is not evicted.
      counters.delete(network);
      counters.set(network, counter);
    }
    for (let step = 1; step <= passed; step++) {
      const slot = (counter.bucket + step) % BUCKETS;
      counter.total -= counter.counts[slot] ?? 0;
      counter.counts[slot] = 0;
    }
    counter.bucket = Math.max(bucket, counter.bucket);
    const slot = counter.bucket % BUCKETS;
    counter.counts[slot] = (counter.counts[slot] ?? 0) + requests;
    counter.total += requests;
    return counter.total;
  };

  /** Returns the time until one more request is within the limit, in seconds, if no other request arrives before. */
  const secondsToWait = (network: string): number => {
    const counter = counterOf(network, Math.floor(now() / BUCKET_MS));
    let requests = counter.total;
    let passed = 0;
    while (requests >= limit && passed < BUCKETS) {
      passed += 1;
      requests -= counter.counts[(counter.bucket + passed) % BUCKETS] ?? 0;
    }
    return Math.max(1, Math.ceil(((counter.bucket + passed) * BUCKET_MS - now()) / 1_000));
  };

  return {
    check(address) {
      if (limit === 0) return;
      const network = networkOf(address);
      if (fresh.size < ADDRESSES_MAX) fresh.set(network, (fresh.get(network) ?? 0) + 1);
      if (count(network, 1) > limit) {
        throw new ApiError(
          "ip_rate_limit_exceeded",
          `This IP address sent more than ${limit} requests in 10 minutes; wait for the seconds in the header retry-after.`,
          { headers: { "retry-after": String(secondsToWait(network)) } },
        );
      }
    },
    counted() {
      const reported = [...fresh].toSorted(([, a], [, b]) => b - a).slice(0, REPORTED_ADDRESSES_MAX);
      fresh = new Map();
      return Object.fromEntries(reported);
    },
    add(counts) {
      if (limit === 0) return;
      for (const [network, requests] of Object.entries(counts)) {
        if (Number.isSafeInteger(requests) && requests > 0) count(network, requests);
      }
    },
    clientAddress(peer, forwardedFor) {
      const plain = normaliseAddress(peer);
      if (forwardedFor === null || !isListed(trusted, plain)) return plain;
      const hops = forwardedFor.split(",").map((hop) => normaliseAddress(withoutPort(hop.trim())));
      for (let i = hops.length - 1; i >= 0; i--) {
        const hop = hops[i] ?? "";
        if (isIP(hop) === 0) return plain;
        if (!isListed(trusted, hop)) return hop;
      }
      return hops[0] ?? plain;
    },
  };
}

/** Builds a list that IP addresses can be checked against. @param entries addresses or CIDR ranges */
export function addressList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** True for a loopback address of this machine. */
export function isLoopback(address: string): boolean {
  return isListed(LOOPBACK, normaliseAddress(address));
}

const LOOPBACK = addressList(["127.0.0.0/8", "::1"]);

export function isListed(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** True if the list contains the address, also in its form as an IPv4 address mapped to IPv6. */
export function isAddressListed(list: BlockList, address: string): boolean {
  return isListed(list, normaliseAddress(address));
}

/** Normalises an IP address. IPv4 addresses mapped to IPv6 become IPv4, so that a host has one address on a dual-stack socket. */
export function normaliseAddress(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") ? address.slice(7) : address;
}

const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const IPV4_AND_PORT = /^([\d.]+):\d{1,5}$/;

/**
 * Removes the port from a hop such as `1.2.3.4:5678` or `[2001:db8::1]:443`, as some proxies write it. A hop without port is returned
 * unchanged.
 */
function withoutPort(hop: string): string {
  return (BRACKETED.exec(hop) ?? IPV4_AND_PORT.exec(hop))?.[1] ?? hop;
}

/** Returns the first 64 bits of an IPv6 address in normalised form. Any other address is returned unchanged. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [plain = ""] = address.split("%");
  const [head = [], tail = []] = plain.split("::").map((half) => half.split(":").filter(Boolean));
  // An IPv4 address at the end counts as two groups.
  const groups = head.length + tail.length + (plain.includes(".") ? 1 : 0);
  const zeros = Array.from({ length: 8 - groups }, () => "0");
  return [...head, ...zeros, ...tail]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
