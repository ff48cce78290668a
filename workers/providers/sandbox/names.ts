/** Proper names in a prompt, in the groups a reader would see: "Paris, Rome and Oslo" is one group of three. */
import { isStopWord } from "./words.ts";

export interface NameGroup {
  /** The preposition before the group, such as `in` or `from`; empty when there is none. */
  readonly preposition: string;
  readonly names: readonly string[];
  /** True when the group does something: "Ada is 36", "Ada and Bob meet". Places rarely do. */
  readonly isSubject: boolean;
  /** True for a lone word that may only be capital because it opens a sentence, or that is not capital at all. */
  readonly isDoubtful: boolean;
}

interface Found {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly opensSentence: boolean;
}

const CAPITALISED = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}'’-]*(?:[ ]\p{Lu}[\p{L}\p{M}'’-]*)*/gu;
const PREPOSITION =
  /(?:^|[^\p{L}])(in|at|for|near|around|of|to|from|into|between|about|visit|with|by|named|called)\s+(?:the\s+)?$/iu;
const JOINT =
  /^(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|vs\.?|versus)\s+|\s*&\s*)(?:(?:in|at|for|from)\s+)?(?:the\s+)?$/i;
const LOWER_PLACE = /\b(in|at|near|for)\s+((?:[a-z][a-z'-]+)(?:(?:\s+and\s+|,\s*(?:and\s+)?)[a-z][a-z'-]+)*)/g;
const NO_PLACE = new Set(
  "celsius fahrenheit kelvin json english french german spanish order general detail particular total short fact case degrees".split(
    " ",
  ),
);
const NO_NAME = new Set(
  `json html api url png jpeg gif csv xml yaml pdf id monday tuesday wednesday thursday friday saturday sunday january february march
  april may june july august september october november december`.split(/\s+/),
);
const SUBJECT_VERB = /^\s+(?:is|are|was|were|has|have|lives?|works?|wants?|likes?|bought|said|will|meets?)\b/;
const NAMES_MAX = 64;

/** Groups in order of the text; when nothing is capital, places named in small letters after in, at, near or for. */
export function findNames(text: string): readonly NameGroup[] {
  const found: Found[] = [];
  for (const match of text.matchAll(CAPITALISED)) {
    const name = readName(text, match[0], match.index);
    if (name !== null) found.push(name);
    if (found.length === NAMES_MAX) break;
  }
  const groups = groupNames(text, found);
  return groups.some((group) => !group.isDoubtful) ? groups : [...lowerCasePlaces(text), ...groups];
}

function readName(text: string, words: string, index: number): Found | null {
  const opensSentence = /(?:^|[.!?\n]\s*|["“]\s*)$/.test(text.slice(Math.max(0, index - 8), index));
  let from = index;
  let name = words;
  for (let first = firstWord(name); isStopWord(first) || NO_NAME.has(first.toLowerCase()); first = firstWord(name)) {
    if (first.length === name.length) return null;
    name = name.slice(first.length + 1);
    from += first.length + 1;
  }
  const to = from + name.length;
  return { text: name.replace(/['’]s?$/, ""), from, to, opensSentence: opensSentence && from === index };
}

function firstWord(name: string): string {
  return name.split(" ", 1)[0] ?? "";
}

function groupNames(text: string, found: readonly Found[]): NameGroup[] {
  const groups: NameGroup[] = [];
  for (let at = 0; at < found.length;) {
    const first = found[at]!;
    const members = [first];
    let hasConjunction = false;
    for (at += 1; at < found.length; at += 1) {
      const gap = text.slice(members.at(-1)!.to, found[at]!.from);
      if (!JOINT.test(gap)) break;
      hasConjunction ||= /and|or|&|v/i.test(gap);
      members.push(found[at]!);
    }
    const names = joinRegions(members, hasConjunction);
    groups.push({
      preposition: PREPOSITION.exec(text.slice(Math.max(0, first.from - 24), first.from))?.[1]?.toLowerCase() ?? "",
      names,
      isSubject: SUBJECT_VERB.test(text.slice(members.at(-1)!.to, members.at(-1)!.to + 16)),
      isDoubtful: first.opensSentence && names.length === 1 && !(names[0] ?? "").includes(" "),
    });
  }
  return groups;
}

/** "Austin, TX" and a lone "Paris, France" are one place each; "Paris, Rome and Oslo" are three. */
function joinRegions(members: readonly Found[], hasConjunction: boolean): string[] {
  const names: string[] = [];
  for (const { text } of members) {
    const isRegion = /^[A-Z]{2}$/.test(text) || (members.length === 2 && !hasConjunction);
    if (isRegion && names.length > 0) names.push(`${names.pop()}, ${text}`);
    else names.push(text);
  }
  return [...new Set(names)];
}

function lowerCasePlaces(text: string): NameGroup[] {
  return [...text.matchAll(LOWER_PLACE)].flatMap(([, preposition = "", list = ""]) => {
    const names = list.split(/\s+and\s+|,\s*(?:and\s+)?/).filter((word) => !isStopWord(word) && !NO_PLACE.has(word));
    return names.length === 0 ? [] : [{ preposition, names, isSubject: false, isDoubtful: true }];
  });
}
