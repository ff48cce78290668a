/** Names and notes that people give: one line, as it is seen. */

/** Not empty, at most `charsMax` characters, without control characters or line breaks, and without blanks at its ends. */
export function isPlainText(text: string, charsMax: number): boolean {
  if (text === "" || Array.from(text).length > charsMax || text.trim() !== text) return false;
  return !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}
