/** Encodes bilevel images as JBIG2 streams for PDFs (ITU-T T.88): one page, one generic region, arithmetic coding with template 0. */
import { be, bytesOf } from "./file-parts.ts";

/**
 * Rows of table E.1: Qe, the next state after the more probable symbol, the next state after the less probable one, and if the two are
 * exchanged.
 */
const STATES: readonly (readonly [qe: number, mps: number, lps: number, isSwitch?: true])[] = [
  [0x5601, 1, 1, true], [0x3401, 2, 6], [0x1801, 3, 9], [0x0ac1, 4, 12], [0x0521, 5, 29], [0x0221, 38, 33],
  [0x5601, 7, 6, true], [0x5401, 8, 14], [0x4801, 9, 14], [0x3801, 10, 14], [0x3001, 11, 17], [0x2401, 12, 18],
  [0x1c01, 13, 20], [0x1601, 29, 21], [0x5601, 15, 14, true], [0x5401, 16, 14], [0x5101, 17, 15], [0x4801, 18, 16],
  [0x3801, 19, 17], [0x3401, 20, 18], [0x3001, 21, 19], [0x2801, 22, 19], [0x2401, 23, 20], [0x2201, 24, 21],
  [0x1c01, 25, 22], [0x1801, 26, 23], [0x1601, 27, 24], [0x1401, 28, 25], [0x1201, 29, 26], [0x1101, 30, 27],
  [0x0ac1, 31, 28], [0x09c1, 32, 29], [0x08a1, 33, 30], [0x0521, 34, 31], [0x0441, 35, 32], [0x02a1, 36, 33],
  [0x0221, 37, 34], [0x0141, 38, 35], [0x0111, 39, 36], [0x0085, 40, 37], [0x0049, 41, 38], [0x0025, 42, 39],
  [0x0015, 43, 40], [0x0009, 44, 41], [0x0005, 45, 42], [0x0001, 45, 43], [0x5601, 46, 46],
]; // prettier-ignore

/** Context pixels of template 0 with its default adaptive pixels, as column and row offsets. */
const CONTEXT = [
  [-1, 0], [-2, 0], [-3, 0], [-4, 0], [3, -1], [2, -1], [1, -1], [0, -1],
  [-1, -1], [-2, -1], [-3, -1], [2, -2], [1, -2], [0, -2], [-1, -2], [-2, -2],
] as const; // prettier-ignore

/** Returns a JBIG2 stream. @param isBlack returns true if a pixel is black */
export function jbig2Of(width: number, height: number, isBlack: (x: number, y: number) => boolean): Buffer {
  const at = (x: number, y: number): number => (x >= 0 && x < width && y >= 0 && isBlack(x, y) ? 1 : 0);
  const coder = openCoder();
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const context = CONTEXT.reduce((bits, [dx, dy], bit) => bits | (at(x + dx, y + dy) << bit), 0);
      coder.encode(context, at(x, y));
    }
  }
  const size = bytesOf(be(width, 4), be(height, 4));
  const adaptive = [3, 0xff, 0xfd, 0xff, 2, 0xfe, 0xfe, 0xfe];
  const page = segment(0, 48, bytesOf(size, be(0, 8), [0, 0, 0]));
  return bytesOf(page, segment(1, 38, bytesOf(size, be(0, 8), [0, 0], adaptive, coder.end())));
}

function segment(number: number, type: number, data: Uint8Array): Buffer {
  return bytesOf(be(number, 4), [type, 0, 1], be(data.length, 4), data);
}

/** Creates the arithmetic encoder of annex E.2. */
function openCoder() {
  const states = new Map<number, { index: number; mps: number }>();
  const out: number[] = [0];
  let [a, c, count] = [0x8000, 0, 12];
  const shiftOut = (bits: 7 | 8): void => {
    out.push(Math.floor(c / 2 ** (27 - bits)) & 0xff);
    c %= 2 ** (27 - bits);
    count = bits;
  };
  const byteOut = (): void => {
    const last = out.length - 1;
    if (out[last] !== 0xff && c >= 2 ** 27) {
      out[last] = (out[last] ?? 0) + 1;
      c -= 2 ** 27;
    }
    shiftOut(out[last] === 0xff ? 7 : 8);
  };
  const renormalize = (): void => {
    do {
      [a, c, count] = [a * 2, c * 2, count - 1];
      if (count === 0) byteOut();
    } while (a < 0x8000);
  };
  return {
    encode(context: number, bit: number): void {
      const state = states.get(context) ?? { index: 0, mps: 0 };
      states.set(context, state);
      const [qe, nextMps, nextLps, isSwitch] = STATES[state.index] ?? [0, 0, 0];
      a -= qe;
      const isMps = bit === state.mps;
      // The larger part of the interval belongs to the more probable symbol.
      if (isMps === a >= qe) c += qe;
      else a = qe;
      if (isMps && a >= 0x8000) return;
      if (!isMps && isSwitch === true) state.mps = 1 - state.mps;
      state.index = isMps ? nextMps : nextLps;
      renormalize();
    },
    end(): Buffer {
      const most = c + a;
      c = Math.floor(c / 0x10000) * 0x10000 + 0xffff;
      if (c >= most) c -= 0x8000;
      for (let at = 0; at < 2; at += 1) {
        c *= 2 ** count;
        byteOut();
      }
      return Buffer.from([...out.slice(1), ...(out.at(-1) === 0xff ? [] : [0xff]), 0xac]);
    },
  };
}
