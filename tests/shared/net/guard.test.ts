import { describe, expect, test } from "bun:test";

import type { ApiError } from "#shared/base/errors.ts";
import { assertPublicUrl, isPublicAddress, OUTBOUND_URL_CHARACTERS_MAX } from "#shared/net/guard.ts";

/** Addresses that may never be dialled for a caller, and why. */
const REFUSED_ADDRESSES: readonly [string, string][] = [
  ["0.0.0.0", "this host"],
  ["0.255.255.255", "this network"],
  ["10.0.0.1", "private"],
  ["10.255.255.255", "private"],
  ["100.64.0.1", "carrier-grade NAT"],
  ["100.127.255.254", "carrier-grade NAT"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["169.254.0.1", "link-local"],
  ["169.254.169.254", "metadata of clouds"],
  ["172.16.0.1", "private"],
  ["172.31.255.254", "private"],
  ["192.0.0.1", "protocol assignments"],
  ["192.0.0.192", "metadata of Oracle's cloud"],
  ["192.0.2.1", "documentation"],
  ["192.88.99.1", "6to4 relay"],
  ["192.168.0.1", "private"],
  ["192.168.255.254", "private"],
  ["198.18.0.1", "benchmarks"],
  ["198.19.255.254", "benchmarks"],
  ["198.51.100.1", "documentation"],
  ["203.0.113.1", "documentation"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["168.63.129.16", "Azure's host"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "mapped loopback"],
  ["::ffff:8.8.8.8", "mapped, even when public"],
  ["::ffff:a9fe:a9fe", "mapped metadata address"],
  ["::127.0.0.1", "compatible form"],
  ["64:ff9b::7f00:1", "translated"],
  ["64:ff9b:1::1", "local translation"],
  ["100::1", "discard"],
  ["2001::1", "Teredo"],
  ["2001:20::1", "ORCHID"],
  ["2001:db8::1", "documentation"],
  ["2002:7f00:1::", "6to4 of loopback"],
  ["2620:4f:8000::1", "AS112"],
  ["3fff::1", "documentation"],
  ["4000::1", "outside global unicast"],
  ["5f00::1", "segment routing"],
  ["fc00::1", "unique local"],
  ["fd00:ec2::254", "metadata of EC2"],
  ["fe80::1", "link-local"],
  ["fec0::1", "site-local"],
  ["ff02::1", "multicast"],
];

const ALLOWED_ADDRESSES = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::6810:85e5", "2a00:1450:4001:82f::200e"];

describe("an address", () => {
  test.each(REFUSED_ADDRESSES)("%s is rejected: %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(ALLOWED_ADDRESSES)("%s is allowed", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(["", "localhost", "8.8.8", "8.8.8.8.8", "256.1.1.1", "example.com", "fe80::1%eth0", "[::1]"])(
    "%j is invalid",
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

const REFUSED_URLS: readonly [string, string][] = [
  // Spellings of loopback that a parser turns into it
  ["http://127.0.0.1/", "dotted"],
  ["http://2130706433/", "decimal"],
  ["http://0x7f000001/", "hexadecimal"],
  ["http://0x7f.0.0.1/", "hexadecimal part"],
  ["http://0177.0.0.1/", "octal"],
  ["http://017700000001/", "octal number"],
  ["http://127.1/", "short"],
  ["http://127.0.1/", "shorter"],
  ["http://0/", "zero"],
  ["http://①②⑦.⓪.⓪.①/", "circled digits"],
  ["http://１２７.０.０.１/", "full-width digits"],
  ["http://127。0。0。1/", "ideographic full stops"],
  ["http://%31%32%37.0.0.1/", "percent-encoded"],
  ["http://127.0.0.1./", "trailing dot"],
  ["http://127.0.0.1../", "two trailing dots"],
  ["http://[::1]/", "IPv6"],
  ["http://[0:0:0:0:0:0:0:1]/", "IPv6 in full"],
  ["http://[::ffff:127.0.0.1]/", "mapped"],
  ["http://[::ffff:7f00:1]/", "mapped in hexadecimal"],
  ["http://[64:ff9b::7f00:1]/", "translated"],
  ["http://[2002:7f00:1::]/", "6to4"],
  ["http://[fe80::1]/", "link-local"],
  ["https://169.254.169.254/latest/meta-data/", "metadata"],
  ["https://2852039166/", "metadata in decimal"],
  ["https://168.63.129.16/", "Azure's host"],
  // Names that never lead outside
  ["http://localhost/", "localhost"],
  ["http://LOCALHOST/", "localhost in capitals"],
  ["http://localhost./", "localhost with a dot"],
  ["http://localhost../", "localhost with two dots"],
  ["http://a.localhost/", "below localhost"],
  ["http://localhost.localdomain/", "localdomain"],
  ["http://metadata.google.internal/", "internal"],
  ["http://metadata.google.internal./", "internal with a dot"],
  ["http://db.local/", "local"],
  ["http://router.lan/", "lan"],
  ["http://nas.home.arpa/", "home.arpa"],
  ["http://wiki.intranet/", "intranet"],
  ["http://nats.default.svc/", "a service of the cluster"],
  ["http://nats.default.svc.cluster.local/", "a service of the cluster in full"],
  ["http://postgres/", "a single label"],
  ["http://postgres./", "a single label with a dot"],
  ["http://example..com/", "an empty label"],
  ["http://.example.com/", "an empty first label"],
  // User information
  ["https://user@example.com/", "a user"],
  ["https://user:pass@example.com/", "a password"],
  ["https://:pass@example.com/", "a password alone"],
  ["https://example.com@127.0.0.1/", "a host in front of the host"],
  // What other parsers read differently
  ["https://example.com\\@127.0.0.1/", "a backslash before @"],
  ["https://example.com\\.evil/", "a backslash in the host"],
  ["https:\\\\example.com/", "backslashes for slashes"],
  ["https://exam\tple.com/", "a tab"],
  ["https://example.com/\r\nHost: x", "a line break"],
  [" https://example.com/", "a blank in front"],
  ["https://exam ple.com/", "a blank in the host"],
  ["https://example.com/\u0000", "NUL"],
  ["https:example.com/", "no slashes"],
  ["https:///example.com/", "three slashes"],
  // Schemes
  ["ftp://example.com/", "ftp"],
  ["file:///etc/passwd", "file"],
  ["gopher://example.com:70/", "gopher"],
  ["javascript:alert(1)", "javascript"],
  ["data:text/plain,hello", "data"],
  ["ws://example.com/", "ws"],
  ["//example.com/", "no scheme"],
  ["/path", "a path"],
  ["example.com", "a bare name"],
  ["", "nothing"],
  ["https://", "no host"],
  // Ports
  ["http://example.com:22/", "SSH"],
  ["http://example.com:25/", "mail"],
  ["http://example.com:0/", "port 0"],
  ["http://example.com:1023/", "a low port"],
  ["http://example.com:2375/", "Docker"],
  ["http://example.com:2379/", "etcd"],
  ["http://example.com:4222/", "NATS"],
  ["http://example.com:5432/", "Postgres"],
  ["http://example.com:6379/", "Redis"],
  ["http://example.com:8222/", "NATS' monitor"],
  ["http://example.com:9464/", "our admin port"],
  ["http://example.com:11211/", "memcached"],
];

const ALLOWED_URLS = [
  "https://example.com/a.png",
  "http://example.com:80/a.png?size=1#top",
  "https://sub.example.co.uk:8443/%20",
  "HTTPS://EXAMPLE.COM/",
  "https://bücher.example.org/",
  "https://8.8.8.8/",
  "https://[2606:4700::6810:85e5]/",
  "http://example.com./",
  "https://notlocalhost.com/",
  "https://local.example.com/",
  "https://example.com/my picture (1).png",
  "https://example.com/a\\b",
];

describe("a URL of a caller", () => {
  test.each(REFUSED_URLS)("%j is rejected: %s", (url) => {
    expect(() => assertPublicUrl(url, "image_url")).toThrow(
      expect.objectContaining({ code: "unsafe_url", status: 400, param: "image_url" }) as Error,
    );
  });

  test.each(ALLOWED_URLS)("%s is allowed, and is returned parsed", (url) => {
    expect(assertPublicUrl(url, "image_url").href).toBe(new URL(url).href);
  });

  test("is allowed up to its maximum length, and rejected beyond it before it is parsed", () => {
    const longest = "https://example.com/".padEnd(OUTBOUND_URL_CHARACTERS_MAX, "a");
    expect(assertPublicUrl(longest, "image_url").href).toBe(longest);
    expect(() => assertPublicUrl(`${longest}a`, "image_url")).toThrow("it is too long");
  });

  test("is checked against a table of at least 44 rejections, with every kind of address", () => {
    expect(REFUSED_ADDRESSES.length).toBeGreaterThanOrEqual(44);
    expect(ALLOWED_ADDRESSES.length).toBeGreaterThanOrEqual(5);
  });

  test("is not repeated in the error, which contains the reason only", () => {
    for (const url of [
      "https://user:hunter22@example.com/",
      "https://10.11.12.13/secret-path",
      "ftp://secret.example/",
    ]) {
      let error: ApiError | undefined;
      try {
        assertPublicUrl(url, "url");
      } catch (fault) {
        error = fault as ApiError;
      }
      expect(error?.message).toMatch(/^This URL is not allowed: [^:]+\.$/);
      for (const part of ["hunter22", "10.11", "secret"]) expect(error?.message).not.toContain(part);
    }
  });
});
