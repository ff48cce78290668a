/** Matches text whose characters the standard PDF fonts all contain (Windows-1252). */
const WESTERN = /^[\t\n\r\u0020-\u007e\u00a0-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*$/u;

export function isWestern(text: string): boolean {
  return WESTERN.test(text);
}
