/**
 * Checks the style of sentences that users receive: error messages, descriptions of capabilities and MCP tools, notifications. The
 * functions take a map of file names to sources, so that each rule can be tested with a violation.
 */
import type { Sources, Violation } from "./architecture.ts";

/** A message in a source file. Each expression of a template is replaced by one `…`. */
export interface Message {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** False for a literal that only looks like a sentence, because it may be a part of a message. */
  readonly isWhole: boolean;
}

/** Patterns of the code before a literal that is a whole message. `where` selects the files to which a pattern applies. */
const PLACES: readonly { readonly before: RegExp; readonly where?: RegExp }[] = [
  { before: /\bnew ApiError\(\s*[^,()]+(?:\([^()]*\))?,\s*$/ },
  { before: /\bnew MediaError\(\s*"(?:invalid|corrupt|unsupported|too_large|timeout|busy)",\s*$/ },
  { before: /\bnew (?:ExpressionFault|WorkExceeded|Refusal)\(\s*$/ },
  { before: /\b(?:const (?:message|say|said)|const [A-Z_]+_MESSAGE) =\s*$/, where: /^(?:ingress|workers|shared)\// },
  { before: /\b(?:message|say|sentence):\s*$/ },
  { before: /\bfault:\s*$/, where: /^shared\/workflows\// },
  { before: /\bunavailable\(\s*$/ },
  { before: /\brefusal\(\s*[^,()]+,\s*$/, where: /^shared\/calls\/kinds\// },
  { before: /\brefuse\(\s*"[^",]*",\s*$/, where: /^shared\/calls\/kinds\/chat\// },
  { before: /\bunsupported\(\s*[^,()]+,\s*$/, where: /^workers\/providers\// },
  {
    before: /\bdescription:\s*$/,
    where: /^(?:workers\/capabilities|ingress\/routes\/mcp(?!\/mcp\.ts)|shared\/events)\//,
  },
  {
    before: /\b(?:text|integer|number|flag|color|choice|list|pagesParam|requiredPages)\(\s*$/,
    where: /^workers\/capabilities\/\w+\//,
  },
  { before: /\b(?:input|inputs|named)\(\s*"\w+",\s*$/, where: /^workers\/capabilities\/\w+\// },
];

/**
 * Matches files without user messages. Errors for operators about catalogue files and settings have another form, and generated code is not
 * checked.
 */
const EXCLUDED =
  /^shared\/(?:calls\/catalogue|config)\/|\/generated\/|^ingress\/openapi\/|^workers\/providers\/sandbox\/(?!media)/;

/** Matches words that hide the actor or the thing. */
const UNCLEAR =
  /\b(?:told|tells?|hears?|heard|mends?|mended|those of|one that|what (?:was|is) made|comes? to nothing|stands? for|whoever|goes on|went on|given up|left out|leave out|under way|takes no|is not there|any more|be looked at)\b/i;

const SENTENCE_WORDS_MAX = 30;

/** Matches a literal that looks like a sentence, anywhere in a source. */
const SENTENCE = /^[\p{Lu}`"…][^\n]*\s[^\n]*[^.]\.$/u;

/** Matches files whose literals are text for models, or responses of the sandbox. */
const FOR_MODELS =
  /^ingress\/routes\/(?:responses\/(?:compact|foreign-items|items|image-tool)|messages\/(?:client-tools|turns))\.ts$/;

/** Matches files whose constants are parts of OpenAPI descriptions, or help texts of metrics. */
const FOR_DOCUMENTS =
  /^(?:ingress\/routes\/(?:mcp\/mcp|settings\/(?:budget-alerts|usage))|shared\/metrics\/metrics)\.ts$/;

/** Matches the code before texts of the OpenAPI document, and before log lines and errors for operators only. */
const FOR_OTHERS =
  /\b(?:description|summary|answer|repeated|title|help):\s*$|\b(?:log|logger)\??\.\w+\([^;]*$|\bnew (?:Error|RangeError|TypeError)\(\s*$/;

interface Rule {
  readonly rule: string;
  readonly isBroken: (text: string) => boolean;
  /** True if the rule applies only to complete messages. */
  readonly ofWhole?: true;
}

const RULES: readonly Rule[] = [
  {
    rule: "a message begins with a capital letter, a quoted name or a value",
    isBroken: (text) => !/^[\p{Lu}\d"'`…]/u.test(text),
    ofWhole: true,
  },
  { rule: "a message ends with a period", isBroken: (text) => !/[.?!…]$/.test(text.trimEnd()), ofWhole: true },
  { rule: "a message names its actor and its thing", isBroken: (text) => UNCLEAR.test(text) },
  {
    rule: "a sentence begins with its subject",
    isBroken: (text) => sentencesOf(text).some((one) => /^(?:What|Who|Whoever|Whose|Where|As|Of)\b/.test(one)),
  },
  {
    rule: `a sentence has at most ${SENTENCE_WORDS_MAX} words`,
    isBroken: (text) => sentencesOf(text).some((one) => one.split(/\s+/).length > SENTENCE_WORDS_MAX),
  },
];

/** Returns every message that breaks a rule. */
export function messageViolations(sources: Sources): Violation[] {
  return [...sources].flatMap(([file, source]) =>
    messagesOf(file, source).flatMap(({ line, text, isWhole }) =>
      RULES.filter(({ isBroken, ofWhole }) => (isWhole || ofWhole !== true) && isBroken(text)).map(({ rule }) => ({
        rule,
        file: `${file}:${line}`,
        what: text,
      })),
    ),
  );
}

/** Returns the messages of a source: literals after a pattern of PLACES, and other literals that look like sentences. */
export function messagesOf(file: string, source: string): Message[] {
  if (!/^(?:ingress|workers|shared)\//.test(file) || EXCLUDED.test(file)) return [];
  const places = PLACES.filter(({ where }) => where === undefined || where.test(file));
  return joinedLiterals(source).flatMap(({ from, text }) => {
    const before = source.slice(Math.max(0, from - 160), from);
    const isName = /^\s*[,;]?\s*$/.test(text) || /^[\w.[\]…-]+$/.test(text);
    const isWhole = !isName && places.some((place) => place.before.test(before));
    const isSentence = SENTENCE.test(text) && !isOfAnotherReader(file, before);
    if (!isWhole && !isSentence) return [];
    return [{ file, line: source.slice(0, from).split("\n").length, text, isWhole }];
  });
}

function isOfAnotherReader(file: string, before: string): boolean {
  return FOR_MODELS.test(file) || FOR_DOCUMENTS.test(file) || FOR_OTHERS.test(before);
}

/** Returns the strings and templates of a source. Literals that the source concatenates with `+` are one. */
export function joinedLiterals(source: string): Literal[] {
  const all: Literal[] = [];
  for (const literal of literalsOf(source)) {
    const last = all.at(-1);
    if (last !== undefined && /^\s*\+\s*$/.test(source.slice(last.to, literal.from))) {
      all[all.length - 1] = { from: last.from, to: literal.to, text: last.text + literal.text };
    } else all.push(literal);
  }
  return all;
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.?!])\s+/);
}

interface Literal {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Matches the tokens of a source. Comments and regular expressions are matched too, because quotes in them start no literal. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[(,=:[!&|?{};\n]\s*|\breturn\s+|=>\s*)\/(?![*/])(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\\\n[]|\\.)+\/\w*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`/g;

/** Returns the strings and templates of a source. Omits literals inside a template's expressions. */
function literalsOf(source: string): Literal[] {
  const literals: Literal[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match !== null; match = TOKEN.exec(source)) {
    const [token] = match;
    const from = match.index;
    if (token === "`") {
      const { to, text } = templateAt(source, from);
      literals.push({ from, to, text });
      TOKEN.lastIndex = to;
    } else if (token.startsWith('"') || token.startsWith("'")) {
      literals.push({ from, to: from + token.length, text: unescaped(token.slice(1, -1)) });
    }
  }
  return literals;
}

/** Returns the template that begins at an index, with `…` for each expression. */
function templateAt(source: string, from: number): { readonly to: number; readonly text: string } {
  let text = "";
  let at = from + 1;
  while (at < source.length && source[at] !== "`") {
    if (source[at] === "\\") {
      text += source.slice(at, at + 2);
      at += 2;
    } else if (source.startsWith("${", at)) {
      text += "…";
      at = endOfExpression(source, at + 2);
    } else {
      text += source[at];
      at += 1;
    }
  }
  return { to: at + 1, text: unescaped(text) };
}

/** Returns the index directly behind the closing brace of a template's expression. */
function endOfExpression(source: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < source.length && depth > 0) {
    const character = source[at];
    if (character === "`") at = templateAt(source, at).to;
    else if (character === '"' || character === "'") at = endOfString(source, at);
    else {
      if (character === "{") depth += 1;
      if (character === "}") depth -= 1;
      at += 1;
    }
  }
  return at;
}

function endOfString(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== source[from]) at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_whole, character: string) => (character === "n" ? "\n" : character));
}
