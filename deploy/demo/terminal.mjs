// @ts-check
/** Lines for a person who waits: on a terminal the line that is worked on moves, elsewhere only finished ones appear. */

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const CLEAR_LINE = "\r\u001B[2K";

/**
 * @typedef {object} Waiting
 * @property {(detail: string) => void} tell what is being done now
 * @property {(line: string) => void} end takes the moving line away and leaves this one
 */

/**
 * @typedef {object} Terminal
 * @property {(line: string) => void} line
 * @property {(label: string) => Waiting} wait one at a time
 */

/**
 * @param {{ write(text: string): unknown, isTTY?: boolean, columns?: number }} out
 * @returns {Terminal}
 */
export function openTerminal(out) {
  const line = (/** @type {string} */ text) => void out.write(`${text}\n`);
  if (out.isTTY !== true) return { line, wait: () => ({ tell: () => {}, end: line }) };
  return {
    line,
    wait(label) {
      const began = Date.now();
      let detail = "";
      const draw = () => {
        const seconds = (Date.now() - began) / 1_000;
        const frame = FRAMES[Math.floor((Date.now() - began) / FRAME_MS) % FRAMES.length];
        const text = `${frame} ${label}  ${seconds.toFixed(1)} s  ${detail}`;
        // A line that wraps could not be taken away again. A terminal that does not know its width says 0.
        out.write(`${CLEAR_LINE}${text.slice(0, (out.columns || 80) - 1)}`);
      };
      draw();
      const timer = setInterval(draw, FRAME_MS);
      return {
        tell: (text) => void (detail = text.replaceAll(/\s+/g, " ")),
        end(text) {
          clearInterval(timer);
          out.write(`${CLEAR_LINE}${text}\n`);
        },
      };
    },
  };
}
