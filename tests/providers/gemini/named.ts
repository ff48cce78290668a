/** Behaviours that a call asks for by its model name, `mock-<name>`; numbers in a name are arguments. */
import type { Behaviour, MockCall, UsageReport } from "./behaviour.ts";
import { ERROR_NAMES, errorReply } from "./errors.ts";

export const PARALLEL: readonly MockCall[] = [
  { name: "get_weather", args: { city: "Paris" }, signature: "c2lnbmF0dXJl" },
  { name: "get_time", args: { zone: "Europe/Paris" } },
  { name: "lookup", args: { term: "café 🙂" } },
];

const USAGES = [
  "late",
  "missing",
  "empty",
  "zero",
  "negative",
  "fractional",
  "huge",
  "text",
] as const satisfies readonly UsageReport[];

/** Finish reasons by the name of a model, `mock-finish-safety`. */
const FINISHES = ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "MALFORMED_FUNCTION_CALL", "OTHER", "MAX_TOKENS"];

const HTML = "<!doctype html><html><head><title>200</title></head><body>It works, vendor-internal-detail</body></html>";
const CUT_JSON = '{"candidates":[{"content":{"parts":[{"text":"half';

const NAMED: Readonly<Record<string, Behaviour>> = {
  ok: {},
  "tool-call": { toolCalls: PARALLEL.slice(0, 1) },
  "tool-bare": { toolCalls: [{ name: "read_theme" }] },
  tools: { toolCalls: PARALLEL },
  "tools-partial": { toolCalls: PARALLEL, partialArguments: true },
  "tools-said": { text: "Let me look.", toolCalls: PARALLEL.slice(0, 1) },
  "needs-signatures": { needsSignatures: true },
  thoughts: { thoughts: "Count the letters first.", text: "Three." },
  blocked: { blockReason: "PROHIBITED_CONTENT" },
  ...Object.fromEntries(
    FINISHES.map((word) => [`finish-${word.toLowerCase()}`, { text: "It goes", finishReason: word }]),
  ),
  "finish-safety-empty": { text: "", finishReason: "SAFETY" },
  ...Object.fromEntries(USAGES.map((usage) => [`usage-${usage}`, { usage }])),
  ...Object.fromEntries(ERROR_NAMES.map((name) => [name, errorReply(name)])),
  html: { kind: "reply", status: 200, headers: { "content-type": "text/html" }, body: HTML },
  "html-502": { kind: "reply", status: 502, headers: { "content-type": "text/html" }, body: HTML },
  "cut-json": { kind: "reply", status: 200, headers: { "content-type": "application/json" }, body: CUT_JSON },
  "cut-body": {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: CUT_JSON,
    cut: { afterBytes: 20, how: "fin" },
  },
  empty: { kind: "reply", status: 200, headers: { "content-type": "application/json" }, body: "" },
  "empty-stream": { kind: "reply", status: 200, headers: { "content-type": "text/event-stream" }, body: "" },
  "error-in-200": {
    kind: "reply",
    status: 200,
    headers: { "content-type": "application/json" },
    body: errorReply("internal").body,
  },
  redirect: { kind: "reply", status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" }, body: "" },
  silent: { kind: "hang" },
  "silent-after-head": { kind: "hang", after: "head" },
  stall: { silence: { beforeFrame: 3, ms: Infinity } },
  reset: { kind: "reset" },
  "reset-after-head": { kind: "reset", after: "head" },
  fin: { cut: { frame: 3, inside: "border", how: "fin" } },
  rst: { cut: { frame: 3, inside: "border", how: "rst" } },
  end: { cut: { frame: 3, inside: "border", how: "end" } },
  "cut-in-json": { cut: { frame: 3, inside: "json", how: "fin" } },
  "cut-in-json-end": { cut: { frame: 3, inside: "json", how: "end" } },
  "no-finish": { finishReason: null },
  "error-first": { errorFrame: 0 },
  "error-mid": { errorFrame: 3 },
  endless: { endless: true },
  malformed: { malformedFrame: 2 },
  comments: { comments: true },
  "multi-line": { multiLine: true },
  lf: { eol: "\n" },
};

const PATTERNS: readonly [RegExp, (value: number) => Behaviour][] = [
  [/^delay-(\d+)$/, (ms) => ({ delayMs: ms })],
  [/^split-(\d+)$/, (bytes) => ({ splitBytes: bytes })],
  [/^slow-(\d+)$/, (ms) => ({ intervalMs: ms })],
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
    if (match) return build(Number(match[1]));
  }
  throw new RangeError(`no behaviour is named "${name}"; see tests/providers/gemini/named.ts`);
}
