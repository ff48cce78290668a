/**
 * Runs Chromium for one page at a time. The browser has no network access and no saved profile, and leaves no files. For child processes
 * only.
 */
import { mkdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { BrowserContext, BrowserContextOptions, Frame, Page, Request, Route } from "playwright-core";

import { MediaError } from "#shared/children/media-error.ts";

import { missingLetters, named } from "../fonts.ts";
import { choice } from "../params.ts";
import type { Chromium, Tools } from "../tools.ts";

/** Timeout of a page load in the browser, in milliseconds. */
const WEB_LOAD_MS = 30_000;

export interface BrowserVisit {
  readonly folder: string;
  readonly tools: Tools;
  /** File and content type of the page, which has already been fetched. */
  readonly html: { readonly path: string; readonly contentType: string };
  /** URL of the page, which is the base of its relative links. */
  readonly address: string;
  /**
   * Path of the socket that answers the page's requests for images, scripts and other resources. Undefined if these requests are blocked.
   */
  readonly guard: string | undefined;
  readonly javascript: boolean;
  /** Action for characters that no font contains: reject the call, or draw them anyway. Default: `draw`. */
  readonly letters?: "refuse" | "draw";
  readonly width?: number;
  readonly height?: number;
  readonly scale?: number;
  readonly isDark?: boolean;
  /** Delay after the page has loaded and its network is idle, in milliseconds. */
  readonly waitMs: number;
}

/** Base URL for a page that has no URL of its own. */
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
  // Features that need a network are disabled, so that the page does not wait for them.
  "--disable-domain-reliability",
  "--no-pings",
  // If the child shares the host's network, requests that bypass the route handler still fail at this proxy.
  "--proxy-server=127.0.0.1:9",
  "--proxy-bypass-list=<-loopback>",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];
/** Configuration of the packaged fonts. The machine may have no fonts, so that text would be invisible. */
const FONTS = fileURLToPath(new URL("../../children/fonts.conf", import.meta.url));
const LAUNCH_MS = 20_000;

/** Loads a page in the browser, calls `work` with it, and closes the browser. @throws MediaError too_large, corrupt */
export async function withPage<T>(visit: BrowserVisit, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await launch(visit.folder, visit.tools.chromium, optionsOf(visit));
  try {
    await guardRequests(context, visit);
    const page = await context.newPage();
    page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
    context.on("page", (opened) => void opened.close().catch(() => undefined));
    await load(page, visit);
    return await beforeDeadline(visit.letters === "refuse" ? checkPage(page).then(() => work(page)) : work(page));
  } finally {
    await context.close();
  }
}

/** Declares the parameter `missing_letters` of capabilities that draw a page. */
export const missingLettersParam = (byDefault: "refuse" | "draw", more = "") =>
  choice(
    `Letters that neither the page's fonts nor the installed fonts have: \`refuse\` the call, or \`draw\` them as boxes.${more}`,
    ["refuse", "draw"],
    { default: byDefault },
  );

/** Checks that fonts exist for all visible characters of a page. @throws MediaError invalid */
async function checkPage(page: Page): Promise<void> {
  const [missing] = await missingOnPage(page);
  if (missing === undefined) return;
  const why = `Expected a page in letters that an installed font has, got ${missing}.`;
  throw new MediaError("invalid", `${why} Set params.missing_letters to draw to show such letters as boxes.`);
}

const MISSING_LETTERS_MAX = 20;

/** Returns the first visible characters that no installed font contains, such as `茶 (U+8336)`. Text in web fonts is skipped. */
export async function missingOnPage(page: Page): Promise<readonly string[]> {
  const texts = await Promise.all(page.frames().map(lettersIn));
  return missingLetters(texts.join(""), MISSING_LETTERS_MAX).map(named);
}

/** Timeout for listing the characters of one frame, in milliseconds. */
const FRAME_MS = 2_000;

async function lettersIn(frame: Frame): Promise<string> {
  try {
    const letters = frame.evaluate<unknown>(LETTERS);
    const isMain = frame.parentFrame() === null;
    // A frame can be stuck in a loop while its page is shown correctly.
    const found = await (isMain ? letters : Promise.race([letters, frame.page().waitForTimeout(FRAME_MS)]));
    return typeof found === "string" ? found : "";
  } catch {
    // The frame was removed, navigates, or has overridden the called functions. If the page itself is broken, the next call fails too.
    return "";
  }
}

/**
 * Script that runs in a page, and returns each non-Latin character of its visible text once. Transparent, clipped, empty and off-page text
 * is skipped.
 */
const LETTERS = `(() => {
  const families = (list) => list.split(",").map((one) => one.trim().replaceAll(/["']/g, ""));
  const loaded = new Set([...document.fonts].filter(({ status }) => status === "loaded").flatMap(({ family }) => families(family)));
  const letters = new Set();
  const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const { data, parentElement: parent } = texts.currentNode;
    if (!/[^\\0-\\u024f]/.test(data) || !parent?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const { fontFamily, overflowX } = getComputedStyle(parent);
    if (families(fontFamily).some((family) => loaded.has(family))) continue;
    const { width, height } = parent.getBoundingClientRect();
    if (overflowX !== "visible" && (width <= 1 || height <= 1)) continue;
    range.selectNodeContents(texts.currentNode);
    const isSeen = (rect) => rect.width > 0 && rect.height > 0 && rect.right + scrollX > 0 && rect.bottom + scrollY > 0;
    if (![...range.getClientRects()].some(isSeen)) continue;
    for (const letter of data) letters.add(letter);
  }
  return [...letters].join("");
})()`;

/**
 * Rejects if the work on a page does not finish in time. A page with an endless loop would otherwise block the child process.
 * @throws MediaError too_large after 30 s
 */
async function beforeDeadline<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const tooLong = (cause?: unknown): MediaError =>
    new MediaError("too_large", `Expected a page that renders within ${WEB_LOAD_MS / 1_000} seconds.`, { cause });
  const timer = setTimeout(() => reject(tooLong()), WEB_LOAD_MS);
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof MediaError || !(error instanceof Error)) throw error;
    throw /Timeout|Target crashed|Page crashed/i.test(`${error.name} ${error.message}`) ? tooLong(error) : error;
  } finally {
    clearTimeout(timer);
    // The pending call ends when the browser closes, after the response.
    work.catch(() => undefined);
  }
}

/** Checks that a browser starts on this machine. @throws the browser's error if it does not */
export async function tryBrowser(folder: string, chromium: Chromium | undefined): Promise<void> {
  const context = await launch(folder, chromium);
  await context.close();
}

/** Starts Chromium. All of its files are in the run's folder, so they count towards the run's limits and are deleted with the folder. */
async function launch(
  folder: string,
  chromium: Chromium | undefined,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  if (!chromium) throw new Error("there is no browser here");
  const own = join(folder, "browser");
  mkdirSync(own, { recursive: true });
  const { chromium: library } = await import("playwright-core");
  return library.launchPersistentContext(join(own, "profile"), {
    ...options,
    artifactsDir: own,
    executablePath: chromium.path,
    chromiumSandbox: chromium.hasSandbox === true,
    args: FLAGS,
    env: { HOME: own, TMPDIR: own, FONTCONFIG_FILE: FONTS, LD_LIBRARY_PATH: chromium.libraries ?? "" },
    timeout: LAUNCH_MS,
  });
}

function optionsOf({
  width = 1_280,
  height = 800,
  scale = 1,
  isDark = false,
  javascript,
}: BrowserVisit): BrowserContextOptions {
  return {
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: isDark ? "dark" : "light",
    javaScriptEnabled: javascript,
    serviceWorkers: "block",
    acceptDownloads: false,
    timezoneId: "UTC",
    locale: "en-US",
  };
}

async function guardRequests(context: BrowserContext, visit: BrowserVisit): Promise<void> {
  context.setDefaultTimeout(WEB_LOAD_MS);
  let isFirst = true;
  await context.route("**/*", async (route) => {
    if (isFirst && route.request().isNavigationRequest()) {
      isFirst = false;
      return route.fulfill({ path: visit.html.path, contentType: visit.html.contentType });
    }
    return answer(route, visit.guard);
  });
  await context.routeWebSocket("**/*", (socket) => void socket.close());
}

/** Responds to a page's request for a resource. Navigations and all methods other than GET are blocked. */
async function answer(route: Route, guard: string | undefined): Promise<void> {
  const asked = route.request();
  // With status 204 the page stays unchanged; an error would replace it.
  if (isWholePage(asked)) return route.fulfill({ status: 204 });
  if (guard === undefined || asked.method() !== "GET") return route.abort("blockedbyclient");
  try {
    const { status, headers, body } = await askGuard(guard, asked.url());
    if ("x-refused" in headers) return await route.abort("blockedbyclient");
    return await route.fulfill({ status, headers, body });
  } catch {
    // The page may be closed, or the run ended.
    return route.abort("failed").catch(() => undefined);
  }
}

function isWholePage(asked: Request): boolean {
  if (!asked.isNavigationRequest()) return false;
  try {
    return asked.frame().parentFrame() === null;
  } catch {
    // A window that a script opens has no frame yet.
    return true;
  }
}

interface Part {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Requests a URL over the worker's socket. The worker checks the URL, fetches it, and applies its own timeout. */
function askGuard(socketPath: string, address: string): Promise<Part> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath, path: `/?address=${encodeURIComponent(address)}`, agent: false },
      (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(headers),
            body: Buffer.concat(pieces),
          });
        });
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}

/**
 * Waits until the page has loaded and its network is idle. Navigation to another page is blocked, which can prevent the load event. An idle
 * network is then sufficient.
 */
async function load(page: Page, { address, javascript, waitMs }: BrowserVisit): Promise<void> {
  const network = watchNetwork(page);
  try {
    const loaded = page.waitForEvent("load", { timeout: WEB_LOAD_MS });
    // A failed load is reported by the wait below.
    loaded.catch(() => undefined);
    await page.goto(address, { waitUntil: "commit", timeout: WEB_LOAD_MS });
    await Promise.race([loaded, network.idle()]);
    // Scripts often request content after the load event. A polling page is never idle, so the wait is limited.
    if (javascript) await Promise.race([network.idle(), page.waitForTimeout(WEB_IDLE_WAIT_MS)]);
    if (waitMs > 0) await page.waitForTimeout(waitMs);
  } catch (error) {
    const isSlow = error instanceof Error && error.name === "TimeoutError";
    if (isSlow) {
      throw new MediaError("too_large", `Expected a page that loads within ${WEB_LOAD_MS / 1_000} seconds.`, {
        cause: error,
      });
    }
    throw new MediaError("corrupt", "The page cannot be rendered.", { cause: error });
  } finally {
    network.close();
  }
}

/** Time without requests after which the network is idle, in milliseconds. */
const IDLE_MS = 500;
/** Maximum wait for an idle network after the page has loaded, in milliseconds. */
const WEB_IDLE_WAIT_MS = 5_000;

interface Network {
  /** Resolves when no request has been active for `IDLE_MS`, counted from this call. */
  idle(): Promise<void>;
  close(): void;
}

function watchNetwork(page: Page): Network {
  const underWay = new Set<Request>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting: (() => void)[] = [];
  const restart = (): void => {
    clearTimeout(timer);
    if (underWay.size > 0 || waiting.length === 0) return;
    timer = setTimeout(() => {
      for (const resolve of waiting.splice(0)) resolve();
    }, IDLE_MS);
  };
  const end = (request: Request): void => {
    if (underWay.delete(request)) restart();
  };
  page.on("request", (request) => {
    underWay.add(request);
    restart();
  });
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return {
    idle: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        restart();
      }),
    close() {
      clearTimeout(timer);
      waiting.length = 0;
    },
  };
}
