/** What children load before their first run. */
const ENGINES: Readonly<Record<string, () => Promise<unknown>>> = {
  ffmpeg: () => import("#workers/children/ffmpeg.ts").then(({ loadFfmpeg }) => loadFfmpeg()),
  sharp: () => import("./image/sharp.ts"),
  ocr: () => import("./image/ocr.ts"),
  archive: () => import("./archive/read.ts"),
  pdf: () => import("./document/pdf.ts"),
  office: () => import("./document/markdown.ts"),
  web: () => import("./web/page.ts"),
  code: () => import("./text.ts"),
};

/** Nothing for an engine that needs no loading ahead. */
export async function loadEngine(name: string): Promise<void> {
  await ENGINES[name]?.();
}
