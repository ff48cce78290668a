/** Constructors for each kind of setting. Each reads a value and reports the fault of a wrong one. */

import type { Reader, Server, Setting } from "./reader.ts";

interface Shape {
  readonly accepts: (value: string) => boolean;
  /** Description of the accepted values, used in the fault. */
  readonly description: string;
}

interface TextOptions {
  readonly mustBe?: Shape;
  readonly secret?: "value";
}

export function text(name: string, options: TextOptions & { readonly usual: string }): Setting<string>;
export function text(name: string, options?: TextOptions): Setting<string | undefined>;
export function text(
  name: string,
  { usual, mustBe, secret }: TextOptions & { readonly usual?: string } = {},
): Setting<string | undefined> {
  const read = (reader: Reader): string | undefined => {
    const value = reader.text(name);
    if (value !== undefined && mustBe?.accepts(value) === false)
      reader.addFault(`${name} must be ${mustBe.description}`);
    return value ?? usual;
  };
  return { names: [name], usual: usual ?? "", secret, ...(mustBe ? { accepts: mustBe.description } : {}), read };
}

/** Returns a setting whose value is one of the given words. */
export function choice<const Value extends string>(
  name: string,
  { usual, values }: { readonly usual: NoInfer<Value>; readonly values: readonly Value[] },
): Setting<Value> {
  const read = (reader: Reader): Value => {
    const value = reader.text(name) ?? usual;
    const chosen = values.find((candidate) => candidate === value);
    if (chosen === undefined) reader.addFault(`${name} must be one of ${values.join(", ")}`);
    return chosen ?? usual;
  };
  return { names: [name], usual, accepts: values.map((candidate) => `\`${candidate}\``).join(", "), read };
}

/** Returns a setting whose value is one URL, or several separated by commas. */
export function url(
  name: string,
  { protocols, secret }: { readonly protocols: readonly string[]; readonly secret?: "password" },
): Setting<string | undefined> {
  const read = (reader: Reader): string | undefined => {
    const value = reader.text(name);
    const isUrl = (part: string): boolean => URL.canParse(part) && protocols.includes(new URL(part).protocol);
    if (value?.split(",").every(isUrl) === false) {
      reader.addFault(`${name} is not a URL with ${protocols.join(" or ")}`);
    }
    return value;
  };
  return { names: [name], usual: "", accepts: `a URL with ${protocols.join(" or ")}`, secret, read };
}

/**
 * Returns a setting with the address of a server and its password. It is required if the process needs the server; otherwise it may be
 * empty.
 */
export function serverUrl(
  name: string,
  {
    server,
    example,
    protocols,
  }: { readonly server: Server; readonly example: string; readonly protocols: readonly string[] },
): Setting<string> {
  return convert(url(name, { protocols, secret: "password" }), (value, reader) => {
    if (value === undefined && reader.needs.includes(server)) {
      reader.addFault(`${name} is not set; expected for example ${example}`);
    }
    return value ?? "";
  });
}

interface Bounds {
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Returns a setting whose value is an integer.
 * @param bounds `usualAtMost`: another setting, whose value limits the default
 */
export function integer(
  name: string,
  { usual, least, most, usualAtMost }: Bounds & { readonly usualAtMost?: Setting<number> },
): Setting<number> {
  const read = (reader: Reader): number => {
    const value = reader.text(name);
    const number = Number(value);
    if (value !== undefined && /^\d+$/.test(value) && number >= least && number <= most) return number;
    if (value !== undefined) {
      reader.addFault(`${name} must be a whole number from ${least} to ${most}, got "${value.slice(0, 40)}"`);
    }
    return usualAtMost === undefined ? usual : Math.min(usual, reader.value(usualAtMost));
  };
  return { names: [name], usual: String(usual), accepts: `an integer from ${least} to ${most}`, read };
}

export function decimal(name: string, { usual, least, most }: Bounds): Setting<number> {
  const read = (reader: Reader): number => {
    const value = reader.text(name) ?? String(usual);
    const number = Number(value);
    if (number >= least && number <= most) return number;
    reader.addFault(`${name} must be a number from ${least} to ${most}, got "${value}"`);
    return usual;
  };
  return { names: [name], usual: String(usual), accepts: `a number from ${least} to ${most}`, read };
}

export function flag(
  name: string,
  { usual }: { readonly usual: boolean | ((reader: Reader) => boolean) },
): Setting<boolean> {
  const read = (reader: Reader): boolean => {
    const value = reader.text(name);
    if (value === "on" || value === "true" || value === "1") return true;
    if (value === "off" || value === "false" || value === "0") return false;
    if (value !== undefined) reader.addFault(`${name} must be on or off, got "${value.slice(0, 40)}"`);
    return typeof usual === "function" ? usual(reader) : usual;
  };
  const said = usual ? "on" : "off";
  return { names: [name], usual: typeof usual === "function" ? "" : said, accepts: "`on` or `off`", read };
}

/** Returns a setting whose value is a list of entries separated by commas. */
export function list(name: string, { expects }: { readonly expects?: Shape } = {}): Setting<readonly string[]> {
  const read = (reader: Reader): readonly string[] => {
    const entries = splitEntries(reader.text(name));
    for (const entry of entries) {
      if (expects?.accepts(entry) === false) {
        reader.addFault(`${name} expects ${expects.description}, got "${entry.slice(0, 40)}"`);
      }
    }
    return Object.freeze(entries);
  };
  return { names: [name], usual: "", ...(expects ? { accepts: expects.description } : {}), read };
}

/** Returns a setting whose value is calculated from the value of another setting. */
export function convert<From, To>(setting: Setting<From>, change: (value: From, reader: Reader) => To): Setting<To> {
  return { ...setting, read: (reader) => change(setting.read(reader), reader) };
}

export function splitEntries(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}
