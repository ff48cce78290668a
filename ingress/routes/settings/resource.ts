/**
 * Builds the routes of a resource: list, create with an id chosen by the caller, get, update, delete. Only the routes that the resource
 * describes are created. Checks run in this order: the parent, the row, the permission to change it, the body.
 */
import type { Deleted, SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { ApiError, Code } from "#shared/base/errors.ts";
import { isSameRequest } from "#shared/json/same-request.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { SettingsCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute, OperatorRoute, Route } from "../../core/route.ts";
import { parsedText, pathId, reusedId } from "./body.ts";
import { LIST_QUERY, type Page, pageAnswer, pageOf } from "../../core/page.ts";

/** Restriction of a route to certain callers, with its tags. */
export type Gate = Pick<KeyRoute | OperatorRoute, "tags" | "auth" | "scope" | "authorize">;

/** Names of schemas that also have a list schema. */
type Listed = { [N in SchemaName]: `${N}List` extends SchemaName ? N : never }[SchemaName];
type RequestOf<S extends Listed, Verb extends "Create" | "Update"> = Extract<SchemaName, `${S}${Verb}Request`>;

interface OperationTexts {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** OpenAPI description of the successful response. */
  readonly answer: string;
  /** Error codes of this route, in addition to those that all routes of its kind have. */
  readonly errors?: readonly Code[];
}

/** Request to create or change a row. */
export interface ChangeRequest<N extends SchemaName> {
  readonly body: SchemaTypes[N];
  /** Original text of the body, for numbers whose digits parsing could lose. */
  readonly text: string;
  readonly actor: Actor;
}

/** Result of creating a row. */
export interface Created<Row> {
  readonly row: Row;
  /** False if an equal row existed under this id. */
  readonly isNew: boolean;
  /** Members included only in the first response, such as a secret. That response must not be cached. */
  readonly oneTimeFields?: object;
}

interface Identified {
  readonly id: string;
}

/** Rows that routes find by an id in the URL path. */
export interface Rows<Within, Row extends Identified> {
  /** URL path of one row. The path of the list is the same without the last segment. */
  readonly path: `${string}/{${string}}`;
  /** Returns the parent of the rows, such as the workspace. @throws ApiError */
  within(call: SettingsCall): Within | Promise<Within>;
  find(within: Within, id: string): Promise<Row | undefined>;
  unknown(): ApiError;
  /** Rejects a change of this row by this caller. Absent if every caller that may use the route may change every row. @throws ApiError */
  checkMayChange?(within: Within, row: Row): void;
}

export interface Resource<S extends Listed, Within, Row extends Identified> extends Rows<Within, Row> {
  readonly schema: S;
  readonly readers: Gate;
  readonly writers: Gate;
  present(row: Row): SchemaTypes[S] & Identified;
  /** Lists rows. `page` returns the newest rows older than the row `after`. */
  readonly list?: OperationTexts & {
    /** Query parameters in addition to `limit` and `after`. */
    readonly query?: NonNullable<Route["query"]>;
    page(within: Within, page: Page, call: SettingsCall): Promise<readonly Row[]>;
  };
  readonly create?: OperationTexts & {
    /** OpenAPI description of the response to a repeated create request. */
    readonly repeated: string;
    make(within: Within, asked: ChangeRequest<RequestOf<S, "Create">>): Promise<Created<Row>>;
  };
  readonly get?: OperationTexts;
  readonly update?: OperationTexts & {
    readonly writers?: Gate;
    /** Changes the row. @returns the changed row; undefined if the row was deleted in the meantime */
    change(within: Within, row: Row, asked: ChangeRequest<RequestOf<S, "Update">>): Promise<Row | undefined>;
  };
  readonly remove?: OperationTexts & {
    /** Deletes the row. @returns false if the row was deleted in the meantime */
    end(within: Within, row: Row, actor: Actor): Promise<boolean>;
  };
}

export function resource<S extends Listed, Within, Row extends Identified>(
  spec: Resource<S, Within, Row>,
): readonly Route[] {
  const { path, schema, readers, writers, list, create, get, update, remove } = spec;
  const all = path.slice(0, path.lastIndexOf("/"));
  const present = (row: Row) => spec.present(row);
  const routes: Route[] = [];
  if (list) {
    routes.push({
      ...readers,
      ...operationTextsOf(list),
      method: "GET",
      path: all,
      query: [...(list.query ?? []), ...LIST_QUERY],
      responses: { 200: { description: list.answer, schema: `${schema}List` as SchemaName } },
      errors: ["not_found", ...(list.errors ?? []), "unsupported_value"],
      async handle(call: SettingsCall) {
        const within = await spec.within(call);
        return pageAnswer(pageOf(call), (page) => list.page(within, page, call), present);
      },
    });
  }
  if (create) {
    const request = `${schema}CreateRequest` as RequestOf<S, "Create">;
    routes.push({
      ...writers,
      ...operationTextsOf(create),
      method: "POST",
      path: all,
      request: { schema: request },
      responses: { 200: { description: create.repeated, schema }, 201: { description: create.answer, schema } },
      errors: errorsOf(["reads_json"], "not_found", ...(create.errors ?? []), "conflict", "idempotency_key_reused"),
      async handle(call: SettingsCall) {
        const within = await spec.within(call);
        const { row, isNew, oneTimeFields } = await create.make(within, await changeRequestOf(call, request));
        if (!isNew) return json(present(row));
        return json({ ...present(row), ...oneTimeFields }, oneTimeFields === undefined ? {} : NEVER_KEPT, 201);
      },
    });
  }
  if (get) {
    routes.push({
      ...readers,
      ...operationTextsOf(get),
      method: "GET",
      path,
      responses: { 200: { description: get.answer, schema } },
      errors: ["not_found", ...(get.errors ?? [])],
      handle: async (call: SettingsCall) => json(present((await findRow(spec, call)).row)),
    });
  }
  if (update) {
    const request = `${schema}UpdateRequest` as RequestOf<S, "Update">;
    routes.push({
      ...(update.writers ?? writers),
      ...operationTextsOf(update),
      method: "PATCH",
      path,
      request: { schema: request },
      responses: { 200: { description: update.answer, schema } },
      errors: errorsOf(["reads_json"], "not_found", ...(update.errors ?? []), "conflict"),
      async handle(call: SettingsCall) {
        const { within, row } = await findToChange(spec, call);
        const changed = await update.change(within, row, await changeRequestOf(call, request));
        if (changed === undefined) throw spec.unknown();
        return json(present(changed));
      },
    });
  }
  if (remove) {
    routes.push({
      ...writers,
      ...operationTextsOf(remove),
      method: "DELETE",
      path,
      responses: {
        200: { description: remove.answer, schema: writers.auth === "operator" ? "OperatorDeleted" : "Deleted" },
      },
      errors: ["not_found", ...(remove.errors ?? [])],
      async handle(call: SettingsCall) {
        const { within, row } = await findToChange(spec, call);
        if (!(await remove.end(within, row, actorOf(call)))) throw spec.unknown();
        return json({ id: row.id, deleted: true } satisfies Deleted);
      },
    });
  }
  return routes;
}

function operationTextsOf({
  operationId,
  summary,
  description,
}: OperationTexts): Pick<Route, "operationId" | "summary" | "description"> {
  return { operationId, summary, ...(description === undefined ? {} : { description }) };
}

interface Found<Within, Row> {
  readonly within: Within;
  readonly row: Row;
}

/** Returns the row named in the URL path, and its parent. @throws ApiError */
export async function findRow<Within, Row extends Identified>(
  rows: Rows<Within, Row>,
  call: SettingsCall,
): Promise<Found<Within, Row>> {
  const unknown = () => rows.unknown();
  const within = await rows.within(call);
  const row = await rows.find(within, pathId(call, /\{(\w+)\}$/.exec(rows.path)?.[1] ?? "", unknown));
  if (row === undefined) throw unknown();
  return { within, row };
}

/** Returns the row named in the URL path in order to change it. @throws ApiError also when the caller may not change the row */
export async function findToChange<Within, Row extends Identified>(
  rows: Rows<Within, Row>,
  call: SettingsCall,
): Promise<Found<Within, Row>> {
  const found = await findRow(rows, call);
  rows.checkMayChange?.(found.within, found.row);
  return found;
}

async function changeRequestOf<N extends SchemaName>(call: SettingsCall, request: N): Promise<ChangeRequest<N>> {
  return { ...(await parsedText(call, request)), actor: actorOf(call) };
}

/**
 * Returns the row that the create request has made. A repeated request gets the row that the first request made.
 * @param outcome "made"; "known" if a row with the caller's id exists; otherwise the reason why no row was created
 * @param refusals error for each such reason
 * @throws ApiError `idempotency_key_reused` when a different row has the id; the error of `refusals` if no row has the id
 */
export async function createdOnce<Row extends object, Why extends string>(
  outcome: "made" | "known" | Why,
  {
    find,
    asked,
    isSame = () => true,
    refusals,
  }: {
    find(this: void): Promise<Row | undefined>;
    /** Values that the existing row has if it was created by an equal request. */
    readonly asked: Partial<Row>;
    /** True if the row also matches the request in properties that `asked` does not contain. */
    isSame?(this: void, row: Row): boolean;
    readonly refusals: Readonly<Record<Why, () => ApiError>>;
  },
): Promise<Created<Row>> {
  const row = await find();
  if (row === undefined) throw outcome === "made" || outcome === "known" ? reusedId() : refusals[outcome]();
  // A repeat succeeds even at a limit, and although its name is taken by its own row.
  if (outcome !== "made" && !(isSameRequest(row, asked) && isSame(row))) throw reusedId();
  return { row, isNew: outcome === "made" };
}
