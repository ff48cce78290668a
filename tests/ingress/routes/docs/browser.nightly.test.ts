/** The documentation in a browser: light and dark, wide and narrow, with and without scripts. */
import { afterAll, describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { openBench } from "./browser.ts";
import { site } from "./site.ts";

const bench = await openBench();
afterAll(() => bench?.close());

interface Look {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

const LOOKS: readonly Look[] = [
  { width: 1_280, scheme: "light" },
  { width: 1_280, scheme: "dark" },
  { width: 390, scheme: "light" },
  { width: 390, scheme: "dark" },
];

/** Runs with a page of the look; faults of the page's scripts and policy fail it. */
async function withPage(
  { width, scheme }: Look,
  work: (page: Page, baseUrl: string) => Promise<void>,
  javaScriptEnabled = true,
): Promise<void> {
  if (!bench) throw new Error("no browser");
  const context = await bench.browser.newContext({
    viewport: { width, height: 844 },
    colorScheme: scheme,
    javaScriptEnabled,
  });
  const faults: string[] = [];
  try {
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (said) => said.type() === "error" && faults.push(said.text()));
    await work(page, bench.baseUrl);
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}

/** Addresses of every written page, and of some of the API reference. */
async function addresses(): Promise<readonly string[]> {
  const { pages } = await site();
  const shown = pages.filter(
    ({ parent, path }, index) => parent === undefined || path === "api/createChatCompletion" || index % 20 === 0,
  );
  return [...shown.map(({ path }) => (path === "" ? "/docs" : `/docs/${path}`)), "/docs/search?q=retry"];
}

/** Words of code in table cells, and those that lie on more than one line. Pieces of a path count as words. */
const CODE_WORDS = `(() => {
  const broken = [];
  let words = 0;
  for (const code of document.querySelectorAll("td code")) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode: node } = texts;
      for (const { 0: word, index } of node.textContent.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        words++;
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size !== 1) broken.push(word);
      }
    }
  }
  return { words, broken };
})()`;

describe.skipIf(!bench)("in a browser", () => {
  test.each(LOOKS)(
    "no page scrolls sideways: $width px, $scheme",
    async (look) => {
      const all = await addresses();
      await withPage(look, async (page, baseUrl) => {
        for (const address of all) {
          await page.goto(baseUrl + address);
          const width = await page.evaluate<number>("document.documentElement.scrollWidth");
          expect([address, width]).toEqual([address, look.width]);
        }
      });
    },
    120_000,
  );

  test.each(["light", "dark"] as const)(
    "colours follow the system, and text has enough contrast: %s",
    async (scheme) => {
      await withPage({ width: 1_280, scheme }, async (page, baseUrl) => {
        await page.goto(`${baseUrl}/docs/api/createChatCompletion`);
        const [ground, text] = await page.evaluate<[string, string]>(
          "[document.documentElement, document.querySelector('.prose')].map((one, i) => getComputedStyle(one)[i === 0 ? 'backgroundColor' : 'color'])",
        );
        const lightness = (colour: string): number =>
          Math.max(...[...colour.matchAll(/\d+/g)].map(([value]) => Number(value)));
        if (scheme === "light") expect(lightness(ground) - lightness(text)).toBeGreaterThan(180);
        else expect(lightness(text) - lightness(ground)).toBeGreaterThan(180);
      });
    },
  );

  test("the search field lists results during typing, and arrow keys select them", async () => {
    await withPage({ width: 1_280, scheme: "light" }, async (page, baseUrl) => {
      await page.goto(`${baseUrl}/docs`);
      await page.keyboard.press("/");
      await page.keyboard.type("overloaded");
      const link = page.locator('.found a[href="/docs/reference/errors#overloaded"]');
      await link.waitFor();
      await page.keyboard.press("ArrowDown");
      expect(
        await page.evaluate<string>("document.activeElement.closest('.found') === null ? 'outside' : 'inside'"),
      ).toBe("inside");
      await page.keyboard.press("Escape");
      expect(await page.locator(".found").isVisible()).toBe(false);
    });
  });

  test("the search field loads the index again after a failure", async () => {
    await withPage({ width: 1_280, scheme: "light" }, async (page, baseUrl) => {
      // A status other than 200 would be an error of the console, which fails every test here.
      await page.route("**/docs/search.json", (route) => route.fulfill({ contentType: "application/json", body: "{" }));
      await page.goto(`${baseUrl}/docs`);
      await page.keyboard.press("/");
      await page.keyboard.type("overloade");
      await page.locator(".found .none", { hasText: "could not be loaded" }).waitFor();
      await page.unroute("**/docs/search.json");
      await page.keyboard.type("d");
      await page.locator('.found a[href="/docs/reference/errors#overloaded"]').waitFor();
    });
  });

  test.each(["spend", "retry", "webhoks"])(
    "the search field and the search page list the same for %s",
    async (query) => {
      await withPage({ width: 1_280, scheme: "light" }, async (page, baseUrl) => {
        const links = (list: string): Promise<string[]> =>
          page.evaluate<string[]>(`[...document.querySelectorAll("${list} a")].map((one) => one.getAttribute("href"))`);
        await page.goto(`${baseUrl}/docs/search?q=${query}`);
        const listed = await links(".results");
        const [marked, count] = [await page.locator(".results mark").count(), await page.locator(".count").innerText()];
        expect(marked).toBeGreaterThan(3);
        await page.locator(".search input").fill("");
        await page.locator(".search input").pressSequentially(query);
        await page.locator(".found .all").waitFor();
        expect(await links(".found li:not(.all)")).toEqual(listed.slice(0, 8));
        expect(count).toStartWith(await page.locator(".found .all").innerText());
        expect(await page.locator(".found mark").count()).toBeGreaterThan(1);
      });
    },
  );

  test("on a narrow screen no code word of a table breaks, and paths break after a slash only", async () => {
    await withPage({ width: 390, scheme: "light" }, async (page, baseUrl) => {
      for (const address of ["/docs/guides/webhooks", "/docs/api", "/docs/reference/settings"]) {
        await page.goto(baseUrl + address);
        const { words, broken } = await page.evaluate<{ words: number; broken: string[] }>(CODE_WORDS);
        expect([address, broken]).toEqual([address, []]);
        expect([address, words > 20]).toEqual([address, true]);
        expect([address, await page.evaluate<number>("document.documentElement.scrollWidth")]).toEqual([address, 390]);
      }
    });
  });

  test("code and tables that continue beyond the edge fade there, others do not", async () => {
    await withPage({ width: 390, scheme: "light" }, async (page, baseUrl) => {
      await page.goto(`${baseUrl}/docs/guides/webhooks`);
      const boxes = await page.evaluate<{ isWider: boolean; fade: string }[]>(
        "[...document.querySelectorAll('.code pre, .table-box')].filter((one) => one.clientWidth > 0).map((one) => ({ isWider: one.scrollWidth > one.clientWidth, fade: getComputedStyle(one).getPropertyValue('--fade') }))",
      );
      expect(boxes.map(({ isWider, fade }) => [isWider, fade])).toEqual(
        boxes.map(({ isWider }) => [isWider, isWider ? "48px" : "0px"]),
      );
      expect(new Set(boxes.map(({ isWider }) => isWider)).size).toBe(2);
    });
  });

  test("the menu of a narrow screen leads to the explorer, and a button closes it", async () => {
    await withPage({ width: 390, scheme: "dark" }, async (page, baseUrl) => {
      await page.goto(`${baseUrl}/docs/guides/webhooks`);
      await page.locator(".menu-open").click();
      expect(await page.locator('#nav a[href="/docs/explorer"]').isVisible()).toBe(true);
      await page.locator("#nav button", { has: page.locator("svg") }).click();
      expect(await page.locator("#nav").isVisible()).toBe(false);
    });
  });

  test.each(["light", "dark"] as const)("the explorer follows the system: %s", async (scheme) => {
    await withPage({ width: 1_280, scheme }, async (page, baseUrl) => {
      await page.goto(`${baseUrl}/docs/explorer`);
      await page.locator(".opblock").first().waitFor();
      const colour = await page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
      const lightest = Math.max(...[...colour.matchAll(/\d+/g)].map(([value]) => Number(value)));
      expect([colour, lightest > 128]).toEqual([colour, scheme === "light"]);
    });
  });

  test.each([
    ["light", "dark"],
    ["dark", "light"],
  ] as const)(
    "in a %s system, pages have the colours chosen in the console from the first: %s",
    async (scheme, chosen) => {
      await withPage({ width: 1_280, scheme }, async (page, baseUrl) => {
        await page.goto(`${baseUrl}/docs/assets/icon.svg`);
        await page.evaluate(`localStorage.setItem("sluice.theme", "${chosen}")`);
        // The colours of a page whose body has just begun, which are those of its first drawing.
        await page.addInitScript(`new MutationObserver((_, observer) => {
        if (document.body === null) return;
        observer.disconnect();
        globalThis.firstTheme = document.documentElement.dataset.theme;
      }).observe(document, { childList: true, subtree: true })`);
        for (const path of ["/docs", "/docs/explorer"]) {
          await page.goto(baseUrl + path);
          await page
            .locator(path === "/docs" ? ".prose" : ".opblock")
            .first()
            .waitFor();
          const [first, colour, isDark] = await page.evaluate<[string, string, boolean]>(
            "[firstTheme, getComputedStyle(document.documentElement).backgroundColor, document.documentElement.classList.contains('dark-mode')]",
          );
          const lightest = Math.max(...[...colour.matchAll(/\d+/g)].map(([value]) => Number(value)));
          expect([path, first, lightest > 128]).toEqual([path, chosen, chosen === "light"]);
          if (path !== "/docs") expect(isDark).toBe(chosen === "dark");
        }
      });
    },
  );

  test("without storage, pages follow the system", async () => {
    await withPage({ width: 1_280, scheme: "dark" }, async (page, baseUrl) => {
      await page.addInitScript(
        "Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('blocked', 'SecurityError'); } })",
      );
      await page.goto(`${baseUrl}/docs`);
      expect(await page.evaluate<string>("getComputedStyle(document.documentElement).colorScheme")).toBe("light dark");
    });
  });

  test("a code block has a button that copies it", async () => {
    await withPage({ width: 1_280, scheme: "light" }, async (page, baseUrl) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl });
      await page.goto(`${baseUrl}/docs`);
      await page.locator(".tab-panel .copy").first().click();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toStartWith(
        `curl -s ${baseUrl}/v1/chat/completions`,
      );
    });
  });

  test("without scripts, tabs switch, the menu opens and the search form answers", async () => {
    await withPage(
      { width: 390, scheme: "light" },
      async (page, baseUrl) => {
        await page.goto(`${baseUrl}/docs`);
        const panels = page.locator(".tab-panel");
        expect([await panels.nth(0).isVisible(), await panels.nth(1).isVisible()]).toEqual([true, false]);
        await page.locator(".tab-names label").nth(1).click();
        expect([await panels.nth(0).isVisible(), await panels.nth(1).isVisible()]).toEqual([false, true]);
        expect(await page.locator("#nav").isVisible()).toBe(false);
        await page.locator(".menu-open").click();
        expect(await page.locator("#nav").isVisible()).toBe(true);
        await page.locator("#nav summary", { hasText: "Reference" }).click();
        await page.locator('#nav a[href="/docs/reference/errors"]').click();
        await page.locator(".search input").fill("overloaded");
        await page.locator(".search input").press("Enter");
        await page.locator('.results a[href="/docs/reference/errors#overloaded"]').waitFor();
      },
      false,
    );
  });

  test("the keyboard reaches the content first, and focus is visible", async () => {
    await withPage({ width: 1_280, scheme: "dark" }, async (page, baseUrl) => {
      await page.goto(`${baseUrl}/docs/reference/errors`);
      await page.keyboard.press("Tab");
      expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Skip to content");
      await page.keyboard.press("Tab");
      expect(await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    });
  });
});
