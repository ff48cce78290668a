/** String formats of JSON Schema: a text of each, and a test that accepts no more than validators do. */
import type { Random } from "./random.ts";

interface Format {
  readonly sample: (random: Random) => string;
  readonly accepts: RegExp;
  /** Makes a sample longer by this many characters; absent where the format fixes the length. */
  readonly grow?: (sample: string, by: number) => string;
}

const DATE = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])";
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:0\\d|1[0-4]):[0-5]\\d)";
const HOST = "[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?){1,6}";
const URI = new RegExp(
  `^https?://${HOST}(?::\\d{2,5})?(?:/[A-Za-z0-9._~-]{0,2000}){0,50}(?:\\?[A-Za-z0-9._~=&-]{0,2000})?$`,
  "i",
);

const two = (value: number): string => String(value).padStart(2, "0");
const sampleDate = (random: Random): string => `2026-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
const sampleTime = (random: Random): string => `${two(8 + random.below(12))}:${two(random.below(60))}:00Z`;
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random.below(16).toString(16)).join("");
const append = (sample: string, by: number): string => sample + "a".repeat(by);
const growFraction = (sample: string, by: number): string =>
  by <= 9 ? sample.replace("Z", `.${"0".repeat(Math.max(1, by - 1))}Z`) : sample;

const FORMATS: Readonly<Record<string, Format>> = {
  "date-time": {
    sample: (random) => `${sampleDate(random)}T${sampleTime(random)}`,
    accepts: new RegExp(`^${DATE}T${TIME}$`),
    grow: growFraction,
  },
  date: { sample: sampleDate, accepts: new RegExp(`^${DATE}$`) },
  time: { sample: sampleTime, accepts: new RegExp(`^${TIME}$`), grow: growFraction },
  duration: {
    sample: (random) => `PT${5 + random.below(50)}M`,
    accepts: /^P(?:\d{1,9}[YMWD]|T\d{1,9}[HMS])$/,
    grow: (sample, by) => sample.replace("PT", `PT${"1".repeat(by)}`),
  },
  email: {
    sample: (random) => `user${random.below(100)}@example.com`,
    accepts: new RegExp(`^[a-z0-9](?:[a-z0-9_+-]{0,60}[a-z0-9])?(?:\\.[a-z0-9]{1,20}){0,3}@${HOST}$`, "i"),
    grow: (sample, by) => "u".repeat(by) + sample,
  },
  hostname: {
    sample: (random) => `host${random.below(100)}.example.com`,
    accepts: new RegExp(`^${HOST}$`, "i"),
    grow: (sample, by) => `${"h".repeat(Math.min(by, 50))}${sample}`,
  },
  ipv4: {
    sample: (random) => `192.0.2.${1 + random.below(254)}`,
    accepts: /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}(?<!\.)$/,
  },
  ipv6: { sample: (random) => `2001:db8::${hex(random, 3)}1`, accepts: /^(?:[\da-f]{1,4}:){7}[\da-f]{1,4}$/i },
  uri: { sample: (random) => `https://example.com/${hex(random, 4)}`, accepts: URI, grow: append },
  uuid: {
    sample: (random) => `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`,
    accepts: /^[\da-f]{8}-[\da-f]{4}-[1-5][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i,
  },
  "json-pointer": { sample: () => "/items/0", accepts: /^(?:\/[A-Za-z0-9_-]{0,200}){1,50}$/, grow: append },
  "relative-json-pointer": { sample: () => "0/items", accepts: /^[0-9](?:\/[A-Za-z0-9_-]{1,200})+$/, grow: append },
  regex: {
    sample: () => "^[a-z]+$",
    accepts: /^[A-Za-z0-9 _-]+$/,
    grow: (sample, by) => "a".repeat(by) + sample.slice(1) + "a",
  },
  byte: {
    sample: () => "c2FuZGJveA==",
    accepts: /^(?:[A-Za-z0-9+/]{4})+$/,
    grow: (sample, by) => "AAAA".repeat(Math.ceil(by / 4)) + sample,
  },
};

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["url", "uri"],
  ["uri-reference", "uri"],
  ["uri-template", "uri"],
  ["iri", "uri"],
  ["iri-reference", "uri"],
  ["idn-email", "email"],
  ["idn-hostname", "hostname"],
  ["iso-date-time", "date-time"],
  ["iso-time", "time"],
]);

function formatOf(name: unknown): Format | undefined {
  if (typeof name !== "string") return undefined;
  const key = ALIASES.get(name) ?? name;
  return Object.hasOwn(FORMATS, key) ? FORMATS[key] : undefined;
}

/** True for a text of the format, and for every text when the format is unknown. */
export function meetsFormat(name: unknown, text: string): boolean {
  return formatOf(name)?.accepts.test(text) ?? true;
}

/** A text of the format, made longer where the format allows; undefined for an unknown format. */
export function sampleFormat(name: unknown, random: Random, lengthMin: number): string | undefined {
  const format = formatOf(name);
  if (format === undefined) return undefined;
  const sample = format.sample(random);
  return sample.length >= lengthMin || format.grow === undefined
    ? sample
    : format.grow(sample, lengthMin - sample.length);
}
