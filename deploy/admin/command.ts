/** The shape of a command, and the parser of its command line, which follows the command's usage line. */
import { parseArgs } from "node:util";

import { nearNames } from "#shared/base/near-names.ts";

import type { Context } from "./context.ts";

export interface Command {
  /**
   * One or two words, then arguments and options: `<name>` for an argument, `[rest…]` for any number of further ones, `--name <value>`
   * for a required option, `[--name <value>]` for an optional one. Every command also accepts `--json`.
   */
  readonly usage: string;
  /** Another name of the command. */
  readonly alias?: string;
  /** Description in sentences. The list of commands shows the first one. */
  readonly about: string;
  /** service: a running service and an operator's token; database: Postgres; nothing: this machine alone. */
  readonly needs: "service" | "database" | "nothing";
  /** @throws UsageError for a malformed value; Error with one sentence for everything else that goes wrong */
  run(context: Context, input: Arguments, live: Live): Promise<Answer>;
}

/** For a command that runs until it is interrupted. */
export interface Live {
  /** Says a part of the answer before its end. */
  print(part: Answer): void;
  /** Aborts at Ctrl-C or SIGTERM, which end the process at once until this is called, and the second time. */
  interruption(): AbortSignal;
}

/** Arguments and options on the command line, beside the command's name. */
export interface Arguments {
  /** Value of an argument or a required option that the usage line declares. */
  readonly argument: (name: string) => string;
  /** Value of an option. */
  readonly option: (name: string) => string | undefined;
  readonly rest: readonly string[];
}

export interface Answer {
  /** For `--json`: amounts as decimal text in credits, members in snake_case. */
  readonly json: unknown;
  /** For people; absent: the JSON as a table of these columns, else a fact a line. */
  readonly text?: string;
  /** Members of the JSON's rows. */
  readonly columns?: string;
  /** 1 when the answer is that something is wrong. */
  readonly exitCode?: 0 | 1;
}

/** The command line is wrong; the message says what is wrong and what was expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `workspace create`. */
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

/** @throws UsageError when the arguments are not those the command declares */
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
  try {
    ({ values, positionals } = parseArgs({
      args: negativesLast(args),
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

/** A word of the line as a sentence repeats it: short and on one line. */
export function quote(value: string): string {
  return JSON.stringify(value.length <= 60 ? value : `${value.slice(0, 57)}…`);
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

/** Says what is wrong with an option, and which one was probably meant. */
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
