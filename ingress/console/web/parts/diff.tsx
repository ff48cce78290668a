/** Differences between two texts: removed and added parts, by line or by word. */
import { diffLines, diffWordsWithSpace } from "diff";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

/** Time after which a comparison by word becomes one by line, in milliseconds. Long texts without common words take minutes. */
const WORDS_MS = 500;

/** Lines of two texts: removed lines, added lines, and three equal lines around them. @param props `same`: text for equal texts */
export function LineDiff({ from, to, same }: DiffProps): JSX.Element {
  const parts = useMemo(() => diffLines(from, to), [from, to]);
  if (from === to) return <pre tabIndex={0}>{same}</pre>;
  return (
    <pre class="diff wrap" tabIndex={0} aria-label="Changes">
      {parts.map(({ value, added, removed }, index) =>
        added ? (
          <ins key={index}>{marked(value, "+")}</ins>
        ) : removed ? (
          <del key={index}>{marked(value, "−")}</del>
        ) : (
          marked(shorten(value), " ")
        ),
      )}
    </pre>
  );
}

/** Both texts as one, with removed words struck through and added words underlined. @param props `same`: text for equal texts */
export function WordDiff({ from, to, same }: DiffProps): JSX.Element {
  const parts = useMemo(() => diffWordsWithSpace(from, to, { timeout: WORDS_MS }), [from, to]);
  if (parts === undefined || from === to) return <LineDiff from={from} to={to} same={same} />;
  return (
    <p class="reply diff words" aria-label="Changes">
      {parts.map(({ value, added, removed }, index) =>
        added ? <ins key={index}>{value}</ins> : removed ? <del key={index}>{value}</del> : value,
      )}
    </p>
  );
}

interface DiffProps {
  readonly from: string;
  readonly to: string;
  readonly same: string;
}

/** Number of equal lines that are shown beside a change. */
const CONTEXT = 3;

function shorten(text: string): string {
  const lines = linesOf(text);
  if (lines.length <= 2 * CONTEXT + 1) return text;
  const hidden = `… ${lines.length - 2 * CONTEXT} equal lines`;
  return [...lines.slice(0, CONTEXT), hidden, ...lines.slice(-CONTEXT)].join("\n");
}

function marked(text: string, mark: string): string {
  return `${linesOf(text)
    .map((line) => `${mark} ${line}`)
    .join("\n")}\n`;
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}
