/** Engines that capabilities run on: loaded before a child's first run, tried when a worker starts. */
import type { Tools } from "./tools.ts";

interface Engine {
  readonly load: () => Promise<unknown>;
  /** Told to operators where it cannot be loaded. */
  readonly needs: string;
  /** True if callers' data goes through native code: a memory fault there is a way into the child, not out of an isolated one. */
  readonly isNative?: true;
  /** Tries more than loading, in an empty folder. @throws where it does not work */
  readonly test?: (folder: string, tools: Tools) => Promise<void> | void;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  ffmpeg: {
    isNative: true,
    needs: "Install node-av with its binary for this system.",
    load: () => import("#workers/children/ffmpeg.ts").then(({ loadFfmpeg }) => loadFfmpeg()),
  },
  sharp: {
    isNative: true,
    needs: "Install sharp with its binary for this system.",
    load: () => import("./image/sharp.ts"),
  },
  // Pictures come to it, and to pdf, through sharp.
  ocr: {
    isNative: true,
    needs: "Install tesseract.js with its language data.",
    load: () => import("./image/ocr.ts"),
  },
  archive: { needs: "Install the packages of package.json.", load: () => import("./archive/read.ts") },
  pdf: {
    isNative: true,
    needs: "Install the packages of package.json.",
    load: () => import("./document/pdf.ts"),
  },
  office: { needs: "Install the packages of package.json.", load: () => import("./document/markdown.ts") },
  web: { needs: "Install the packages of package.json.", load: () => import("./web/page.ts") },
  browser: {
    isNative: true,
    needs: "Name a Chromium by SLUICE_CHROMIUM, or run workers on x64, for which one is packaged.",
    load: () => import("./web/browser.ts"),
    async test(folder, { chromium }) {
      const { tryBrowser } = await import("./web/browser.ts");
      await tryBrowser(folder, chromium);
    },
  },
  libreoffice: {
    isNative: true,
    needs:
      "Install LibreOffice (or name its program soffice by SLUICE_LIBREOFFICE) and bubblewrap, and allow user namespaces.",
    load: () => import("./document/office.ts"),
    async test(folder, { libreoffice }) {
      const { tryLibreOffice } = await import("./document/libreoffice.ts");
      await tryLibreOffice(folder, libreoffice);
    },
  },
  python: {
    isNative: true,
    needs: "Install @pydantic/monty-linux-x64-gnu, which exists for Linux on x64 only.",
    load: () => import("./code/monty.ts"),
    async test() {
      const { runMonty } = await import("./code/monty.ts");
      await runMonty({ code: "1 + 1", args: {}, timeout: 5, onPrint: () => {} });
    },
  },
  code: { needs: "Install the packages of package.json.", load: () => import("./text.ts") },
};

/** @throws Error for a name that is not listed; whatever the engine throws that cannot be loaded */
export async function loadEngine(name: string): Promise<void> {
  await engineOf(name).load();
}

/** Maximum length of the cause in a fault, in characters. */
const CAUSE_CHARS_MAX = 300;

/** Why an engine cannot be used: the error of its trial and the usual remedy. Undefined where it works. */
export async function faultOfEngine(name: string, folder: string, tools: Tools): Promise<string | undefined> {
  const { load, needs, test } = engineOf(name);
  try {
    await load();
    await test?.(folder, tools);
    return undefined;
  } catch (error) {
    const cause = (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s+/g, " ");
    return `The trial of ${name} failed: ${cause.slice(0, CAUSE_CHARS_MAX)}. ${needs}`;
  }
}

/** The engines that run in isolated children only, where operators want that. */
export const NATIVE_ENGINES: readonly string[] = Object.keys(ENGINES).filter((name) => ENGINES[name]?.isNative);

/** Message to operators about an engine whose child ends while it is tried. */
export function needsOf(name: string): string {
  return engineOf(name).needs;
}

function engineOf(name: string): Engine {
  const engine = ENGINES[name];
  if (!engine) throw new Error(`there is no engine ${name}`);
  return engine;
}
