/** The shape of a command, and the parser of its command line. Parsing and usage lines come from the same data. */
import { parseArgs } from "node:util";

import type { Context } from "./context.ts";

export interface Option {
  readonly name: string;
  /** Placeholder for its value in the usage line. */
  readonly value: string;
  readonly isRequired?: boolean;
}

export interface Command {
  /** One or two words. */
  readonly name: string;
  /** Another name for the same. */
  readonly alias?: string;
  readonly about: string;
  /** In order, all required; one that ends in `…` takes the rest, be it nothing. */
  readonly arguments: readonly string[];
  readonly options?: readonly Option[];
  /** @throws UsageError for a malformed value; Error with one sentence for everything else that goes wrong */
  run(context: Context, given: Given, live: Live): Promise<Answer>;
}

/** For a command that runs until it is interrupted. */
export interface Live {
  /** Says a part of the answer before its end. */
  tell(part: Pick<Answer, "json" | "text">): void;
  /** Aborts at Ctrl-C or SIGTERM, which end the process at once until this is called, and the second time. */
  interruption(): AbortSignal;
}

/** Arguments and options on the command line, beside the command's name. */
export interface Given {
  /** Value of an argument that the command declares. */
  argument(name: string): string;
  readonly rest: readonly string[];
  option(name: string): string | undefined;
}

export interface Answer {
  /** For `--json`: amounts as decimal text in credits, members in snake_case. */
  readonly json: unknown;
  readonly text: string;
  /** 1 when the answer is that something is wrong. */
  readonly exitCode?: 0 | 1;
}

/** The line cannot be understood; says in one sentence what was expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `workspace create <name> [--json]`. */
export function usageLine(command: Command): string {
  const named = command.arguments.map((name) => (name.endsWith("…") ? `[${name}]` : `<${name}>`));
  const options = (command.options ?? []).map(({ name, value, isRequired }) =>
    isRequired === true ? `--${name} <${value}>` : `[--${name} <${value}>]`,
  );
  return [command.name, ...named, ...options, "[--json]"].join(" ");
}

/** @throws UsageError when the arguments are not those the command declares */
export function readLine(
  command: Command,
  args: readonly string[],
): { given: Given; isJson: boolean; isHelp: boolean } {
  const options = (command.options ?? []).map(({ name }) => [name, { type: "string" }] as const);
  let values: Readonly<Record<string, string | boolean | undefined>>;
  let positionals: readonly string[];
  try {
    ({ values, positionals } = parseArgs({
      args: negativesLast(args),
      allowPositionals: true,
      options: { ...Object.fromEntries(options), json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    }));
  } catch (error) {
    throw new UsageError(`expected ${command.name} as below: ${complaintOf(error)}`, { cause: error });
  }
  const isJson = values["json"] === true;
  const option = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const named = command.arguments.filter((name) => !name.endsWith("…"));
  const given: Given = {
    argument(name) {
      const value = positionals[named.indexOf(name)];
      if (value === undefined) throw new Error(`the command ${command.name} declares no argument ${name}`);
      return value;
    },
    rest: positionals.slice(named.length),
    option,
  };
  if (values["help"] === true) return { given, isJson, isHelp: true };
  const absent = named[positionals.length];
  if (absent !== undefined) throw new UsageError(`expected <${absent}> after ${command.name}`);
  const surplus = given.rest[0];
  if (surplus !== undefined && named.length === command.arguments.length) {
    const names = named.map((name) => `<${name}>`).join(" ") || "no argument";
    throw new UsageError(`expected ${names} after ${command.name}, got ${quote(surplus)} besides`);
  }
  const missing = (command.options ?? []).find(({ name, isRequired }) => isRequired === true && !option(name));
  if (missing) throw new UsageError(`expected --${missing.name} <${missing.value}> after ${command.name}`);
  return { given, isJson, isHelp: false };
}

/** A word of the line as a sentence repeats it: short and on one line. */
export function quote(word: string): string {
  return JSON.stringify(word.length <= 60 ? word : `${word.slice(0, 57)}…`);
}

/** A negative amount is no option, though it begins like one: it goes behind the mark that ends options. */
function negativesLast(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  const before = end === -1 ? args : args.slice(0, end);
  const isNegative = (arg: string): boolean => /^-[\d.]/.test(arg);
  return [
    ...before.filter((arg) => !isNegative(arg)),
    "--",
    ...before.filter(isNegative),
    ...(end === -1 ? [] : args.slice(end + 1)),
  ];
}

/** The parser's complaint without its advice: the usage line follows. */
function complaintOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const first = message.split(/\.\s|\n/)[0] ?? message;
  return first.charAt(0).toLowerCase() + first.slice(1);
}
