/** Paper sizes for documents. */

/** Points per millimetre. */
export const MM = 72 / 25.4;

export const PAGE_SIZES = ["a3", "a4", "a5", "letter", "legal"] as const;

/** Width and height of paper sizes in points, in portrait orientation. */
export const PAGE_POINTS: Readonly<Record<(typeof PAGE_SIZES)[number], readonly [number, number]>> = {
  a3: [841.89, 1190.55],
  a4: [595.28, 841.89],
  a5: [419.53, 595.28],
  letter: [612, 792],
  legal: [612, 1008],
};
