/** A Chromium with the documentation of an app in memory. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium, type Browser } from "playwright-core";

import { createApp } from "#ingress/app.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { findTools } from "#workers/calls/capability/tools.ts";

export interface Bench {
  readonly baseUrl: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

const FONTS = fileURLToPath(new URL("../../../../workers/children/fonts.conf", import.meta.url));

/** @returns undefined where no Chromium is installed */
export async function openBench(): Promise<Bench | undefined> {
  const { chromium: found } = await findTools({ chromium: undefined, libreoffice: undefined });
  if (!found) return undefined;
  const fake = fakeContext();
  const app = createApp(fake.context);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => app.handle(request) });
  const folder = mkdtempSync(join(tmpdir(), "docs-browser-"));
  const browser = await chromium.launch({
    executablePath: found.path,
    chromiumSandbox: false,
    args: ["--disable-gpu", "--no-first-run", "--font-render-hinting=none"],
    env: { HOME: folder, TMPDIR: folder, FONTCONFIG_FILE: FONTS, LD_LIBRARY_PATH: found.libraries ?? "" },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    browser,
    async close() {
      await browser.close();
      await server.stop(true);
      fake.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
