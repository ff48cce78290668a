/**
 * Nano-credits: 1 credit = 10⁹ nano-credits, always a bigint. Credits appear only where a client or an operator
 * reads or writes them. No floating-point number ever holds an amount on its way (design.md part 4).
 */

export const NANO_PER_CREDIT = 1_000_000_000n;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Exact decimal text → scaled integer; "1.9e-08" with scale 9 is 19n.
 * Digits beyond the scale are refused unless they are zeros, so nothing is rounded unseen.
 * @throws RangeError when the text is no decimal number or has more digits than the scale holds
 */
export function parseDecimal(text: string, scale: number): bigint {
  const match = DECIMAL.exec(text.trim());
  if (!match) throw new RangeError(`expected a decimal number, got "${text.slice(0, 40)}"`);
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const shift = scale - fraction.length + Number(exponent);
  if (Math.abs(shift) > 400) throw new RangeError(`"${text.slice(0, 40)}" is out of range`);
  let value: bigint;
  if (shift >= 0) value = BigInt(digits) * 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    value = BigInt(digits) / divisor;
    if (value * divisor !== BigInt(digits)) {
      throw new RangeError(`"${text.slice(0, 40)}" has more than ${scale} decimal places`);
    }
  }
  return sign === "-" ? -value : value;
}

/** Credits as decimal text → nano-credits. @throws RangeError beyond nine decimal places */
export function parseCredits(text: string): bigint {
  return parseDecimal(text, 9);
}

/** Nano-credits → shortest exact decimal text in credits: 1500000000n → "1.5". */
export function formatCredits(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const abs = nano < 0n ? -nano : nano;
  const fraction = (abs % NANO_PER_CREDIT).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${abs / NANO_PER_CREDIT}${fraction ? `.${fraction}` : ""}`;
}

/** Nano-credits → JSON number in credits, for answers only (a double shows 15 digits, enough for any single call). */
export function creditsNumber(nano: bigint): number {
  return Number(formatCredits(nano));
}
