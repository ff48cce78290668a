/** Type of a command, and the parser that reads a command line according to the command's usage line. */
import { parseArgs } from "node:util";

import { nearNames } from "#shared/base/near-names.ts";

import type { Context } from "./context.ts";

export interface Command {
  /**
   * Usage line: one or two words that name the command, then its arguments and options. `<name>` is an argument, `[rest…]` any number of
   * further arguments, `--name <value>` a required option, `[--name <value>]` an optional one. Every command also accepts `--json`.
   */
  readonly usage: string;
  /** Another name of the command. */
  readonly alias?: string;
  /** Description in whole sentences. The list of commands shows only the first sentence. */
  readonly about: string;
  /** Requirement of the command. service: a running service and an operator's token; database: Postgres; nothing: only this machine. */
  readonly needs: "service" | "database" | "nothing";
  /**
   * Runs the command and returns its result.
   * @throws UsageError for a malformed value; Error with a one-sentence message for every other failure
   */
  run(context: Context, input: Arguments, live: Live): Promise<Answer>;
}

/** Output and interruption of a command that runs until it is interrupted. */
export interface Live {
  /** Prints a part of the result while the command still runs. */
  print(part: Answer): void;
  /**
   * Returns a signal that aborts at the first Ctrl-C or SIGTERM. A second Ctrl-C or SIGTERM ends the process at once. If a command never
   * calls this function, the first Ctrl-C or SIGTERM ends the process.
   */
  interruption(): AbortSignal;
}

/** Arguments and options of a command line, without the command's name. */
export interface Arguments {
  /** Returns the value of an argument or a required option that the usage line declares. */
  readonly argument: (name: string) => string;
  /** Returns the value of an option; undefined when the option is absent. */
  readonly option: (name: string) => string | undefined;
  readonly rest: readonly string[];
}

export interface Answer {
  /** Result that `--json` prints: amounts as decimal text in credits, member names in snake_case. */
  readonly json: unknown;
  /** Result as text for people. Default: the JSON, as a table if `columns` is set, otherwise one member per line. */
  readonly text?: string;
  /** Members of the JSON's rows that become the columns of the table. */
  readonly columns?: string;
  /** 1 when the command ran but its result reports a problem. */
  readonly exitCode?: 0 | 1;
}

/** Error of a malformed command line. The message says what is wrong and what was expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Returns the command's name from its usage line, such as `workspace create`. */
export function commandName({ usage }: Pick<Command, "usage">): string {
  return /^[a-z-]+( [a-z-]+)?/.exec(usage)?.[0] ?? "";
}

/** An argument or option that a usage line declares. */
interface Parameter {
  readonly name: string;
  /** Placeholder of an option's value. */
  readonly value: string;
  readonly isOption: boolean;
}

/** Returns the arguments, then the options, of a usage line. */
export function parametersOf({ usage }: Pick<Command, "usage">): readonly Parameter[] {
  const rest = Array.from(usage.matchAll(/\[([a-z]+)…\]/g), ([, name = ""]) => name);
  const names = [...argumentsOf(usage), ...rest.filter((name) => !usage.includes(`<${name}>`))];
  return [
    ...names.map((name) => ({ name, value: "", isOption: false })),
    ...optionsOf(usage).map(({ name, value }) => ({ name, value, isOption: true })),
  ];
}

function argumentsOf(usage: string): string[] {
  return Array.from(usage.matchAll(/(?<!--[a-z-]+ )<([^>]+)>/g), ([, name = ""]) => name);
}

function optionsOf(usage: string) {
  return Array.from(usage.matchAll(/(\[)?--([a-z-]+) <([^>]+)>/g), ([, open, name = "", value = ""]) => ({
    name,
    value,
    isRequired: open === undefined,
  }));
}

/**
 * Parses the words after a command's name according to the command's usage line. @throws UsageError when the words do not match the usage
 * line
 */
export function readLine(
  command: Pick<Command, "usage" | "needs">,
  args: readonly string[],
): { input: Arguments; isJson: boolean; isHelp: boolean } {
  const after = `after ${commandName(command)}`;
  const named = argumentsOf(command.usage);
  const declared = optionsOf(command.usage);
  const takesRest = command.usage.includes("…]");
  const names = [...declared.map(({ name }) => name), ...(command.needs === "service" ? ["url"] : [])];
  let values: Readonly<Record<string, string | boolean | undefined>>;
  let positionals: readonly string[];
  let tokens: readonly { readonly kind: string; readonly name?: string }[];
  try {
    ({ values, positionals, tokens } = parseArgs({
      args: negativesLast(args, names),
      tokens: true,
      allowPositionals: true,
      options: {
        ...Object.fromEntries(names.map((name) => [name, { type: "string" }] as const)),
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }));
  } catch (error) {
    throw new UsageError(complaintOf(error, [...names, "json", "help"]), { cause: error });
  }
  const used = tokens.flatMap(({ kind, name }) => (kind === "option" && name !== undefined ? [name] : []));
  const repeated = names.find((name) => used.filter((one) => one === name).length > 1);
  if (repeated !== undefined) throw new UsageError(`expected --${repeated} at most once`);
  const option: Arguments["option"] = (name) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const input: Arguments = {
    argument(name) {
      const value = positionals[named.indexOf(name)] ?? option(name);
      if (value === undefined) throw new Error(`the usage of ${commandName(command)} declares no ${name}`);
      return value;
    },
    option,
    rest: positionals.slice(named.length),
  };
  const line = { input, isJson: values["json"] === true, isHelp: values["help"] === true };
  if (line.isHelp) return line;
  const absent = named[positionals.length];
  if (absent !== undefined) throw new UsageError(`missing <${absent}> ${after}`);
  const surplus = input.rest[0];
  if (surplus !== undefined && !takesRest) {
    const expected = named.map((name) => `<${name}>`).join(" ") || "no argument";
    throw new UsageError(`unexpected argument ${quote(surplus)}; expected ${expected} ${after}`);
  }
  const missing = declared.find(({ name, isRequired }) => isRequired && !option(name));
  if (missing) throw new UsageError(`missing --${missing.name} <${missing.value}> ${after}`);
  return line;
}

/** Quotes a word of the command line for an error message: at most 60 characters, on one line. */
export function quote(value: string): string {
  return JSON.stringify(value.length <= 60 ? value : `${value.slice(0, 57)}…`);
}

/** Joins negative amounts with their option, and moves others behind `--`, so that the parser does not read them as options. */
function negativesLast(args: readonly string[], names: readonly string[]): string[] {
  const end = args.indexOf("--");
  const isNegative = (arg: string): boolean => /^-[\d.]/.test(arg);
  const before: string[] = [];
  for (const arg of end === -1 ? args : args.slice(0, end)) {
    const last = before.at(-1) ?? "";
    if (isNegative(arg) && names.some((name) => last === `--${name}`)) before[before.length - 1] = `${last}=${arg}`;
    else before.push(arg);
  }
  return [
    ...before.filter((arg) => !isNegative(arg)),
    "--",
    ...before.filter(isNegative),
    ...(end === -1 ? [] : args.slice(end + 1)),
  ];
}

/** Returns the error message for an invalid option. The message suggests the most similar valid option. */
function complaintOf(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, option = ""] = /'(-[^' ]*)/.exec(message) ?? [];
  if (option !== "" && message.startsWith("Unknown option")) {
    const [near] = nearNames(names, option.replace(/^-+/, ""));
    return `unknown option ${quote(option)}${near === undefined ? "" : `; did you mean --${near}?`}`;
  }
  if (option !== "" && /argument missing|argument is ambiguous/.test(message)) return `missing value after ${option}`;
  const first = message.split(/\.\s|\n/)[0] ?? message;
  return first.charAt(0).toLowerCase() + first.slice(1);
}
