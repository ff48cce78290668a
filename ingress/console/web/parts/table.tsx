/** Tables and lists. A list is always one of rows, skeleton, empty or error. */
import type { ComponentChildren, JSX, TargetedMouseEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";

import type { CallOptions } from "../api/client.ts";
import type { Operations } from "../api/operations.ts";
import { type Query, type Repeat, useCall, useQuery } from "../api/query.ts";
import { Button } from "./form.tsx";
import { zoneText } from "./format.ts";
import { FaultCallout, type SheetControls } from "./layers.tsx";

export interface Column<Row> {
  readonly head: ComponentChildren;
  /** Content of a cell. In the column `main` of a table whose rows open, it is the text of the row's link. */
  readonly cell: (row: Row) => ComponentChildren;
  /** Second line of a cell. A line that is null, undefined or "" is not drawn. */
  readonly sub?: (row: Row) => ComponentChildren;
  /**
   * Place of the column in a narrow table: `main` first, `key` is the one value that stays, `mid` is hidden below 640 px, `low` below
   * 860 px. Where rows are stacked, below 440 px, both are shown if they have a label.
   */
  readonly place?: "main" | "key" | "mid" | "low" | "brk";
  /** True for a right-aligned number. */
  readonly isNumber?: boolean;
  /** Width of a column whose long text is cut, such as `28%`. The tooltip has the whole text. */
  readonly cut?: string;
  readonly title?: (row: Row) => string;
  /** Term before the value in a stacked row. */
  readonly label?: string;
}

export function Table<Row>({
  columns,
  rows,
  idOf,
  hrefOf,
  selected,
  footer,
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Returns the address that a row opens. */
  readonly hrefOf?: ((row: Row) => string) | undefined;
  /** Id of the selected row. */
  readonly selected?: string | undefined;
  readonly footer?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="table-box">
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ head, place, isNumber }, index) => (
              <th
                key={index}
                class={classOf({
                  place: place === "main" || place === "key" || place === "brk" ? undefined : place,
                  isNumber,
                })}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const id = idOf(row);
            return (
              <tr
                key={id}
                class={id === selected ? "selected" : ""}
                aria-current={id === selected ? "true" : undefined}
                onClick={openRow}
              >
                {columns.map(({ head, cell, sub, place, isNumber, cut, title, label }, index) => (
                  <td
                    key={index}
                    class={classOf({ place, isNumber, isCut: cut !== undefined })}
                    style={cut === undefined ? undefined : { "--cut": cut }}
                    title={title?.(row)}
                    data-label={label}
                    data-unit={unitOf(head)}
                  >
                    {hrefOf !== undefined && place === "main" ? <Link href={hrefOf(row)}>{cell(row)}</Link> : cell(row)}
                    <SubLine isCut={cut !== undefined}>{sub?.(row)}</SubLine>
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
        {footer === undefined ? null : <tfoot>{footer}</tfoot>}
      </table>
    </div>
  );
}

/** Returns the unit in a head, which follows the value where rows are stacked: the time zone of `Created, UTC`, or `credits`. */
function unitOf(head: ComponentChildren): string | undefined {
  if (typeof head !== "string") return undefined;
  if (head === "Credits") return "credits";
  return [zoneText(), "credits"].find((unit) => head.endsWith(`, ${unit}`));
}

function SubLine({
  isCut,
  children,
}: {
  readonly isCut: boolean;
  readonly children?: ComponentChildren;
}): JSX.Element | null {
  return children == null || children === "" ? null : <span class={isCut ? "sub cut" : "sub"}>{children}</span>;
}

const CONTROLS = "a, button, input, select, textarea, label, summary, [popover]";

/** Clicks the name of the row, so that a click anywhere on a row opens it. Controls, keys and selected text keep their own effect. */
function openRow({ target, currentTarget, ctrlKey, metaKey, shiftKey }: TargetedMouseEvent<HTMLTableRowElement>): void {
  const name = currentTarget.querySelector<HTMLElement>("td.main :is(a, .link)");
  const isControl = target instanceof Element && target.closest(CONTROLS) !== null;
  if (isControl || ctrlKey || metaKey || shiftKey || getSelection()?.isCollapsed === false) return;
  // The focus returns to the name when the side sheet closes.
  name?.focus({ preventScroll: true });
  name?.click();
}

function classOf({
  place,
  isNumber,
  isCut,
}: {
  place?: string | undefined;
  isNumber?: boolean | undefined;
  isCut?: boolean;
}): string {
  return [place ?? "", isNumber === true ? "num" : "", isCut === true ? "cut" : ""].filter(Boolean).join(" ");
}

/** Page of a list of the API. A list without `has_more` has one page. */
export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly has_more?: boolean;
  readonly last_id?: string | null;
}

/** Cursors of a list: the pages before the shown one, and the `after` of the shown page. */
export interface Cursor {
  readonly after: string | undefined;
  readonly isFirst: boolean;
  readonly older: (lastId: string) => void;
  readonly newer: () => void;
}

/** Keeps the cursors of a list. A change of `key`, such as another filter, shows the first page again. */
export function useCursor(key: string): Cursor {
  const [state, setState] = useState<{ readonly key: string; readonly pages: readonly string[] }>({ key, pages: [] });
  const pages = state.key === key ? state.pages : [];
  return {
    after: pages.at(-1),
    isFirst: pages.length === 0,
    older: (lastId) => setState({ key, pages: [...pages, lastId] }),
    newer: () => setState({ key, pages: pages.slice(0, -1) }),
  };
}

/** Number of rows of a page. */
const ROWS = 50;

/** Operations that return the page of a list after a cursor. */
type ListOperation = {
  [Name in keyof Operations]: "after" extends Operations[Name]["query"] ? Name : never;
}[keyof Operations];
type RowOf<Operation extends ListOperation> =
  Operations[Operation]["response"] extends ListPage<infer Row> ? Row : never;

export interface List<Row> extends Query<ListPage<Row>> {
  readonly cursor?: Cursor;
}

/** Reads a page of a list. A change of the parameters shows the first page again. @param options null reads nothing */
export function useList<Operation extends ListOperation>(
  operation: Operation,
  options: Pick<CallOptions<Operation>, "path" | "query"> | null = {},
  { limit = ROWS, everyMs }: { readonly limit?: number; readonly everyMs?: number | undefined } = {},
): List<RowOf<Operation>> {
  const cursor = useCursor(JSON.stringify(options));
  const page = { ...options, query: { ...options?.query, limit, after: cursor.after } } as CallOptions<Operation>;
  const query = useCall(operation, options && page, { everyMs }) as Query<unknown> as Query<ListPage<RowOf<Operation>>>;
  return { ...query, cursor };
}

/** Reads a page of a list whose pages are counted by offsets. @param key text that identifies the list, such as its filters */
export function useOffsetList<Row>(
  key: string,
  load: (
    page: { readonly limit: number; readonly offset: number },
    signal: AbortSignal,
  ) => Promise<{ readonly items: readonly Row[]; readonly total: number }>,
  repeat?: Repeat<ListPage<Row>>,
): List<Row> {
  const cursor = useCursor(key);
  const offset = Number(cursor.after ?? 0);
  const read = async (signal: AbortSignal): Promise<ListPage<Row>> => {
    const { items, total } = await load({ limit: ROWS, offset }, signal);
    return { data: items, has_more: offset + items.length < total, last_id: String(offset + items.length) };
  };
  return { ...useQuery(`${key} ${offset}`, read, repeat), cursor };
}

/** Row of a list that the side sheet shows. The address of the page ends with its id, so that a link opens the same row. */
export interface OpenRow<Row> {
  /** Id in the address; undefined if no row is open. */
  readonly id: string | undefined;
  /** The open row; undefined if the shown page of the list does not contain it. */
  readonly row: Row | undefined;
  /** Returns the address of a row with the filters of the page. */
  readonly hrefOf: (row: Row) => string;
  readonly show: (id: string | undefined) => void;
  readonly sheet: SheetControls;
}

/** @param path path of the page with the list, such as `/keys` */
export function useOpenRow<Row>(path: string, list: Pick<List<Row>, "data">, idOf: (row: Row) => string): OpenRow<Row> {
  const [location, navigate] = useLocation();
  const search = useSearch();
  const rows = list.data?.data ?? [];
  const id = location.startsWith(`${path}/`) ? decoded(location.slice(path.length + 1)) || undefined : undefined;
  const place = rows.findIndex((row) => idOf(row) === id);
  const addressOf = (one: string | undefined): string =>
    `${path}${one === undefined ? "" : `/${encodeURIComponent(one)}`}${search === "" ? "" : `?${search}`}`;
  const show = (one: string | undefined): void => navigate(addressOf(one));
  return {
    id,
    row: rows[place],
    hrefOf: (row) => addressOf(idOf(row)),
    show,
    sheet: {
      onClose: () => show(undefined),
      onMove: (step) => {
        const next = rows[place + step];
        if (next !== undefined) show(idOf(next));
      },
    },
  };
}

/** Decodes an id in an address. The router decodes all but the reserved characters, such as the slash of a model's name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Panel with a list: its rows, or a skeleton, an explanation of the empty list, or the error. */
export function ListPanel<Row>({
  query,
  columns,
  idOf,
  empty,
  cursor = query.cursor,
  open,
  hrefOf = open?.hrefOf,
  selected = open?.row && idOf(open.row),
  note,
  isOldestFirst = false,
}: {
  readonly query: List<Row>;
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
  readonly empty: ComponentChildren;
  readonly cursor?: Cursor | undefined;
  /** Row in the side sheet, for a list whose rows open there. */
  readonly open?: OpenRow<Row>;
  /** Returns the address of a row, for a list whose rows are pages. */
  readonly hrefOf?: ((row: Row) => string) | undefined;
  readonly selected?: string | undefined;
  /** Sentence at the end of the list. */
  readonly note?: ComponentChildren;
  /** True for a list that begins with its oldest row. */
  readonly isOldestFirst?: boolean;
}): JSX.Element {
  const { data } = query;
  const last = data?.data.at(-1);
  const lastId = data?.last_id ?? (last && idOf(last));
  const [back, forth] = isOldestFirst ? ["Older", "Newer"] : ["Newer", "Older"];
  const hasPages = cursor !== undefined && !(cursor.isFirst && data?.has_more !== true);
  return (
    <div class="panel">
      <Loaded query={query}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <div class="empty">{empty}</div>
          ) : (
            <Table columns={columns} rows={rows} idOf={idOf} hrefOf={hrefOf} selected={selected} />
          )
        }
      </Loaded>
      {data === undefined || (note === undefined && !hasPages) ? null : (
        <div class="pager">
          <span>{note}</span>
          {cursor === undefined || !hasPages ? null : (
            <span class="push row">
              <Button
                small
                icon="left"
                blocked={cursor.isFirst ? `This is the ${isOldestFirst ? "oldest" : "newest"} page.` : undefined}
                onClick={cursor.newer}
              >
                {back}
              </Button>
              <Button
                small
                blocked={
                  data.has_more === true ? undefined : `This is the ${isOldestFirst ? "newest" : "oldest"} page.`
                }
                onClick={() => lastId === undefined || cursor.older(lastId)}
              >
                {forth}
              </Button>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/** Content of a query, below the error of its last request. Before the first response, a skeleton or the error. */
export function Loaded<Data>({
  query: { data, fault, reload },
  rows,
  children,
}: {
  readonly query: Omit<Query<Data>, "isLoading">;
  /** Lines of the skeleton. */
  readonly rows?: number;
  readonly children: (data: Data) => ComponentChildren;
}): JSX.Element {
  const skeleton = fault === undefined ? <Skeleton rows={rows} /> : null;
  return (
    <>
      <FaultCallout fault={fault} retry={reload} />
      {data === undefined ? skeleton : children(data)}
    </>
  );
}

/** Time until a skeleton appears, in milliseconds. A fast response shows none. */
const SKELETON_MS = 200;

/** Placeholder of rows that are being loaded. */
export function Skeleton({ rows = 5 }: { readonly rows?: number | undefined }): JSX.Element {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="pad stack" aria-busy="true">
      <span class="sr">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class={isShown ? "skeleton" : "skeleton hidden"} />
      ))}
    </div>
  );
}

/** Explanation of an empty list: its future content, and the way to the first row. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <>
      <h3>{title}</h3>
      {children}
    </>
  );
}
