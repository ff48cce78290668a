/** Style rules of texts that operators and developers read: log messages, help texts of metrics, test titles. */
import type { Sources } from "./architecture.ts";
import { strangeSentences } from "./comments.ts";
import { joinedLiterals } from "./messages.ts";

type TextKind = "log message" | "metric help" | "test title";

export interface InternalText {
  /** `path:line` of the literal. */
  readonly at: string;
  readonly kind: TextKind;
  readonly text: string;
  /** True for a title outside of any `describe`. */
  readonly isTopLevel: boolean;
}

/** Code before the literal of a log message: a call of a logger, possibly with an object of members as first argument. */
const BEFORE_LOG = /\blog(?:ger)?\??\.(?:trace|debug|info|warn|error|fatal)\((?:[^;"`]*,)?\s*$/;

/** Code before the help text of a metric: its name is the previous argument. */
const BEFORE_HELP =
  /\b(?:total|level|seconds|histogram|gauge|counter|observedCounter|credits)\((?:\s*registry,)?\s*"[^"]*",\s*$/;

/** Code before a title: `test(`, `describe.skipIf(…)(`, the end of a table of cases. */
const BEFORE_TITLE = /(?:\b(?:describe|test)(?:\.\w+)*\(|\n[^\n]*\)\()\s*$/;

const METRICS = /^shared\/metrics\/metrics\.ts$/;
const PRODUCT = /^(?:ingress|workers|shared|deploy)\//;
const TESTS = /^tests\//;

/** Openings of a title that hide its subject, also behind a `describe`. */
const TITLE_OPENINGS = /^(?:what|who|whoever|where|those|one that|that of|nor)\b/i;

/** Openings that continue the title of a `describe` and are riddles without one. */
const CONTINUATIONS = /^(?:of|as)\b/i;

/** Everyday phrases in place of the field's terms, in addition to those that comments must not contain. */
const EVERYDAY =
  /\b(?:went on|given up|given back|left out|leave out|under way|any more|be looked at|to be had|is to be had|anew|at the door|in the end|what (?:was|is) made)\b/i;

/** Returns every text that breaks a rule, with its place. */
export function strangeTexts(sources: Sources): string[] {
  return [...sources]
    .flatMap(([file, source]) => textsOf(file, source))
    .filter((found) => isStrange(found))
    .map(({ at, text }) => `${at} ${text}`);
}

/** Returns the log messages and help texts of a product file, or the titles of a test file. */
export function textsOf(file: string, source: string): InternalText[] {
  return joinedLiterals(source).flatMap(({ from, text }) => {
    const kind = kindOf(file, source.slice(Math.max(0, from - 400), from));
    if (kind === undefined) return [];
    const line = source.slice(0, from).split("\n");
    return [{ at: `${file}:${line.length}`, kind, text, isTopLevel: /^\S/.test(line.at(-1) ?? "") }];
  });
}

function kindOf(file: string, before: string): TextKind | undefined {
  if (TESTS.test(file)) return BEFORE_TITLE.test(before) ? "test title" : undefined;
  if (METRICS.test(file) && BEFORE_HELP.test(before)) return "metric help";
  return PRODUCT.test(file) && BEFORE_LOG.test(before) ? "log message" : undefined;
}

function isStrange({ kind, text, isTopLevel }: InternalText): boolean {
  const plain = text.replace(/`[^`]*`|"[^"]*"/g, "x");
  if (EVERYDAY.test(plain)) return true;
  if (kind !== "test title") return strangeSentences(capitalized(plain)).length > 0;
  return strangeSentences(plain).length > 0 || TITLE_OPENINGS.test(plain) || (isTopLevel && CONTINUATIONS.test(plain));
}

/** Log messages begin with a small letter, the openings of comments with a capital one. */
function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
