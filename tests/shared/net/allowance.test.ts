import { afterEach, describe, expect, test } from "bun:test";

import { loadConfig } from "#shared/config/config.ts";
import { allowOutbound } from "#shared/net/allowance.ts";
import { fetchPublic } from "#shared/net/fetch.ts";
import { assertPublicUrl, isDialable } from "#shared/net/guard.ts";
import { logged } from "#tests/support/log-lines.ts";

import { allow, listen } from "./servers.ts";

afterEach(() => allow());

const passes = (url: string): boolean => {
  try {
    assertPublicUrl(url, "url");
    return true;
  } catch {
    return false;
  }
};

describe("SLUICE_OUTBOUND_ALLOW", () => {
  const load = (entries: string): readonly string[] =>
    loadConfig({ DATABASE_URL: "postgres://db/sluice", NATS_URL: "nats://q:4222", SLUICE_OUTBOUND_ALLOW: entries })
      .outboundAllow;

  test("is empty unless set", () => {
    expect(load("")).toEqual([]);
  });

  test.each([
    "media.lan:9000",
    "media:80",
    "127.0.0.1:9000",
    "[::1]:9000",
    "10.1.2.3",
    "10.1.0.0/16",
    "::1",
    "fd00::/8",
  ])("accepts %s", (entry) => {
    expect(load(` ${entry} , 10.0.0.1`)).toEqual([entry, "10.0.0.1"]);
  });

  test.each([
    "media.lan",
    "media.lan:",
    "media.lan:0",
    "media.lan:70000",
    "*.lan:80",
    "*:80",
    ":80",
    "http://media.lan:80",
    "user@media.lan:80",
    "a/b:80",
    "999.1.1.1:80",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "10.0.0.0/8:80",
  ])("rejects %s", (entry) => {
    expect(() => load(entry)).toThrow("SLUICE_OUTBOUND_ALLOW");
  });

  test("is logged at the start, since it extends the addresses that callers can reach", () => {
    expect(logged((log) => allowOutbound([], log))).toEqual([]);
    const lines = logged((log) => allowOutbound(["media.lan:9000", "10.1.0.0/16"], log));
    expect(lines).toMatchObject([{ level: "warn", allowed: ["media.lan:9000", "10.1.0.0/16"] }]);
  });
});

describe("an entry of host and port", () => {
  test("allows that host at that port, in every spelling, and nothing else", () => {
    allow("media.lan:9000", "postgres:5432", "127.0.0.1:80", "[::1]:9000");
    for (const url of [
      "http://media.lan:9000/a",
      "https://MEDIA.lan.:9000/a",
      "http://postgres:5432/",
      "http://127.1/",
      "http://[0:0:0:0:0:0:0:1]:9000/",
    ]) {
      expect(passes(url), url).toBe(true);
    }
    for (const url of [
      "http://media.lan/",
      "http://media.lan:9001/",
      "http://other.lan:9000/",
      "http://a.media.lan:9000/",
      "https://127.0.0.1/",
      "http://127.0.0.2/",
      "http://localhost/",
      "http://user@media.lan:9000/",
      "ftp://media.lan:9000/",
    ]) {
      expect(passes(url), url).toBe(false);
    }
  });

  test("covers every address of the name, and no other name of the same address", async () => {
    const server = await listen((_request, response) => response.end("media"));
    allow(`media.lan:${server.port}`);
    const request = { signal: new AbortController().signal, bytesMax: 100, timeoutMs: 10_000 };
    const inside = (): Promise<{ address: string; family: number }[]> =>
      Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
    const { bytes } = await fetchPublic(server.url("/", "media.lan"), request, inside);
    expect(Buffer.from(bytes).toString()).toBe("media");
    const other = fetchPublic(server.url("/", "media.example.com"), request, inside);
    expect(await other.catch((error: unknown) => error)).toMatchObject({ fault: "unsafe" });
    expect(server.asked).toHaveLength(1);
    server.close();
  });
});

describe("an entry of addresses", () => {
  test("allows its range, with the rules for names and ports unchanged", () => {
    allow("10.1.0.0/16", "192.168.1.5", "fd00:1::/32");
    for (const address of ["10.1.0.0", "10.1.255.255", "192.168.1.5", "fd00:1::9"]) {
      expect(isDialable(address), address).toBe(true);
    }
    for (const address of ["10.2.0.0", "10.0.255.255", "192.168.1.6", "fd00:2::9", "127.0.0.1", "::1"]) {
      expect(isDialable(address), address).toBe(false);
    }
    expect(passes("http://10.1.2.3:8080/")).toBe(true);
    expect(passes("http://[fd00:1::9]/")).toBe(true);
    expect(passes("http://10.1.2.3:5432/")).toBe(false);
    expect(passes("http://media.lan/")).toBe(false);
  });
});
