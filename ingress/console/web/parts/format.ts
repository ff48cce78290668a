/** Texts of amounts, times, durations and sizes. Every number and date of the console is formatted here. */
import { signal } from "@preact/signals";

const ZONE_KEY = "sluice.zone";

/** Time zone of all times and days on the pages: an IANA name. Default: UTC, as in the API. */
export const zone = signal(stored(ZONE_KEY, isZone) ?? "UTC");

export function setZone(name: string): void {
  if (!isZone(name)) return;
  zone.value = name;
  localStorage.setItem(ZONE_KEY, name);
}

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function stored(key: string, isValid: (value: string) => boolean): string | undefined {
  const value = localStorage.getItem(key);
  return value !== null && isValid(value) ? value : undefined;
}

/** Smallest amount that a table shows, in credits. */
const SMALLEST = 0.00001;

export interface AmountText {
  /** Digits that carry the amount, with a thousands separator. */
  readonly digits: string;
  /** Trailing zeros after the decimal point, which are muted so that decimals align. */
  readonly zeros: string;
  /** The exact amount. */
  readonly exact: string;
}

/** Returns an amount with five decimals, rounded towards zero. Amounts below 0.00001 become `< 0.00001`. */
export function amountText(credits: number): AmountText {
  const exact = `${plain(credits)} credits`;
  if (credits !== 0 && Math.abs(credits) < SMALLEST) return { digits: tinyText(credits), zeros: "", exact };
  const [whole = "0", decimals = ""] = cut(credits, 5).split(".");
  const kept = decimals.replace(/0+$/, "");
  const zeros = decimals.slice(kept.length);
  const sign = whole.startsWith("-") ? "−" : "";
  const grouped = sign + whole.replace("-", "").replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return kept === "" ? { digits: grouped, zeros: `.${zeros}`, exact } : { digits: `${grouped}.${kept}`, zeros, exact };
}

/** Returns the text of an amount that is too small for five decimals. */
function tinyText(credits: number): string {
  return `${credits < 0 ? "−" : ""}< 0.00001`;
}

/** Returns an amount for a figure: two decimals rounded towards zero, or a unit for a large amount, such as `1.284 B`. */
export function figureText(credits: number): string {
  const size = Math.abs(credits);
  const sign = credits < 0 ? "−" : "";
  if (size >= 1e9) return `${sign}${cut(size / 1e9, 3)} B`;
  if (size !== 0 && size < SMALLEST) return tinyText(credits);
  if (size !== 0 && size < 1) return sign + cut(size, 5).replace(/0+$/, "");
  const [whole = "0", decimals = "00"] = cut(size, 2).split(".");
  return `${sign}${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${size === 0 ? "" : `.${decimals}`}`;
}

/** Returns the decimal text of a number without an exponent, cut to this number of decimals. */
function cut(value: number, decimals: number): string {
  const [whole = "0", rest = ""] = plain(value).split(".");
  return `${whole}.${rest.slice(0, decimals).padEnd(decimals, "0")}`;
}

/** Returns all digits of an amount without an exponent, such as `0.000000001`. */
export function plain(value: number): string {
  const text = String(value);
  return text.includes("e") ? value.toFixed(12).replace(/\.?0+$/, "") : text;
}

/** Returns a movement of credits with all its digits, such as `+ 1,250.5 credits`. @param credits decimal number */
export function movementText(credits: string): string {
  const [whole = "", ...decimals] = credits.replace("-", "").split(".");
  const digits = [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...decimals].join(".");
  return `${credits.startsWith("-") ? "−" : "+"}\u00a0${digits} credits`;
}

/** Returns a count with a thousands separator, or with a unit from a million on. */
export function countText(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(3)} B`;
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`;
  return count.toLocaleString("en");
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return "—";
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  if (percent < 10 && percent > 0) return `${percent.toFixed(1)} %`;
  return `${Math.round(percent).toLocaleString("en")} %`;
}

/** Returns a duration such as `84 ms`, `4.83 s` or `1 min 36 s`. */
export function durationText(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1_000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns a size such as `812 B`, `4.2 kB` or `18.0 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

type TimeStyle = "time" | "exact" | "day" | "minute" | "second";

const STYLES: Readonly<Record<TimeStyle, Intl.DateTimeFormatOptions>> = {
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false },
  exact: { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false },
  day: { day: "numeric", month: "short", year: "numeric" },
  minute: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false },
  second: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false },
};

/** Returns a time in the chosen zone. `exact` includes the milliseconds and the zone, `minute` and `second` the year if it is not this one. */
export function timeText(time: string | number | Date, style: TimeStyle): string {
  const date = new Date(time);
  const format = (options: Intl.DateTimeFormatOptions, at: Date): string =>
    new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone.value }).format(at);
  const year = { year: "numeric" } as const;
  const hasYear = (style === "minute" || style === "second") && format(year, date) !== format(year, new Date());
  const text = format({ ...STYLES[style], ...(hasYear && year) }, date);
  return style === "exact" ? `${text} ${zoneText()}` : text;
}

/** Returns a time to the minute with its zone, such as `30 Nov, 17:15 UTC`, for sentences and side sheets. */
export function zonedText(time: string | number | Date): string {
  return `${timeText(time, "minute")} ${zoneText()}`;
}

/** Returns the zone for a column head, such as `UTC` or `Asia/Kolkata`. */
export function zoneText(): string {
  return zone.value;
}

/** Returns how long the balance lasts at the present rate. */
export function daysText(days: number): string {
  if (days > 3_650) return "more than 10 years left";
  return days < 1 ? "less than a day left" : `${Math.floor(days).toLocaleString("en")} days left`;
}

/** Returns the distance to a time, such as `3 min ago` or `in 40 s`. Always shown beside the absolute time. */
export function relativeText(time: string | number | Date, now: number = Date.now()): string {
  const seconds = Math.round((new Date(time).getTime() - now) / 1_000);
  const size = Math.abs(seconds);
  const [amount, unit] =
    size < 60
      ? [size, "s"]
      : size < 3_600
        ? [Math.round(size / 60), "min"]
        : size < 86_400
          ? [Math.round(size / 3_600), "h"]
          : [Math.round(size / 86_400), size < 129_600 ? "day" : "days"];
  return seconds > 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`;
}

/** Returns the instant at which clocks of the chosen zone show this local time, such as `2026-11-30T00:00:00`. */
export function zonedTime(local: string): Date {
  const guess = new Date(`${local}Z`).getTime();
  const first = guess - offsetAt(guess);
  return new Date(guess - offsetAt(first));
}

/** Returns the time that clocks of the chosen zone show at an instant, such as `2026-11-30T08:15`. "" for a text that is no time. */
export function localText(time: string): string {
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) return "";
  return new Intl.DateTimeFormat("sv-SE", { ...FULL, timeZone: zone.value }).format(at).replace(" ", "T").slice(0, 16);
}

/** Returns the difference between the chosen zone and UTC at an instant, in milliseconds. */
function offsetAt(time: number): number {
  const text = new Intl.DateTimeFormat("sv-SE", { ...FULL, timeZone: zone.value }).format(time);
  return new Date(`${text.replace(" ", "T")}Z`).getTime() - Math.floor(time / 1_000) * 1_000;
}

const FULL: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
};

/** Operators without a token of their own, by the name that the API has for them. */
const OPERATORS: Readonly<Record<string, string>> = {
  settings: "token in SLUICE_OPERATOR_TOKEN",
  command: "admin command",
  bootstrap: "first start",
};

/** Returns the name of an operator. */
export function operatorText(name: string): string {
  return OPERATORS[name] ?? name;
}
