/** The net before everything else (RATE-9): requests per address in ten minutes, trusted proxies, bounded memory. */
import { expect, test } from "bun:test";

import { createIpNet, type IpNet } from "#shared/admission/ip-net.ts";
import { ApiError } from "#shared/errors.ts";

const MINUTE_MS = 60_000;

function passes(net: IpNet, address: string): boolean {
  try {
    net.check(address);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "ip_rate_limit_exceeded") return false;
    throw error;
  }
}

test("an address gets its limit in ten minutes, and others have their own", () => {
  let nowMs = 5_000_000;
  const net = createIpNet(3, [], () => nowMs);
  expect([1, 2, 3, 4].map(() => passes(net, "192.0.2.1"))).toEqual([true, true, true, false]);
  expect(passes(net, "192.0.2.2")).toBe(true);
  nowMs += 9 * MINUTE_MS;
  expect(passes(net, "192.0.2.1")).toBe(false);
  // The first four are forgotten by now, the fifth is not.
  nowMs += MINUTE_MS;
  expect([1, 2, 3].map(() => passes(net, "192.0.2.1"))).toEqual([true, true, false]);
  nowMs += 60 * MINUTE_MS;
  expect(passes(net, "192.0.2.1")).toBe(true);
});

test("a refusal is a 429 of its own", () => {
  const net = createIpNet(1, []);
  net.check("192.0.2.1");
  expect(() => net.check("192.0.2.1")).toThrow(
    expect.objectContaining({ code: "ip_rate_limit_exceeded", status: 429 }),
  );
});

test("a limit of 0 switches the net off", () => {
  const net = createIpNet(0, []);
  expect(Array.from({ length: 10_000 }, () => passes(net, "192.0.2.1"))).not.toContain(false);
});

test("a flood of addresses costs bounded memory and does not free the one that keeps calling", () => {
  let nowMs = 0;
  const net = createIpNet(5, [], () => nowMs);
  const hammer = (): boolean => passes(net, "192.0.2.1");
  for (let call = 0; call < 10; call++) hammer();
  const address = (n: number): string => `2001:db8::${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`;
  for (let n = 0; n < 60_000; n++) passes(net, address(n));
  nowMs += MINUTE_MS;
  expect(hammer()).toBe(false);
  for (let n = 60_000; n < 150_000; n++) passes(net, address(n));
  expect(hammer()).toBe(false);
  // The first of the flood had to make room: it starts again from nothing.
  expect([1, 2, 3, 4, 5, 6].map(() => passes(net, address(0)))).toEqual([true, true, true, true, true, false]);
});

test("a clock that steps back neither frees an address nor holds it for longer", () => {
  let nowMs = 3_600_000;
  const net = createIpNet(2, [], () => nowMs);
  expect([1, 2, 3].map(() => passes(net, "192.0.2.1"))).toEqual([true, true, false]);
  nowMs -= 5 * MINUTE_MS;
  expect(passes(net, "192.0.2.1")).toBe(false);
});

test("a forwarded address is believed from a trusted proxy only", () => {
  const net = createIpNet(1, ["10.0.0.0/8", "2001:db8:1::/48", "192.0.2.7"]);
  expect(net.clientAddress("203.0.113.9", "198.51.100.1")).toBe("203.0.113.9");
  expect(net.clientAddress("10.1.2.3", "198.51.100.1")).toBe("198.51.100.1");
  expect(net.clientAddress("::ffff:10.1.2.3", "198.51.100.1")).toBe("198.51.100.1");
  expect(net.clientAddress("2001:db8:1::5", "198.51.100.1")).toBe("198.51.100.1");
  expect(net.clientAddress("192.0.2.7", "198.51.100.1")).toBe("198.51.100.1");
  expect(net.clientAddress("192.0.2.8", "198.51.100.1")).toBe("192.0.2.8");
  expect(net.clientAddress("10.1.2.3", null)).toBe("10.1.2.3");
});

test("of a chain the last hop nobody vouches for counts, so a client cannot choose its address", () => {
  const net = createIpNet(1, ["10.0.0.0/8"]);
  expect(net.clientAddress("10.0.0.1", "1.1.1.1, 203.0.113.9")).toBe("203.0.113.9");
  expect(net.clientAddress("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2")).toBe("203.0.113.9");
  expect(net.clientAddress("10.0.0.1", "10.0.0.5, 10.0.0.2")).toBe("10.0.0.5");
  expect(net.clientAddress("10.0.0.1", "not an address")).toBe("10.0.0.1");
  expect(net.clientAddress("10.0.0.1", "1.1.1.1, unknown")).toBe("10.0.0.1");
});
