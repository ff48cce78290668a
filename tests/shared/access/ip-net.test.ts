import { describe, expect, test } from "bun:test";

import { apiErrorsOf } from "#shared/base/errors.ts";
import { createIpNet, type IpNet } from "#shared/access/ip-net.ts";

const MINUTE = 60_000;

/** A net with a clock of the test's own. */
function open(limit: number, trusted: readonly string[] = []): { net: IpNet; clock: { ms: number } } {
  const clock = { ms: 1_000_000 };
  return { net: createIpNet(limit, trusted, () => clock.ms), clock };
}

/** Returns how many of this many requests pass. */
function passed(net: IpNet, address: string, count: number): number {
  let passes = 0;
  for (let at = 0; at < count; at++) {
    try {
      net.check(address);
      passes += 1;
    } catch {
      // Refused.
    }
  }
  return passes;
}

describe("the limit of an address", () => {
  test("is exact: the limit is accepted, the next request is rejected", () => {
    const { net } = open(5);
    expect(passed(net, "8.8.8.8", 5)).toBe(5);
    expect(() => net.check("8.8.8.8")).toThrow(
      expect.objectContaining({ code: "ip_rate_limit_exceeded", status: 429 }) as Error,
    );
  });

  test("returns the seconds until the next request is accepted, which is then accepted", () => {
    const { net, clock } = open(5);
    expect(passed(net, "8.8.8.8", 3)).toBe(3);
    clock.ms += 5 * MINUTE;
    expect(passed(net, "8.8.8.8", 2)).toBe(2);
    const refusal = apiErrorsOf(() => net.check("8.8.8.8"))[0];
    const seconds = Number(refusal?.headers["retry-after"]);
    expect(seconds).toBeWithin(1, 301);
    clock.ms += seconds * 1_000;
    expect(passed(net, "8.8.8.8", 1)).toBe(1);
  });

  test("counts reports of other ingresses, once each, and expires them like its own", () => {
    const { net: one, clock } = open(5);
    const { net: other } = open(5);
    passed(one, "8.8.8.8", 3);
    passed(one, "2001:db8::1", 1);
    const told = one.counted();
    expect(told).toEqual({ "8.8.8.8": 3, "2001:db8:0:0": 1 });
    expect(one.counted()).toEqual({});
    other.add(told);
    expect(other.counted()).toEqual({});
    expect([passed(other, "8.8.8.8", 6), passed(other, "2001:db8::2", 6)]).toEqual([2, 4]);
    one.add({ "8.8.8.8": 5, "8.8.4.4": -3, "9.9.9.9": Number.NaN });
    expect([passed(one, "8.8.8.8", 1), passed(one, "8.8.4.4", 6), passed(one, "9.9.9.9", 6)]).toEqual([0, 5, 5]);
    clock.ms += 11 * MINUTE;
    expect(passed(one, "8.8.8.8", 6)).toBe(5);
  });

  test("is separate for each address", () => {
    const { net } = open(5);
    passed(net, "8.8.8.8", 100);
    expect(passed(net, "8.8.4.4", 6)).toBe(5);
  });

  test("is one for an IPv6 network (/64), which belongs to one customer", () => {
    const { net } = open(5);
    for (const address of ["2001:db8:1:2::1", "2001:0DB8:1:2:ffff::9", "2001:db8:1:2:a:b:c:d", "2001:db8:1:2::"]) {
      expect(passed(net, address, 1)).toBe(1);
    }
    expect(passed(net, "2001:db8:1:2::1:1", 9)).toBe(1);
    expect(passed(net, "2001:db8:1:3::1", 9)).toBe(5);
    expect(passed(net, "2001:db8::2:0:0:0:1", 9)).toBe(5);
  });

  test("of abbreviated IPv6 networks is not confused with another's", () => {
    const { net } = open(1);
    for (const address of [
      "::1",
      "fe80::1%eth0",
      "2001:db8::1",
      "2001:db8:1::1",
      "2001:db8:0:1::",
      "64:ff9b::1.2.3.4",
    ]) {
      expect([address, passed(net, address, 1)]).toEqual([address, 1]);
    }
    for (const address of ["::2", "fe80::2%eth1", "2001:db8:0:0:5::", "2001:db8:1:0::7", "64:ff9b::4.3.2.1"]) {
      expect([address, passed(net, address, 1)]).toEqual([address, 0]);
    }
  });

  test("covers ten minutes, and no more", () => {
    const { net, clock } = open(5);
    expect(passed(net, "8.8.8.8", 5)).toBe(5);
    clock.ms += 9 * MINUTE;
    expect(passed(net, "8.8.8.8", 1)).toBe(0);
    clock.ms += 2 * MINUTE;
    expect(passed(net, "8.8.8.8", 4)).toBe(4);
    clock.ms += 10 * MINUTE;
    expect(passed(net, "8.8.8.8", 6)).toBe(5);
  });

  test("counts rejected requests too: a persistent client stays blocked", () => {
    const { net, clock } = open(5);
    passed(net, "8.8.8.8", 10);
    for (let minute = 0; minute < 30; minute++) {
      clock.ms += MINUTE;
      expect(passed(net, "8.8.8.8", 6)).toBe(0);
    }
    clock.ms += 11 * MINUTE;
    expect(passed(net, "8.8.8.8", 1)).toBe(1);
  });

  test("releases old requests gradually, never more than the limit in any ten minutes", () => {
    const { net, clock } = open(20);
    const passes: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      passes.push(passed(net, "8.8.8.8", minute % 3 === 0 ? 4 : 1));
      clock.ms += MINUTE;
    }
    for (let from = 0; from + 10 <= passes.length; from++) {
      const sum = passes.slice(from, from + 10).reduce((total, count) => total + count, 0);
      expect(sum).toBeLessThanOrEqual(20);
    }
  });

  test("of 0 is disabled", () => {
    expect(passed(open(0).net, "8.8.8.8", 10_000)).toBe(10_000);
  });

  test("survives a clock that stops or is set back", () => {
    const { net, clock } = open(5);
    passed(net, "8.8.8.8", 5);
    clock.ms -= 60 * MINUTE;
    expect(passed(net, "8.8.8.8", 1)).toBe(0);
    clock.ms += 80 * MINUTE;
    expect(passed(net, "8.8.8.8", 5)).toBe(5);
  });
});

describe("a flood of addresses", () => {
  test("is dropped from its oldest, so the table stays bounded", () => {
    const { net } = open(1);
    net.check("8.8.8.8");
    expect(passed(net, "8.8.8.8", 1)).toBe(0);
    for (let at = 0; at < 100_000; at++) net.check(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    expect(passed(net, "8.8.8.8", 1)).toBe(1);
  });

  test("does not displace an active address", () => {
    const { net, clock } = open(3);
    passed(net, "8.8.8.8", 3);
    for (let at = 0; at < 150_000; at++) {
      if (at % 50_000 === 0) {
        clock.ms += 30_000;
        expect(passed(net, "8.8.8.8", 1)).toBe(0);
      }
      net.check(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    }
    expect(passed(net, "8.8.8.8", 1)).toBe(0);
  });
});

describe("the client's address", () => {
  const PROXIES = ["10.0.0.0/8", "192.168.7.7", "fd00::/8"];

  test.each<[string, string, string | null, string]>([
    ["is the peer's", "203.0.113.9", null, "203.0.113.9"],
    ["is the peer's, whatever an untrusted peer forwards", "203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["is forwarded by a trusted proxy", "10.1.2.3", "1.2.3.4", "1.2.3.4"],
    ["is forwarded by a trusted proxy named alone", "192.168.7.7", "1.2.3.4", "1.2.3.4"],
    ["is not believed of the proxy's neighbour", "192.168.7.8", "1.2.3.4", "192.168.7.8"],
    [
      "is the last untrusted hop: what a client writes in front is not believed",
      "10.1.2.3",
      "9.9.9.9, 1.2.3.4",
      "1.2.3.4",
    ],
    ["is found behind several proxies", "10.1.2.3", "1.2.3.4, 10.9.9.9, 10.8.8.8", "1.2.3.4"],
    ["is the farthest proxy when all are ours", "10.1.2.3", "10.9.9.9, 10.8.8.8", "10.9.9.9"],
    ["may be IPv6", "fd00::1", "2001:4860:4860::8888", "2001:4860:4860::8888"],
    ["is read without its port", "10.1.2.3", "1.2.3.4:5678", "1.2.3.4"],
    ["is read without its port, behind several proxies", "10.1.2.3", "1.2.3.4:5678, 10.9.9.9:80", "1.2.3.4"],
    ["is read without its port and brackets", "10.1.2.3", "[2001:db8::1]:443", "2001:db8::1"],
    ["is read without its brackets", "10.1.2.3", "[2001:db8::1]", "2001:db8::1"],
    ["is the same mapped and plain, with a port", "10.1.2.3", "[::ffff:1.2.3.4]:443", "1.2.3.4"],
    ["is the proxy's when what stands before a port is no address", "10.1.2.3", "unknown:80", "10.1.2.3"],
    ["is the proxy's when a bracket is not closed", "10.1.2.3", "[2001:db8::1", "10.1.2.3"],
    ["is the same mapped and plain", "::ffff:203.0.113.9", null, "203.0.113.9"],
    ["is the same mapped and plain, forwarded", "::ffff:10.1.2.3", "::FFFF:1.2.3.4", "1.2.3.4"],
    ["is the proxy's when the forwarded one is no address", "10.1.2.3", "unknown", "10.1.2.3"],
    ["is the proxy's when the last hop is no address", "10.1.2.3", "1.2.3.4, evil", "10.1.2.3"],
    ["is the proxy's when nothing was forwarded", "10.1.2.3", "", "10.1.2.3"],
  ])("%s", (_name, peer, forwarded, expected) => {
    expect(open(1, PROXIES).net.clientAddress(peer, forwarded)).toBe(expected);
  });

  test("is never read from a header without a trusted proxy", () => {
    expect(open(1).net.clientAddress("127.0.0.1", "1.2.3.4")).toBe("127.0.0.1");
  });
});
