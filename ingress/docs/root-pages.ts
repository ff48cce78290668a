/** Pages whose Markdown lies outside schemas/docs because code hosts expect the file elsewhere. */
import { join } from "node:path";

import type { Page } from "./pages.ts";

const CHANGELOG = "CHANGELOG.md";

/** The changelog, if the installation has the file. */
export async function rootPages(root: string): Promise<readonly Page[]> {
  const file = Bun.file(join(root, CHANGELOG));
  if (!(await file.exists())) return [];
  return [
    {
      path: "reference/changelog",
      file: CHANGELOG,
      title: "Changelog",
      section: "Reference",
      order: 90,
      summary: "Changes of each release, with the action that each change needs.",
      body: (await file.text()).replace(/^# .*\n/, ""),
    },
  ];
}
