/** Escapes text for Markdown, so that CommonMark and GitHub's dialect render the same text. */

/**
 * Escapes text at any position in a line, including a parenthesis after a bracket, because marked reads a link's text twice. An underscore
 * within a word and a tilde after a space are not escaped: neither can form a mark.
 */
export function escapeInline(text: string): string {
  return text.replaceAll(
    /[\\`*[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|(?<!\s)~|~(?=~)|(?<=\])\(|<(?=[a-z/!?])|&(?=#?\w+;)/giu,
    String.raw`\$&`,
  );
}

/** Escapes text that may start a line, where headings, quotes, lists, rules and table heads are also markup. */
export function escapeText(text: string): string {
  return escapeInline(text)
    .replace(/^(?:[-=>|]|:(?=-)|#{1,6}(?=\s|$)|\+(?=\s|$))/, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, String.raw`$1\$2`);
}
