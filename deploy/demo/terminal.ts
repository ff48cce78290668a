/** Lines for a person who waits: on a terminal the line that is worked on moves, elsewhere only finished ones appear. */
export interface Terminal {
  readonly line: (text: string) => void;
  /** One at a time. `tell` says what is being done now; `end` takes the moving line away and leaves its own. */
  readonly wait: (label: string) => Record<"tell" | "end", (text: string) => void>;
}

const CLEAR_LINE = "\r\u001B[2K";

export function openTerminal(out: { write(text: string): unknown; isTTY?: boolean; columns?: number }): Terminal {
  const line = (text: string): void => void out.write(`${text}\n`);
  const wait: Terminal["wait"] = (label) => {
    if (out.isTTY !== true) return { tell: () => undefined, end: line };
    const began = Date.now();
    let detail = "";
    const draw = (): void => {
      const text = `${label}  ${((Date.now() - began) / 1_000).toFixed(1)} s  ${detail}`;
      // A line that wraps could not be taken away again. A terminal that does not know its width says 0.
      out.write(`${CLEAR_LINE}${text.slice(0, (out.columns || 80) - 1)}`);
    };
    draw();
    const timer = setInterval(draw, 100);
    return {
      tell: (text) => void (detail = text.replaceAll(/\s+/g, " ")),
      end(text) {
        clearInterval(timer);
        line(`${CLEAR_LINE}${text}`);
      },
    };
  };
  return { line, wait };
}
