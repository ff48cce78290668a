/** An ingress without its surroundings: what it asks of them is recorded, what they answer is the test's to say. */
import { CAPABILITIES, findCapability } from "#shared/calls/capabilities/list.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { HoldRequest } from "#shared/ledger/call-admission.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { createIpNet } from "#shared/access/ip-net.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { ApiError, type ErrorEnvelope } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import type { IngressContext } from "#ingress/context.ts";
import { openMinuteBound } from "#ingress/core/minute-bound.ts";
import type { CallFacts } from "#ingress/wait/call.ts";
import type { CallMessage } from "#ingress/wait/relay.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

export const KEY = "good-key";
/** The bell of every job. */
export const RING_TOKEN = "bell";
/** Token of an operator who may do everything. */
export const OPERATOR_TOKEN = "good-operator-token";
export const BODY_BYTES_MAX = 4_096;

const CALLER: Caller = {
  keyId: newId(),
  workspaceId: newId(),
  workspaceName: "a team",
  memberId: newId(),
  role: "developer",
  preset: { name: "standard", requests_per_minute: 120, daily_tokens: null },
};

/** Ingresses of which the context knows. */
export const INGRESSES = [
  { version: "0.1.0", startedAt: Date.UTC(2026, 10, 30, 12) },
  { version: "0.1.0", startedAt: Date.UTC(2026, 10, 30, 11) },
  { version: null, startedAt: null },
];

const CATALOGUE = `${BASE}
presets:
  - name: standard
    requests_per_minute: 120
    daily_tokens: null
`;

export interface FakeContext {
  readonly context: IngressContext;
  readonly caller: Caller;
  /** Calls counted in the window, alone or with a hold. */
  readonly counted: { workspaceId: string; limit: number | null; hold: HoldRequest | null }[];
  /** Calls handed to the relay. */
  readonly relayed: CallFacts[];
  /** Their messages. */
  readonly sent: CallMessage[];
  /** Authorization headers, and tokens of sessions, as the authenticator got them. */
  readonly authorizations: (string | null)[];
  /** Lines of the log from warnings upwards. */
  readonly logged: Record<string, unknown>[];
  /** The other lines. */
  readonly told: Record<string, unknown>[];
  close(): void;
}

export interface FakeOptions {
  readonly caller?: Partial<Caller>;
  readonly catalogue?: Catalogue;
  readonly ipLimit?: number;
  /** Answer of the relay; throws to fail a call. */
  readonly relay?: (facts: CallFacts) => Response | Promise<Response>;
  /** Throws to refuse a call. */
  readonly admit?: (hold: HoldRequest | null) => void;
  /** Share of the credit line on which calls are admitted. */
  readonly creditLineHold?: CreditLineHold;
  /** Throws to refuse a key. */
  readonly authenticate?: (authorization: string | null) => void;
  readonly isReady?: (required: readonly string[]) => boolean;
  readonly bodyBytesMax?: number;
}

export function fakeContext(options: FakeOptions = {}): FakeContext {
  const caller = { ...CALLER, ...options.caller };
  const counted: FakeContext["counted"] = [];
  const relayed: CallFacts[] = [];
  const sent: CallMessage[] = [];
  const authorizations: (string | null)[] = [];
  const logged: Record<string, unknown>[] = [];
  const told: Record<string, unknown>[] = [];
  const metrics = createMetrics("test");
  const catalogue = options.catalogue ?? build([CATALOGUE]);
  const count = (workspaceId: string, limit: number | null, hold: HoldRequest | null): Promise<void> => {
    counted.push({ workspaceId, limit, hold });
    return Promise.try(() => options.admit?.(hold));
  };
  const context = {
    config: {
      bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
      storageBytesMax: 2 ** 40,
      bodyRetentionHoursMax: 720,
      calls: { totalMs: 60_000, firstByteMs: 60_000, stallMs: 60_000, queueMs: 60_000 },
    },
    log: createLogger({
      level: "info",
      role: "test",
      write: (text) => {
        const line = JSON.parse(text) as Record<string, unknown>;
        (line["level"] === "info" ? told : logged).push(line);
      },
    }),
    metrics,
    catalogue: { current: () => catalogue },
    keyWatch: { watch: () => () => undefined },
    authenticator: {
      authenticate: (authorization: string | null) =>
        Promise.try(() => {
          authorizations.push(authorization);
          options.authenticate?.(authorization);
          if (authorization === null) throw new ApiError("missing_api_key", "Expected a key.");
          if (authorization !== `Bearer ${KEY}`)
            throw new ApiError("invalid_api_key", "The API key is unknown, revoked or expired; use an active key.");
          return caller;
        }),
      authenticateSession: (token: string) => {
        authorizations.push(token);
        return Promise.resolve(caller);
      },
    },
    operators: {
      checkReachable: () => Promise.resolve(),
      authenticate: (authorization: string | null) =>
        Promise.try(() => {
          if (authorization !== `Bearer ${OPERATOR_TOKEN}`) {
            throw new ApiError("invalid_api_key", "The operator token is unknown, revoked or expired.");
          }
          return { name: "test", scope: "money" };
        }),
    },
    ipNet: createIpNet(options.ipLimit ?? 0, []),
    uncounted: openMinuteBound(),
    refusals: { note: () => undefined },
    calls: {
      count: (workspaceId: string, limit: number | null) => count(workspaceId, limit, null),
      check: () => Promise.try(() => options.admit?.(null)),
      place: async (workspaceId: string, limit: number | null, hold: HoldRequest) => {
        await count(workspaceId, limit, hold);
        return options.creditLineHold;
      },
    },
    bodies: { begin: () => undefined, end: () => undefined },
    sealer: createSealer([new Uint8Array(32)]),
    ledger: { finish: () => Promise.resolve({ takenNano: 0n, wasClosed: false }) },
    storage: {},
    relay: {
      run: async (facts: CallFacts, message: CallMessage, _signal: AbortSignal, onOffloaded?: () => void) => {
        relayed.push(facts);
        onOffloaded?.();
        sent.push(message);
        return (await options.relay?.(facts)) ?? Response.json({ answered: true });
      },
    },
    availableCapabilities: { current: () => CAPABILITIES, find: (id: string) => findCapability(id) },
    routes: new Map(),
    probes: { audio: ({ bytes }: { readonly bytes: Uint8Array }) => Promise.try(() => probeAudio(bytes)) },
    connection: {
      isClosed: () => false,
      publish: () => undefined,
      request: () => Promise.reject(new Error("no responders")),
    },
    fleet: { ingresses: () => INGRESSES },
    cancel: () => undefined,
    closing: new AbortController().signal,
    stopping: new AbortController().signal,
    database: { one: () => Promise.resolve(null), all: () => Promise.resolve([]), query: () => Promise.resolve([]) },
    callbackTokens: { isOf: (_jobId: string, token: string) => token === RING_TOKEN },
    readiness: () => Promise.resolve({ ok: true, checks: [], failing: [] }),
    isReady: (required: readonly string[]) => Promise.resolve(options.isReady?.(required) ?? true),
  } as unknown as IngressContext;
  return { context, caller, counted, relayed, sent, authorizations, logged, told, close: () => metrics.close() };
}

/** The error of an answer; throws when the answer is none. */
export async function envelopeOf(response: Response): Promise<ErrorEnvelope["error"]> {
  const body = (await response.json()) as Partial<ErrorEnvelope>;
  if (body.error === undefined) throw new Error(`no error in an answer of status ${response.status}`);
  return body.error;
}

/** A chat body that every gate lets through. */
export const CHAT = { model: "one", messages: [{ role: "user", content: "hello" }] };
