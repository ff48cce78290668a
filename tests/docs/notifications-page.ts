/** The page on webhooks as its tests read it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

export const PAGE = readFileSync(join(PROJECT_ROOT, "schemas/docs/guides/webhooks.md"), "utf8");

/** Heading of the walk-through, which stands before the heading of what follows it. */
const WALK_HEADING = "\n## Try it on your machine\n";
const [HEAD = "", FROM_WALK = ""] = PAGE.split(WALK_HEADING);
const REFERENCE_AT = FROM_WALK.indexOf("\n## ");

/** Walk-through with a receiver on the reader's machine. */
export const WALK = FROM_WALK.slice(0, REFERENCE_AT);
/** The page without the walk-through. */
export const REFERENCE = HEAD + FROM_WALK.slice(REFERENCE_AT);

/** Returns the code blocks of a text in one language, in order. */
export function blocks(language: string, text = REFERENCE): string[] {
  return [...text.matchAll(/```(\w+)\n([^]*?)```/g)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
}

/** The rows below the line of titles, each as its cells. @throws Error when no table has these titles */
export function table(...titles: readonly string[]): string[][] {
  const lines = PAGE.split("\n");
  const start = lines.indexOf(`| ${titles.join(" | ")} |`);
  if (start === -1) throw new Error(`the page has no table of ${titles.join(", ")}`);
  const behind = lines.slice(start + 2);
  const end = behind.findIndex((line) => !line.startsWith("|"));
  return behind.slice(0, end).map((line) => line.slice(2, -2).split(" | "));
}

/** Returns the first text between backticks. */
export function code(cell = ""): string {
  return /`([^`]+)`/.exec(cell)?.[1] ?? "";
}
