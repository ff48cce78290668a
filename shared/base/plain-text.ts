/** Checks names and notes of users: a single line without invisible characters. */

/** Returns true for a non-empty text of at most `charsMax` characters, without control characters, line breaks, or blanks at its ends. */
export function isPlainText(text: string, charsMax: number): boolean {
  if (text === "" || Array.from(text).length > charsMax || text.trim() !== text) return false;
  return !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}
