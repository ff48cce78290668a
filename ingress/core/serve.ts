/**
 * Runs the steps around every route: request id, IP address limit, API key, rate-limit window, error format, metrics. The design fixes the
 * order of the checks (part 5). A call that fails validation is counted in the rate-limit window before its 400 is sent.
 */
import { checkEndpoint } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { isLoopback } from "#shared/access/ip-net.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import type { Lease } from "#shared/limits/fair-limit.ts";
import { SMALL_BODY_BYTES_MAX } from "#shared/json/tokens.ts";
import { hotLine } from "#shared/base/log-output.ts";
import { newId } from "#shared/base/ids.ts";
import { InFlightSet } from "#shared/limits/in-flight.ts";
import { answerFacts, requestFacts } from "#shared/tracing/attributes.ts";
import { beginSpan, isTracing, NO_SPAN, type Span } from "#shared/tracing/tracing.ts";

import { errorResponse } from "./answers.ts";
import { largeBodyBytes, openLargeBodies } from "./body.ts";
import type { BodyCapture } from "./body-capture.ts";
import type { IngressContext } from "../context.ts";
import { type RequestFacts, type RouteCall, UNMETERED } from "./call.ts";
import { authenticate } from "./caller.ts";
import { OPERATOR_SESSION, SESSION, sessionTokenOf } from "./cookies.ts";
import { checkScope } from "./authenticate-operator.ts";
import { bodyOf, countCreatedBodies, type ResponseBody } from "./response-body.ts";
import type { KeyRoute, OpenRoute, OperatorRoute, Route, RouteSpec } from "./route.ts";
import { traceOf } from "./traceparent.ts";

/**
 * Time at shutdown during which waiting routes may send their own response, in milliseconds. After that, the server sends an error for each
 * of them.
 */
export const LAST_ANSWER_MS = 500;

/** HTTP methods with a separate metric label. Other methods share one label, because text from clients must not become a label. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

type PeerAddress = () => string;

export type Serve = (
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
  peer: PeerAddress,
) => Promise<Response>;

export function createServe(context: IngressContext): Serve {
  const { metrics, log, ipNet, calls } = context;
  const bodies = openLargeBodies();
  const unanswered = new InFlightSet<() => void>();
  context.closing.addEventListener("abort", () => {
    // Routes that handle the shutdown themselves have answered by then.
    setTimeout(() => [...unanswered].forEach((answer) => answer()), LAST_ANSWER_MS);
  });

  /**
   * Returns the response of a running route. Rejects if the process shuts down before the route has responded. The client then receives an
   * error while its connection is still open.
   */
  const answeredInTime = async (route: Route, work: Promise<Response>): Promise<Response> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const entry = unanswered.add(() => reject(restarting(route)));
    try {
      return await Promise.race([work, late]);
    } finally {
      unanswered.delete(entry);
    }
  };

  const handled = async (route: KeyRoute, call: RouteCall): Promise<Response> => {
    const bytes = largeBodyBytes(call.request, context.config.bodyBytesMax, route.request?.form);
    if (bytes === 0 && route.canLoadStoredContent !== true) return route.handle(call);
    const { caller, meter } = call;
    const held: Lease[] = [];
    const take = async (amount: number): Promise<void> => {
      held.push(await bodies.take({ owner: caller.workspaceId, amount }, call.request.signal));
    };
    const releaseMemory = (): void => held.splice(0).forEach((lease) => lease.release());
    const reserveMemory = async (amount: number): Promise<void> => {
      if (bytes === 0 && amount > SMALL_BODY_BYTES_MAX) await take(amount);
    };
    // A caller with a full rate window is refused before a large body is read.
    if (bytes > 0 && route.countsItself) await calls.check(caller.workspaceId, caller.preset.requests_per_minute);
    if (bytes > 0) await take(bytes);
    try {
      return await route.handle({ ...call, meter: { ...meter, reserveMemory, releaseMemory } });
    } finally {
      releaseMemory();
    }
  };

  const guarded = async (
    route: Route,
    arrived: Omit<RequestFacts, "ip">,
    peer: PeerAddress,
    onCaller: (caller: Caller) => BodyCapture | undefined,
  ): Promise<Response> => {
    const { headers } = arrived.request;
    const [address, forwardedFor] = [peer(), headers.get("x-forwarded-for")];
    const ip = ipNet.clientAddress(address, forwardedFor);
    // A proxy on this machine forwards requests of other clients.
    const isOwnMachine = context.config.supervised && forwardedFor === null && isLoopback(address);
    const session = sessionOf(route, arrived.request, context);
    // Each guess of an operator's session costs a look-up.
    if ((!isExempt(route) || session !== undefined) && !isOwnMachine) ipNet.check(ip);
    checkFraming(headers);
    const facts = { ...arrived, ip };
    if (route.auth === "none") return handleOpen(context, route, facts);
    if (route.auth === "operator") return handleForOperator(context, route, facts, session);
    const caller = await authenticate(context, facts);
    const capture = onCaller(caller);
    const origin = session === undefined ? {} : ({ isSession: true } as const);
    const call = { ...facts, caller, meter: UNMETERED, ...origin, ...(capture === undefined ? {} : { capture }) };
    return runRoute(context, route, call, (counted) => handled(route, counted));
  };

  const logRequest = hotLine(log, "request");
  return async (route, request, params, peer) => {
    const startedAt = performance.now();
    const requestId = newId();
    const method = METHODS.has(request.method) ? request.method : "other";
    const span = openSpan(route, request, { method, route: route.path, requestId });
    const bodiesBefore = countCreatedBodies();
    let response: Response;
    let caller: Caller | undefined;
    let capture: BodyCapture | undefined;
    let code: Code | undefined;
    try {
      const facts = { request, params, requestId, startedAt, span };
      const onCaller = (known: Caller): BodyCapture | undefined => {
        caller = known;
        return (capture = known.bodies && context.bodies.begin(known, route, facts));
      };
      response = await answeredInTime(route, guarded(route, facts, peer, onCaller));
    } catch (error) {
      const isDisconnected = request.signal.aborted && !(error instanceof ApiError);
      code = codeOf(error);
      response = errorResponse(
        isDisconnected ? new ApiError("service_unavailable", "The client closed the connection.") : error,
        log,
        requestId,
        isAnthropic(route, request),
      );
    }
    if (caller && route.extraHeaders) await addHeaders(response, route.extraHeaders(caller));
    const body = caller && countCreatedBodies() !== bodiesBefore ? bodyOf(response.body) : undefined;
    if (caller && body) endWithKey(context, caller, body);
    setRequestHeaders(context, response, route, { requestId, isForAnthropic: isAnthropic(route, request) });
    if (capture) context.bodies.end(capture, { response, body, code });
    const status = String(response.status);
    span.set(answerFacts(response.status));
    span.end(response.status >= 500 ? status : undefined);
    metrics.httpRequests.inc(route.path, method, status);
    const tookMs = performance.now() - startedAt;
    metrics.httpRequestSeconds.observe(tookMs / 1_000, route.path);
    logRequest({
      request_id: requestId,
      method,
      route: route.path,
      status,
      ms: Math.round(tookMs * 10) / 10,
    });
    return response;
  };
}

/** Returns the token of the browser session that a request uses: an operator's session on routes of operators, otherwise a member's. */
function sessionOf({ auth }: Route, request: Request, { config }: Pick<IngressContext, "config">): string | undefined {
  return sessionTokenOf(request, config, auth === "operator" ? OPERATOR_SESSION : SESSION);
}

async function handleOpen(
  { operators }: Pick<IngressContext, "operators">,
  route: OpenRoute,
  facts: RequestFacts,
): Promise<Response> {
  if (route.isForOperators === true) await operators.checkReachable(facts.ip);
  return route.handle(facts);
}

async function handleForOperator(
  { operators }: Pick<IngressContext, "operators">,
  route: OperatorRoute,
  facts: RequestFacts,
  session: string | undefined,
): Promise<Response> {
  const operator = await operators.authenticate(facts.request.headers.get("authorization"), facts.ip, session);
  checkScope(operator, route.scope ?? "money");
  return route.handle({ ...facts, operator });
}

/** Sets the headers that responses of all routes have. */
function setRequestHeaders(
  { stopping }: Pick<IngressContext, "stopping">,
  { headers, status }: Response,
  { challenge }: Route,
  { requestId, isForAnthropic }: { readonly requestId: string; readonly isForAnthropic: boolean },
): void {
  if (status === 401 && challenge !== undefined) headers.set("www-authenticate", challenge);
  headers.set("x-request-id", requestId);
  // A request on a kept-alive connection would be lost if the server closed the connection meanwhile.
  if (stopping.aborted) headers.set("connection", "close");
  if (isForAnthropic) headers.set("request-id", requestId);
}

const codeOf = (error: unknown): Code => (error instanceof ApiError ? error.code : "internal_error");

/** True for routes without a limit per IP address: probes, and operator routes, which have a separate limit. */
function isExempt({ auth, isProbe }: Route): boolean {
  return auth === "operator" || isProbe === true;
}

function openSpan({ path }: Route, { headers }: Request, facts: Parameters<typeof requestFacts>[0]): Span {
  if (!isTracing()) return NO_SPAN;
  return beginSpan(
    `${facts.method} ${path}`,
    "server",
    { client: traceOf({ headers }).traceparent },
    requestFacts(facts),
  );
}

/**
 * Factor of the limit of requests that do not count in the rate-limit window, per key, minute and ingress. The limit is this factor times
 * the window's limit.
 */
const UNCOUNTED_FACTOR = 10;

/** True for a route that reads, deletes, cancels or changes settings. A full rate-limit window must not block people from these. */
function isUncounted({ method, path }: RouteSpec): boolean {
  if (method === "GET" || method === "DELETE" || path.endsWith("/cancel")) return true;
  // A test of a channel sends a message to the outside.
  return path.startsWith("/workspaces/") && !path.endsWith("/test");
}

/**
 * Limit of requests of a key's browser sessions that do not count in the rate-limit window, per minute and ingress. A page sends some ten
 * requests.
 */
export const SESSION_REQUESTS_PER_MINUTE_MAX = 1_200;

/** True for a route whose requests count in the window of browser sessions: uncounted routes, estimates and changes of workflows. */
function isSessionTraffic(route: RouteSpec): boolean {
  return isUncounted(route) || route.path.endsWith("/estimate") || /^\/v1\/workflows(\/\{id\})?$/.test(route.path);
}

/** Admits a request that the rate-limit window does not count. @throws ApiError `rate_limit_exceeded` */
export function admitUncounted(
  { uncounted }: Pick<IngressContext, "uncounted">,
  { caller: { keyId, preset }, isSession }: Pick<RouteCall, "caller" | "isSession">,
): void {
  if (isSession === true) {
    const max = SESSION_REQUESTS_PER_MINUTE_MAX;
    if (uncounted.take(`session ${keyId}`, max)) return;
    throw new ApiError(
      "rate_limit_exceeded",
      `The console sent more than ${max} reads, cancels and settings changes for this key in a minute; try again in a minute.`,
    );
  }
  const { requests_per_minute: limit } = preset;
  if (limit === null || uncounted.take(keyId, limit * UNCOUNTED_FACTOR)) return;
  throw new ApiError(
    "rate_limit_exceeded",
    `This key sent more than ${limit * UNCOUNTED_FACTOR} reads, cancels and settings changes in a minute; try again in a minute.`,
  );
}

/** Checks that the caller's key, role and limits allow the route. @throws ApiError `permission_denied` */
export function authorizeCall(route: KeyRoute, call: RouteCall): void {
  checkEndpoint(call.caller, route.path);
  route.authorize?.(call);
}

/**
 * Checks the permission of an authenticated caller and runs the route. The rate-limit window counts the call once, whatever its outcome. It
 * does not count calls of routes for which `isUncounted` returns true, and of browser sessions those for which `isSessionTraffic` does. A refused call is stored for its owner.
 * @throws ApiError `permission_denied`, `rate_limit_exceeded`; the errors of the route
 */
export async function runRoute(
  context: Pick<IngressContext, "calls" | "refusals" | "uncounted">,
  route: KeyRoute,
  call: RouteCall,
  handle: (call: RouteCall) => Promise<Response> | Response = (counted) => route.handle(counted),
): Promise<Response> {
  const noted = { ...call, asked: {} };
  try {
    return await runCounted(context, route, noted, handle);
  } catch (error) {
    context.refusals.note(route, noted, error);
    throw error;
  }
}

async function runCounted(
  { calls, uncounted }: Pick<IngressContext, "calls" | "uncounted">,
  route: KeyRoute,
  call: RouteCall,
  handle: (call: RouteCall) => Promise<Response> | Response,
): Promise<Response> {
  const { caller, meter } = call;
  const { workspaceId, preset } = caller;
  const count = (): Promise<void> => calls.count(workspaceId, preset.requests_per_minute);
  let isCounted = false;
  const markCounted = (): void => {
    isCounted = true;
  };
  const counted = { ...call, meter: { ...meter, markCounted } };
  authorizeCall(route, counted);
  if (!route.countsItself) {
    const isAdmitted = call.isSession === true ? isSessionTraffic(route) : isUncounted(route);
    if (isAdmitted) admitUncounted({ uncounted }, call);
    else await count();
    return handle(counted);
  }
  try {
    return await handle(counted);
  } catch (error) {
    if (!isCounted) await count();
    throw error;
  }
}

/** Aborts a streamed response when the caller's key is no longer active. */
function endWithKey({ keyWatch }: Pick<IngressContext, "keyWatch">, { keyId }: Caller, open: ResponseBody): void {
  if (open.isOpen) open.whenClosed(keyWatch.watch(keyId, () => open.cut()));
}

/** True for clients of Anthropic's API, which send the header `anthropic-version` with every request. */
function isAnthropic(route: Route, { headers }: Request): boolean {
  return route.isAnthropic === true || headers.has("anthropic-version");
}

function restarting({ countsItself }: Route): ApiError {
  return countsItself === true
    ? new ApiError(
        "service_unavailable",
        "The service is restarting. The call may have been served: look up its x-request-id before a retry.",
        {
          shouldRetry: false,
        },
      )
    : new ApiError("service_unavailable", "The service is restarting; try again shortly.");
}

/**
 * Adds headers to a response. If the headers cannot be loaded, leaves the response unchanged: the database is then unavailable, and the
 * response already reports that failure.
 */
async function addHeaders(response: Response, asked: Promise<Readonly<Record<string, string>>>): Promise<void> {
  const headers = await asked.catch(() => ({}));
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
}

/** Rejects repeated Content-Length and Host headers. A proxy in front may interpret them differently, and Bun accepts them. */
function checkFraming(headers: Headers): void {
  for (const name of ["content-length", "host"]) {
    if (headers.get(name)?.includes(",") !== true) continue;
    throw new ApiError("invalid_request", `Expected one ${name} header, got several.`);
  }
}
