/**
 * Amounts in nano-credits: 1 credit = 10⁹ nano-credits, always as a bigint. Credits are used only in input and output of clients and
 * operators. No floating-point number ever contains an amount in between.
 */

export const NANO_PER_CREDIT = 1_000_000_000n;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Converts exact decimal text to a scaled integer: "1.9e-08" with scale 9 is 19n. Rejects non-zero digits beyond the scale, so that nothing
 * is rounded silently.
 * @throws RangeError if the text is no decimal number or has more digits than the scale
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

/** Converts credits as decimal text to nano-credits. @throws RangeError beyond nine decimal places */
export function parseCredits(text: string): bigint {
  return parseDecimal(text, 9);
}

/** 1 credit is 0.01 US dollar. */
const NANO_PER_DOLLAR = 100n * NANO_PER_CREDIT;

/** Converts nano-credits to the shortest exact decimal text in credits: 1500000000n → "1.5". */
export function formatCredits(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const abs = nano < 0n ? -nano : nano;
  const fraction = (abs % NANO_PER_CREDIT).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${abs / NANO_PER_CREDIT}${fraction ? `.${fraction}` : ""}`;
}

/** Converts nano-credits to the exact decimal text of their value in US dollars: 1500000000n → "0.015". */
export function creditsToDollars(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const abs = nano < 0n ? -nano : nano;
  const fraction = (abs % NANO_PER_DOLLAR).toString().padStart(11, "0").replace(/0+$/, "");
  return `${sign}${abs / NANO_PER_DOLLAR}${fraction ? `.${fraction}` : ""}`;
}

/** Converts nano-credits to a JSON number in credits, for responses only. A double has 15 digits, which is enough for any single call. */
export function creditsNumber(nano: bigint): number {
  return Number(formatCredits(nano));
}
