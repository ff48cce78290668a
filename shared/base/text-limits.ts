/**
 * Replaces Ajv's counting of characters by cheaper comparisons. Ajv counts the characters of every text with a limit, surrogate pairs as
 * one. This takes 40 ms for the 32 MB of an image whose only rule is not to be empty. The number of UTF-16 units decides clear cases
 * without counting.
 */

/** Matches a call of Ajv's character counter in its generated code, compared with a limit. */
const COMPARISON = /(\bfunc\d+)\((data\d*)\) ([<>]) (\d+)/g;

/** Returns the code of a validator with equivalent but faster comparisons. */
export function withShortCounts(code: string): string {
  return code.replaceAll(COMPARISON, (counted: string, _count: string, text: string, sign: string, limit: string) => {
    const double = 2 * Number(limit);
    return sign === "<"
      ? `(${text}.length < ${limit} || (${text}.length < ${double} && ${counted}))`
      : `(${text}.length > ${limit} && (${text}.length > ${double} || ${counted}))`;
  });
}
