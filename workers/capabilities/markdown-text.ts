/** Text as Markdown that reads as the same text, in CommonMark and GitHub's dialect. */

/** Escapes text at any place of a line; the parenthesis after a bracket for readers such as marked, which read the text of a link twice. */
export function escapeInline(text: string): string {
  return text.replaceAll(/[\\`*_[\]~]|(?<=\])\(|<(?=[a-z/!?])|&(?=#?\w+;)/gi, String.raw`\$&`);
}

/** Escapes text that may stand at the start of a line, where more is markup: headings, quotes, lists, rules, heads of tables. */
export function escapeText(text: string): string {
  return escapeInline(text)
    .replace(/^(?:[-=>|]|:(?=-)|#{1,6}(?=\s|$)|\+(?=\s|$))/, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, String.raw`$1\$2`);
}
