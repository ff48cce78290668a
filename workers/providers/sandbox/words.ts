/** Words that are no topic. They are also never a name at the start of a sentence. */
const FUNCTION_WORDS = `a about above after again all also am an and another any anyone anything are around as ask at back be because been
before being below best between both but by can cannot could did do does doing done don't down during each either else even ever every
few first for from further give go good got had has have he hello hello's help her here hers hey hi him his how i i'd i'll i'm i've if
in into is isn't it it's its itself just know last less let let's like long look make many may me mean might mine more most much must
my myself name need never next no nor not now of off ok okay old on once one only or other our ours out over own per please put
quite rather really reply respond right said same say see several shall she should show so some someone something soon still such take
tell than thank thanks that that's the their theirs them then there these they thing things think this those three through till to today
together tomorrow too two under until up upon us use used using very via want wants was we well were what what's when where where's
whether which while who whom whose why will with within without won't word words would yes yet you your yours yourself`;

/** Verbs and nouns of requests. They describe the task, so they are no topic. */
const REQUEST_WORDS = `add answer answers ask book brief briefly calculate call calls check complete compute convert count create classify describe
detail details draft example exactly explain extract fetch file fill find following function functions generate get image invoke json kind list look
lookup message output paragraph parse picture play print prompt question questions read repeat reply request result results return returns run
search send sentence sentences set short simple start stop story summarise summarize summary text tool tools translate update valid write`;

const STOP_WORDS = new Set(`${FUNCTION_WORDS} ${REQUEST_WORDS}`.split(/\s+/));

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase());
}

/** Returns the words of a name in lower case. For example, `getWeather`, `get_weather` and `get-weather` become `get`, `weather`. */
export function nameWords(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/**
 * Returns the text in lower case, with blanks at both ends and instead of all other characters. Therefore `includes(" word ")` finds whole
 * words.
 */
export function paddedWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()} `;
}

/** Returns true if the text contains the words as whole words and in this order. */
export function mentions(text: string, words: string): boolean {
  const padded = paddedWords(words);
  return padded !== "  " && paddedWords(text).includes(padded);
}

const WORD = /\p{L}[\p{L}\p{M}\p{N}'’-]*/gu;
const TOPICS_MAX = 8;

/** Returns the content words of a text in their order, without repetition. */
export function topicsOf(text: string): readonly string[] {
  const topics = new Map<string, string>();
  for (const [word] of text.matchAll(WORD)) {
    const plain = word.replace(/['’]s$/, "");
    const key = plain.toLowerCase();
    if (isStopWord(word) || isStopWord(key) || /^[a-z]{1,2}$/.test(plain) || topics.has(key)) continue;
    topics.set(key, plain.length > 40 ? firstCharacters(plain, 12) : plain);
    if (topics.size === TOPICS_MAX) break;
  }
  return [...topics.values()];
}

/** Number of characters that are read from the start of a long prompt. `TAIL_CHARACTERS` more are read from its end. */
const HEAD_CHARACTERS = 6_000;
const TAIL_CHARACTERS = 2_000;

export function headAndTail(text: string): string {
  if (text.length <= HEAD_CHARACTERS + TAIL_CHARACTERS) return text;
  return `${text.slice(0, HEAD_CHARACTERS)}\n${text.slice(-TAIL_CHARACTERS)}`.toWellFormed();
}

/** Returns the number of code points in a text, because JSON Schema counts code points as characters. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns the first characters of a text without splitting a surrogate pair. */
export function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : Array.from(text).slice(0, max).join("");
}

/** Returns an approximate singular, sufficient to match `cities` with `city`. */
export function singular(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
