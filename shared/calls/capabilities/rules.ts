/** Checks rules that relate several params or inputs of a run. */
import type { Rule } from "./entry.ts";

export interface BrokenRule {
  readonly param: string;
  readonly message: string;
}

/**
 * Returns the first rule that the body of a run breaks; undefined if the body breaks none. The schema has already checked the types of all
 * values.
 */
export function brokenRule(rules: readonly Rule[], body: object): BrokenRule | undefined {
  for (const rule of rules) {
    const broken = judge(rule, body);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** Returns the JSON paths that a rule reads. */
export function pathsOf(rule: Rule): readonly string[] {
  if ("of" in rule) return rule.of;
  return rule.rule === "fits" ? [rule.path, rule.by] : [rule.path];
}

function judge(rule: Rule, body: object): BrokenRule | undefined {
  switch (rule.rule) {
    case "some": {
      if (rule.of.some((path) => valueAt(body, path) !== undefined)) return undefined;
      return { param: rule.of[0] ?? "", message: `Expected at least one of ${rule.of.join(", ")}, got none.` };
    }
    case "one": {
      const [, second] = rule.of.filter((path) => valueAt(body, path) !== undefined);
      if (second === undefined) return undefined;
      return { param: second, message: `Expected one of ${rule.of.join(", ")}, got several.` };
    }
    case "less": {
      const [low, high] = rule.of.map((path) => valueAt(body, path));
      if (typeof low !== "number" || typeof high !== "number" || low < high) return undefined;
      return { param: rule.of[1], message: `Expected ${rule.of[1]} above ${rule.of[0]}, got ${high} and ${low}.` };
    }
    case "fits": {
      const [value, by] = [valueAt(body, rule.path), valueAt(body, rule.by)];
      const allowed = by === undefined ? undefined : rule.values[JSON.stringify(by).replaceAll('"', "")];
      if (value === undefined || allowed === undefined || allowed.includes(value as string)) return undefined;
      const expectation = allowed.length === 0 ? "to be absent" : `to be one of ${allowed.join(", ")}`;
      return {
        param: rule.path,
        message: `Expected ${rule.path} ${expectation} with ${rule.by} ${JSON.stringify(by)}, got ${JSON.stringify(value)}.`,
      };
    }
    case "without": {
      const value = valueAt(body, rule.path);
      const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
      const found = names.find((name) => rule.names.some((one) => isNamed(name.toLowerCase(), one)));
      if (found === undefined) return undefined;
      return {
        param: `${rule.path}.${found}`,
        message: `Expected ${rule.path} without ${found}; the service sets it.`,
      };
    }
    case "short": {
      const value = valueAt(body, rule.path);
      const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
      if (bytes <= rule.bytesMax) return undefined;
      return {
        param: rule.path,
        message: `Expected ${rule.path} of at most ${rule.bytesMax} bytes as JSON, got ${bytes}.`,
      };
    }
    default:
      return rule satisfies never;
  }
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function valueAt(body: object, path: string): unknown {
  let value: unknown = body;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
