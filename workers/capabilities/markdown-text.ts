/** Escapes text for Markdown, so that CommonMark and GitHub's dialect render the same text. */

/**
 * Escapes Markdown marks in a text that may be anywhere within a line. An opening parenthesis after a bracket is escaped too, because
 * marked reads the text of a link twice. An underscore within a word and a tilde after a space are not escaped, because neither can form a
 * mark.
 */
export function escapeInline(text: string): string {
  return text.replaceAll(
    /[\\`*[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|(?<!\s)~|~(?=~)|(?<=\])\(|<(?=[a-z/!?])|&(?=#?\w+;)/giu,
    String.raw`\$&`,
  );
}

/**
 * Escapes a text that may start a line. At the start of a line, the markup of headings, quotes, lists, rules and table heads is escaped
 * too.
 */
export function escapeText(text: string): string {
  return escapeInline(text)
    .replace(/^(?:[-=>|]|:(?=-)|#{1,6}(?=\s|$)|\+(?=\s|$))/, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, String.raw`$1\$2`);
}
