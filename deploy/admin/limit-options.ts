/** Options of commands that set the limits of a key, member or end user. */
import type { Limits } from "#schemas/generated/types.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";

import { type Arguments, quote, UsageError } from "./command.ts";
import { isObject } from "./service.ts";

const CREDITS = {
  "credits-per-day": "day",
  "credits-per-week": "week",
  "credits-per-month": "month",
  "credits-total": "total",
} as const;

const LISTS = ["models", "endpoints", "ips"] as const;

const optionsOf = (names: readonly string[]): string => names.map((name) => `[--${name} <value>]`).join(" ");

/** Options of a usage line for spend limits alone. */
export const SPEND_OPTIONS = optionsOf([...Object.keys(CREDITS), "warn-at"]);

/** Options of a usage line for all limits of a key or member. */
export const LIMIT_OPTIONS = `${SPEND_OPTIONS} ${optionsOf(LISTS)}`;

/**
 * Returns the limits in options as JSON text, with amounts as they were typed; `null` without options.
 * @throws UsageError for a malformed number
 */
export function limitsText({ option }: Pick<Arguments, "option">): string {
  const credits = Object.entries(CREDITS).flatMap(([name, window]) => {
    const value = option(name);
    return value === undefined ? [] : [`"${window}":${numberIn(name, value)}`];
  });
  const warnAt = option("warn-at");
  const members = [
    ...(credits.length === 0 ? [] : [`"credits":{${credits.join(",")}}`]),
    ...(warnAt === undefined
      ? []
      : [
          `"warn_at":[${entriesOf(warnAt)
            .map((value) => numberIn("warn-at", value))
            .join(",")}]`,
        ]),
    ...LISTS.flatMap((name) => {
      const value = option(name);
      return value === undefined ? [] : [`"${name}":${JSON.stringify(entriesOf(value))}`];
    }),
  ];
  return members.length === 0 ? "null" : `{${members.join(",")}}`;
}

/** Returns the entries of a list that is separated by commas. */
export const entriesOf = (value: string): string[] => value.split(",").map((entry) => entry.trim());

/** Returns the digits of a decimal number without a sign. @throws UsageError */
export function numberIn(name: string, value: string): string {
  if (/^(0|[1-9]\d*)(\.\d+)?$/.test(value)) return value;
  throw new UsageError(`expected --${name} as a decimal number, got ${quote(value)}`);
}

/** Returns an amount in credits of a response with its decimal digits, without an exponent. */
export const digitsOf = (credits: number): string => formatCredits(parseCredits(String(credits)));

/** Returns limits as text for a table, such as `5 per day; models gpt-4o*`. */
export function limitsCell(value: unknown): string {
  if (!isObject(value)) return "none";
  const limits = value as NonNullable<Limits>;
  const amounts = Object.entries(limits.credits ?? {}).flatMap(([window, credits]) =>
    credits === null ? [] : [`${digitsOf(credits)} ${window === "total" ? "in total" : `per ${window}`}`],
  );
  const lists = LISTS.flatMap((name) => (limits[name] == null ? [] : [`${name} ${limits[name].join(" ")}`]));
  return [...(amounts.length === 0 ? [] : [amounts.join(", ")]), ...lists].join("; ");
}
