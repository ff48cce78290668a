/**
 * Answers without what differs from run to run: ids, times, secrets, addresses, measures. The same id is the same placeholder
 * throughout one record, so that what refers to what can be seen.
 */

/** A UUID, also without its dashes, as ids of files and of completions have it. */
const UUID = /(?<![0-9a-f])[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}(?![0-9a-f])/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const DIGITS = /^\d+(\.\d+)?$/;

/** In this order: what an earlier rule has replaced, a later one does not see. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(sl[ko]_)[0-9A-Za-z]{38}\b/g, "$1<secret>"],
  [/\b(sl[ko]_)[0-9A-Za-z]{4}…/g, "$1<hint>…"],
  [/\b(sluice(?:-operator)?=)[\w-]{43}/g, "$1<secret>"],
  [/\bwhsec_[0-9A-Za-z+/]{43}=/g, "whsec_<secret>"],
  [/(\/v1\/media\/content\/)[\w.-]+/g, "$1<token>"],
  // Of a full window.
  [/\bis accepted in \d+ s\./g, "is accepted in <n> s."],
  [/http:\/\/(127\.0\.0\.1|localhost):\d+/g, "<address>"],
];

/** Numbers that are measured, or count what else goes on; and what a made file comes to. */
const MEASURES: ReadonlySet<string> = new Set([
  "duration_ms",
  "durationMs",
  "ms",
  "progress",
  "spent",
  "used",
  "used_bytes",
  "x-storage-used-bytes",
]);

/** Members that hold bytes in base64, and the longest text that might be some elsewhere. */
const BYTES: ReadonlySet<string> = new Set(["audio", "b64_json"]);
const TEXT_CHARS_MAX = 200;
const NUMBERS_SHOWN_MAX = 16;
const DAY_S = 86_400;

export interface Placeholders {
  text(text: string, name?: string): string;
  /** A value of JSON. */
  value(value: unknown, name?: string): unknown;
}

/** @param varying names of further members and headers that differ from run to run */
export function createPlaceholders(varying: readonly string[] = []): Placeholders {
  const ids = new Map<string, number>();
  const isMeasure = (name: string): boolean => MEASURES.has(name) || varying.includes(name);
  const idOf = (uuid: string): string => {
    const plain = uuid.replaceAll("-", "");
    if (!ids.has(plain)) ids.set(plain, ids.size + 1);
    return `<${plain === uuid ? "undashed " : ""}id ${ids.get(plain)}>`;
  };

  const text: Placeholders["text"] = (given, name = "") => {
    if (isMeasure(name) && DIGITS.test(given)) return "<digits>";
    if (BYTES.has(name) || (given.length > TEXT_CHARS_MAX && /^[\w+/=-]+$/.test(given))) return "<base64>";
    const open = SECRETS.reduce((said, [pattern, placeholder]) => said.replace(pattern, placeholder), given);
    return open
      .replace(UUID, idOf)
      .replace(TIME, (_time, fraction?: string) => (fraction === undefined ? "<time>" : "<time with fraction>"));
  };

  const value: Placeholders["value"] = (given, name = "") => {
    // Written some time after the use.
    if (name === "last_used_at" && (given === null || (typeof given === "string" && given.replace(TIME, "") === "")))
      return "<time or null>";
    if (typeof given === "string") return text(given, name);
    if (typeof given === "number") {
      if (isMeasure(name)) return "<n>";
      return Math.abs(given - Date.now() / 1_000) < 31 * DAY_S ? "<time>" : given;
    }
    if (Array.isArray(given)) {
      if (given.length > NUMBERS_SHOWN_MAX && given.every((item) => typeof item === "number")) {
        return `<${given.length} numbers>`;
      }
      return given.map((item) => value(item));
    }
    if (typeof given !== "object" || given === null) return given;
    const members = Object.entries(underWay(given));
    return Object.fromEntries(members.map(([key, member]) => [key, value(member, key)]));
  };

  return { text, value };
}

/** A job or run that has not ended: whether a worker has it by the time of the answer differs from run to run. */
function underWay(given: object): object {
  const { object, status, mode } = given as Readonly<Record<string, unknown>>;
  const isJob = object === "job" && (status === "queued" || status === "processing");
  const isRun = mode === "async" && (status === "queued" || status === "running");
  if (!isJob && !isRun) return given;
  const members = Object.entries(given).filter(([name]) => name !== "started" && name !== "stepRuns");
  return { ...Object.fromEntries(members), status: "<under way>" };
}

/** Members that hold any of hundreds of objects, of which no two are alike. */
const OPAQUE: ReadonlySet<string> = new Set([
  "params_schema",
  "input_schema",
  "sample_input",
  "examples",
  "definition",
  "input",
  "before",
  "after",
]);

/**
 * The form of values that stand in the same place: names and types of their members, a member with a question mark where some
 * are without. Of lists whose items come and go, or whose order differs.
 */
export function formOf(values: readonly unknown[], name = ""): unknown {
  if (OPAQUE.has(name)) return "…";
  if (name === "object" && new Set(values).size === 1) return values[0];
  const objects = values.filter((value) => typeof value === "object" && value !== null && !Array.isArray(value));
  const lists = values.filter((value) => Array.isArray(value));
  const plain = new Set(
    values
      .filter((value) => typeof value !== "object" || value === null)
      .map((value) => (value === null ? "null" : typeof value)),
  );
  const forms: unknown[] = [...plain].toSorted();
  if (lists.length > 0) forms.push([formOf(lists.flat())].filter((form) => form !== "nothing"));
  if (objects.length > 0) forms.push(membersOf(objects as Readonly<Record<string, unknown>>[]));
  if (forms.length === 0) return "nothing";
  if (forms.length === 1) return forms[0];
  return forms.every((form) => typeof form === "string") ? forms.join(" or ") : { "one of": forms };
}

function membersOf(objects: readonly Readonly<Record<string, unknown>>[]): object {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  return Object.fromEntries(
    names.map((name) => {
      const having = objects.filter((object) => name in object);
      const form = formOf(
        having.map((object) => object[name]),
        name,
      );
      return [having.length === objects.length ? name : `${name}?`, form];
    }),
  );
}
