import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { ProviderError } from "#workers/providers/provider.ts";
import { type SseEvent, SseParser, SSE_LINE_BYTES_MAX } from "#workers/providers/sse.ts";

const encoder = new TextEncoder();

/** All events of a stream whose bytes arrive in these pieces. */
function parse(...pieces: readonly Uint8Array[]): SseEvent[] {
  const parser = new SseParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

function parseText(text: string): SseEvent[] {
  return parse(encoder.encode(text));
}

const message = (...data: readonly string[]): SseEvent[] => data.map((line) => ({ event: "", data: line }));

const STREAMS: readonly [string, string, SseEvent[]][] = [
  ["LF", "data: a\n\ndata: b\n\n", message("a", "b")],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", message("a", "b")],
  ["CR", "data: a\r\rdata: b\r\r", message("a", "b")],
  ["all line ends in one stream", "data: a\n\r\ndata: b\r\n\rdata: c\r\r\n", message("a", "b", "c")],
  ["characters of two, three and four bytes", "data: é€🙂\n\ndata: 日本\n\n", message("é€🙂", "日本")],
  ["a byte-order mark", "\uFEFFdata: a\n\n", message("a")],
  ["a byte-order mark that is not at the start is text", "data: \uFEFFa\n\n", message("\uFEFFa")],
  ["comments", ": hello\n\n:\n: OPENROUTER PROCESSING\ndata: a\n: in between\ndata: b\n\n", message("a\nb")],
  ["several data lines", 'data: {"a":\ndata: 1}\n\n', message('{"a":\n1}')],
  ["one blank after the colon goes, the second stays", "data:a\ndata: b\ndata:  c\n\n", message("a\nb\n c")],
  ["data without a value", "data\n\ndata:\n\n", message("", "")],
  ["a missing last newline", "data: a\n\ndata: b", message("a", "b")],
  ["a last event without its blank line", "data: a\n\ndata: b\n", message("a", "b")],
  ["a last line that ends in CR", "data: a\r", message("a")],
  ["event names, for their own event only", "event: ping\ndata: 1\n\ndata: 2\n\n", [{ event: "ping", data: "1" }, { event: "", data: "2" }]], // prettier-ignore
  ["an event name without data is no event", "event: ping\n\ndata: 1\n\n", message("1")],
  ["unknown fields", "id: 7\nretry: 3000\nfoo: bar\nfoo\ndata: a\n\n", message("a")],
  ["a colon in the value", "data: a: b\n\n", message("a: b")],
  ["blank lines alone", "\n\n\r\n\r\r", []],
  ["nothing", "", []],
];

describe("the event parser", () => {
  test.each(STREAMS)("reads %s", (_name, text, events) => {
    expect(parseText(text)).toEqual(events);
  });

  test.each(STREAMS)("returns the same events for every split of the bytes: %s", (_name, text, events) => {
    const bytes = encoder.encode(text);
    for (let at = 0; at <= bytes.length; at++) expect(parse(bytes.subarray(0, at), bytes.subarray(at))).toEqual(events);
    expect(parse(...Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)))).toEqual(events);
  });

  test("returns the same events for any stream in any pieces", () => {
    const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
    const value = fc.string({ unit: fc.constantFrom("a", " ", ":", "é", "€", "🙂", "\uFEFF", "{", '"'), maxLength: 8 });
    const line = fc.oneof(
      value.map((text) => `data: ${text}`),
      value.map((text) => `data:${text}`),
      value.map((text) => `event: ${text}`),
      value.map((text) => `:${text}`),
      value,
      fc.constant(""),
    );
    const stream = fc.array(
      fc.tuple(line, lineEnd).map((parts) => parts.join("")),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (lines, places) => {
        const bytes = encoder.encode(lines.join(""));
        const cuts = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
        const pieces = cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
        expect(parse(...pieces)).toEqual(parse(bytes));
      }),
    );
  });

  test("returns an event with the bytes that end it, for every line end", () => {
    for (const eol of ["\n", "\r\n", "\r"]) {
      const parser = new SseParser();
      expect(parser.push(encoder.encode(`data: a${eol}${eol}`))).toEqual(message("a"));
      expect(parser.push(encoder.encode(`data: b${eol}`))).toEqual([]);
      expect(parser.push(encoder.encode(eol))).toEqual(message("b"));
      expect(parser.end()).toEqual([]);
    }
  });

  test("a split inside a character becomes a replacement character, without an error", () => {
    expect(parse(encoder.encode("data: caf\u00e9").subarray(0, -1))).toEqual(message("caf\uFFFD"));
  });
});

describe("a long line", () => {
  const megabyte = "x".repeat(1_048_576);

  test("of 1 MB is read, complete and in pieces", () => {
    const bytes = encoder.encode(`data: ${megabyte}\n\ndata: [DONE]\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1_021) }, (_, at) =>
      bytes.subarray(at * 1_021, (at + 1) * 1_021),
    );
    for (const events of [parse(bytes), parse(...pieces)]) {
      expect(events.map(({ data }) => data.length)).toEqual([megabyte.length, "[DONE]".length]);
    }
  });

  test("over the limit is rejected, with and without a visible end", () => {
    const line = `data: ${"x".repeat(SSE_LINE_BYTES_MAX)}`;
    for (const text of [line, `${line}\n`, `${line}\n\ndata: next\n\n`]) {
      expect(() => void parseText(text)).toThrow(ProviderError);
      const bytes = encoder.encode(text);
      const half = bytes.length >> 1;
      expect(() => void parse(bytes.subarray(0, half), bytes.subarray(half))).toThrow(ProviderError);
    }
  });

  test("an event of endless data lines is rejected at the same limit", () => {
    const parser = new SseParser();
    const lines = encoder.encode(`data: ${megabyte}\n`);
    expect(() => {
      for (let sent = 0; sent <= SSE_LINE_BYTES_MAX; sent += megabyte.length) parser.push(lines);
    }).toThrow(ProviderError);
  });

  test("many events of together more than the limit are accepted", () => {
    const parser = new SseParser();
    const event = encoder.encode(`data: ${megabyte}\n\n`);
    for (let count = 0; count < 6; count++) expect(parser.push(event)).toHaveLength(1);
  });
});
