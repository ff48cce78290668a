/** Behaviours that a request asks for by its model name, `mock-<name>`; numbers in a name are arguments. */
import type { Behaviour, ChatBehaviour, UsageReport } from "./behaviour.ts";
import { ERROR_NAMES, errorReply } from "./errors.ts";

const WEATHER = [
  { name: "get_weather", arguments: '{"city":"Paris"}' },
  { name: "get_time", arguments: '{"zone":"Europe/Paris"}' },
  { name: "lookup", arguments: '{"term":"café 🙂"}' },
] as const;

const USAGES = [
  "details",
  "missing",
  "null",
  "zero",
  "negative",
  "fractional",
  "huge",
  "nan",
  "bare-nan",
  "growing",
] as const satisfies readonly UsageReport[];

const GIGABYTE = 1_073_741_824;

/** Has a character of several bytes in every word, wherever the cut falls. */
const ACCENTED = "Où crème café été brûlée à côté";

const HTML = "<!doctype html><html><head><title>200</title></head><body>It works, vendor-internal-detail</body></html>";
const CUT_JSON =
  '{"id":"chatcmpl-cut","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"half';

const NAMED: Readonly<Record<string, Behaviour>> = {
  ok: {},
  // What the model says
  tools: { toolCalls: "requested" },
  "tool-call": { toolCalls: [WEATHER[0]] },
  "tools-parallel": { toolCalls: WEATHER },
  "tools-interleaved": { toolCalls: WEATHER, interleaved: true },
  "tools-invalid-json": { toolCalls: [{ name: "get_weather", arguments: '{"city":' }] },
  refusal: { refusal: "I cannot help with that." },
  reasoning: { reasoning: "Let me think about it.", text: "Four.", usage: "details" },
  "content-filter": { text: "This goes on until", finishReason: "content_filter" },
  length: { text: "This is cut by the limit of", finishReason: "length" },
  ...Object.fromEntries(USAGES.map((usage) => [`usage-${usage}`, { usage } satisfies ChatBehaviour])),
  // Statuses
  ...Object.fromEntries(ERROR_NAMES.map((name) => [name, errorReply(name)])),
  "429-ms": errorReply("rate-limit", { "retry-after-ms": "150" }),
  "429-date": errorReply("rate-limit", { "retry-after": "Wed, 21 Oct 2065 07:28:00 GMT" }),
  "should-not-retry": errorReply("overloaded", { "x-should-retry": "false" }),
  // Answers that are none
  html: { kind: "reply", status: 200, headers: { "content-type": "text/html" }, body: HTML },
  "html-502": { kind: "reply", status: 502, headers: { "content-type": "text/html" }, body: HTML },
  "cut-json": { kind: "reply", status: 200, headers: { "content-type": "application/json" }, body: CUT_JSON },
  "cut-body": {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: CUT_JSON,
    cut: { afterBytes: 60, how: "fin" },
  },
  empty: { kind: "reply", status: 200, headers: { "content-type": "application/json" }, body: "" },
  "empty-stream": { kind: "reply", status: 200, headers: { "content-type": "text/event-stream" }, body: "" },
  "wrong-type": {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/octet-stream" },
    body: Buffer.from([0, 159, 146, 150]),
  },
  "error-in-200": {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: errorReply("server-error").body,
  },
  redirect: { kind: "reply", status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" }, body: "" },
  "huge-1g": { kind: "huge", bytes: GIGABYTE },
  "gzip-bomb": { kind: "huge", bytes: GIGABYTE / 8, gzip: true },
  // Silence and death
  silent: { kind: "hang" },
  "silent-after-head": { kind: "hang", after: "head" },
  reset: { kind: "reset" },
  "reset-after-head": { kind: "reset", after: "head" },
  stall: { silence: { beforeFrame: 3, ms: Infinity } },
  // Streams that break
  fin: { cut: { frame: 3, inside: "border", how: "fin" } },
  rst: { cut: { frame: 3, inside: "border", how: "rst" } },
  "cut-utf8": { text: ACCENTED, cut: { frame: 2, inside: "utf8", how: "fin" } },
  "cut-utf8-end": { text: ACCENTED, cut: { frame: 2, inside: "utf8", how: "end" } },
  "cut-in-json": { cut: { frame: 3, inside: "json", how: "fin" } },
  "cut-in-json-end": { cut: { frame: 3, inside: "json", how: "end" } },
  "cut-first": { cut: { frame: 0, inside: "border", how: "fin" } },
  "no-done": { omitDone: true },
  "no-finish": { finishReason: null },
  "no-finish-no-done": { finishReason: null, omitDone: true },
  "error-first": { errorFrame: 0 },
  "error-mid": { errorFrame: 3 },
  endless: { endless: true },
  drip: { splitBytes: 1, intervalMs: 1 },
  // Streams that are odd and right
  repeat: { repeatFrame: 2 },
  malformed: { malformedFrame: 2 },
  comments: { comments: true },
  foreign: { foreignEvents: true },
  "event-name": { eventName: "message" },
  crlf: { eol: "\r\n" },
  cr: { eol: "\r" },
  bom: { bom: true },
  "multi-line": { multiLine: true },
  "no-last-newline": { omitLastNewline: true },
  "long-line": { longLineBytes: 1_048_576 },
};

const PATTERNS: readonly [RegExp, (first: number, second: number) => Behaviour][] = [
  [/^delay-(\d+)$/, (ms) => ({ delayMs: ms })],
  [/^tokens-(\d+)$/, (tokens) => ({ tokens })],
  [/^tokens-(\d+)-every-(\d+)$/, (tokens, ms) => ({ tokens, intervalMs: ms })],
  [/^silent-(\d+)$/, (ms) => ({ silence: { beforeFrame: 3, ms } })],
  [/^split-(\d+)$/, (bytes) => ({ splitBytes: bytes })],
  [/^drip-every-(\d+)$/, (ms) => ({ splitBytes: 1, intervalMs: ms })],
  [/^endless-every-(\d+)$/, (ms) => ({ endless: true, intervalMs: ms })],
  [/^429-(\d+)$/, (seconds) => errorReply("rate-limit", { "retry-after": String(seconds) })],
  [/^huge-(\d+)$/, (bytes) => ({ kind: "huge", bytes })],
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
  throw new RangeError(`no behaviour is named "${name}"; see tests/providers/openai-compatible/named.ts`);
}
