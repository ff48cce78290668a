/** Counts formulas of spreadsheets, whose readers return the stored values only. */

export interface Formulas {
  readonly all: number;
  /** Number of formulas without a stored value; their cells are read as empty. */
  readonly withoutValue: number;
}

export interface FormulaCounter {
  /** Adds the next bytes of a sheet to the count. Call `end` before the first bytes of another sheet. */
  add(bytes: Uint8Array): void;
  end(): void;
  counted(): Formulas;
}

/**
 * Matches a cell with a formula. Captures the cell's attributes, the start of its value element, and the value's first character. Many
 * programs write an empty value instead of none, so an empty value counts as missing unless the cell has the type `str`.
 */
const FORMULA =
  /<(?:\w{1,20}:)?c(\s[^<>]*)?>\s*<(?:\w{1,20}:)?f(?:\s[^<>]*)?(?:\/>|>[^<]*<\/(?:\w{1,20}:)?f>)(\s*<(?:\w{1,20}:)?v(?:\s[^<>]*)?>([^<])?)?/g;
/**
 * Maximum characters that are carried over from one chunk of a sheet to the next. A cell with the longest formula, 8,192 characters, is
 * shorter.
 */
const KEPT_MAX = 131_072;

/** Counts formulas in the XML of xlsx sheets, piece by piece. */
export function countFormulas(): FormulaCounter {
  let [all, withoutValue] = [0, 0];
  let kept = "";
  const count = (xml: string): void => {
    for (const [, attributes = "", value, content] of xml.matchAll(FORMULA)) {
      all += 1;
      const isText = /\st=["']str["']/.test(attributes);
      if (isText ? value === undefined : content === undefined) withoutValue += 1;
    }
  };
  return {
    add(bytes) {
      const xml = kept + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
      // The last cell may be incomplete. The name of its element may have a prefix.
      const end = Math.max(xml.lastIndexOf("</c>") + 4, xml.lastIndexOf(":c>") + 3);
      const cut = end < 4 ? 0 : end;
      count(xml.slice(0, cut));
      kept = xml.slice(cut).slice(-KEPT_MAX);
    },
    end() {
      count(kept);
      kept = "";
    },
    counted: () => ({ all, withoutValue }),
  };
}
