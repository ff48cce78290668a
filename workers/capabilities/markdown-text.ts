/** Escapes text for Markdown, so that CommonMark and GitHub's dialect render the same text. */

/**
 * Escapes text at any place of a line; the parenthesis after a bracket for readers such as marked, which read the text of a link twice. An
 * underscore within a word is no mark, and a tilde after a space only opens what no tilde closes: both stay as they are.
 */
export function escapeInline(text: string): string {
  return text.replaceAll(
    /[\\`*[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|(?<!\s)~|~(?=~)|(?<=\])\(|<(?=[a-z/!?])|&(?=#?\w+;)/giu,
    String.raw`\$&`,
  );
}

/** Escapes text that may stand at the start of a line, where more is markup: headings, quotes, lists, rules, heads of tables. */
export function escapeText(text: string): string {
  return escapeInline(text)
    .replace(/^(?:[-=>|]|:(?=-)|#{1,6}(?=\s|$)|\+(?=\s|$))/, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, String.raw`$1\$2`);
}
