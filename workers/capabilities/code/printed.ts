/** Collects the lines that a script prints, within limits. */

/** Maximum number of printed lines, and maximum characters of a line. */
const PRINTED_MAX = 1_000;
const LINE_CHARACTERS_MAX = 2_000;

export interface Printed {
  /** Adds printed text to the current line. The text may contain line breaks, and may end within a line. */
  write(text: string): void;
  /** Adds a text as one line of the result. Line breaks within the text are kept. */
  writeLine(text: string): void;
  /** Returns the collected lines, and notes that describe omitted text. */
  end(): { readonly lines: readonly string[]; readonly notes: readonly string[] };
}

export function collectPrinted(): Printed {
  const lines: string[] = [];
  let [line, length, omitted, cut] = ["", 0, 0, 0];
  const add = (text: string): void => {
    line += text.slice(0, LINE_CHARACTERS_MAX - line.length);
    length += text.length;
  };
  const endLine = (): void => {
    if (lines.length >= PRINTED_MAX) omitted += 1;
    else {
      lines.push(line);
      if (length > LINE_CHARACTERS_MAX) cut += 1;
    }
    [line, length] = ["", 0];
  };
  return {
    write(text) {
      for (const [at, piece] of text.split("\n").entries()) {
        if (at > 0) endLine();
        add(piece);
      }
    },
    writeLine(text) {
      add(text);
      endLine();
    },
    end() {
      if (length > 0) endLine();
      const why = "Return long results as the last value instead of printing them.";
      return {
        lines,
        notes: [
          ...(omitted > 0 ? [`${omitted} printed lines after the first ${PRINTED_MAX} are left out. ${why}`] : []),
          ...(cut > 0 ? [`${cut} printed lines are cut to ${LINE_CHARACTERS_MAX} characters. ${why}`] : []),
        ],
      };
    },
  };
}
