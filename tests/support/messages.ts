/**
 * Style rules of the sentences that users receive: messages of errors, descriptions of capabilities and of MCP tools, notifications. Pure
 * functions over a map of file names to sources, so each rule can be shown a seeded violation.
 */
import type { Sources, Violation } from "./architecture.ts";

/** A sentence in a source; each expression of a template is one `…`. */
export interface Message {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** False for a literal elsewhere that reads as a sentence: it may be a part of a message. */
  readonly isWhole: boolean;
}

/** Code in front of a literal that is a whole message, and the files in which that is so. */
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
  { before: /\bdescription:\s*$/, where: /^(?:workers\/capabilities|ingress\/mcp|shared\/events)\// },
  {
    before: /\b(?:text|integer|number|flag|color|choice|list|pagesParam|requiredPages)\(\s*$/,
    where: /^workers\/capabilities\/\w+\//,
  },
  { before: /\b(?:input|inputs|named)\(\s*"\w+",\s*$/, where: /^workers\/capabilities\/\w+\// },
];

/** Operators' faults of catalogue files and settings, which have a form of their own, and generated code. */
const EXCLUDED =
  /^shared\/(?:calls\/catalogue|config)\/|\/generated\/|^ingress\/openapi\/|^workers\/providers\/sandbox\/(?!media)/;

/** Words that hide the actor or the thing. */
const UNCLEAR =
  /\b(?:told|tells?|hears?|heard|mends?|mended|those of|one that|what (?:was|is) made|comes? to nothing|stands? for|whoever|goes on|went on|given up|left out|leave out|under way|takes no|is not there|any more|be looked at)\b/i;

const SENTENCE_WORDS_MAX = 30;

/** A literal that reads as a sentence wherever it is. */
const SENTENCE = /^[\p{Lu}`"…][^\n]*\s[^\n]*[^.]\.$/u;

/** Literals of these files are written for models, or are what the sandbox answers. */
const FOR_MODELS =
  /^ingress\/(?:responses\/(?:compact|foreign-items|items|image-tool)|messages\/(?:client-tools|turns))\.ts$/;

/** Constants of these files are parts of descriptions in the OpenAPI document, or help texts of metrics. */
const FOR_DOCUMENTS =
  /^(?:ingress\/routes\/(?:mcp|settings\/budget-alerts)|ingress\/settings\/usage-query|shared\/metrics)\.ts$/;

/** Texts of the OpenAPI document, and of log lines and faults that only operators read. */
const FOR_OTHERS =
  /\b(?:description|summary|answer|repeated|title|help):\s*$|\b(?:log|logger)\??\.\w+\([^;]*$|\bnew (?:Error|RangeError|TypeError)\(\s*$/;

interface Rule {
  readonly rule: string;
  readonly isBroken: (text: string) => boolean;
  /** The rule holds for whole messages. */
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

/** Every message that breaks a rule. */
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

/** The messages of a source: literals at one of the places, and others that read as sentences. */
export function messagesOf(file: string, source: string): Message[] {
  if (!/^(?:ingress|workers|shared)\//.test(file) || EXCLUDED.test(file)) return [];
  const places = PLACES.filter(({ where }) => where === undefined || where.test(file));
  return joined(source, literalsOf(source)).flatMap(({ from, text }) => {
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

/** Literals, each with those that are added to it. */
function joined(source: string, literals: readonly Literal[]): Literal[] {
  const all: Literal[] = [];
  for (const literal of literals) {
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

/** Comments and regular expressions are passed over: quotes in them begin no literal. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=[(,=:[!&|?{};\n]\s*|\breturn\s+|=>\s*)\/(?![*/])(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\\\n[]|\\.)+\/\w*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`/g;

/** Every string and template of a source that is not within the expression of another template. */
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

/** The template that begins at an index, its expressions as `…`. */
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

/** The index behind the brace that closes an expression of a template. */
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
