/** Behaviours that a request asks for by its model name, `mock-<name>`; numbers in a name are arguments. */
import type { Behaviour, MessageBehaviour, UsageReport } from "./behaviour.ts";
import { ERROR_NAMES, errorReply } from "./errors.ts";

const WEATHER = [
  { name: "get_weather", input: '{"city":"Paris"}' },
  { name: "get_time", input: '{"zone":"Europe/Paris"}' },
  { name: "lookup", input: '{"term":"café 🙂"}' },
] as const;

const USAGES = [
  "cached",
  "missing",
  "zero",
  "negative",
  "fractional",
  "huge",
  "nan",
  "late",
  "growing",
] as const satisfies readonly UsageReport[];

/** Has a character of several bytes in every word, wherever the cut falls. */
const ACCENTED = "Où crème café été brûlée à côté";

const HTML = "<!doctype html><html><head><title>200</title></head><body>It works, vendor-internal-detail</body></html>";
const CUT_JSON = '{"id":"msg_cut","type":"message","role":"assistant","content":[{"type":"text","text":"half';

const json = { "content-type": "application/json" };

const NAMED: Readonly<Record<string, Behaviour>> = {
  ok: {},
  // What the model says
  tools: { toolUses: "requested" },
  "tool-use": { text: "I will look.", toolUses: [WEATHER[0]] },
  "tools-parallel": { toolUses: WEATHER },
  "tools-interleaved": { toolUses: WEATHER, interleaved: true },
  "tool-no-input": { toolUses: [{ name: "refresh", input: "" }] },
  "tool-invalid-json": { toolUses: [{ name: "get_weather", input: '{"city":' }] },
  thinking: { thinking: "Let me think about it.", text: "Four." },
  redacted: { redacted: "EmwKAhgBEgy3va3pzix", text: "Four." },
  refusal: { isEmpty: true, stopReason: "refusal" },
  "refusal-late": { text: "This goes on until", stopReason: "refusal" },
  length: { text: "This is cut by the limit of", stopReason: "max_tokens" },
  ...Object.fromEntries(USAGES.map((usage) => [`usage-${usage}`, { usage } satisfies MessageBehaviour])),
  // Statuses
  ...Object.fromEntries(ERROR_NAMES.map((name) => [name, errorReply(name)])),
  "should-not-retry": errorReply("overloaded", { "x-should-retry": "false" }),
  // Answers that are none
  html: { kind: "reply", status: 200, headers: { "content-type": "text/html" }, body: HTML },
  "html-502": { kind: "reply", status: 502, headers: { "content-type": "text/html" }, body: HTML },
  "cut-json": { kind: "reply", status: 200, headers: json, body: CUT_JSON },
  "cut-body": { kind: "reply", status: 200, headers: json, body: CUT_JSON, cutAfterBytes: 60 },
  empty: { kind: "reply", status: 200, headers: json, body: "" },
  "empty-stream": { kind: "reply", status: 200, headers: { "content-type": "text/event-stream" }, body: "" },
  "error-in-200": { kind: "reply", status: 200, headers: json, body: errorReply("overloaded").body },
  redirect: { kind: "reply", status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" }, body: "" },
  // Streams that go wrong
  "error-first": { errorFrame: 0 },
  "error-mid": { errorFrame: 5 },
  "cut-first": { cut: { frame: 0, inside: "border", how: "fin" } },
  "cut-fin": { cut: { frame: 5, inside: "border", how: "fin" } },
  "cut-rst": { cut: { frame: 5, inside: "border", how: "rst" } },
  "cut-end": { cut: { frame: 5, inside: "border", how: "end" } },
  "cut-in-json": { cut: { frame: 5, inside: "json", how: "end" } },
  "cut-in-utf8": { text: ACCENTED, cut: { frame: 3, inside: "utf8", how: "end" } },
  "no-stop-reason": { stopReason: null },
  "no-message-stop": { omitMessageStop: true },
  malformed: { malformedFrame: 4 },
  "start-twice": { startAgain: { afterFrame: 0, as: "same" } },
  "start-twice-late": { startAgain: { afterFrame: 4, as: "same" } },
  spliced: { startAgain: { afterFrame: 4, as: "other" } },
  foreign: { foreignEvents: true },
  crlf: { eol: "\r\n", bom: true },
  cr: { eol: "\r" },
  // Silence
  hang: { kind: "hang" },
  "hang-head": { kind: "hang", after: "head" },
  stall: { silence: { beforeFrame: 5, ms: Infinity } },
  reset: { kind: "reset" },
  "reset-head": { kind: "reset", after: "head" },
};

const PATTERNS: readonly [RegExp, (first: number, second: number) => Behaviour][] = [
  [/^delay-(\d+)$/, (ms) => ({ delayMs: ms })],
  [/^tokens-(\d+)$/, (tokens) => ({ tokens })],
  [/^tokens-(\d+)-every-(\d+)$/, (tokens, ms) => ({ tokens, intervalMs: ms })],
  [/^silent-(\d+)$/, (ms) => ({ silence: { beforeFrame: 3, ms } })],
  [/^split-(\d+)$/, (bytes) => ({ splitBytes: bytes })],
  [/^drip-every-(\d+)$/, (ms) => ({ splitBytes: 1, intervalMs: ms })],
  [/^429-(\d+)$/, (seconds) => errorReply("rate-limit", { "retry-after": String(seconds) })],
  [/^529-(\d+)$/, (seconds) => errorReply("overloaded", { "retry-after": String(seconds) })],
];

/** The names of the table, for tests that walk all of them. */
export const BEHAVIOUR_NAMES: readonly string[] = Object.keys(NAMED);

/** The behaviour a model name asks for; null when the name is not of this kind. @throws RangeError on `mock-` and an unknown name */
export function behaviourOfModel(model: string): Behaviour | null {
  if (!model.startsWith("mock-")) return null;
  const name = model.slice("mock-".length);
  if (Object.hasOwn(NAMED, name)) return NAMED[name] ?? null;
  for (const [pattern, build] of PATTERNS) {
    const match = pattern.exec(name);
    if (match) return build(Number(match[1]), Number(match[2]));
  }
  throw new RangeError(`no behaviour is named "${name}"; see tests/providers/anthropic/named.ts`);
}
