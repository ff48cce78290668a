/** Finds comments with words that are hard to read for people who have never met us. */

/** Matches openings of a sentence that name no subject. */
const OPENINGS = /^(?:What|Who|Whoever|Of|Where|As|Those|One that|That of)\b/;

/** Matches everyday words that replace the field's terms: report, receive, continue, fail, fix, call back. */
const EVERYDAY =
  /\b(?:nobody|whoever|told|tells?|hears?|heard|stands?|go(?:es)? on|going on|comes? to nothing|mends?|mended)\b/i;

interface FoundComment {
  /** Location of the comment's first line, as `path:line`. */
  readonly at: string;
  readonly text: string;
}

/** Returns the doc comments of a source, and comments on separate lines. */
export function commentsOf(file: string, source: string): FoundComment[] {
  const found: FoundComment[] = [];
  for (const match of source.matchAll(/^[ \t]*\/\*\*([^]*?)\*\/|(?:^[ \t]*\/\/.*\n?)+/gm)) {
    const text = match[0].replace(/^\s*(?:\/\*\*|\*\/|\*(?!\/)|\/\/)/gm, " ").replace("*/", " ");
    const line = source.slice(0, match.index).split("\n").length;
    found.push({ at: `${file}:${line}`, text: text.replace(/\s+/g, " ").trim() });
  }
  return found;
}

/** Returns the sentences of a comment that break a rule. Quoted and backticked words are ignored, because they are names. */
export function strangeSentences(text: string): string[] {
  const plain = text.replace(/`[^`]*`|"[^"]*"/g, "x");
  return plain.split(/(?<=[.;:])\s+/).filter((sentence) => OPENINGS.test(sentence) || EVERYDAY.test(sentence));
}
