import { describe, expect, test } from "bun:test";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import type { Transcript } from "#workers/providers/media.ts";
import {
  renderTranscript,
  streamTranscript,
  type TranscriptFormat,
  type TranscriptOptions,
} from "#workers/calls/transcription/formats.ts";

const TEXT_ONLY: TranscriptOptions = { wantsWords: false, wantsSegments: false };

function bodyOf(transcript: Transcript, format: TranscriptFormat, options: Partial<TranscriptOptions> = {}): string {
  return renderTranscript(transcript, format, { ...TEXT_ONLY, ...options }).body;
}

const ONE = "00:00:00,000 --> 00:00:01,000";
const segment = (text: string, start = 0, end = 1): Transcript => ({ text, segments: [{ text, start, end }] });

describe("each format", () => {
  const transcript: Transcript = {
    text: "Good morning. All of you.",
    language: "en",
    seconds: 3.744,
    words: [
      { word: "Good", start: 0.16, end: 0.4 },
      { word: "morning.", start: 0.4, end: 0.96 },
    ],
    segments: [
      { text: "Good morning.", start: 0.16, end: 0.96 },
      { text: "All of you.", start: 2.1, end: 3 },
    ],
  };
  const EMPTY = '"tokens":[],"temperature":0,"avg_logprob":0,"compression_ratio":0,"no_speech_prob":0}';

  test.each<[TranscriptFormat, string, string]>([
    ["json", "application/json", '{"text":"Good morning. All of you.","usage":{"type":"duration","seconds":4}}'],
    ["text", "text/plain; charset=utf-8", "Good morning. All of you.\n"],
    [
      "srt",
      "application/x-subrip; charset=utf-8",
      "1\n00:00:00,160 --> 00:00:00,960\nGood morning.\n\n2\n00:00:02,100 --> 00:00:03,000\nAll of you.\n\n",
    ],
    [
      "vtt",
      "text/vtt; charset=utf-8",
      "WEBVTT\n\n00:00:00.160 --> 00:00:00.960\nGood morning.\n\n00:00:02.100 --> 00:00:03.000\nAll of you.\n\n",
    ],
    [
      "verbose_json",
      "application/json",
      '{"task":"transcribe","language":"english","duration":3.744,"text":"Good morning. All of you.",' +
        '"words":[{"word":"Good","start":0.16,"end":0.4},{"word":"morning.","start":0.4,"end":0.96}],' +
        `"segments":[{"id":0,"seek":0,"start":0.16,"end":0.96,"text":"Good morning.",${EMPTY},` +
        `{"id":1,"seek":0,"start":2.1,"end":3,"text":"All of you.",${EMPTY}],` +
        '"usage":{"type":"duration","seconds":4}}',
    ],
  ])("%s is %s, byte for byte", (format, contentType, body) => {
    const options = { wantsWords: true, wantsSegments: true, usage: { seconds: 4 } };
    expect(renderTranscript(transcript, format, options)).toEqual({ body, contentType });
  });

  test("has times in whole milliseconds, for any source's precision", () => {
    const third = 1 / 3;
    const long: Transcript = {
      text: "Hi.",
      seconds: 2.000_499_9,
      words: [{ word: "Hi.", start: third, end: 2 * third }],
      segments: [{ text: "Hi.", start: third, end: 2 * third }],
    };
    const options = { wantsWords: true, wantsSegments: true, usage: { seconds: 2.000_500_1 } };
    const told = { start: 0.333, end: 0.667 };
    expect(JSON.parse(bodyOf(long, "verbose_json", options))).toMatchObject({
      duration: 2,
      words: [told],
      segments: [told],
      usage: { seconds: 2.001 },
    });
    expect(streamTranscript(long, options).at(-1)).toContain('"seconds":2.001}');
  });

  test("of silence is complete", () => {
    const silence: Transcript = { text: "", seconds: 12, words: [], segments: [] };
    const bodies = (["json", "text", "srt", "vtt", "verbose_json"] as const).map((format) =>
      bodyOf(silence, format, { wantsWords: true, wantsSegments: true }),
    );
    expect(bodies).toEqual([
      '{"text":""}',
      "\n",
      "",
      "WEBVTT\n\n",
      '{"task":"transcribe","language":"","duration":12,"text":"","words":[],"segments":[]}',
    ]);
  });
});

describe("verbose_json", () => {
  test("has words and segments on request only", () => {
    const transcript: Transcript = { ...segment("Hi."), words: [{ word: "Hi.", start: 0, end: 1 }] };
    const membersWith = (options: Partial<TranscriptOptions>): string[] =>
      Object.keys(JSON.parse(bodyOf(transcript, "verbose_json", options)) as object).slice(4);
    expect(membersWith({})).toEqual([]);
    expect(membersWith({ wantsWords: true })).toEqual(["words"]);
    expect(membersWith({ wantsSegments: true })).toEqual(["segments"]);
  });

  test("keeps the values of a Whisper model for a segment", () => {
    const details = {
      seek: 100,
      tokens: [1, 2],
      temperature: 0.2,
      avg_logprob: -0.5,
      compression_ratio: 1.5,
      no_speech_prob: 0.01,
    };
    const body = bodyOf({ text: "Hi.", segments: [{ text: "Hi.", start: 1, end: 2, details }] }, "verbose_json", {
      wantsSegments: true,
    });
    expect((JSON.parse(body) as { segments: unknown[] }).segments).toEqual([
      { id: 0, start: 1, end: 2, text: "Hi.", ...details },
    ]);
  });

  test.each([
    ["en", "english"],
    ["eng", "english"],
    ["en-US", "english"],
    ["pt-BR", "portuguese"],
    ["deu", "german"],
    ["yue", "cantonese"],
    ["english", "english"],
    ["haitian creole", "haitian creole"],
    ["xx", "xx"],
    ["en-", "en-"],
  ])("names the language %p %p", (language, expected) => {
    expect(JSON.parse(bodyOf({ text: "", language }, "verbose_json"))).toMatchObject({ language: expected });
  });

  test.each<[string, Transcript, number | undefined, number]>([
    ["as its source said", { ...segment("Hi.", 0, 1), seconds: 9.5 }, 10, 9.5],
    ["as it was billed where its source said nothing", segment("Hi.", 0, 1), 10, 10],
    ["up to the last segment where nobody said", segment("Hi.", 0, 1.5), undefined, 1.5],
    [
      "up to the last word where it has no segments",
      { text: "Hi.", words: [{ word: "Hi.", start: 0, end: 2 }] },
      undefined,
      2,
    ],
    ["nothing where it has no times at all", { text: "Hi." }, undefined, 0],
  ])("has the length %s", (_what, transcript, billed, duration) => {
    const options = billed === undefined ? {} : { usage: { seconds: billed } };
    expect(JSON.parse(bodyOf(transcript, "verbose_json", options))).toMatchObject({ duration });
  });
});

describe("usage", () => {
  const tokens = { ...NO_USAGE, input: 6, audioInput: 14, output: 5 };
  test("is tokens if those are charged", () => {
    expect(bodyOf({ text: "Hi." }, "json", { usage: { tokens, seconds: 9 } })).toBe(
      '{"text":"Hi.","usage":{"type":"tokens","input_tokens":20,' +
        '"input_token_details":{"text_tokens":6,"audio_tokens":14},"output_tokens":5,"total_tokens":25}}',
    );
  });

  test("is omitted if it is unknown", () => {
    expect(bodyOf({ text: "Hi." }, "json", { usage: {} })).toBe('{"text":"Hi."}');
  });
});

describe("times", () => {
  test.each([
    [0, "00:00:00,000"],
    [0.0004, "00:00:00,000"],
    [0.0005, "00:00:00,001"],
    [0.9994, "00:00:00,999"],
    [0.9996, "00:00:01,000"],
    [59.9996, "00:01:00,000"],
    [61.001, "00:01:01,001"],
    [3_599.9999, "01:00:00,000"],
    [3_661.5, "01:01:01,500"],
    [36_000, "10:00:00,000"],
    [359_999.999, "99:59:59,999"],
    [360_000, "100:00:00,000"],
    [36.709999084472656, "00:00:36,710"],
  ])("of %p seconds are %s, with a comma or a point", (seconds, expected) => {
    const transcript = segment("x", seconds, seconds);
    expect(bodyOf(transcript, "srt")).toBe(`1\n${expected} --> ${expected}\nx\n\n`);
    const point = expected.replace(",", ".");
    expect(bodyOf(transcript, "vtt")).toBe(`WEBVTT\n\n${point} --> ${point}\nx\n\n`);
  });
});

describe("text of subtitles", () => {
  test.each([
    ["a --> b", "a -> b", "a --&gt; b"],
    ["a ---> b", "a -> b", "a ---&gt; b"],
    ["-->-->", "->->", "--&gt;--&gt;"],
    ["a -> b", "a -> b", "a -&gt; b"],
    ["<i>R&D</i>", "<i>R&D</i>", "&lt;i&gt;R&amp;D&lt;/i&gt;"],
    ["&lt;", "&lt;", "&amp;lt;"],
    ["one\ntwo", "one two", "one two"],
    ["one\r\n\r\ntwo", "one two", "one two"],
    [
      "one \n\n 2\n00:00:00,000 --> 00:00:09,000\nfake",
      "one 2 00:00:00,000 -> 00:00:09,000 fake",
      "one 2 00:00:00,000 --&gt; 00:00:09,000 fake",
    ],
    ["one\u2028two\u0085three", "one two three", "one two three"],
    ["  padded\t", "padded", "padded"],
    ["Grüße 👋 早上好", "Grüße 👋 早上好", "Grüße 👋 早上好"],
  ])("%j is safe in both", (text, srt, vtt) => {
    expect(bodyOf(segment(text), "srt")).toBe(`1\n${ONE}\n${srt}\n\n`);
    expect(bodyOf(segment(text), "vtt")).toBe(`WEBVTT\n\n${ONE.replaceAll(",", ".")}\n${vtt}\n\n`);
  });

  test("is unchanged in the other formats", () => {
    const transcript = segment("one\n--> <two>");
    expect(bodyOf(transcript, "text")).toBe("one\n--> <two>\n");
    expect(bodyOf(transcript, "json")).toBe('{"text":"one\\n--> <two>"}');
  });

  test("that is empty has no cue, and the numbers have no gap", () => {
    const pieces = ["a", " \n", "b"].map((text, at) => ({ text, start: at, end: at + 1 }));
    expect(bodyOf({ text: "a b", segments: pieces }, "srt")).toBe(
      "1\n00:00:00,000 --> 00:00:01,000\na\n\n2\n00:00:02,000 --> 00:00:03,000\nb\n\n",
    );
  });
});

describe("cues built from words", () => {
  /** Words of a text, a quarter of a second each, one after the other but for pauses. */
  function spoken(text: string, words = text.split(/\s+/), pauses: Readonly<Record<number, number>> = {}): Transcript {
    let at = 0;
    const timed = words.map((word, index) => {
      at += pauses[index] ?? 0;
      at += 0.25;
      return { word, start: at - 0.25, end: at };
    });
    return { text, words: timed };
  }
  const pieces = (transcript: Transcript): string[] =>
    (
      JSON.parse(bodyOf(transcript, "verbose_json", { wantsSegments: true })) as { segments: { text: string }[] }
    ).segments.map(({ text }) => text);

  test("have the times of their first and last word", () => {
    const transcript = spoken("Good morning, all of you.");
    expect(bodyOf(transcript, "srt")).toBe("1\n00:00:00,000 --> 00:00:01,250\nGood morning, all of you.\n\n");
  });

  test("have the punctuation of the text, which the words of Whisper lack", () => {
    const transcript = spoken("It studied Jupiter, its moons – and more.", [
      "It",
      "studied",
      "Jupiter",
      "its",
      "moons",
      "and",
      "more",
    ]);
    expect(pieces(transcript)).toEqual(["It studied Jupiter, its moons – and more."]);
  });

  test("end with a sentence, but not with an abbreviation such as Mr.", () => {
    expect(pieces(spoken("Mr. Smith went to Washington. “He stayed there for long.” Did he?"))).toEqual([
      "Mr. Smith went to Washington.",
      "“He stayed there for long.”",
      "Did he?",
    ]);
  });

  test("end with a pause", () => {
    expect(pieces(spoken("one two three four", undefined, { 2: 0.8, 3: 0.79 }))).toEqual(["one two", "three four"]);
  });

  test("are no longer than two lines and seven seconds", () => {
    const long = spoken(Array.from({ length: 60 }, () => "abcdefghij").join(" "));
    expect(Math.max(...pieces(long).map(({ length }) => length))).toBeLessThanOrEqual(84);
    const slow = spoken(Array.from({ length: 60 }, () => "a").join(" "));
    expect(pieces(slow).map((piece) => piece.split(" ").length)).toEqual([28, 28, 4]);
  });

  test("are together the complete text", () => {
    const text = "It was, in short: a test… of all that one says; «and» nothing is lost?! No. 1,000 times — no!";
    const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
    expect(pieces(spoken(text, words)).join(" ")).toBe(text);
  });

  test("contain words that the text spells differently", () => {
    const words = ["I", "owe", "you", "twenty", "dollars", "my", "friend"];
    expect(pieces(spoken("I owe you $20, my friend.", words))).toEqual(["I owe you $20, my friend."]);
  });

  test("are joined from the words if the text differs", () => {
    expect(pieces({ ...spoken("one two three"), text: "entirely different" })).toEqual(["one two three"]);
    expect(pieces({ ...spoken("早 上 好 Bob 早"), text: "" })).toEqual(["早上好 Bob 早"]);
  });

  test("split a text without spaces at its words", () => {
    expect(pieces(spoken("早上好大家好", ["早上", "好", "大家", "好"], { 2: 1 }))).toEqual(["早上好", "大家好"]);
  });

  test("are not built if the source has its own segments", () => {
    const transcript = { ...spoken("one two", undefined, { 1: 5 }), segments: [{ text: "one two", start: 0, end: 9 }] };
    expect(bodyOf(transcript, "srt")).toBe("1\n00:00:00,000 --> 00:00:09,000\none two\n\n");
  });

  test("of no words are one, with the length of the audio", () => {
    expect(bodyOf({ text: "All of it.", seconds: 4.5 }, "srt")).toBe(
      "1\n00:00:00,000 --> 00:00:04,500\nAll of it.\n\n",
    );
  });

  test("of a day of speech are built in a moment", () => {
    const words = Array.from({ length: 200_000 }, (_, at) => `w${at}`);
    expect(pieces(spoken(words.join(" "), words)).join(" ")).toHaveLength(words.join(" ").length);
  });
});
