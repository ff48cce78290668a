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
    "colours follow the system, and text can be told from its ground: %s",
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

  test("the search field lists results while a word is typed, and arrow keys lead to them", async () => {
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

  test("a code block has a button that copies it", async () => {
    await withPage({ width: 1_280, scheme: "light" }, async (page, baseUrl) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl });
      await page.goto(`${baseUrl}/docs`);
      await page.locator(".tab-panel .copy").first().click();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toStartWith(
        "curl -s http://127.0.0.1:8080/v1/chat/completions",
      );
    });
  });

  test("without scripts, tabs change, the menu opens and the search form answers", async () => {
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
