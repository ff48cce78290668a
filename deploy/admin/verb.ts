/** Verbs of a service as data, and the commands that they make: what each asks of /operator, and how the answer is shown. */
import { isUuid, newId } from "#shared/ids.ts";
import { formatCredits, parseCredits } from "#shared/money.ts";

import { idOf, limitOf, noWorkspace, startOf } from "./arguments.ts";
import { type Answer, type Command, type Arguments, quote, UsageError } from "./command.ts";
import { type Ask, askRows, isObject, type Json, METHODS, ROWS_MAX, type Service, Unanswered } from "./service.ts";
import { cellText, textOf } from "./table.ts";

export interface Line extends Arguments {
  /** An id that stands for nothing yet. */
  readonly fresh: string;
}

export interface Verb extends Pick<Command, "usage" | "about"> {
  /** Method and path, in which `{name}` stands for a word of the line, `{workspace}` for its id. Lists of several come one behind the other. */
  readonly asks: string | readonly string[] | ((line: Line) => string);
  readonly body?: (line: Line) => object;
  /** JSON of an answer, or of each row of a list, whose amounts are text. @throws Error when it says that nothing was done */
  readonly json?: (value: Json, status: number) => Json;
  /** Sentence, in which `{name}` stands for a member of the JSON; absent: the JSON, a fact a line. */
  readonly says?: string | ((json: Json, workspaceBefore: Json) => string);
  /** Sentence for a request that may have been carried out. */
  readonly unsure?: (line: Line) => string;
  /** Members of a list's JSON that people are shown. */
  readonly columns?: string;
  /** Members as people are shown them, where that is another way. */
  readonly cells?: (json: Json) => Json;
  /** Rows unless `--limit` tells otherwise; absent: all. */
  readonly usual?: number;
  /** Member by which all rows are sorted; absent: they stay as they come. */
  readonly sortedBy?: string;
}

export function commandOf(verb: Verb): Command {
  const { usual } = verb;
  return {
    usage: usual === undefined ? verb.usage : `${verb.usage} [--limit <n>]`,
    about: usual === undefined ? verb.about : `${verb.about}, ${usual} unless told otherwise`,
    needs: "service",
    async run(context, given) {
      const line: Line = { ...given, fresh: newId() };
      const asks = typeof verb.asks === "function" ? verb.asks(line) : verb.asks;
      const templates = [asks].flat().map((template) => withWords(template, line));
      const body = verb.body?.(line);
      const max = limitOf(line.option("limit"), usual ?? ROWS_MAX);
      const service = context.service(line.option("url"));
      const workspace = verb.usage.includes("<workspace>") ? await find(service, line.word("workspace")) : {};
      const all = templates.map((template) => askOf(template.replace("{workspace}", String(workspace["id"])), body));
      return verb.columns === undefined
        ? answerOne(verb, line, { service, workspace, all })
        : answerRows(verb, verb.columns, { service, workspace, all, max });
    },
  };
}

/** Checks of what stands in paths: a word that is no id may be a secret. @throws UsageError */
const CHECKS: Readonly<Record<string, (word: string) => string>> = {
  "key id": (word) => idOf("a key id", word),
  id: (word) => idOf("an id", word),
  request(word) {
    const [id = "", ...attempt] = word.split(":");
    return [idOf("a request id", id), ...attempt].join(":");
  },
  "job or job.attempt"(word) {
    const [job = "", attempt = "1", ...rest] = word.toLowerCase().split(".");
    if (isUuid(job) && /^[1-9]\d{0,3}$/.test(attempt) && rest.length === 0) return `${job}.${attempt}`;
    throw new UsageError(`expected a job's id, or with a dot and the attempt behind it, got ${quote(startOf(word))}`);
  },
};

/** @throws UsageError also for a word that would lead to another path */
function withWords(template: string, { word }: Line): string {
  return template.replaceAll(/\{(?!workspace\})([^}]+)\}/g, (_place, name: string) => {
    const text = CHECKS[name]?.(word(name)) ?? word(name);
    if (/^\.{0,2}$/.test(text)) throw new UsageError(`expected another ${name} than ${quote(text)}`);
    return encodeURIComponent(text);
  });
}

function askOf(template: string, body: object | undefined): Ask {
  const [word, path = ""] = template.split(" ");
  return { method: METHODS.find((method) => method === word) ?? "GET", path, ...(body && { body }) };
}

/** The workspace of that name or id. @throws Error when there is none; one that was called so is not meant without a word */
async function find(service: Service, word: string): Promise<Json> {
  const id = word.toLowerCase();
  if (isUuid(id)) return (await service.ask({ method: "GET", path: `/operator/workspaces/${id}` })).value;
  const path = `/operator/workspaces?name=${encodeURIComponent(word)}`;
  const [row] = word === "" ? [] : await askRows(service, { method: "GET", path }, 1);
  if (row?.["name"] !== word) throw noWorkspace(word, row);
  return row;
}

interface Requests {
  readonly service: Service;
  readonly workspace: Json;
  readonly all: readonly Ask[];
}

async function answerOne(verb: Verb, line: Line, { service, workspace, all: [ask] }: Requests): Promise<Answer> {
  if (ask === undefined) throw new Error("the verb asks nothing");
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

/** With the workspace that the line names, unless it is that. */
function jsonOf({ json }: Verb, { id, name }: Json, value: Json, status: number): Json {
  const told = json?.(inText(value), status) ?? inText(value);
  return id === undefined || id === told["id"] ? told : { workspace: name, workspace_id: id, ...told };
}

/** Members of answers that are credits. */
const AMOUNTS: ReadonlySet<string> = new Set("balance held available credits used settled uncollected".split(" "));

/** The same with amounts as decimal text, and without the names of objects. */
function inText(value: Json): Json {
  const members = Object.entries(value).filter(([name]) => name !== "object");
  return Object.fromEntries(members.map(([name, member]) => [name, memberInText(name, member)]));
}

function memberInText(name: string, member: unknown): unknown {
  if (Array.isArray(member)) return member.map((item: unknown) => memberInText(name, item));
  if (typeof member === "number" && AMOUNTS.has(name)) return formatCredits(parseCredits(String(member)));
  return isObject(member) ? inText(member) : member;
}
