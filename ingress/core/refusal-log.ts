/**
 * Stores calls that were refused before a hold, so that their owners find the reason by the request id. A refusal is stored after its
 * response, together with other refusals, and never delays a call.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { insertRefusedCalls, type RefusedCall } from "#shared/database/refused-calls.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";

import type { AskedModel } from "./long-work.ts";
import { knownParam } from "./known-param.ts";
import { openMinuteBound } from "./minute-bound.ts";
import type { RouteSpec } from "./route.ts";

export interface RefusalLog {
  /** Notes an error of a call. Errors of routes without paid calls, and errors that only admitted calls have, are not stored. */
  note(route: NotedRoute, call: NotedCall, error: unknown): void;
  /** Writes the noted refusals. Resolves when they are written or abandoned. */
  close(): Promise<void>;
}

type NotedRoute = Pick<RouteSpec, "errors" | "method" | "path"> & { readonly countsItself?: true };
interface NotedCall {
  readonly asked?: AskedModel;
  readonly requestId: string;
  readonly caller: Pick<Caller, "workspaceId" | "keyId">;
}

/** Refusals of a workspace that an ingress stores in a minute; further ones are dropped. A caller's loop thus cannot load the database. */
export const REFUSALS_PER_MINUTE_MAX = 120;
/** Maximum number of refusals that wait to be stored; further ones are dropped. */
const WAITING_MAX = 2_000;
/** Maximum number of refusals stored by one statement. */
const BATCH_MAX = 200;
/** Time for which refusals are collected before they are stored together, in milliseconds. */
const LINGER_MS = 500;
/** Maximum length of a stored parameter, in characters. */
const PARAM_CHARS_MAX = 200;
/** Maximum length of a stored sentence, in characters. */
const MESSAGE_CHARS_MAX = 500;

/** Errors of calls that held credits, whose usage record contains the error. */
const ADMITTED: ReadonlySet<Code> = new Set<Code>([
  "upstream_error",
  "upstream_refused",
  "worker_lost",
  "artifact_unreadable",
  "job_timeout",
]);

export function openRefusalLog({
  database,
  log,
  metrics,
  catalogue,
  lingerMs = LINGER_MS,
}: {
  readonly database: Queryable;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refusalsDropped">;
  /** Models whose names may be stored. */
  readonly catalogue: { current(): Pick<Catalogue, "models" | "unroutable"> };
  readonly lingerMs?: number;
}): RefusalLog {
  const bound = openMinuteBound();
  const waiting: RefusedCall[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    for (let batch = waiting.splice(0, BATCH_MAX); batch.length > 0; batch = waiting.splice(0, BATCH_MAX)) {
      try {
        await insertRefusedCalls(database, batch);
      } catch (error) {
        metrics.refusalsDropped.add(batch.length);
        log.warn({ err: error, refusals: batch.length }, "refused calls were not stored");
      }
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };

  return {
    note(route, { requestId, caller: { workspaceId, keyId }, asked }, error) {
      if (!(error instanceof ApiError) || ADMITTED.has(error.code) || !isPaid(route)) return;
      if (waiting.length >= WAITING_MAX || !bound.take(workspaceId, REFUSALS_PER_MINUTE_MAX)) {
        metrics.refusalsDropped.inc();
        return;
      }
      const param = error.param === null ? null : knownParam(error.param.slice(0, PARAM_CHARS_MAX));
      const { code } = error;
      const message = sentenceOf(error)?.slice(0, MESSAGE_CHARS_MAX) ?? null;
      const model = asked?.capability ?? knownModel(catalogue.current(), asked?.model);
      waiting.push({ workspaceId, keyId, requestId, endpoint: route.path, code, param, model, message });
      timer ??= setTimeout(() => void flush(), lingerMs);
    },
    close: flush,
  };
}

/** Sentence of a spend limit, as `spend_refusal` writes it, in the parts before and after the name of an end user or a tag. */
const SPEND_LIMIT =
  /^(This call may cost up to [\d.]+ credits; the \w+ limit of the (?:key|member|end user|tag) ).*(\([\d.]+\) leaves .*)$/s;

/**
 * Returns the sentence of an error without texts of the caller. Null for errors of a request's content, which repeat parts of it. The
 * sentence of a spend limit may name an end user or a tag, and is returned without the name.
 */
function sentenceOf({ code, message }: ApiError): string | null {
  if (code === "key_limit_reached") return SPEND_LIMIT.test(message) ? message.replace(SPEND_LIMIT, "$1$2") : null;
  return ERROR_CODES[code].type === "invalid_request_error" ? null : message;
}

/** Returns the model if the catalogue has it. Other names are texts of the caller. */
function knownModel({ models, unroutable }: Pick<Catalogue, "models" | "unroutable">, name: unknown): string | null {
  return typeof name === "string" && (models.has(name) || unroutable.has(name)) ? name : null;
}

/** True for routes whose calls hold credits, and for those that begin a run or a batch. */
function isPaid({ countsItself, errors, method, path }: NotedRoute): boolean {
  return (
    countsItself === true || errors.includes("insufficient_credits") || (method === "POST" && path.endsWith("/runs"))
  );
}
