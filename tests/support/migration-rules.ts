/**
 * Checks migrations after the first release. The previous release uses the same database during a migration, and until its last process is
 * replaced. Migrations therefore may add anything, but remove only what the previous release no longer reads.
 */

interface Rule {
  readonly rule: string;
  readonly breaks: (statement: string, file: string, isOutside: boolean) => boolean;
  /**
   * True if a comment before the statement can permit a violation of the rule. The comment must name the earlier release that no longer
   * reads the removed part.
   */
  readonly hasLeave?: true;
}

const RULES: readonly Rule[] = [
  {
    rule: "drops what the release before may read",
    breaks: (text) => /\bdrop\s+(?!default\b|not\s+null\b)/.test(text),
    hasLeave: true,
  },
  { rule: "renames, where a new name beside the old one would do", breaks: (text) => /\brename\b/.test(text) },
  {
    rule: "changes a column's type, where a new column would do",
    breaks: (text) => /\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/.test(text),
  },
  {
    rule: "adds a column that must have a value, without a default for the release before",
    breaks: (text) =>
      /^alter\s+table\b/.test(text) &&
      clauses(text).some(
        (one) =>
          /^(alter table .*)?\badd\s+(column\s+)?(?!constraint\b).*\bnot\s+null\b/.test(one) &&
          !/\bdefault\b/.test(one),
      ),
  },
  {
    rule: "sets not null, where a constraint that is validated later would do",
    breaks: (text) => /\bset\s+not\s+null\b/.test(text),
  },
  {
    rule: "makes an index without concurrently, and so stops all who write",
    breaks: (text, file) => {
      const [, concurrently, table = ""] =
        /^create\s+(?:unique\s+)?index\s+(concurrently\s+)?.*?\bon\s+(?:only\s+)?([\w."]+)/.exec(text) ?? [];
      return (
        table !== "" &&
        concurrently === undefined &&
        !new RegExp(`create\\s+table\\s+(if\\s+not\\s+exists\\s+)?${table}\\b`).test(file)
      );
    },
  },
  {
    rule: "makes or drops an index concurrently in a transaction, where its first line should say: outside a transaction",
    breaks: (text, _file, isOutside) => !isOutside && /^(create|drop)\s.*\bindex\s+concurrently\b/.test(text),
  },
  {
    rule: "does outside a transaction what can be repeated in one alone: it may make indexes concurrently, by name, and drop them if they exist",
    breaks: (text, _file, isOutside) =>
      isOutside &&
      !/^create\s+(unique\s+)?index\s+concurrently\s+(if\s+not\s+exists\s+)?(?!on\b)\w+\s+on\b/.test(text) &&
      !/^drop\s+index\s+concurrently\s+if\s+exists\s+\w+$/.test(text),
  },
  {
    rule: "adds a constraint that is checked at once, where not valid would do",
    breaks: (text) => /\badd\s+constraint\b/.test(text) && !/\bnot\s+valid\b|\busing\s+index\b/.test(text),
  },
  { rule: "replaces a function, where a new name would do", breaks: (text) => /^create\s+or\s+replace\b/.test(text) },
];

export interface BrokenRule {
  readonly file: string;
  readonly rule: string;
}

/** Returns the broken rules of migrations. @param files names and texts, in the order of the migrations */
export function brokenMigrationRules(files: readonly (readonly [name: string, text: string])[]): BrokenRule[] {
  const broken: BrokenRule[] = [];
  let before = 1;
  for (const [file, text] of files) {
    const release = Number(/^-- Release (\d+)\b/.exec(text)?.[1] ?? 1);
    if (release < before)
      broken.push({ file, rule: `stands behind one of release ${before}, and names none or an earlier one` });
    before = Math.max(before, release);
    if (release > 1) broken.push(...brokenBy(text, release).map((rule) => ({ file, rule })));
  }
  return broken;
}

function brokenBy(text: string, release: number): string[] {
  const whole = plain(text);
  const isOutside = /^-- Release \d+, outside a transaction$/.test(text.split("\n", 1)[0] ?? "");
  return statements(text).flatMap((statement) => {
    const since = Number(/^--.*\bunread since release (\d+)/m.exec(statement)?.[1] ?? Infinity);
    const bare = plain(statement);
    return RULES.filter(({ breaks, hasLeave }) => breaks(bare, whole, isOutside) && !(hasLeave && since < release)).map(
      ({ rule }) => rule,
    );
  });
}

/** Splits a text into statements, each with the comments before it. A function body is replaced by one word. */
function statements(text: string): string[] {
  const bodies = text.replaceAll(/(\$\w*\$)[\s\S]*?\1/g, "'body'");
  return bodies.split(";").filter((part) => plain(part) !== "");
}

/** Returns a text on one line and in lower case, without comments. */
function plain(text: string): string {
  return text.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim().toLowerCase();
}

function clauses(statement: string): string[] {
  return statement.split(/,(?![^(]*\))/).map((part) => part.trim());
}
