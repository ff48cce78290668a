/** The suite of the package robots-parser, whose cases ask our matcher. */
import { expect, test } from "bun:test";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

import { isVisitAllowed } from "#workers/capabilities/web/robots.ts";

/** Visits that the package answers otherwise, against RFC 9309, or for text that UTF-8 cannot hold. */
const OTHERWISE: ReadonlySet<string> = new Set([
  // A colon is reserved: it is percent-encoded before the comparison.
  "http://www.example.com/http:%2F%2Fexample.org",
  "http://www.example.com/\uDC00",
  "http://www.example.com/\uD800",
]);
/** Answers that the suite asks for and that are compared. */
const COMPARED = 160;

const require = createRequire(import.meta.url);

type Verdict = boolean | undefined;

test("answers as the suite expects", async () => {
  const [wrong, other]: [unknown[], string[]] = [[], []];
  let compared = 0;
  let title = "";
  const answer = (address: string, robots: string | null, url: string, agent = "x"): Verdict => {
    if (!URL.canParse(address) || !URL.canParse(url) || new URL(address).origin !== new URL(url).origin)
      return undefined;
    return isVisitAllowed({ robots: robots ?? "", address, url, agent });
  };
  const parser = (address: string, robots: string | null) => ({
    isAllowed: (url: string, agent?: string) => [url, answer(address, robots, url, agent)],
    isDisallowed: (url: string, agent?: string) => [url, answer(address, robots, url, agent) !== true],
  });
  const same = (found: unknown, expected: unknown): void => {
    const [url, verdict] = found as [string, Verdict];
    compared++;
    if (verdict !== expected) (OTHERWISE.has(url) ? other : wrong).push(`${title}: ${url}` as never);
  };
  const suite = join(require.resolve("robots-parser"), "../test/Robots.js");
  const chai = { expect: (found: unknown) => ({ to: { equal: (expected: unknown) => same(found, expected) } }) };
  const modules: Readonly<Record<string, unknown>> = { "../index": parser, chai };
  new Script(`(require, describe, it) => {${await Bun.file(suite).text()}}`).runInThisContext()(
    (name: string) => modules[name],
    (_name: string, define: () => void) => define(),
    (name: string, run: () => void) => {
      title = name;
      const source = run.toString();
      // Relative addresses, delays, hosts, lines and times are not answered here.
      if (
        /getCrawlDelay|getPreferredHost|getMatchingLineNumber|getSitemaps|Date\.now|robotsParser\('\/robots|null\)/.test(
          source,
        )
      )
        return;
      run();
    },
  );
  expect(wrong).toEqual([]);
  expect(other).toHaveLength(OTHERWISE.size);
  expect(compared).toBe(COMPARED);
});
