/** The audit itself: each kind of lie must be found, or every fault test would pass for nothing. */
import { describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { answerFaults } from "./audit.ts";
import { type Answer, DONE } from "./client.ts";

const CHUNK = '{"id":"c","choices":[{"delta":{"content":"hi"}}]}';
const ENVELOPE = '{"error":{"message":"m","type":"server_error","code":"internal_error","param":null}}';
const priced = (credits: number): string => JSON.stringify({ choices: [], usage: { credits } });
const paid = { status: "succeeded", settled: 1_000_000_000n } as const;
const free = { status: "failed", settled: 0n } as const;

function answer(change: Partial<Answer> & { head?: Record<string, string> }): Answer {
  const { head = {}, ...rest } = change;
  return {
    status: 200,
    headers: new Headers({ "x-request-id": newId(), ...head }),
    body: "{}",
    frames: [],
    comments: 0,
    isStream: false,
    isCut: false,
    hasLeft: false,
    endedAt: 0,
    ...rest,
  };
}

const stream = (...frames: string[]): Partial<Answer> => ({ isStream: true, frames });

describe("the audit finds nothing wrong with", () => {
  test.each<[string, Answer, Parameters<typeof answerFaults>[1]]>([
    ["a plain answer at its price", answer({ head: { "x-credits-used": "1" } }), paid],
    ["a whole stream", answer(stream(CHUNK, DONE)), paid],
    ["a plain answer that states its price", answer({ head: { "x-credits-used": "1" }, body: priced(1) }), paid],
    ["a stream that states its price", answer(stream(CHUNK, priced(1), DONE)), paid],
    ["a stream that broke off with an error frame", answer(stream(CHUNK, ENVELOPE)), { ...paid, status: "lost" }],
    ["a stream that was cut", answer({ ...stream(CHUNK), isCut: true }), { ...paid, status: "cancelled" }],
    ["an error in the envelope", answer({ status: 500, body: ENVELOPE }), free],
    [
      "a paid error that must not be resent",
      answer({ status: 500, body: ENVELOPE, head: { "x-should-retry": "false" } }),
      paid,
    ],
    ["no answer at all", answer({ status: 0, isCut: true, headers: new Headers() }), undefined],
  ])("%s", (_name, given, row) => {
    expect(answerFaults(given, row)).toEqual([]);
  });
});

describe("the audit finds", () => {
  test.each<[string, Answer, Parameters<typeof answerFaults>[1]]>([
    ["an answer without a request id", answer({ headers: new Headers({ "x-credits-used": "1" }) }), paid],
    ["an answer without a usage record", answer({ head: { "x-credits-used": "1" } }), undefined],
    ["an answer whose record says it failed", answer({ head: { "x-credits-used": "0" } }), free],
    ["an answer with another price than was settled", answer({ head: { "x-credits-used": "2" } }), paid],
    [
      "an answer that states another price than was settled",
      answer({ head: { "x-credits-used": "1" }, body: priced(2) }),
      paid,
    ],
    ["a stream that states another price than was settled", answer(stream(CHUNK, priced(2), DONE)), paid],
    ["half an answer", answer({ body: '{"id":', head: { "x-credits-used": "1" } }), paid],
    ["a broken stream that says [DONE]", answer(stream(CHUNK, ENVELOPE, DONE)), paid],
    ["a cut stream that says [DONE]", answer({ ...stream(CHUNK, DONE), isCut: true }), paid],
    ["frames behind [DONE]", answer(stream(DONE, CHUNK)), paid],
    ["a stream that ends without a word", answer(stream(CHUNK)), paid],
    ["a stream with two error frames", answer(stream(ENVELOPE, ENVELOPE)), paid],
    ["a stream without a usage record", answer(stream(CHUNK, DONE)), undefined],
    ["a whole stream whose record says it was lost", answer(stream(CHUNK, DONE)), { ...paid, status: "lost" }],
    ["an error that is no JSON", answer({ status: 502, body: "<html>" }), free],
    ["an error of another shape", answer({ status: 500, body: '{"message":"m"}' }), free],
    ["an error without `param`", answer({ status: 500, body: ENVELOPE.replace(',"param":null', "") }), free],
    ["a code we do not have", answer({ status: 500, body: ENVELOPE.replace("internal_error", "oops") }), free],
    [
      "a code under another type",
      answer({ status: 500, body: ENVELOPE.replace("server_error", "quota_exceeded") }),
      free,
    ],
    ["a code under another status", answer({ status: 503, body: ENVELOPE }), free],
    ["an error frame of another shape", answer(stream(CHUNK, '{"error":"m"}')), paid],
    ["a paid error that may be resent", answer({ status: 500, body: ENVELOPE }), paid],
    [
      "a refusal that was billed",
      answer({
        status: 402,
        body: ENVELOPE.replace("server_error", "quota_exceeded").replace("internal_error", "insufficient_credits"),
      }),
      paid,
    ],
  ])("%s", (_name, given, row) => {
    expect(answerFaults(given, row)).not.toEqual([]);
  });
});
