/** A real stack and a real Chromium that shows its console. Each page records what a person would not see: errors, foreign requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

import type { StoredFile } from "#schemas/generated/types.ts";
import { buildConsole } from "#deploy/build-console.ts";
import { type Stack, type StackOptions, startStack } from "#tests/support/stack.ts";
import { findTools } from "#workers/calls/capability/tools.ts";

const FONTS = fileURLToPath(new URL("../../../workers/children/fonts.conf", import.meta.url));

/** Time in which a page shows what a story waits for, in milliseconds. */
const WAIT_MS = 15_000;

export interface ConsoleBench {
  readonly stack: Stack;
  readonly baseUrl: string;
  /**
   * Opens a page of the console.
   * @param options `key`: key to sign in with; default: the stack's first key. Null opens the page without a session
   */
  open(path: string, options?: OpenOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly key?: string | null;
  readonly browser?: BrowserContextOptions;
}

export interface ConsolePage {
  readonly page: Page;
  /** Errors on the browser's console, violations of the content security policy, and requests to other hosts. */
  readonly faults: readonly string[];
  /** Returns the serious findings of axe for WCAG 2.2 A and AA, as `rule: selector`. */
  findBarriers(): Promise<string[]>;
  /**
   * Waits until no part of the page is loading. Returns barriers and sideways scroll, each after the name of the view. Draws the view
   * into the folder of the environment variable `SCREENSHOTS`.
   * @param shot `fullPage`: false to draw the window alone, because dialogs and sheets are fixed to it
   */
  inspect(name: string, shot?: { readonly fullPage: boolean }): Promise<string[]>;
}

/** Time limit of a test that inspects all pages, in milliseconds. Beside other tests, axe needs seconds for each page. */
export const INSPECTION_LIMIT_MS = 300_000;

/** Starts the bench. @throws Error if no Chromium is installed */
export async function openConsoleBench(options: StackOptions = {}): Promise<ConsoleBench> {
  const { chromium: found } = await findTools({ chromium: undefined, libreoffice: undefined });
  if (!found) throw new Error("expected a Chromium, which npm install brings");
  await buildConsole();
  const folder = mkdtempSync(join(tmpdir(), "console-browser-"));
  const [stack, browser] = await Promise.all([
    startStack({ ...options, env: { SLUICE_TRUSTED_PROXIES: "127.0.0.1,::1", ...options.env } }),
    chromium.launch({
      executablePath: found.path,
      chromiumSandbox: false,
      args: ["--disable-gpu", "--no-first-run", "--font-render-hinting=none"],
      env: { HOME: folder, TMPDIR: folder, FONTCONFIG_FILE: FONTS, LD_LIBRARY_PATH: found.libraries ?? "" },
    }),
  ]);
  const baseUrl = stack.baseUrls[0] ?? "";
  const sessions = new Map<string, Promise<Session>>();
  return {
    stack,
    baseUrl,
    async open(path, { key = stack.key, browser: options = {} } = {}) {
      if (key !== null && !sessions.has(key)) sessions.set(key, signIn(browser, baseUrl, key, sessions.size));
      const storageState = key === null ? undefined : await sessions.get(key);
      return openPage(browser, `${baseUrl}/console${path}`, { ...options, ...(storageState && { storageState }) });
    },
    async close() {
      await browser.close();
      await stack.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Session = Awaited<ReturnType<BrowserContext["storageState"]>>;

/**
 * Signs in with a key. Pages of the same key share the session. Each sign-in has an address of its own, because an address may sign in
 * only ten times a minute.
 */
async function signIn(browser: Browser, baseUrl: string, key: string, number: number): Promise<Session> {
  const context = await browser.newContext();
  const response = await context.request.post(`${baseUrl}/console/session`, {
    headers: { "x-sluice-console": "1", "x-forwarded-for": `198.51.100.${number % 256}` },
    data: { api_key: key },
  });
  if (!response.ok()) throw new Error(`expected to be signed in, got ${response.status()} ${await response.text()}`);
  const state = await context.storageState();
  await context.close();
  return state;
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<ConsolePage> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const { origin } = new URL(url);
    if (!request.url().startsWith(origin) && !/^(?:data|blob):/.test(request.url())) {
      faults.push(`request to ${request.url()}`);
    }
  });
  await page.goto(url);
  const findBarriers = async (): Promise<string[]> => {
    const { violations } = await new AxeBuilder({ page })
      .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
      .analyze();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
  };
  return {
    page,
    faults,
    findBarriers,
    async inspect(name, { fullPage } = { fullPage: true }) {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
      const folder = process.env["SCREENSHOTS"];
      if (folder !== undefined) {
        const view = `${options.colorScheme ?? "light"}-${options.viewport?.width ?? 1280}`;
        await page.screenshot({ path: join(folder, `${name}-${view}.png`), fullPage });
      }
      const findings = await findBarriers();
      const excess = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      if (excess > 0) findings.push(`scrolls sideways by ${excess} px`);
      const bare = await page.evaluate<readonly string[]>(FIND_BARE_CELLS);
      findings.push(...bare.map((text) => `no unit: ${text}`));
      return findings.map((finding) => `${name}: ${finding}`);
    },
  };
}

/** Name, content and purpose of a file to store. */
export type StoredContent = readonly [name: string, content: string | Uint8Array, purpose?: string];

/** Stores a file through the API. Returns its id. */
export async function storeFile(
  { baseUrl }: Pick<ConsoleBench, "baseUrl">,
  key: string,
  ...[name, content, purpose = "user_data"]: StoredContent
): Promise<string> {
  const form = new FormData();
  form.append("purpose", purpose);
  form.append("file", new File([typeof content === "string" ? content : new Uint8Array(content)], name));
  return (await post<StoredFile>(`${baseUrl}/v1/files`, key, form)).id;
}

export async function post<Body>(url: string, key: string, body: FormData | string): Promise<Body> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
    },
    body,
  });
  if (!response.ok) throw new Error(`expected ${url} to succeed, got ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

/** Returns the paths below /console of the pages in the navigation. */
export async function navigationPaths({ page }: Pick<ConsolePage, "page">): Promise<string[]> {
  const links = page.locator("nav#nav li a");
  await links.first().waitFor({ state: "attached" });
  return links.evaluateAll((all) => all.map((link) => (link.getAttribute("href") ?? "").replace("/console", "")));
}

/** Script that returns the texts of stacked cells with a time without its zone or an amount without its unit. */
const FIND_BARE_CELLS = String.raw`
  [...document.querySelectorAll(".table tbody tr")]
    .filter((row) => getComputedStyle(row).display === "flex")
    .flatMap((row) => {
      const heads = [...row.closest("table").querySelectorAll("th")];
      return [...row.querySelectorAll("td")].filter(
        (cell, place) =>
          /(^Credits|, (UTC|credits))$/.test(heads[place]?.textContent) &&
          /\d/.test(cell.innerText) &&
          !/UTC|credits/.test(cell.innerText) &&
          getComputedStyle(cell, "::after").content === "none",
      );
    })
    .map((cell) => cell.innerText)`;
