/**
 * First limit of all: requests per address in ten minutes, counted in memory. Ingresses exchange their counts, so that the limit applies to
 * all of them together, with a short delay. An IPv6 network of 64 bits counts as one address, because customers receive at least that much.
 * The table is bounded: under a flood of addresses, the least recently used ones are evicted.
 */
import { BlockList, isIP } from "node:net";

import { ApiError } from "#shared/base/errors.ts";

const WINDOW_MS = 600_000;
const BUCKETS = 20;
const BUCKET_MS = WINDOW_MS / BUCKETS;
const ADDRESSES_MAX = 100_000;
/** Maximum addresses in a message to other ingresses: those with the most requests. */
const REPORTED_ADDRESSES_MAX = 1_000;

/** Requests by address, or by IPv6 network. */
export type AddressCounts = Readonly<Record<string, number>>;

export interface IpNet {
  /** @throws ApiError `ip_rate_limit_exceeded` with the header `retry-after`, in seconds */
  check(address: string): void;
  /** Returns the counts of this process since the last call, of the addresses with the most requests. */
  counted(): AddressCounts;
  /** Adds the counts of another ingress. */
  add(counts: AddressCounts): void;
  /** Returns the client's address: the peer's, or the last untrusted one of X-Forwarded-For if the peer is a trusted proxy. */
  clientAddress(peer: string, forwardedFor: string | null): string;
}

interface Counter {
  readonly counts: Uint32Array;
  bucket: number;
  total: number;
}

/** @param limit requests in ten minutes, 0 = off. @param trustedProxies addresses or CIDR ranges */
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

  /** Returns the requests of the last ten minutes, including these. */
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

  /** Returns the seconds until one more request is below the limit, without requests in between. */
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
      const plain = normalise(peer);
      if (forwardedFor === null || !isListed(trusted, plain)) return plain;
      const hops = forwardedFor.split(",").map((hop) => normalise(withoutPort(hop.trim())));
      for (let i = hops.length - 1; i >= 0; i--) {
        const hop = hops[i] ?? "";
        if (isIP(hop) === 0) return plain;
        if (!isListed(trusted, hop)) return hop;
      }
      return hops[0] ?? plain;
    },
  };
}

/** @param entries addresses or CIDR ranges */
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

/** Returns true for an address of this machine. */
export function isLoopback(address: string): boolean {
  return isListed(LOOPBACK, normalise(address));
}

const LOOPBACK = addressList(["127.0.0.0/8", "::1"]);

export function isListed(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** Mapped IPv4 counts as IPv4, so one host is one address on a dual-stack socket. */
function normalise(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") ? address.slice(7) : address;
}

const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const IPV4_AND_PORT = /^([\d.]+):\d{1,5}$/;

/** Returns the address of a hop such as `1.2.3.4:5678` or `[2001:db8::1]:443`, as some proxies write it; else the hop itself. */
function withoutPort(hop: string): string {
  return (BRACKETED.exec(hop) ?? IPV4_AND_PORT.exec(hop))?.[1] ?? hop;
}

/** Returns the first 64 bits of an IPv6 address, normalised; any other address unchanged. */
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
