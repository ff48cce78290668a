/** Defines the engines of capabilities. An engine is loaded before the first run of a child process, and tested when a worker starts. */
import type { Tools } from "./tools.ts";

interface Engine {
  readonly load: () => Promise<unknown>;
  /** Remedy for an engine that cannot be loaded, such as a missing package. It is logged with the error. */
  readonly needs: string;
  /**
   * True if native code of the engine reads the caller's data. A memory fault in such code can take over the child process, but cannot
   * escape from an isolated child process.
   */
  readonly isNative?: true;
  /**
   * Tests the engine after it was loaded. The given folder is empty.
   * @throws Error if the engine does not work
   */
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
  // The engines `ocr` and `pdf` decode images with sharp.
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

/** Loads an engine. @throws Error for an unknown engine, or the error of an engine that cannot be loaded */
export async function loadEngine(name: string): Promise<void> {
  await engineOf(name).load();
}

/** Maximum length of the cause in the description of an engine's fault, in characters. */
const CAUSE_CHARS_MAX = 300;

/** Tests an engine. Returns the error and its usual remedy if the engine cannot be used, or undefined if it works. */
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

/** Engines with native code. If the operator requires isolation, they run only in isolated child processes. */
export const NATIVE_ENGINES: readonly string[] = Object.keys(ENGINES).filter((name) => ENGINES[name]?.isNative);

/** Returns the remedy for an engine. It is logged if the child process exits while the engine is tested. */
export function needsOf(name: string): string {
  return engineOf(name).needs;
}

function engineOf(name: string): Engine {
  const engine = ENGINES[name];
  if (!engine) throw new Error(`there is no engine ${name}`);
  return engine;
}
