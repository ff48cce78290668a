/** Client of the public API. It sends the session cookie and the console's header, and returns typed responses. */
import type { Operations } from "./operations.ts";
import { endSession, workspaceId } from "./session.ts";

type Key = keyof Operations;
/** Names of the parameters in a path, without the workspace, which the client fills in. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Exclude<Name, "workspaceId"> | PathNames<Rest>
  : never;
type QueryValue = string | number | boolean | null | undefined;

export interface CallOptions<Operation extends Key> {
  readonly path?: Readonly<Record<PathNames<Operation>, string>>;
  /** Query parameters. Absent, null and empty values are omitted. */
  readonly query?: Readonly<Partial<Record<Operations[Operation]["query"], QueryValue>>>;
  readonly body?: Operations[Operation]["body"] | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends `change` after a request of this page that may have changed data. */
export const changes = new EventTarget();

/** Time after a response in which the service stores the charge or the refusal of a call, in milliseconds. */
const STORED_MS = 1_500;

/** Sends `change` now, and again when the charge or the refusal of a call is stored. */
export function noteChange(): void {
  const notify = (): boolean => changes.dispatchEvent(new Event("change"));
  notify();
  setTimeout(notify, STORED_MS);
}

/** Error that the API returned, or `unreachable` when no response arrived. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
  /** HTTP status; 0 when no response arrived. */
  readonly status: number;
  readonly code: string;
  /** Request member that caused the error; null if the error concerns no single member. */
  readonly param: string | null;
  readonly requestId: string | null;
  /** Job that continues or has a result after the error; null if there is none. */
  readonly jobId: string | null;

  /** True if the call cost nothing: an error of the request, and no job that was charged. */
  get isFree(): boolean {
    return this.status >= 400 && this.status < 500 && this.jobId === null;
  }

  /** True if the service refused the call before any work. With status 422 the work on an input began and failed. */
  get isRefusal(): boolean {
    return this.isFree && this.status !== 422;
  }

  constructor(
    message: string,
    facts: Partial<Pick<ApiFault, "status" | "code" | "param" | "requestId" | "jobId">> = {},
  ) {
    super(message);
    this.status = facts.status ?? 0;
    this.code = facts.code ?? "unknown";
    this.param = facts.param ?? null;
    this.requestId = facts.requestId ?? null;
    this.jobId = facts.jobId ?? null;
  }
}

/** Returns the URL of an operation with its path parameters and query. */
function urlOf<Operation extends Key>(
  operation: Operation,
  { path, query }: Pick<CallOptions<Operation>, "path" | "query"> = {},
): string {
  const given: Readonly<Record<string, string>> = { workspaceId: workspaceId.value, ...path };
  const filled = operation
    .slice(operation.indexOf(" ") + 1)
    .replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(given[name] ?? ""));
  const pairs = Object.entries<QueryValue>(query ?? {}).flatMap(([name, value]) =>
    value == null || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`;
}

/**
 * Sends a request and returns the response itself, for streams and files.
 * @throws ApiFault for every response that is not successful
 */
export async function send<Operation extends Key>(
  operation: Operation,
  options: CallOptions<Operation> = {},
): Promise<Response> {
  const { body, headers, signal } = options;
  const isForm = body instanceof FormData;
  const method = operation.slice(0, operation.indexOf(" "));
  const response = await fetch(urlOf(operation, options), {
    method,
    credentials: "same-origin",
    headers: {
      "x-sluice-console": "1",
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ApiFault("The service did not respond. Check the connection, then try again.", { code: "unreachable" });
  });
  if (method !== "GET" && !operation.endsWith("/estimate")) noteChange();
  if (response.ok) return response;
  throw await faultOf(response, operation);
}

/** Sends a request and returns its JSON response; undefined for a response without a body. @throws ApiFault */
export async function call<Operation extends Key>(
  operation: Operation,
  options: CallOptions<Operation> = {},
): Promise<Operations[Operation]["response"]> {
  const response = await send(operation, options);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as Operations[Operation]["response"];
}

/** Reads the pages of a list, up to `max` rows. */
export async function allRows<Row>(
  max: number,
  read: (page: { readonly limit: number; readonly after: string | null }) => Promise<{
    readonly data: readonly Row[];
    readonly last_id: string | null;
    readonly has_more: boolean;
  }>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof read>> = await read({ limit: 100, after });
    rows.push(...page.data);
    after = page.has_more ? page.last_id : null;
  } while (after !== null && rows.length < max);
  return rows;
}

/** Returns the error of a response whose body was read as text. */
export function faultIn(status: number, text: string, requestId: string | null): ApiFault {
  const { message, code = "unknown", param = null, job_id: jobId = null } = errorIn(text);
  return new ApiFault(message ?? `The service returned status ${status} without an explanation.`, {
    status,
    code,
    param,
    requestId,
    jobId,
  });
}

interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly param?: string | null;
  readonly job_id?: string;
}

function errorIn(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { readonly error?: ErrorBody } | null)?.error ?? {};
  } catch {
    return {};
  }
}

async function faultOf(response: Response, operation: Key): Promise<ApiFault> {
  const fault = faultIn(response.status, await response.text().catch(() => ""), response.headers.get("x-request-id"));
  // The session has ended or its key was revoked. A failed sign-in reports its own error.
  if (response.status === 401 && !operation.includes("/console/") && !operation.includes("/operator/")) endSession();
  return fault;
}
