/**
 * Steps around every route: request id, IP net, key, window, errors in the envelope, metrics. The order of the gates is
 * the design's (part 5); a call that fails validation is counted in the window before its 400 is sent.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { isLoopback } from "#shared/access/ip-net.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import { ApiError } from "#shared/errors.ts";
import type { Lease } from "#shared/fair-limit.ts";
import { SMALL_BODY_BYTES_MAX } from "#shared/json-tokens.ts";
import { hotLine } from "#shared/log-output.ts";
import { newId } from "#shared/ids.ts";
import { InFlightSet } from "#shared/in-flight.ts";
import { answerFacts, requestFacts } from "#shared/tracing/attributes.ts";
import { beginSpan, isTracing, NO_SPAN, type Span } from "#shared/tracing/tracing.ts";

import { errorResponse } from "./answers.ts";
import { sessionTokenOf } from "./console/cookies.ts";
import type { IngressContext } from "./context.ts";
import { largeBodyBytes, openLargeBodies } from "./body.ts";
import { checkScope, type Operator } from "./operator/authenticate.ts";
import { bodyOf, countCreatedBodies } from "./response-body.ts";
import type { RouteSpec } from "./route.ts";
import { traceOf } from "./traceparent.ts";

/** A process that has to end leaves those who wait this long to hear of it in words of their own, before it answers for them. */
export const LAST_ANSWER_MS = 500;

/** One request on its way through a route. */
export interface RouteCall {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** performance.now() at arrival. */
  readonly startedAt: number;
  /** Span of the request; absent: nothing is traced. */
  readonly span?: Span;
  /** The client's address. */
  readonly ip?: string;
  /** Set on routes that need a key. */
  readonly caller: Caller | undefined;
  /** Set on routes of operators. */
  readonly operator?: Operator;
  /** Set on routes that count themselves: says that the call is now counted in its window, whatever its outcome. */
  readonly markCounted?: () => void;
  /** Told what an answered call of a model cost, streamed ones too; not of one that the response cache answered. */
  readonly onCharged?: (nano: bigint) => void;
  /** Name of the conversation that the turns of a model belong to, where their request says none. */
  readonly affinity?: string;
  /** Says that the request has been offloaded: its body takes no room from others any more. Safe to leave out. */
  readonly offloadInputs?: () => void;
  /** Waits for room for what the call goes on from, where its body is small; on routes that go on from what is stored. @throws ApiError `overloaded` */
  readonly makeRoom?: (bytes: number) => Promise<void>;
}

/** On a route that needs a key. */
export function callerOf({ caller }: RouteCall): Caller {
  if (!caller) throw new Error("a route with roles needs a key");
  return caller;
}

/** Returns the actor that the audit log names for the call. */
export function actorOf(call: RouteCall): Actor {
  const ip = call.ip === undefined || call.ip === "" ? {} : { ip: call.ip };
  if (call.operator) return { type: "operator", id: call.operator.name, ...ip, request_id: call.requestId };
  const { memberId, keyId } = callerOf(call);
  return { type: "member", id: memberId, key_id: keyId, ...ip, request_id: call.requestId };
}

export interface Route extends RouteSpec {
  handle(call: RouteCall): Promise<Response> | Response;
  /** Refuses callers without permission, before the call is counted (design part 5). Absent: all may call. @throws ApiError */
  authorize?(call: RouteCall): void;
  /** Headers of every answer to a known caller, errors included; asked when the call has done its work. */
  extraHeaders?(caller: Caller): Promise<Readonly<Record<string, string>>>;
  /** The route counts its call in the window itself, together with its hold. */
  readonly countsItself?: true;
  /** Its call may go on from what is stored: a small body is then a large request. */
  readonly goesOn?: true;
  /** Header `www-authenticate` of its answers with status 401. */
  readonly challenge?: string;
}

/** A caller's own word must not become a metric label. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]);

type PeerAddress = () => string;

export type Serve = (
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
  peer: PeerAddress,
) => Promise<Response>;

export function createServe(context: IngressContext): Serve {
  const { metrics, log, ipNet, operators, calls } = context;
  const bodies = openLargeBodies();
  const unanswered = new InFlightSet<() => void>();
  context.closing.addEventListener("abort", () => {
    // Those who hear of the end themselves have an answer of their own by then.
    setTimeout(() => [...unanswered].forEach((answer) => answer()), LAST_ANSWER_MS);
  });

  /** Answers for a route that cannot, while there is still a connection to do it on. */
  const answeredInTime = async (route: Route, work: Promise<Response>): Promise<Response> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const entry = unanswered.add(() => reject(restarting(route)));
    try {
      return await Promise.race([work, late]);
    } finally {
      unanswered.delete(entry);
    }
  };

  const handled = async (route: Route, call: RouteCall, caller: Caller): Promise<Response> => {
    const bytes = largeBodyBytes(call.request, context.config.bodyBytesMax, route.request?.form);
    if (bytes === 0 && route.goesOn !== true) return route.handle(call);
    const held: Lease[] = [];
    const take = async (amount: number): Promise<void> => {
      held.push(await bodies.take({ owner: caller.workspaceId, amount }, call.request.signal));
    };
    const offloadInputs = (): void => held.splice(0).forEach((lease) => lease.release());
    const makeRoom = async (amount: number): Promise<void> => {
      if (bytes === 0 && amount > SMALL_BODY_BYTES_MAX) await take(amount);
    };
    // A caller whose window is full hears of it before a large body is read, let alone stored.
    if (bytes > 0 && route.countsItself) await calls.look(caller.workspaceId, caller.preset.requests_per_minute);
    if (bytes > 0) await take(bytes);
    try {
      return await route.handle({ ...call, offloadInputs, makeRoom });
    } finally {
      offloadInputs();
    }
  };

  const guarded = async (
    route: Route,
    call: RouteCall,
    peer: PeerAddress,
    onCaller: (caller: Caller) => void,
  ): Promise<Response> => {
    const [address, forwardedFor] = [peer(), call.request.headers.get("x-forwarded-for")];
    const ip = ipNet.clientAddress(address, forwardedFor);
    // A proxy on this machine brings the calls of others.
    const isOwnMachine = context.config.supervised && forwardedFor === null && isLoopback(address);
    if (!isExempt(route) && !isOwnMachine) ipNet.check(ip);
    checkFraming(call.request.headers);
    if (route.auth === "none") return route.handle({ ...call, ip });
    if (route.auth === "operator") {
      const operator = await operators.authenticate(call.request.headers.get("authorization"), ip);
      checkScope(operator, route.scope ?? "money");
      return route.handle({ ...call, ip, operator });
    }
    const caller = await authenticate(context, call.request);
    onCaller(caller);
    return runRoute(context, route, { ...call, ip, caller }, (counted) => handled(route, counted, caller));
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
    try {
      const call = { request, params, requestId, startedAt, caller, span };
      const onCaller = (known: Caller): void => {
        caller = known;
      };
      response = await answeredInTime(route, guarded(route, call, peer, onCaller));
    } catch (error) {
      const hasLeft = request.signal.aborted && !(error instanceof ApiError);
      response = errorResponse(
        hasLeft ? new ApiError("service_unavailable", "The client closed the connection.") : error,
        log,
        requestId,
        isAnthropic(route, request),
      );
    }
    if (response.status === 401 && route.challenge !== undefined) {
      response.headers.set("www-authenticate", route.challenge);
    }
    if (caller && route.extraHeaders) await addHeaders(response, route.extraHeaders(caller));
    if (caller && countCreatedBodies() !== bodiesBefore) endWithKey(context, caller, response);
    response.headers.set("x-request-id", requestId);
    // What a client sends on a connection that it keeps, while we close it, is lost to it.
    if (context.stopping.aborted) response.headers.set("connection", "close");
    if (isAnthropic(route, request)) response.headers.set("request-id", requestId);
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

/** True for routes that the limit of an address never refuses: probes, and the operator's, which have a limit of their own. */
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

/** Requests of a key in a minute that the window does not count, in one ingress, as a multiple of what the window admits. */
const UNCOUNTED_FACTOR = 10;

/** True for a route that reads, deletes or cancels something, or changes settings: work that fills the window must not keep people from it. */
function isUncounted({ method, path }: RouteSpec): boolean {
  if (method === "GET" || method === "DELETE" || path.endsWith("/cancel")) return true;
  // A test of a channel sends a message to the outside.
  return path.startsWith("/workspaces/") && !path.endsWith("/test");
}

/** Admits a request that the window does not count. @throws ApiError `rate_limit_exceeded` */
export function admitUncounted({ uncounted }: Pick<IngressContext, "uncounted">, { keyId, preset }: Caller): void {
  const { requests_per_minute: limit } = preset;
  if (limit === null || uncounted.take(keyId, limit * UNCOUNTED_FACTOR)) return;
  throw new ApiError(
    "rate_limit_exceeded",
    `This key sent more than ${limit * UNCOUNTED_FACTOR} reads, cancels and settings changes in a minute; try again in a minute.`,
  );
}

/**
 * Runs a route for a caller who is known and may call it. The window counts the call once, whatever its outcome, unless
 * `isUncounted` says otherwise.
 * @throws ApiError `permission_denied`, `rate_limit_exceeded`; what the route throws
 */
export async function runRoute(
  { calls, uncounted }: Pick<IngressContext, "calls" | "uncounted">,
  route: Route,
  call: RouteCall,
  handle: (call: RouteCall) => Promise<Response> | Response = (counted) => route.handle(counted),
): Promise<Response> {
  const caller = callerOf(call);
  const { workspaceId, preset } = caller;
  const count = (): Promise<void> => calls.count(workspaceId, preset.requests_per_minute);
  let isCounted = false;
  const markCounted = (): void => {
    isCounted = true;
  };
  const counted = { ...call, markCounted };
  route.authorize?.(counted);
  if (!route.countsItself) {
    if (isUncounted(route)) admitUncounted({ uncounted }, caller);
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

/** A stream breaks off when the key of its caller is not active any more. */
function endWithKey({ keyWatch }: Pick<IngressContext, "keyWatch">, { keyId }: Caller, { body }: Response): void {
  const open = bodyOf(body);
  if (open?.isOpen !== true) return;
  open.whenClosed(keyWatch.watch(keyId, () => open.cut()));
}

/** True for clients of Anthropic's API, which name its version on every path. */
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

/** An answer does not fail for want of them: then the database is away, and the answer says so already. */
async function addHeaders(response: Response, asked: Promise<Readonly<Record<string, string>>>): Promise<void> {
  const headers = await asked.catch(() => ({}));
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
}

/** Refuses headers that a proxy in front may read otherwise than we do; the server underneath lets these two pass. */
function checkFraming(headers: Headers): void {
  for (const name of ["content-length", "host"]) {
    if (headers.get(name)?.includes(",") !== true) continue;
    throw new ApiError("invalid_request", `Expected one ${name} header, got several.`);
  }
}

/** The caller of a request; a session counts where no key comes with it. @throws ApiError of a key or session that does not count */
export function authenticate(
  { authenticator, config }: Pick<IngressContext, "authenticator" | "config">,
  request: Request,
): Promise<Caller> {
  const token = sessionTokenOf(request, config);
  if (token !== undefined) return authenticator.authenticateSession(token);
  return authenticator.authenticate(authorizationOf(request.headers));
}

/** Returns the caller's credential: `Authorization` comes before `x-api-key`; an empty header counts as none. */
function authorizationOf(headers: Headers): string | null {
  const [authorization, key] = [headers.get("authorization") ?? "", headers.get("x-api-key") ?? ""];
  if (authorization !== "") return authorization;
  return key === "" ? null : `Bearer ${key}`;
}
