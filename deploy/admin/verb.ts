/** Defines commands as data: the request that each command sends to /operator, and the format of the response. */
import { isUuid, newId } from "#shared/base/ids.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";

import { idOf, limitOf, noWorkspace, startOf } from "./arguments.ts";
import { type Answer, type Command, type Arguments, quote, UsageError } from "./command.ts";
import { type Ask, askRows, isObject, type Json, METHODS, ROWS_MAX, type Service, Unanswered } from "./service.ts";
import { cellText, textOf } from "./table.ts";

export interface Line extends Arguments {
  /** New UUID, for requests that create something. */
  readonly fresh: string;
}

export interface Verb extends Pick<Command, "usage" | "about"> {
  /**
   * Method and path of the request. `{name}` is replaced by an argument, `{workspace}` by the workspace's id. Rows of several requests are
   * joined in order.
   */
  readonly asks: string | readonly string[] | ((line: Line) => string);
  readonly body?: (line: Line) => object;
  /**
   * Converts a response, or each row of a list, to the JSON that is printed, with amounts as text. @throws Error when the response says
   * that nothing was done
   */
  readonly json?: (value: Json, status: number) => Json;
  /** Sentence to print, in which `{name}` is replaced by a member of the JSON. Default: the JSON is printed, one member per line. */
  readonly says?: string | ((json: Json, workspaceBefore: Json) => string);
  /** Returns the error message for a request whose result is unknown. */
  readonly unsure?: (line: Line) => string;
  /** Members of a row that the table shows. */
  readonly columns?: string;
  /** Returns the members whose text in the table differs from their value in the JSON. */
  readonly cells?: (json: Json) => Json;
  /** Default of `--limit`. If absent, all rows are printed. */
  readonly usual?: number;
  /** Member by which the rows are sorted. Default: the order of the service. */
  readonly sortedBy?: string;
}

export function commandOf(verb: Verb): Command {
  const { usual } = verb;
  return {
    usage: usual === undefined ? verb.usage : `${verb.usage} [--limit <n>]`,
    about: usual === undefined ? verb.about : `${verb.about} Prints ${usual} rows by default.`,
    needs: "service",
    async run(context, input) {
      const line: Line = { ...input, fresh: newId() };
      const asks = typeof verb.asks === "function" ? verb.asks(line) : verb.asks;
      const templates = [asks].flat().map((template) => fillTemplate(template, line));
      const body = verb.body?.(line);
      const max = limitOf(line.option("limit"), usual ?? ROWS_MAX);
      const service = context.service(line.option("url"));
      const workspace = verb.usage.includes("<workspace>") ? await find(service, line.argument("workspace")) : {};
      const all = templates.map((template) => askOf(template.replace("{workspace}", String(workspace["id"])), body));
      return verb.columns === undefined
        ? answerOne(verb, line, { service, workspace, all })
        : answerRows(verb, verb.columns, { service, workspace, all, max });
    },
  };
}

/**
 * Validates arguments that become part of a URL path. The error does not repeat a malformed id, because it may be a secret. @throws
 * UsageError
 */
const CHECKS: Readonly<Record<string, (value: string) => string>> = {
  "key id": (value) => idOf("a key id", value),
  id: (value) => idOf("an id", value),
  request(value) {
    const [id = "", ...attempt] = value.split(":");
    return [idOf("a request id", id), ...attempt].join(":");
  },
  "job or job.attempt"(value) {
    const [job = "", attempt = "1", ...rest] = value.toLowerCase().split(".");
    if (isUuid(job) && /^[1-9]\d{0,3}$/.test(attempt) && rest.length === 0) return `${job}.${attempt}`;
    throw new UsageError(`expected the id of a job, or <id>.<attempt>, got ${quote(startOf(value))}`);
  },
};

/** Inserts the arguments into a path template. @throws UsageError for an invalid argument, or for an argument that would change the path */
function fillTemplate(template: string, { argument }: Line): string {
  return template.replaceAll(/\{(?!workspace\})([^}]+)\}/g, (_place, name: string) => {
    const text = CHECKS[name]?.(argument(name)) ?? argument(name);
    if (/^\.{0,2}$/.test(text)) throw new UsageError(`${quote(text)} is no valid ${name}`);
    return encodeURIComponent(text);
  });
}

function askOf(template: string, body: object | undefined): Ask {
  const [verb, path = ""] = template.split(" ");
  return { method: METHODS.find((method) => method === verb) ?? "GET", path, ...(body && { body }) };
}

/**
 * Returns the workspace with that name or id.
 * @throws Error when no workspace has that name or id; the error names the workspace that had this name before, if any
 */
async function find(service: Service, nameOrId: string): Promise<Json> {
  const id = nameOrId.toLowerCase();
  if (isUuid(id)) return (await service.ask({ method: "GET", path: `/operator/workspaces/${id}` })).value;
  const path = `/operator/workspaces?name=${encodeURIComponent(nameOrId)}`;
  const [row] = nameOrId === "" ? [] : await askRows(service, { method: "GET", path }, 1);
  if (row?.["name"] !== nameOrId) throw noWorkspace(nameOrId, row);
  return row;
}

interface Requests {
  readonly service: Service;
  readonly workspace: Json;
  readonly all: readonly Ask[];
}

async function answerOne(verb: Verb, line: Line, { service, workspace, all: [ask] }: Requests): Promise<Answer> {
  if (ask === undefined) throw new Error("the verb has no request");
  const { value, status } = await service.ask(ask).catch((error: unknown) => {
    if (verb.unsure === undefined || !(error instanceof Unanswered)) throw error;
    throw new Error(verb.unsure(line), { cause: error });
  });
  const json = jsonOf(verb, workspace, value, status);
  const says = typeof verb.says === "function" ? verb.says(json, workspace) : verb.says;
  const text = says?.replaceAll(/\{(\w+)\}/g, (_place, name: string) => cellText(json[name]));
  return { json, ...(text !== undefined && { text }) };
}

async function answerRows(
  verb: Verb,
  columns: string,
  { service, workspace, all, max }: Requests & { readonly max: number },
): Promise<Answer> {
  const { sortedBy, cells } = verb;
  const rows: Json[] = [];
  for (const ask of all) {
    if (rows.length >= max) break;
    const found = await askRows(service, ask, sortedBy === undefined ? max : ROWS_MAX);
    const by = (row: Json): string => String(row[sortedBy ?? ""]);
    rows.push(...(sortedBy === undefined ? found : found.toSorted((a, b) => by(a).localeCompare(by(b)))));
  }
  const json = rows.slice(0, max).map((row) => jsonOf(verb, workspace, row, 200));
  return { json, text: textOf({ json: json.map((row) => ({ ...row, ...cells?.(row) })), columns }) };
}

/** Returns the JSON to print, with the name and id of the workspace added unless the JSON is that workspace. */
function jsonOf({ json }: Verb, { id, name }: Json, value: Json, status: number): Json {
  const presented = json?.(inText(value), status) ?? inText(value);
  return id === undefined || id === presented["id"] ? presented : { workspace: name, workspace_id: id, ...presented };
}

/** Members of responses that contain amounts in credits. */
const AMOUNTS: ReadonlySet<string> = new Set("balance held available credits used settled uncollected".split(" "));

/** Returns the value with amounts as decimal text, and without `object`. */
function inText(value: Json): Json {
  const members = Object.entries(value).filter(([name]) => name !== "object");
  return Object.fromEntries(members.map(([name, member]) => [name, memberInText(name, member)]));
}

function memberInText(name: string, member: unknown): unknown {
  if (Array.isArray(member)) return member.map((item: unknown) => memberInText(name, item));
  if (typeof member === "number" && AMOUNTS.has(name)) return formatCredits(parseCredits(String(member)));
  return isObject(member) ? inText(member) : member;
}
