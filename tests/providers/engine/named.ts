/** Behaviours that a call asks for by its model name, `mock-<name>`; numbers in a name are arguments. */
import {
  type Behaviour,
  bytesReply,
  jsonReply,
  type MockToolCall,
  ok,
  type ReplyBehaviour,
  VENDOR_MARK,
} from "./behaviour.ts";

export const TOOL_CALLS: readonly MockToolCall[] = [
  { name: "get_weather", arguments: '{"city":"Paris"}', signature: "c2lnbmF0dXJl" },
  { name: "get_time", arguments: '{"zone":"Europe/Paris"}' },
  { name: "lookup", arguments: '{"term":"café 🙂"}' },
];

const USAGES = ["missing", "zero", "negative", "fractional", "huge", "nan", "growing", "late"] as const;
const GIGABYTE = 1_073_741_824;
/** Has a character of several bytes in every word, wherever the cut falls. */
const ACCENTED = "Où crème café été brûlée à côté";
const HTML = `<!doctype html><html><head><title>200</title></head><body>It works, ${VENDOR_MARK}</body></html>`;
const html = { "content-type": "text/html" };
const CUT_JSON = '{"id":"cut","type":"message","choices":[{"index":0,"message":{"role":"assistant","content":"half';

export interface Naming {
  /** The vendor's errors, known by their names too. */
  readonly errors: Readonly<Record<string, ReplyBehaviour>>;
  /** Behaviours that only this dialect has; these go before the common names. */
  readonly named?: Readonly<Record<string, Behaviour>>;
  /** The body of an error inside a 200. */
  readonly streamError: string;
  /** The frame of a stream that has its first word. */
  readonly firstWord?: number;
}

/** By name, for tests that walk all of them. */
export function behavioursOf({
  errors,
  named = {},
  streamError,
  firstWord = 0,
}: Naming): Readonly<Record<string, Behaviour>> {
  /** Two words have gone out before it. */
  const frame = firstWord + 2;
  return {
    ok: {},
    // What the model says
    tools: { toolCalls: "requested" },
    "tool-without-arguments": { toolCalls: [{ name: "refresh", arguments: "" }] },
    "tools-parallel": { toolCalls: TOOL_CALLS },
    "tools-interleaved": { toolCalls: TOOL_CALLS, interleaved: true },
    "tools-invalid-json": { toolCalls: [{ name: "get_weather", arguments: '{"city":' }] },
    reasoning: { thoughts: "Let me think about it.", text: "Four." },
    ...Object.fromEntries(USAGES.map((usage) => [`usage-${usage}`, { usage }])),
    // Answers that are none
    html: { status: 200, headers: html, body: HTML },
    "html-502": { status: 502, headers: html, body: HTML },
    "cut-json": ok(CUT_JSON),
    "cut-body": { ...ok(CUT_JSON), cut: { afterBytes: 60, how: "fin" } },
    empty: ok(""),
    "empty-stream": { status: 200, headers: { "content-type": "text/event-stream" }, body: "" },
    "wrong-type": bytesReply("application/octet-stream", Buffer.from([0, 159, 146, 150])),
    "error-in-200": ok(streamError),
    redirect: jsonReply(302, "", { location: "http://127.0.0.1:1/elsewhere" }),
    "huge-1g": { kind: "huge", bytes: GIGABYTE },
    "gzip-bomb": { kind: "huge", bytes: GIGABYTE / 8, gzip: true },
    // Silence and death
    silent: "hang",
    "silent-after-head": "hang-after-head",
    reset: "reset",
    "reset-after-head": "reset-after-head",
    stall: { silence: { beforeFrame: frame, ms: Infinity } },
    // Streams that break
    fin: { cut: { frame, inside: "border", how: "fin" } },
    rst: { cut: { frame, inside: "border", how: "rst" } },
    end: { cut: { frame, inside: "border", how: "end" } },
    "cut-utf8": { text: ACCENTED, cut: { frame: firstWord + 1, inside: "utf8", how: "fin" } },
    "cut-utf8-end": { text: ACCENTED, cut: { frame: firstWord + 1, inside: "utf8", how: "end" } },
    "cut-in-json": { cut: { frame, inside: "json", how: "fin" } },
    "cut-in-json-end": { cut: { frame, inside: "json", how: "end" } },
    "cut-first": { cut: { frame: 0, inside: "border", how: "fin" } },
    "no-finish": { finishReason: null },
    "no-finish-no-end": { finishReason: null, omitEnd: true },
    "error-first": { errorFrame: 0 },
    "error-mid": { errorFrame: frame },
    endless: { endlessFrame: firstWord },
    // Streams that are odd and right
    drip: { splitBytes: 1, intervalMs: 1 },
    "no-end": { omitEnd: true },
    malformed: { malformedFrame: frame - 1 },
    comments: { comments: true },
    foreign: { foreignEvents: true },
    crlf: { eol: "\r\n" },
    cr: { eol: "\r" },
    lf: { eol: "\n" },
    bom: { bom: true },
    "multi-line": { multiLine: true },
    "no-last-newline": { omitLastNewline: true },
    "long-line": { longLineBytes: 1_048_576 },
    ...errors,
    ...named,
  };
}

type Build = (first: number, second: number, naming: Naming) => Behaviour;

const PATTERNS: readonly (readonly [RegExp, Build])[] = [
  [/^delay-(\d+)$/, (ms) => ({ delayMs: ms })],
  [/^tokens-(\d+)$/, (tokens) => ({ tokens })],
  [/^tokens-(\d+)-every-(\d+)$/, (tokens, ms) => ({ tokens, intervalMs: ms })],
  [/^silent-(\d+)$/, (ms, _, { firstWord = 0 }) => ({ silence: { beforeFrame: firstWord + 2, ms } })],
  [/^split-(\d+)$/, (bytes) => ({ splitBytes: bytes })],
  [/^slow-(\d+)$/, (ms) => ({ intervalMs: ms })],
  [/^endless-every-(\d+)$/, (ms, _, { firstWord = 0 }) => ({ endlessFrame: firstWord, intervalMs: ms })],
  [/^huge-(\d+)$/, (bytes) => ({ kind: "huge", bytes })],
  [/^429-(\d+)$/, (seconds, _, { errors }) => hinted(errors["rate-limit"], { "retry-after": String(seconds) })],
];

/** The same error with a hint of when to come back. */
export function hinted(
  error: ReplyBehaviour = jsonReply(429, {}),
  hint: Readonly<Record<string, string>>,
): ReplyBehaviour {
  return { ...error, headers: { ...error.headers, ...hint } };
}

/** The behaviour that a model's name asks for; null when the name is not of this kind. @throws RangeError on `mock-` and an unknown name */
export function behaviourNamed(model: string, naming: Naming): Behaviour | null {
  if (!model.startsWith("mock-")) return null;
  const name = model.slice("mock-".length);
  const known = behavioursOf(naming);
  if (Object.hasOwn(known, name)) return known[name] ?? null;
  for (const [pattern, build] of PATTERNS) {
    const match = pattern.exec(name);
    if (match) return build(Number(match[1]), Number(match[2]), naming);
  }
  throw new RangeError(`no behaviour is named "${name}"; see tests/providers/engine/named.ts`);
}
