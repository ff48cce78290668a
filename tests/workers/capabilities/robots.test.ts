/** Rules of robots.txt: the examples of RFC 9309, and the cases of Google's parser that it settles. */
import { afterEach, describe, expect, test } from "bun:test";

import { isVisitAllowed } from "#workers/capabilities/web/robots.ts";

import { refused } from "./refused.ts";
import { openSites } from "./web-site.ts";

const HOST = "https://a.example";
const isAllowed = (robots: string, path: string, agent = "FooBot"): boolean =>
  isVisitAllowed({ robots, address: `${HOST}/robots.txt`, url: `${HOST}${path}`, agent });

describe("percent-encoding", () => {
  // Each pair is one path (RFC 9309, 2.2.2, and its table).
  test.each([
    ["/foo/bar?baz=quz", "/foo/bar?baz=quz"],
    ["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
    ["/foo/bar/ツ", "/foo/bar/%E3%83%84"],
    ["/foo/bar/%e3%83%84", "/foo/bar/ツ"],
    ["/foo/bar/%62%61%7A", "/foo/bar/baz"],
    ["/%70age", "/page"],
    ["/a%2Db%5fc%7Ed", "/a-b_c~d"],
    ["/a[1]|b^", "/a%5B1%5D%7Cb%5E"],
    ["/a b", "/a%20b"],
    ["/a;b=c,d", "/a%3Bb=c%2Cd"],
    ["/file-with-a-%2A.html", "/file-with-a-*.html"],
    ["/foo-%24", "/foo-$"],
    ["/a$b", "/a%24b"],
    ["/*?u=http%3A%2F%2Fx", "/p?u=http://x"],
    ["/*u=http://x", "/p?u=http://x"],
  ])("%s forbids %s", (rule, path) => {
    expect(isAllowed(`User-agent: *\nDisallow: ${rule}\n`, path)).toBe(false);
    expect(
      isAllowed(
        `User-agent: *\nDisallow: ${path.replaceAll("*", "%2A").replace(/\$$/, "%24")}\n`,
        rule.replaceAll("*", ""),
      ),
    ).toBe(rule.startsWith("/*"));
  });

  test.each([
    ["/a%2Fb", "/a/b"],
    ["/a/b", "/a%2Fb"],
    ["/a?b", "/a%3Fb"],
    ["/page", "/Page"],
    ["/file-%2A.html", "/file-x.html"],
    ["/a$", "/ab"],
    ["/a*c$", "/abcd"],
    ["/ab*bc$", "/abc"],
  ])("%s does not forbid %s", (rule, path) => {
    expect(isAllowed(`User-agent: *\nDisallow: ${rule}\n`, path)).toBe(true);
  });
});

test.each<[string, string, string, string, boolean]>([
  ["no rules", "", "FooBot", "/x", true],
  ["another line's name", "foo: FooBot\nbar: /\n", "FooBot", "/x", true],
  ["a colon that is missing", "user-agent FooBot\ndisallow /\n", "FooBot", "/x", false],
  ["names in any case", "uSeR-aGeNt: foobot\ndIsAlLoW: /\n", "FooBot", "/x", false],
  ["a group of its own", "user-agent: *\ndisallow: /\nuser-agent: FooBot\nallow: /\n", "FooBot/2.1", "/x", true],
  ["an empty group of its own", "user-agent: *\ndisallow: /\nuser-agent: FooBot\n", "FooBot", "/x", true],
  ["no group of its own", "user-agent: *\ndisallow: /\nuser-agent: BarBot\nallow: /\n", "FooBot", "/x", false],
  ["only the token, not a part of it", "user-agent: Foo\ndisallow: /\n", "FooBot", "/x", true],
  [
    "rules of both groups that name it",
    "user-agent: FooBot\ndisallow: /a\n\nuser-agent: x\nallow: /\nuser-agent: FooBot\ndisallow: /b\n",
    "FooBot",
    "/b",
    false,
  ],
  ["rules outside of groups", "disallow: /\nuser-agent: x\ndisallow: /\n", "FooBot", "/x", true],
  [
    "a Sitemap within a group",
    "User-agent: FooBot\nSitemap: https://a.example/s\nUser-agent: *\nDisallow: /\n",
    "FooBot",
    "/",
    false,
  ],
  [
    "an unknown line within a group",
    "User-agent: FooBot\nCrawl-delay: 1\nUser-agent: *\nDisallow: /\n",
    "FooBot",
    "/",
    false,
  ],
  ["the longest rule", "user-agent: *\nallow: /x/page.\ndisallow: /*.html\n", "FooBot", "/x/page.html", true],
  ["the longest rule of wildcards", "user-agent: *\nallow: /page\ndisallow: /*.html\n", "FooBot", "/page.html", false],
  [
    "the longer one by octets, not by escapes",
    "user-agent: *\nallow: /%61%62\ndisallow: /abc\n",
    "FooBot",
    "/abc",
    false,
  ],
  ["allow of two as long", "user-agent: *\ndisallow: /x\nallow: /x\n", "FooBot", "/x", true],
  ["an empty rule", "user-agent: *\ndisallow:\n", "FooBot", "/x", true],
  ["a comment", "user-agent: *\ndisallow: /x#y\n# disallow: /\n", "FooBot", "/x", false],
  ["the robots.txt itself", "user-agent: *\ndisallow: /\n", "FooBot", "/robots.txt", true],
  ["lines that end with a return", "user-agent: *\rdisallow: /\r", "FooBot", "/x", false],
])("obeys %s", (_what, robots, agent, path, expected) => {
  expect(isAllowed(robots, path, agent)).toBe(expected);
});

const sites = openSites();
afterEach(() => sites.close());

test("a robots.txt of more than 500 KiB counts up to there", async () => {
  const long = `User-agent: *\nDisallow: /a\n${"# x\n".repeat(130_000)}Disallow: /b\n`;
  const site = await sites.open({ "/robots.txt": long, "/a": "a", "/b": "b" });
  const fetched = (path: string) => sites.visit("web.fetch", site.url(path), { respect_robots: true });
  expect(await refused(fetched("/a"))).toContain("does not allow this address");
  expect((await fetched("/b")).output["status"]).toBe(200);
});
