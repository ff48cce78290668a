/**
 * Serves the Responses API over a WebSocket. Each `response.create` message is processed like POST /v1/responses, and its events are sent
 * as messages. Turns of a connection run one after the other. Unstored responses are kept in the connection's memory, so that its next turn
 * can continue them.
 */
import type { Server, ServerWebSocket, WebSocketHandler } from "bun";

import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { TAGS_HEADER } from "#shared/calls/labels.ts";
import { FairLimit, type Lease } from "#shared/limits/fair-limit.ts";
import { paced } from "#shared/config/pace.ts";
import { callOfResponse } from "#shared/responses/ids.ts";

import { errorResponse } from "../../core/answers.ts";
import { parseBody } from "../../core/body.ts";
import { MAX_CREDITS_HEADER } from "../../core/max-credits.ts";
import type { IngressContext } from "../../context.ts";
import { withoutResults } from "./image-items.ts";
import { RememberedResponses } from "./remembered.ts";
import type { KeyRoute } from "../../core/route.ts";
import type { Serve } from "../../core/serve.ts";

import { answerResponse, RESPONSES_PATH } from "./responses.ts";

/** Maximum number of WebSocket connections of a process, and of one workspace in a process. */
const CONNECTIONS_MAX = 1_000;
export const CONNECTIONS_WORKSPACE_MAX = 100;
/** Maximum number of turns per connection that wait for the running turn. */
export const TURNS_WAITING_MAX = 8;
/** Consecutive messages refused for lack of capacity after which the connection is closed. */
export const REFUSED_IN_A_ROW_MAX = 100;
/**
 * Maximum size of a message, in bytes. A larger message closes the connection. Larger requests must use HTTP, where they wait for memory.
 */
const MESSAGE_BYTES_MAX = 8 * 1_048_576;
/** Maximum size of all waiting and running messages of a process, in bytes. */
const MESSAGES_BYTES_MAX = 128 * 1_048_576;
/** Maximum size of all remembered responses of a process, in bytes. Further responses are not remembered. */
const REMEMBERED_BYTES_MAX = 64 * 1_048_576;
/** Maximum lifetime of a connection, in milliseconds; the same as at OpenAI. */
const CONNECTION_MS = paced(3_600_000);
/**
 * Limits for a client that reads slowly: unread bytes at which a turn pauses, maximum pause in milliseconds, and unread bytes at which the
 * connection is closed.
 */
const UNREAD_BYTES_MAX = 1_048_576;
const UNREAD_MS = paced(120_000);
const UNREAD_BYTES_CUT = 16 * 1_048_576;

type Socket = ServerWebSocket<Connection>;

export interface ResponseSockets {
  /** Upgrades the request to a WebSocket connection and returns undefined, or returns an error response. */
  upgrade(request: Request, server: Server<Connection>, peer: () => string): Promise<Response | undefined>;
  readonly handler: WebSocketHandler<Connection>;
  /** Closes every connection after its current turn. */
  endAll(): void;
}

export function openResponseSockets(
  context: IngressContext,
  serve: Serve,
  { lifeMs, unreadMs } = { lifeMs: CONNECTION_MS, unreadMs: UNREAD_MS },
): ResponseSockets {
  const open = new Set<Connection>();
  const held = { remembered: sharedBytes(REMEMBERED_BYTES_MAX), messages: sharedBytes(MESSAGES_BYTES_MAX) };
  const endAll = (): void => open.forEach((connection) => connection.end());
  context.closing.addEventListener("abort", endAll);
  return {
    async upgrade(request, server, peer) {
      let isUpgraded = false;
      const response = await serve(
        openingRoute((call) => {
          const { caller } = call;
          const { workspaceId } = caller;
          const own = [...open].filter((connection) => connection.caller.workspaceId === workspaceId).length;
          if (open.size >= CONNECTIONS_MAX || own >= CONNECTIONS_WORKSPACE_MAX) {
            throw new ApiError("overloaded", "Too many connections are open; try again shortly.");
          }
          const connection = new Connection({ context, serve, request, caller, peer, held, lifeMs, unreadMs });
          isUpgraded = server.upgrade(request, { data: connection });
          if (!isUpgraded) throw new ApiError("invalid_request", "Expected the headers of a WebSocket connection.");
          open.add(connection);
          return new Response();
        }),
        request,
        {},
        peer,
      );
      return isUpgraded ? undefined : response;
    },
    handler: {
      maxPayloadLength: Math.min(context.config.bodyBytesMax, MESSAGE_BYTES_MAX),
      backpressureLimit: UNREAD_BYTES_CUT,
      closeOnBackpressureLimit: true,
      idleTimeout: 120,
      open: (socket) => socket.data.open(socket),
      message: (socket, message) => socket.data.take(message),
      drain: (socket) => socket.data.drained(),
      close: (socket) => {
        open.delete(socket.data);
        socket.data.close();
      },
    },
    endAll,
  };
}

function openingRoute(handle: KeyRoute["handle"]): KeyRoute {
  return { ...HIDDEN, method: "GET", path: RESPONSES_PATH, handle };
}

const HIDDEN = { operationId: "", summary: "", tags: [], auth: "key", responses: {}, errors: [] } as const;

interface Opening {
  readonly context: IngressContext;
  readonly serve: Serve;
  readonly request: Request;
  readonly caller: Caller;
  readonly peer: () => string;
  /** Memory limits shared by all connections, in bytes: for remembered responses and for messages. */
  readonly held: { readonly remembered: FairLimit; readonly messages: FairLimit };
  readonly lifeMs: number;
  readonly unreadMs: number;
}

interface Message {
  /** Message as received. The body parser checks later whether it is valid UTF-8. */
  readonly bytes: Uint8Array;
  readonly lease: Lease;
}

export class Connection {
  /** Caller that opened the connection. Each turn is authenticated again. */
  readonly caller: Caller;
  private readonly opening: Opening;
  private readonly local: IngressContext;
  private readonly headers: Headers;
  private readonly url: string;
  private readonly peer: string;
  private readonly abortController = new AbortController();
  private readonly remembered: RememberedResponses;
  private readonly waiting: Message[] = [];
  private socket: Socket | undefined;
  private isRunning = false;
  private isEnding = false;
  private refusedInARow = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private onDrain: (() => void) | undefined;
  private unwatchKey: (() => void) | undefined;

  constructor(opening: Opening) {
    const { context, request, caller, peer } = opening;
    this.opening = opening;
    this.caller = caller;
    this.url = request.url;
    // Read now, because the request itself must not be kept for an hour.
    this.peer = peer();
    this.headers = new Headers({ "content-type": "application/json" });
    for (const name of ["authorization", "x-api-key", "x-forwarded-for", MAX_CREDITS_HEADER, TAGS_HEADER]) {
      const value = request.headers.get(name);
      if (value !== null) this.headers.set(name, value);
    }
    const { workspaceId } = caller;
    this.remembered = new RememberedResponses((bytes) => enterNow(opening.held.remembered, workspaceId, bytes));
    this.local = { ...context, responses: { ...context.responses, ...this.remembered.over(context.responses) } };
  }

  open(socket: Socket): void {
    this.socket = socket;
    this.unwatchKey = this.opening.context.keyWatch.watch(this.caller.keyId, () => this.revoke());
    this.timer = setTimeout(() => {
      const message = "The connection has reached its maximum lifetime; open a new one.";
      const code = "websocket_connection_limit_reached";
      this.send({ type: "error", status: 400, error: { type: "invalid_request_error", code, message, param: null } });
      this.end();
    }, this.opening.lifeMs);
  }

  take(message: string | Buffer): void {
    if (this.isEnding) return;
    const { held } = this.opening;
    const bytes = typeof message === "string" ? Buffer.from(message) : message;
    const isFull = this.waiting.length >= TURNS_WAITING_MAX;
    const lease = isFull ? undefined : enterNow(held.messages, this.caller.workspaceId, bytes.length);
    if (!lease) {
      this.refuseMessage();
      return;
    }
    this.refusedInARow = 0;
    this.waiting.push({ bytes, lease });
    if (!this.isRunning) void this.runAll();
  }

  /**
   * Refuses and counts a message that exceeds the queue or the available memory. Closes the connection after too many consecutive refusals,
   * because they cost CPU time but no credits.
   */
  private refuseMessage(): void {
    this.refusedInARow += 1;
    this.opening.context.metrics.socketMessagesRefused.inc();
    this.refuse(new ApiError("overloaded", "Too many turns are waiting; try again when they have ended."));
    if (this.refusedInARow < REFUSED_IN_A_ROW_MAX) return;
    this.end();
    this.abortController.abort();
    this.socket?.close(
      POLICY_VIOLATION,
      `${REFUSED_IN_A_ROW_MAX} messages in a row were refused; wait for turns to end.`,
    );
  }

  drained(): void {
    this.onDrain?.();
  }

  /** Closes the connection and aborts its turn after the key has become inactive. */
  revoke(): void {
    if (this.abortController.signal.aborted) return;
    this.refuse(new ApiError("invalid_api_key", "The API key is no longer valid; use an active key."));
    this.end();
    this.abortController.abort();
    this.socket?.close(1001);
  }

  /** Closes the connection after its current turn. */
  end(): void {
    this.isEnding = true;
    this.dropWaiting();
    if (!this.isRunning) this.socket?.close(1001);
  }

  close(): void {
    clearTimeout(this.timer);
    this.unwatchKey?.();
    this.isEnding = true;
    this.dropWaiting();
    this.remembered.forgetAll();
    this.abortController.abort();
    this.onDrain?.();
  }

  private dropWaiting(): void {
    for (const { lease } of this.waiting.splice(0)) lease.release();
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    for (let message = this.waiting.shift(); message !== undefined; message = this.waiting.shift()) {
      try {
        await this.run(message.bytes);
      } catch (error) {
        if (this.abortController.signal.aborted) break;
        await this.refuseBy(errorResponse(error, this.opening.context.log, "websocket"));
      } finally {
        message.lease.release();
      }
    }
    this.isRunning = false;
    if (this.isEnding) this.socket?.close(1001);
  }

  /**
   * Runs one turn: processes the message as a Responses call and sends the events to the client.
   * @throws Error when the response of the turn is aborted
   */
  private async run(bytes: Uint8Array): Promise<void> {
    const headers = new Headers(this.headers);
    headers.set("content-length", String(bytes.length));
    const request = new Request(this.url, { method: "POST", headers, signal: this.abortController.signal });
    let previous: string | undefined;
    let onto: string | undefined;
    let isWarmUp = false;
    let asked: { readonly own: readonly ResponsesItem[]; readonly response: ModelResponse } | undefined;
    const route: KeyRoute = {
      ...HIDDEN,
      method: "POST",
      path: RESPONSES_PATH,
      countsItself: true,
      canLoadStoredContent: true,
      // The message is parsed here, after the checks of key and rate window: even an invalid message is a call.
      handle: async (call) => {
        const body = await parseBody(call, bytes);
        const own = messageOf(body.value);
        previous = callNamed(own);
        const { message, refused } = this.remembered.unfold(own);
        onto = callNamed(message);
        isWarmUp = message["generate"] === false;
        try {
          return await answerResponse(this.local, call, { ...body, value: { ...message, stream: true } }, (read) => {
            asked = read;
          });
        } catch (error) {
          throw refused(error);
        }
      },
    };
    const answer = await this.opening.serve(route, request, {}, () => this.peer);
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    let last: ModelResponse | undefined;
    try {
      last = isStream ? await this.relay(answer) : await this.refuseBy(answer);
    } finally {
      // If a turn failed, the connection forgets the response that it continued.
      if (last === undefined) this.remembered.forget(previous ?? "");
    }
    if (!last || !asked || (asked.response.store && !isWarmUp) || this.abortController.signal.aborted) return;
    this.remembered.keep({ response: withoutResults(last), input: asked.own, previous: onto, isWarmUp });
  }

  /**
   * Sends the events of a response to the client. Returns the response object of the last event; undefined if the turn failed or was
   * aborted.
   */
  private async relay(answer: Response): Promise<ModelResponse | undefined> {
    const decoder = new TextDecoder();
    let text = "";
    let whole: ModelResponse | undefined;
    if (!answer.body) return undefined;
    for await (const piece of answer.body) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? [];
        if (data === undefined) continue;
        if (name === "response.completed" || name === "response.incomplete") {
          whole = parse("ModelResponse", (JSON.parse(data) as { response: unknown }).response);
        }
        this.socket?.send(data);
      }
      await this.waitForDrain();
      if (this.abortController.signal.aborted) return undefined;
    }
    return whole;
  }

  /** Waits while too many sent bytes are unread. Closes the connection if the client reads nothing for too long. */
  private async waitForDrain(): Promise<void> {
    if ((this.socket?.getBufferedAmount() ?? 0) < UNREAD_BYTES_MAX || this.abortController.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onDrain = resolve;
    const late = setTimeout(() => this.socket?.terminate(), this.opening.unreadMs);
    await promise;
    clearTimeout(late);
    this.onDrain = undefined;
  }

  private async refuseBy(answer: Response): Promise<undefined> {
    const { error } = (await answer.json()) as { error: object };
    this.send({ type: "error", status: answer.status, error });
    // An inactive key stays inactive: the connection gives its slot to another.
    if (answer.status === UNAUTHORIZED) this.end();
  }

  private refuse({ code, message, param, status }: ApiError): void {
    this.send({ type: "error", status, ...errorEnvelope(code, message, param) });
  }

  private send(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }
}

const UNAUTHORIZED = 401;
/** WebSocket close code for a policy violation (RFC 6455, 7.4.1). */
const POLICY_VIOLATION = 1008;

/** Members of a `response.create` message that have fixed values on a WebSocket. Common clients send `stream: true`, which is allowed. */
const DECIDED = ["stream", "stream_options", "background"];

/** Returns the id of the call whose response a message continues; undefined if it continues none. */
function callNamed({ previous_response_id: id }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof id === "string" ? callOfResponse(id) : undefined;
}

/** Returns the members of a `response.create` message. @throws ApiError for other messages */
function messageOf(value: unknown): Readonly<Record<string, unknown>> {
  const message = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (message["type"] !== "response.create") {
    throw new ApiError("unsupported_value", "Expected a message of type response.create.", { param: "type" });
  }
  const decided = DECIDED.find((name) => message[name] !== undefined && !(name === "stream" && message[name] === true));
  if (decided !== undefined) {
    const message = `A WebSocket does not support ${decided}, since events are sent as messages; remove it.`;
    throw new ApiError("unsupported_value", message, { param: decided });
  }
  return message;
}

/** Maximum fraction of the connections' common memory that one workspace may use, from 0 to 1. */
const WORKSPACE_SHARE = 0.5;

function sharedBytes(max: number): FairLimit {
  return new FairLimit({ max, mayHave: ({ taken }, amount) => taken + amount <= max * WORKSPACE_SHARE });
}

/** Reserves memory and returns its lease; undefined if the memory is not available now. */
function enterNow(limit: FairLimit, owner: string, amount: number): Lease | undefined {
  const lease = limit.enter({ owner, amount });
  if (lease.entered === undefined) return lease;
  lease.release();
  return undefined;
}
