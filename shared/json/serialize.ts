/** JSON with sorted object members: equal values have equal texts. For values of bounded depth only. */
import { runWhole } from "./time-slices.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "./json-tokens.ts";

export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  runWhole(writingCanonical(value, (part) => parts.push(part)));
  return parts.join("");
}

/** Writes the same text in parts and yields between them, for a shared thread. For JSON values only. */
export function* writingCanonical(value: unknown, write: (part: string) => void): Generator<void, void> {
  let text = "";
  const put = function* (part: string): Generator<void, void> {
    text += part;
    if (text.length < JSON_AT_ONCE_BYTES_MAX) return;
    write(text);
    text = "";
    yield;
  };
  yield* putting(value, put);
  write(text);
}

type Put = (part: string) => Generator<void, void>;

function* putting(value: unknown, put: Put): Generator<void, void> {
  if (typeof value !== "object" || value === null) {
    yield* put(JSON.stringify(value) ?? "null");
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  if (isList) {
    for (const item of value as readonly unknown[]) {
      yield* put(before);
      yield* putting(item, put);
      before = ",";
    }
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    for (const name of sortedNames(members)) {
      const member = members[name];
      if (member === undefined) continue;
      yield* put(`${before}${JSON.stringify(name)}:`);
      yield* putting(member, put);
      before = ",";
    }
  }
  yield* put(before === "," ? (isList ? "]" : "}") : isList ? "[]" : "{}");
}

/** Returns the names sorted, with integer names first and by value, as in JavaScript objects. */
function sortedNames(members: object): readonly string[] {
  const names = Object.keys(members);
  const at = names.findIndex((name) => !isIndex(name));
  return at < 0 ? names : [...names.slice(0, at), ...names.slice(at).toSorted()];
}

function isIndex(name: string): boolean {
  const index = Number(name) >>> 0;
  return index < 0xff_ff_ff_ff && String(index) === name;
}
