/**
 * Ajv counts the characters of every text that has a limit, a pair of surrogates as one: 40 ms for the 32 MB of an image that is only to
 * be none of zero. Its units decide where they are too few or too many either way.
 */

/** A call of Ajv's counter in the code that it generates, compared with a limit. */
const COMPARISON = /(\bfunc\d+)\((data\d*)\) ([<>]) (\d+)/g;

/** The code of a validator with these comparisons made short. They say the same. */
export function withShortCounts(code: string): string {
  return code.replaceAll(COMPARISON, (counted: string, _count: string, text: string, sign: string, limit: string) => {
    const double = 2 * Number(limit);
    return sign === "<"
      ? `(${text}.length < ${limit} || (${text}.length < ${double} && ${counted}))`
      : `(${text}.length > ${limit} && (${text}.length > ${double} || ${counted}))`;
  });
}
