/** Recognizes prompts that dictate the answer: "Say hello", "Respond with only the word X", "Output exactly this: …". */

const POLITE =
  /(?:(?:please|kindly|now|just|simply|only|always|then|ok|okay)[,:]?\s+|(?:can|could|would|will)\s+you\s+|i\s+want\s+you\s+to\s+|your\s+task\s+is\s+to\s+|you\s+(?:must|should)\s+)*/iy;
/**
 * Matches verbs of dictation. `say`, `echo` and `repeat` are sufficient. Other verbs require a marker such as "with", "exactly" or a colon.
 */
const VERB =
  /(say|echo|repeat|reply|respond|answer|(?:print|write|type)(?:\s+out)?|output|return|send|copy|your\s+(?:(?:only|whole|entire)\s+)?(?:reply|response|answer|output)\s+(?:must|should|is\s+to)\s+(?:be|consist\s+of))\b/iy;
const SPEECH_VERBS = new Set(["say", "echo", "repeat", "copy"]);

/** Matches phrases before a colon that are not part of the dictated text: "back to me exactly", "and nothing else (no quotes)". */
const BEFORE_COLON =
  /(?:[\s,(]{1,8}(?:an?|the|this|these|exact(?:ly)?|following|below|inside|back|to|me|with|using|by|as|is|it|written|shown|given|and|but|do|not|no|any|other|extra|additional|more|else|nothing|without|add|quotes|punctuation|explanation|commentary|formatting|changes|unchanged|only|just|verbatim|text|words?)\b\)?){1,20}(?=\s*:)/iy;

/** Phrases between the verb and the text. Each states whether the words after it are the dictated text. */
const BETWEEN: readonly (readonly [sign: "linked" | "exact" | "none", words: RegExp])[] = [
  ["linked", /\s+(?:back|to\s+me|after\s+me|with|using|by\s+saying)\b/iy],
  ["exact", /,?\s+(?:exactly|only|just|precisely|literally|verbatim|simply|word\s+for\s+word|nothing\s+but)\b/iy],
  [
    "exact",
    /\s+(?:(?:the|this)\s+)?(?:following|exact)\s+(?:json|yaml|xml|code)\b|\s+this\s+(?:json|yaml|xml|code)\b/iy,
  ],
  [
    "exact",
    /\s+(?:(?:the|this|these|my|one|a)\s+)?(?:(?:following|exact|single|one|same)\s+)*(?:words?|phrase|text|sentence|message|string|lines?|token|number|digits?|letter|value|following|reply|response|answer|output)\b/iy,
  ],
  ["none", BEFORE_COLON],
];
const COLON = /\s*:\s*/y;

/** Matches the first words of a request that describes the answer ("something about cats") instead of giving it word for word. */
const DESCRIBES =
  /^(?:something|anything|nothing|a few|some|what|why|how|when|where|who|which|whether|if|that|it|of|about|for|in|on|as|using|based|your|my|the (?:question|above|last|previous))\b/i;
const DESCRIBES_ARTICLE =
  /^(?:the|a|an|its|their|valid|json|yaml|xml|code|markdown|one|two|three|four|five|list|table|numbers?|digits|words?)\b/i;
const FORMAT = /^(?:json|yaml|xml|code|markdown|numbers|digits|text)$/i;
const EITHER_OR = /^\S+\s+or\s+\S+$/i;

/** Matches remarks at the end of a request that do not belong to the dictated text. */
const REMARK =
  /(?:(?<=^\S{1,40})\s+only|[,;.!]?\s+(?:and\s+)?(?:nothing\s+(?:else|more)|please|verbatim|with\s+nothing\s+(?:else|more)|(?:do\s+not|don't)\s+(?:say|add|write|output|include)\b[^.\n]{0,80}|no\s+(?:(?:other|extra|additional|more)\s+)?(?:words?|text|punctuation|output)|without\s+(?:any\s+)?(?:other\s+|extra\s+)?(?:words?|text|quotes|punctuation|explanation)))[.!]?$/i;
const TIMES =
  /\s+(?:(once|twice|two|three|four|five|six|seven|eight|nine|ten|\d{1,4})(?:\s+times)|(once|twice))(?:\s+fast)?[.!]?$/i;
const TIMES_WORDS = ["", "once", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const COUNT = /\bcount\s+(?:up\s+)?(?:from\s+(\d{1,9})\s+)?(?:up\s+)?to\s+(\d{1,9})\b/i;
const QUOTES = new Map(Object.entries({ '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“" }));

/** Number of characters at the end of a prompt that are searched for the request. The dictated text may be longer. */
const SEARCH_CHARACTERS = 1_000;
const REMARK_CHARACTERS_MAX = 500;
const STARTS_MAX = 20;
const COUNT_MAX = 10_000;

/** Returns the exact text that a prompt requests; null if the prompt dictates no text. */
export function dictatedAnswer(prompt: string): string | null {
  const text = prompt.trim();
  for (const start of requestStarts(text)) {
    const found = readRequestAt(text, start);
    if (found !== null) return found;
  }
  return countingAnswer(text.slice(-SEARCH_CHARACTERS));
}

/** Returns positions where a request may begin: the start of the text, of its last line, and of the sentences in that line. */
function requestStarts(text: string): ReadonlySet<number> {
  const line = Math.max(text.lastIndexOf("\n") + 1, text.length - SEARCH_CHARACTERS);
  const sentences = [...text.slice(line).matchAll(/[.!?:;]\s+/g)].slice(0, STARTS_MAX);
  return new Set([0, line, ...sentences.map((match) => line + match.index + match[0].length)]);
}

function readRequestAt(text: string, start: number): string | null {
  const begin = skip(POLITE, text, start);
  const end = skip(VERB, text, begin);
  if (end === begin) return null;
  const verb = text.slice(begin, end).toLowerCase();
  const signs = new Set<string>(verb.startsWith("your") ? ["linked"] : []);
  let at = end;
  for (let before = -1; before !== at;) {
    before = at;
    for (const [sign, pattern] of BETWEEN) {
      const next = skip(pattern, text, at);
      if (next !== at) signs.add(sign);
      at = next;
    }
  }
  const wantedStart = skip(COLON, text, at);
  const hasColon = wantedStart !== at;
  const wanted = (hasColon ? text.slice(wantedStart) : text.slice(wantedStart).replace(/^,/, "")).trim();
  if (wanted === "" || (!hasColon && !/[\s,"'`“‘«„]/.test(text.charAt(at)))) return null;
  const isSpeech = SPEECH_VERBS.has(verb);
  const quoted = unquote(wanted);
  if (quoted !== null && (isSpeech || hasColon || quoted.isAll || signs.has("linked") || signs.has("exact"))) {
    return repeatTimes(quoted.text, quoted.rest);
  }
  if (hasColon) return wanted;
  if (!isDictation(wanted, isSpeech, signs)) return null;
  return cleanLine(wanted, /(?:can|could|would|will)\s+you\s/i.test(text.slice(start, begin)));
}

function isDictation(wanted: string, isSpeech: boolean, signs: ReadonlySet<string>): boolean {
  if (DESCRIBES.test(wanted)) return false;
  if (isSpeech) return true;
  const line = withoutRemarks(wanted.split("\n", 1)[0] ?? "").replace(/[.?!]$/, "");
  const wordCount = line.split(/\s+/).length;
  const isExact = signs.has("exact");
  if (wordCount === 1) return !FORMAT.test(line) && (isExact || signs.has("linked") || /^[A-Z]{2,}$/.test(line));
  if (!isExact && !signs.has("linked")) return false;
  return !DESCRIBES_ARTICLE.test(line) && !EITHER_OR.test(line) && wordCount <= (isExact ? 12 : 3);
}

/** Removes the remarks around one dictated line. For example, `hello, and nothing else.` becomes `hello`. */
function cleanLine(wanted: string, isQuestion: boolean): string {
  let line = wanted.split("\n", 1)[0]?.trim() ?? "";
  if (line.length <= REMARK_CHARACTERS_MAX) {
    line = withoutRemarks(line);
    if (isQuestion) line = line.replace(/\?$/, "");
    const times = TIMES.exec(line);
    if (times !== null) return repeatTimes(line.slice(0, times.index), times[0]);
  }
  return line.replace(/(?<![.])\.$/, "");
}

function withoutRemarks(line: string): string {
  if (line.length > REMARK_CHARACTERS_MAX) return line;
  const shorter = line.replace(REMARK, "");
  return shorter === line ? line : withoutRemarks(shorter);
}

/** Returns a quoted or fenced text at the start. Null if there is none or several. */
function unquote(wanted: string): { text: string; rest: string; isAll: boolean } | null {
  const [whole, fenced] = /^```(?:[a-z]*\n)?([\s\S]*?)```/.exec(wanted) ?? [];
  if (whole !== undefined && fenced !== undefined) {
    return { text: fenced.trim(), rest: wanted.slice(whole.length), isAll: whole.length === wanted.length };
  }
  const opening = wanted.charAt(0);
  const closing = QUOTES.get(opening);
  if (closing === undefined) return null;
  let end = wanted.indexOf(closing, 1);
  // An apostrophe inside a word closes no quotation.
  if (closing === "'") while (/^'\p{L}/u.test(wanted.slice(end, end + 3))) end = wanted.indexOf("'", end + 1);
  if (end === -1) return null;
  const rest = wanted.slice(end + 1);
  if (rest.includes(opening) || rest.includes(closing)) return null;
  return { text: wanted.slice(1, end), rest, isAll: /^[.!?]?$/.test(rest) };
}

function repeatTimes(text: string, rest: string): string {
  const times = TIMES.exec(` ${rest.trim()}`);
  if (times === null) return text;
  const word = (times[1] ?? times[2] ?? "").toLowerCase();
  const count = word === "two" ? 2 : Math.max(Number(word) || 0, TIMES_WORDS.indexOf(word));
  return Array.from({ length: Math.max(1, Math.min(count, COUNT_MAX)) }, () => text).join(" ");
}

function countingAnswer(text: string): string | null {
  const [, first = "1", last = "0"] = COUNT.exec(text) ?? [];
  const length = Number(last) - Number(first) + 1;
  return length < 1 || length > COUNT_MAX ? null : Array.from({ length }, (_, at) => Number(first) + at).join(", ");
}

/** Returns the end position of a pattern's match at `at`; `at` itself without a match. The pattern must be sticky. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
