/** Patterns of personal data in texts. Each search is linear in the length of the text. */
import { REDACTED, type RedactedPattern } from "#shared/base/body-setting.ts";

/** Functions that replace all values of a pattern in a text. */
export const PATTERNS: Readonly<Record<RedactedPattern, (text: string) => string>> = {
  emails: redactEmails,
  card_numbers: redactCardNumbers,
  phone_numbers: redactPhoneNumbers,
};

/** Longest local part of an address, and longest domain, in characters (RFC 5321, 4.5.3.1). */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 255;
/** Characters that end the local part of an address in a text. */
const LOCAL_ENDS: ReadonlySet<string> = new Set("\"<>()[]{},;:\\@'`|");

function redactEmails(text: string): string {
  const spans: Span[] = [];
  for (let at = text.indexOf("@"); at >= 0;) {
    let from = at;
    while (from > 0 && at - from < LOCAL_CHARS_MAX && isLocal(text.charAt(from - 1))) from -= 1;
    let to = at + 1;
    while (to < text.length && to - at <= DOMAIN_CHARS_MAX && isDomain(text.charAt(to))) to += 1;
    while (text[to - 1] === "." || text[to - 1] === "-") to -= 1;
    if (from < at && text.slice(at + 1, to).includes(".")) spans.push({ from, to });
    at = text.indexOf("@", Math.max(to, at + 1));
  }
  return withoutSpans(text, spans);
}

const isLocal = (char: string): boolean => char > " " && !LOCAL_ENDS.has(char);
const isDomain = (char: string): boolean => /[\w.-]|[^\0-\x7f]/.test(char);

/** Bounds of the number of digits of a payment card (ISO/IEC 7812), and the minimum number of digits of a group. */
const CARD_DIGITS = { min: 13, max: 19, group: 3 } as const;

function redactCardNumbers(text: string): string {
  const spans: Span[] = [];
  for (const run of text.matchAll(/\d+(?:[ -]\d+)*/g)) {
    const { index } = run;
    const end = index + run[0].length;
    // Decimal numbers, such as the numbers of a vector.
    if (/^\d\.$/.test(text.slice(Math.max(0, index - 2), index)) || /^\.\d/.test(text.slice(end, end + 2))) continue;
    if (run[0].length >= CARD_DIGITS.min) spans.push(...cardsIn(run[0], index));
  }
  return withoutSpans(text, spans);
}

/** Finds card numbers in groups of digits. A number consists of whole groups. */
function cardsIn(run: string, offset: number): Span[] {
  const groups = [...run.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ digits, from: index + offset }));
  const spans: Span[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    let digits = "";
    for (const [index, group] of groups.slice(first, first + CARD_DIGITS.max).entries()) {
      digits += group.digits;
      if (digits.length > CARD_DIGITS.max || group.digits.length < CARD_DIGITS.group) break;
      if (digits.length < CARD_DIGITS.min || !isCard(digits)) continue;
      spans.push({ from: groups[first]?.from ?? 0, to: group.from + group.digits.length });
      first += index;
      break;
    }
  }
  return spans;
}

/** Returns true for digits of a card network with a valid check digit (Luhn). */
function isCard(digits: string): boolean {
  if (!/^[2-6]/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const value = index % 2 === 0 ? digit : digit * 2;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Numbers in international form: a plus sign and 7 to 15 digits (E.164), with separators. */
function redactPhoneNumbers(text: string): string {
  return text.replaceAll(/(?<!\d)\+\d(?:[ ()./-]{0,2}\d){6,14}(?!\d)/g, REDACTED);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let copiedTo = 0;
  for (const { from, to } of spans) {
    parts.push(text.slice(copiedTo, Math.max(copiedTo, from)), REDACTED);
    copiedTo = to;
  }
  parts.push(text.slice(copiedTo));
  return parts.join("");
}
