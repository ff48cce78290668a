/** A corpus of foreign files as a test: how many are right, refused with a sentence, and wrong. */
import { expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { type DebianSource, sourceFolder } from "#tests/support/debian-source.ts";

/** Numbers of cases by their verdict. A case counts as refused when the capability names a reason instead of a result. */
export interface Counts {
  readonly right: number;
  readonly refused: number;
  readonly wrong: number;
}

export type Verdict = keyof Counts;

export interface Case {
  readonly name: string;
  /** Decides whether the result is the expected one. A refusal that the case expects is decided here too; any other is thrown. */
  readonly isRight: () => Promise<boolean> | boolean;
}

const TEST_MS = 1_200_000;

/**
 * Defines the test of a corpus, skipped with the reason when its source cannot be had. It is red when a count differs from the table; it
 * then names the cases.
 */
export async function testCorpus(
  title: string,
  source: DebianSource,
  expected: Counts,
  casesIn: (folder: string) => Iterable<Case> | AsyncIterable<Case>,
): Promise<void> {
  const found = await sourceFolder(source);
  if ("missing" in found) return test.skip(`${title}: ${found.missing}`, () => undefined);
  test(title, () => expectCounts(expected, casesIn(found.folder)), TEST_MS);
}

/** Asks every case, and compares how many have each verdict. */
export async function expectCounts(expected: Counts, cases: Iterable<Case> | AsyncIterable<Case>): Promise<void> {
  const names: Record<Verdict, string[]> = { right: [], refused: [], wrong: [] };
  for await (const one of cases) {
    const { verdict, reason = "" } = await verdictOf(one);
    names[verdict].push(`${one.name}${reason}`);
  }
  const counts = { right: names.right.length, refused: names.refused.length, wrong: names.wrong.length };
  const isExpected = Bun.deepEquals(counts, expected);
  const listed = isExpected ? {} : { refused: names.refused, wrong: names.wrong };
  expect({ counts, ...listed }).toEqual({ counts: expected });
}

async function verdictOf({ isRight }: Case): Promise<{ readonly verdict: Verdict; readonly reason?: string }> {
  try {
    return { verdict: (await isRight()) ? "right" : "wrong" };
  } catch (error) {
    if (error instanceof MediaError || error instanceof ApiError)
      return { verdict: "refused", reason: `: ${error.message}` };
    // A fault that no caller can act on is as wrong as a wrong result.
    return { verdict: "wrong", reason: `: ${String(error)}` };
  }
}

/** True if the work is refused for its data, false if it has a result. @throws what is no refusal */
export async function isRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof MediaError || error instanceof ApiError) return true;
    throw error;
  }
}
