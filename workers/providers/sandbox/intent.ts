/** Recognises prompts that dictate the answer: "Say hello", "Reply with only: OK", "Repeat after me: …". */

/** Verbs that ask for speech by themselves, and verbs that do so only with a sign such as "with", "exactly" or a colon. */
const SPEECH_VERBS = new Set(["say", "echo", "repeat"]);
const VERB = /(say|echo|repeat|reply|respond|answer|print|output|return|write|type|send)\b/iy;

const POLITE =
  /(?:(?:please|kindly|now|just|simply|only|always|then|ok|okay)[,:]?\s+|(?:can|could|would|will)\s+you\s+|i\s+want\s+you\s+to\s+|you\s+(?:must|should)\s+)*/iy;
const ASKS_POLITELY = /(?:can|could|would|will)\s+you\s/i;

const LINK = /\s+(?:back|to\s+me|after\s+me|with|by\s+saying)\b/iy;
const EMPHASIS = /,?\s+(?:exactly|only|just|precisely|literally|verbatim|simply|nothing\s+but)\b/iy;
const NOUN =
  /\s+(?:(?:the|this|these|my|one|a)\s+)?(?:(?:following|exact|single|one|same)\s+)*(?:words?|phrase|text|sentence|message|string|line|token|number|digits?|letter|value|following|reply|response|answer|output)\b/iy;
const COLON = /\s*:\s*/y;

/** What no dictated text begins with: the prompt describes an answer here and does not give it. */
const DESCRIBES =
  /^(?:something|anything|nothing|a few|some|what|why|how|when|where|who|which|whether|if|that|it|of|about|for|in|on|as|using|based|your|my|the (?:question|above|last|previous))\b/i;
const DESCRIBES_ARTICLE = /^(?:the|a|an|its|their|valid|json|yaml|xml|code|markdown|one|two|numbers?|digits|words?)\b/i;
const EITHER_OR = /^\S+\s+or\s+\S+$/i;

/** Remarks that end a request and are no part of the text. */
const REMARK =
  /(?:[,;.!]?\s+(?:and\s+)?(?:nothing\s+(?:else|more)|please|verbatim|with\s+nothing\s+(?:else|more)|(?:do\s+not|don't)\s+(?:say|add|write|output|include)\b[^.\n]{0,80}|no\s+(?:other|extra|additional|more)\s+(?:words?|text|punctuation|output)|without\s+(?:any\s+)?(?:other\s+|extra\s+)?(?:words?|text|quotes|punctuation|explanation)))[.!]?$/i;

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”",
  "‘": "’",
  "«": "»",
  "„": "“",
};

const TIMES =
  /\s+(?:(once|twice|two|three|four|five|six|seven|eight|nine|ten|\d{1,4})(?:\s+times)|(once|twice))(?:\s+fast)?[.!]?$/i;
const TIMES_WORDS = ["", "once", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Only this much at either end is searched for the request; what it dictates may be longer. */
const SEARCH_CHARACTERS = 1_000;
const REMARK_CHARACTERS_MAX = 500;
const COUNT_MAX = 10_000;

/** The exact text a prompt asks for, or null when it leaves the wording open. */
export function dictatedAnswer(prompt: string): string | null {
  const text = prompt.trim();
  for (const start of requestStarts(text)) {
    const found = readRequestAt(text, start);
    if (found !== null) return found;
  }
  return countingAnswer(text);
}

/** The start of the text, of its last line, and of the sentences in that line. */
function requestStarts(text: string): Set<number> {
  const starts = new Set([0]);
  const lineStart = Math.max(text.lastIndexOf("\n") + 1, text.length - SEARCH_CHARACTERS);
  starts.add(lineStart);
  for (const match of text.slice(lineStart).matchAll(/[.!?:;]\s+/g)) {
    starts.add(lineStart + match.index + match[0].length);
    if (starts.size > 20) break;
  }
  return starts;
}

function readRequestAt(text: string, start: number): string | null {
  const begin = skip(POLITE, text, start);
  VERB.lastIndex = begin;
  const verb = VERB.exec(text)?.[1]?.toLowerCase();
  if (verb === undefined) return null;

  let at = begin + verb.length;
  let isLinked = false;
  let isEmphatic = false;
  for (let before = -1; before !== at;) {
    before = at;
    at = skip(LINK, text, at);
    isLinked ||= at !== before;
    const linked = at;
    at = skip(EMPHASIS, text, at);
    at = skip(NOUN, text, at);
    isEmphatic ||= at !== linked;
  }
  const rest = skip(COLON, text, at);
  const hasColon = rest !== at;
  const wanted = (hasColon ? text.slice(rest) : text.slice(rest).replace(/^,/, "")).trim();
  if (wanted === "" || (!hasColon && !/[\s,"'`“‘«„]/.test(text.charAt(at)))) return null;
  const quoted = unquote(wanted);
  if (quoted !== null && (SPEECH_VERBS.has(verb) || isLinked || isEmphatic || hasColon || quoted.isAll)) {
    return repeatTimes(quoted.text, quoted.rest);
  }
  if (hasColon) return wanted;
  if (!isDictation(verb, wanted, isLinked, isEmphatic)) return null;
  return cleanLine(wanted, ASKS_POLITELY.test(text.slice(start, begin)));
}

function isDictation(verb: string, wanted: string, isLinked: boolean, isEmphatic: boolean): boolean {
  if (DESCRIBES.test(wanted)) return false;
  if (SPEECH_VERBS.has(verb)) return true;
  if (!isLinked && !isEmphatic) return false;
  const line = wanted.split("\n", 1)[0]?.replace(/[.?!]$/, "") ?? "";
  const words = line.split(/\s+/).length;
  if (words === 1) return true;
  return !DESCRIBES_ARTICLE.test(line) && !EITHER_OR.test(line) && words <= (isEmphatic ? 12 : 3);
}

/** One line of dictation without the remarks around it: `hello, and nothing else.` → `hello`. */
function cleanLine(wanted: string, isQuestion: boolean): string {
  let line = wanted.split("\n", 1)[0]?.trim() ?? "";
  if (line.length <= REMARK_CHARACTERS_MAX) {
    for (let before = ""; before !== line;) {
      before = line;
      line = line.replace(REMARK, "");
    }
    if (isQuestion) line = line.replace(/\?$/, "");
    const times = TIMES.exec(line);
    if (times !== null) return repeatTimes(line.slice(0, times.index), times[0]);
  }
  return line.replace(/(?<![.])\.$/, "");
}

/** A text in quotes at the start; null when there is none or more than one. */
function unquote(wanted: string): { text: string; rest: string; isAll: boolean } | null {
  if (wanted.startsWith("```")) {
    const end = wanted.indexOf("```", 3);
    if (end === -1) return null;
    return { text: wanted.slice(3, end).trim(), rest: wanted.slice(end + 3), isAll: end + 3 === wanted.length };
  }
  const opening = wanted.charAt(0);
  const closing = QUOTES[opening];
  if (closing === undefined) return null;
  let end = wanted.indexOf(closing, 1);
  // An apostrophe inside a word closes nothing.
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
  const match = /\bcount\s+(?:up\s+)?(?:from\s+(\d{1,9})\s+)?(?:up\s+)?to\s+(\d{1,9})\b/i.exec(
    text.slice(-SEARCH_CHARACTERS),
  );
  if (match === null) return null;
  const from = Number(match[1] ?? 1);
  const length = Number(match[2]) - from + 1;
  if (length < 1 || length > COUNT_MAX) return null;
  return Array.from({ length }, (_, i) => from + i).join(", ");
}

/** Where a sticky pattern ends when it matches at `at`, else `at`. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
