/**
 * Fault: a provider's event stream is broken or odd. Injection: the same answer in each family's frames, bent byte by
 * byte: FIN, RST and a tidy end between frames, inside JSON and inside a character; no end marker, a repeated chunk,
 * foreign events, a line of 1 MB, CRLF, CR, BOM, comments, an error as first frame. Expected: what is odd
 * only is whole for the client and billed by the provider's report; what breaks before the first content has a true status
 * and is free, or goes to the next source; what breaks later ends in an error frame without [DONE], billed for what came.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import { VENDOR_MARK } from "../providers/engine/behaviour.ts";
import { audit } from "./audit.ts";
import type { Bed } from "./bed.ts";
import { DONE, errorCode, streamedText } from "./client.ts";
import { FAMILIES, type FamilyName, PROVIDER_IDS } from "./families.ts";
import { isServed } from "./load.ts";
import { costOf, probe } from "./probe.ts";
import { offerModels, sharedBed } from "./provider-bed.ts";
import {
  frameText,
  PROMPT_TOKENS,
  type RawAnswer,
  rawAnswer,
  rawError,
  type RawFrame,
  rawStream,
  type StreamEnd,
} from "./raw-stream.ts";
import { eventually } from "./wait.ts";

const WORDS = ["Où ", "crème ", "café ", "été ", "brûlée ", "à côté 🙂"];
const DELIVERED = WORDS.slice(0, 3);
/** So that what came before a break is on its way when it comes. */
const PACE_MS = 15;
const MEGABYTE = 1_048_576;

/** The frame of the fourth word is not sent, or only its beginning. */
const PLACES: Readonly<Record<string, (next: string) => Uint8Array>> = {
  "between two frames": () => new Uint8Array(),
  "inside JSON": (next) => Buffer.from(next.slice(0, next.indexOf("été") - 4)),
  "inside a character": (next) => Buffer.from(next.slice(0, next.indexOf("été") + 1)).subarray(0, -1),
};
const ENDS: readonly StreamEnd[] = ["fin", "rst", "end"];
const BREAKS = Object.keys(PLACES).flatMap((place) =>
  ENDS.flatMap((how) => FAMILIES.map((family) => ({ place, how, family }))),
);

const texts = (frames: readonly RawFrame[]): string[] => frames.map((frame) => frameText(frame));
const all = ({ opening, words, closing, end }: RawAnswer): RawFrame[] => [...opening, ...words, ...closing, ...end];
const padded = ({ event, data }: RawFrame): RawFrame => ({
  ...(event === undefined ? {} : { event }),
  data: `${data.slice(0, -1)},"padding":"${"x".repeat(MEGABYTE)}"}`,
});
const bytesOf = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));

/** Pieces of a stream that is odd and right. */
const ODDITIES: Readonly<Record<string, (answer: RawAnswer) => readonly (string | Uint8Array)[]>> = {
  "no end marker": ({ opening, words, closing }) => texts([...opening, ...words, ...closing]),
  "foreign events": (answer) =>
    texts(all(answer)).map((text) => `event: novelty\nid: 7\nretry: 10\ndata: {"type":"novelty"}\n\n${text}`),
  "another name on every event": (answer) => all(answer).map(({ data }) => frameText({ event: "delta", data })),
  comments: (answer) => texts(all(answer)).map((text) => `: working\n\n:\n${text}`),
  "a comment of 1 MB": (answer) => [`:${"x".repeat(MEGABYTE)}\n\n`, ...texts(all(answer))],
  "a line of 1 MB": ({ opening, words: [first, ...words], closing, end }) =>
    texts([...opening, ...(first ? [padded(first)] : []), ...words, ...closing, ...end]),
  CRLF: (answer) => all(answer).map((frame) => frameText(frame, "\r\n")),
  CR: (answer) => all(answer).map((frame) => frameText(frame, "\r")),
  "a byte-order mark": (answer) => [`\uFEFF${texts(all(answer)).join("")}`],
  "data over several lines": (answer) => all(answer).map((frame) => frameText(frame, "\n", true)),
  "no newline at the end": (answer) => [texts(all(answer)).join("").trimEnd()],
  "a malformed event": ({ opening, words, closing, end }) =>
    texts([...opening, ...words.slice(0, 2), { data: '{"half":[{' }, ...words.slice(2), ...closing, ...end]),
  "everything in one piece": (answer) => [texts(all(answer)).join("")],
  "a byte at a time": (answer) => bytesOf(texts(all(answer)).join("")),
};

/** Pieces of a stream that breaks before any content. */
const FALSE_STARTS: Readonly<Record<string, (family: FamilyName) => readonly [readonly string[], StreamEnd]>> = {
  "an error as the first frame": (family) => [texts([rawError(family)]), "end"],
  "an error behind the opening": (family) => [texts([...rawAnswer(family, WORDS).opening, rawError(family)]), "end"],
  "a FIN behind the opening": (family) => [texts(rawAnswer(family, WORDS).opening), "fin"],
  "a RST behind the opening": (family) => [texts(rawAnswer(family, WORDS).opening), "rst"],
  "a tidy end behind the opening": (family) => [texts(rawAnswer(family, WORDS).opening), "end"],
  "a FIN behind the head": () => [[], "fin"],
  "a RST behind the head": () => [[], "rst"],
  "nothing at all": () => [[], "end"],
  "comments alone": () => [[": working\n\n", ": still\n\n"], "end"],
  "malformed events alone": () => [["data: {\n\n", 'data: "text"\n\n', "data: 7\n\n"], "end"],
  "an end marker alone": (family) => [texts(rawAnswer(family, WORDS).end), "end"],
};

const each = (names: readonly string[]): { what: string; family: FamilyName }[] =>
  names.flatMap((what) => FAMILIES.map((family) => ({ what, family })));

offerModels({
  models: FAMILIES.flatMap((family) => [
    { slug: `${family}-raw`, sources: [`${family}/raw`] },
    { slug: `${family}-raw-twice`, sources: [`${family}/raw`, `${family}/mock-ok`] },
  ]),
});

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

/** Resolves when the client of the call that is made next has this much: then the service has read it. */
function untilClientHas(text: string, mark = ""): () => Promise<unknown> {
  const at = bed.client.answers.length;
  return () =>
    eventually(`the client has "${text}"`, () => {
      const answer = bed.client.answers[at];
      return answer && streamedText(answer) === text && answer.frames.some((frame) => frame.includes(mark));
    });
}

describe("a stream that is interrupted after its first content", () => {
  /** Checks what was delivered, and what the books say of it. */
  async function isCut(family: FamilyName): Promise<void> {
    const { answer, text, tried, usage, entries } = await probe(bed, `${family}-raw`, "streamed");
    expect([answer.status, errorCode(answer), text]).toEqual([200, "upstream_error", DELIVERED.join("")]);
    expect(answer.frames).not.toContain(DONE);
    expect(answer.body).not.toContain(VENDOR_MARK);
    expect(tried).toEqual([`${family}/raw`]);
    // Gemini reports with every event; of the others nothing is known but what was delivered.
    const counted = (await loadTokenizer()).count(DELIVERED.join(""));
    const output = family === "gemini" ? DELIVERED.length : counted;
    expect(usage).toMatchObject({ status: "failed", is_estimated: family !== "gemini" });
    expect(usage.units["output_tokens"]).toBe(output);
    expect(usage.settled).toBe(costOf(usage));
    expect(entries).toBe(1);
  }

  test.each(BREAKS)("by $how $place ends in an error frame ($family)", async ({ place, how, family }) => {
    const { opening, words } = rawAnswer(family, WORDS);
    const rest = PLACES[place]?.(frameText(words[3] ?? { data: "" })) ?? "";
    const pieces = [...texts([...opening, ...words.slice(0, 3)]), rest];
    bed.upstreams[family].next(rawStream(pieces, how, PACE_MS, untilClientHas(DELIVERED.join(""))));
    await isCut(family);
  });

  test.each(FAMILIES)("by an error event ends in our own error frame (%s)", async (family) => {
    const { opening, words } = rawAnswer(family, WORDS);
    const frames = [...opening, ...words.slice(0, 3), rawError(family), ...words.slice(3)];
    bed.upstreams[family].next(rawStream(texts(frames), "end", PACE_MS));
    await isCut(family);
  });

  test.each(FAMILIES)("without a finish reason ends in an error frame (%s)", async (family) => {
    const { opening, words, end } = rawAnswer(family, WORDS);
    // The end marker of OpenAI's dialect alone makes an answer whole (tests/providers/openai-compatible/endings.test.ts).
    const last = family === "openai" ? [] : end;
    bed.upstreams[family].next(rawStream(texts([...opening, ...words.slice(0, 3), ...last]), "end", PACE_MS));
    await isCut(family);
  });
});

describe("an unusual but valid stream", () => {
  test.each(each(Object.keys(ODDITIES)))("is complete: $what ($family)", async ({ what, family }) => {
    const pieces = ODDITIES[what]?.(rawAnswer(family, WORDS)) ?? [];
    bed.upstreams[family].next(rawStream(pieces, "end"));
    const { answer, text, usage } = await probe(bed, `${family}-raw`, "streamed");
    expect([isServed(answer), text]).toEqual([true, WORDS.join("")]);
    expect(usage).toMatchObject({
      status: "succeeded",
      is_estimated: false,
      units: { input_tokens: PROMPT_TOKENS, output_tokens: WORDS.length },
    });
    expect(usage.settled).toBe(costOf(usage));
  });

  test.each(FAMILIES)("contains a repeated chunk twice, since a repeat can be intended (%s)", async (family) => {
    const { opening, words, closing, end } = rawAnswer(family, WORDS);
    const repeated = [...words.slice(0, 2), ...words.slice(1)];
    bed.upstreams[family].next(rawStream(texts([...opening, ...repeated, ...closing, ...end]), "end"));
    const { answer, text, usage } = await probe(bed, `${family}-raw`, "streamed");
    expect([isServed(answer), text]).toEqual([true, [...WORDS.slice(0, 2), ...WORDS.slice(1)].join("")]);
    // The provider's report counts, not what we saw.
    expect(usage.units["output_tokens"]).toBe(WORDS.length);
  });
});

describe("a stream that is interrupted after its finish reason", () => {
  const cells = FAMILIES.flatMap((family) => (["fin", "rst"] as const).map((how) => ({ family, how })));
  test.each(cells)("by $how is complete, since nothing is missing ($family)", async (cell) => {
    const { family, how } = cell;
    const { opening, words, closing } = rawAnswer(family, WORDS);
    // The client hears of the finish reason at once, and of the usage at the end: they come in one piece.
    const pieces = [...texts([...opening, ...words]), texts(closing).join("")];
    const read = untilClientHas(WORDS.join(""), '"finish_reason":"stop"');
    bed.upstreams[family].next(rawStream(pieces, how, PACE_MS, read));
    const { answer, text, usage, entries } = await probe(bed, `${family}-raw`, "streamed");
    expect([isServed(answer), text]).toEqual([true, WORDS.join("")]);
    expect(usage).toMatchObject({ status: "succeeded", is_estimated: false, units: { output_tokens: WORDS.length } });
    expect(usage.settled).toBe(costOf(usage));
    expect(entries).toBe(1);
  });
});

describe("a stream that is interrupted before its first content", () => {
  test.each(each(Object.keys(FALSE_STARTS)))("has its actual status, and is free: $what ($family)", async (start) => {
    const { what, family } = start;
    const [pieces, end] = FALSE_STARTS[what]?.(family) ?? [[], "end"];
    // An error of its own, with a status, is repeated where the source's budget allows it.
    const mayRepeat = what.startsWith("an error");
    bed.upstreams[family].next(...Array.from({ length: mayRepeat ? 2 : 1 }, () => rawStream(pieces, end, PACE_MS)));
    const { answer, tried, usage, entries } = await probe(bed, `${family}-raw`, "streamed");
    if (mayRepeat && tried.length === 1) await probe(bed, `${family}-raw`, "streamed");
    expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_error"]);
    expect(answer.body).not.toContain(VENDOR_MARK);
    expect(mayRepeat ? [1, 2] : [1]).toContain(tried.length);
    expect(new Set(tried)).toEqual(new Set([`${family}/raw`]));
    expect(usage).toMatchObject({ status: "failed", settled: 0n });
    expect(entries).toBe(0);
  });

  test.each(each(Object.keys(FALSE_STARTS)))("moves to the next source: $what ($family)", async ({ what, family }) => {
    const [pieces, end] = FALSE_STARTS[what]?.(family) ?? [[], "end"];
    bed.upstreams[family].next(rawStream(pieces, end, PACE_MS));
    const { answer, text, echo, tried, usage, entries } = await probe(bed, `${family}-raw-twice`, "streamed");
    // Nothing of the first source's opening is in it: one answer, under one id.
    expect([isServed(answer), text]).toEqual([true, echo]);
    const ids = answer.frames
      .filter((frame) => frame !== DONE)
      .map((frame) => (JSON.parse(frame) as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
    expect(tried).toEqual([`${family}/raw`, `${family}/mock-ok`]);
    expect(usage).toMatchObject({ status: "succeeded", source: `${PROVIDER_IDS[family]}/mock-ok` });
    expect(entries).toBe(1);
  });
});

test("no socket stays open", () => audit(bed));
