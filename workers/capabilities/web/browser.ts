/** Chromium, for one page at a time: without a network of its own, a profile or anything left behind. For child processes only. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Browser, BrowserContext, Page, Route } from "playwright-core";

import { LIMITS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import type { Chromium, Tools } from "../tools.ts";

export interface BrowserVisit {
  readonly folder: string;
  readonly tools: Tools;
  /** The page itself, which is at hand already. */
  readonly html: { readonly path: string; readonly contentType: string };
  /** What it is called, for what it names relatively. */
  readonly address: string;
  /** Where its parts are asked for; undefined: it has none but its own. */
  readonly guard: string | undefined;
  readonly javascript: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly scale?: number;
  readonly isDark?: boolean;
  /** Waited for after it has loaded. */
  readonly waitMs: number;
}

/** The address of a page that came without one. */
export const NO_ADDRESS = "http://document.invalid/";

const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  "--font-render-hinting=none",
  // Nothing of it works without a network; nothing of it is to wait for one.
  "--disable-domain-reliability",
  "--no-pings",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];
/** A machine may have none of its own: then words would not be seen. */
const FONTS = fileURLToPath(new URL("../../children/fonts.conf", import.meta.url));
const LAUNCH_MS = 20_000;

/** Loads the page and hands it over. @throws MediaError too_large, corrupt */
export async function withPage<T>(visit: BrowserVisit, work: (page: Page) => Promise<T>): Promise<T> {
  const browser = await launch(visit.folder, visit.tools.chromium);
  try {
    const context = await openContext(browser, visit);
    const page = await context.newPage();
    page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
    await load(page, visit);
    return await work(page);
  } finally {
    await browser.close();
  }
}

/** Whether a browser starts here. @throws whatever it says */
export async function tryBrowser(folder: string, chromium: Chromium | undefined): Promise<void> {
  const browser = await launch(folder, chromium);
  await browser.close();
}

async function launch(folder: string, chromium: Chromium | undefined): Promise<Browser> {
  if (!chromium) throw new Error("there is no browser here");
  const own = join(folder, "browser");
  mkdirSync(own, { recursive: true });
  // Its library makes profiles there.
  process.env["TMPDIR"] = own;
  const { chromium: library } = await import("playwright-core");
  return library.launch({
    executablePath: chromium.path,
    // The child itself has no rights and no network; a sandbox within needs rights that are taken from it.
    chromiumSandbox: false,
    args: FLAGS,
    env: { HOME: own, TMPDIR: own, FONTCONFIG_FILE: FONTS, LD_LIBRARY_PATH: chromium.libraries ?? "" },
    timeout: LAUNCH_MS,
  });
}

async function openContext(browser: Browser, visit: BrowserVisit): Promise<BrowserContext> {
  const { width = 1_280, height = 800, scale = 1, isDark = false, javascript } = visit;
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: isDark ? "dark" : "light",
    javaScriptEnabled: javascript,
    serviceWorkers: "block",
    acceptDownloads: false,
    timezoneId: "UTC",
    locale: "en-US",
  });
  context.setDefaultTimeout(LIMITS.webLoadMs);
  let isFirst = true;
  await context.route("**/*", async (route) => {
    if (isFirst && route.request().isNavigationRequest()) {
      isFirst = false;
      return route.fulfill({ path: visit.html.path, contentType: visit.html.contentType });
    }
    return answer(route, visit.guard);
  });
  await context.routeWebSocket("**/*", (socket) => void socket.close());
  return context;
}

/** Parts of a page; other pages, and what a script sends, are not asked for. */
async function answer(route: Route, guard: string | undefined): Promise<void> {
  const request = route.request();
  // Without content the page stays as it is; a refusal would be shown in its place.
  if (request.isNavigationRequest() && request.frame().parentFrame() === null) return route.fulfill({ status: 204 });
  if (guard === undefined || request.method() !== "GET") return route.abort("blockedbyclient");
  try {
    const asked = `http://guard/?address=${encodeURIComponent(request.url())}`;
    const found = await fetch(asked, { unix: guard });
    if (found.headers.has("x-refused")) return await route.abort("blockedbyclient");
    const body = Buffer.from(await found.arrayBuffer());
    return await route.fulfill({ status: found.status, headers: Object.fromEntries(found.headers), body });
  } catch {
    // The page may be gone, or its run ended.
    return route.abort("failed").catch(() => undefined);
  }
}

async function load(page: Page, { address, waitMs }: BrowserVisit): Promise<void> {
  try {
    await page.goto(address, { waitUntil: "load", timeout: LIMITS.webLoadMs });
    if (waitMs > 0) await page.waitForTimeout(waitMs);
  } catch (error) {
    const isSlow = error instanceof Error && error.name === "TimeoutError";
    if (isSlow) {
      throw new MediaError("too_large", `Expected a page that loads within ${LIMITS.webLoadMs / 1_000} seconds.`, {
        cause: error,
      });
    }
    throw new MediaError("corrupt", "The page cannot be shown.", { cause: error });
  }
}
