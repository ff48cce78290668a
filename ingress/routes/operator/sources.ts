/** /operator/sources: lists the model sources with the reasons why some are unavailable, and tests and resets them. */
import type { OperatorSource, OperatorSourceTest } from "#schemas/generated/types.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import { listDisabledSources, resetSource } from "#shared/database/source-breaker.ts";
import { ApiError } from "#shared/base/errors.ts";
import {
  readSourceVerdict,
  SOURCE_TEST_MS,
  type SourceFacts,
  sourceFacts,
  type SourceTest,
  testableModel,
  UNTESTABLE,
} from "#shared/operators/sources.ts";
import { CALL_POOLS, sourceResetSubject, sourceTestSubject } from "#shared/queue/subjects.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { OperatorCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { iso, READ, WRITE } from "./common.ts";

const LIST = "/operator/sources";
const ONE = `${LIST}/{source}`;
const ID = "`source` is `provider/model`, with `%2F` for each slash.";

export function sources(context: IngressContext): readonly OperatorRoute[] {
  return [
    {
      ...READ,
      method: "GET",
      path: LIST,
      operationId: "listOperatorSources",
      summary: "List sources",
      description:
        "Lists the provider models that serve the catalogue, with their state. A source is `not_configured` when a " +
        "setting is missing. It is `disabled` for a while after errors, and calls use other sources.",
      responses: { 200: { description: "The sources", schema: "OperatorSourceList" } },
      errors: [],
      handle: async () => json({ object: "list", data: (await readSources(context)).map(present) }),
    },
    {
      ...READ,
      method: "GET",
      path: ONE,
      operationId: "getOperatorSource",
      summary: "Retrieve source",
      description: ID,
      responses: { 200: { description: "The source", schema: "OperatorSource" } },
      errors: ["not_found"],
      handle: async (call) => json(present(await find(context, call))),
    },
    {
      ...WRITE,
      method: "POST",
      path: `${ONE}/reset`,
      operationId: "resetOperatorSource",
      summary: "Reset source",
      description: `Enables a source that is disabled after errors. All workers send calls to it within seconds. ${ID}`,
      responses: { 200: { description: "The source", schema: "OperatorSource" } },
      errors: ["not_found"],
      handle: (call) => reset(context, call),
    },
    {
      ...WRITE,
      method: "POST",
      path: `${ONE}/test`,
      operationId: "testOperatorSource",
      summary: "Test source",
      description:
        "Sends a minimal call to the provider, also when the source is disabled, and returns the error class of the response. The " +
        "provider may charge a small amount: a few tokens, a word of speech, a second of audio or one image. Sources of video, music " +
        `and 3D, and of providers that queue their jobs, cannot be tested, because a test would start a paid job. ${ID}`,
      responses: { 200: { description: "The result of the test", schema: "OperatorSourceTest" } },
      errors: ["not_found", "conflict", "service_unavailable"],
      handle: (call) => test(context, call),
    },
  ];
}

async function readSources({ database, catalogue }: IngressContext): Promise<SourceFacts[]> {
  return sourceFacts(catalogue.current(), await listDisabledSources(database));
}

/** Returns the model source named in the URL path. @throws ApiError `not_found` */
async function find(context: IngressContext, call: OperatorCall): Promise<SourceFacts> {
  const found = (await readSources(context)).find(({ id }) => id === call.params["source"]);
  if (found === undefined) throw new ApiError("not_found", "There is no such source; GET /operator/sources lists all.");
  return found;
}

async function reset(context: IngressContext, call: OperatorCall): Promise<Response> {
  const { database, connection } = context;
  const { id } = await find(context, call);
  await resetSource(database, id, actorOf(call));
  // A worker without the message notices the deleted row within seconds.
  if (!connection.isClosed()) for (const pool of CALL_POOLS) connection.publish(sourceResetSubject(pool), id);
  return json(present(await find(context, call)));
}

/** Timeout of a worker's response to a test of a model source, in milliseconds. It is longer than the worker's own timeout. */
const ANSWER_MS = SOURCE_TEST_MS + 2_000;

async function test(context: IngressContext, call: OperatorCall): Promise<Response> {
  const { database, catalogue, connection } = context;
  const { id, models, state, reason } = await find(context, call);
  if (state === "not_configured") throw new ApiError("conflict", `The source cannot be called: ${reason}.`);
  const testable = testableModel(catalogue.current(), models);
  if (testable === undefined) {
    throw untestable();
  }
  const { model, pool } = testable;
  await recordAudit(database, null, { actor: actorOf(call), action: "source.test", subject: id });
  const asked: SourceTest = { source: id, model: model.slug };
  const answer = await connection
    .request(sourceTestSubject(pool), JSON.stringify(asked), { timeout: ANSWER_MS })
    .catch((cause: unknown) => {
      const message = `No worker of the pool ${pool} answered the test.`;
      throw new ApiError("service_unavailable", message, { cause });
    });
  const verdict = readSourceVerdict(answer.data);
  if (verdict === undefined) throw new Error("a worker's verdict on a source cannot be read");
  const { error, status, text, duration_ms } = verdict;
  if (error === UNTESTABLE) throw untestable(text);
  return json({
    object: "source.test",
    source: id,
    model: model.slug,
    is_working: error === null,
    error,
    provider_status: status,
    provider_text: text,
    duration_ms,
  } satisfies OperatorSourceTest);
}

/** Returns the error for a source of which no call was sent. @param reason why the model cannot be called with the smallest request */
function untestable(reason: string | null = null): ApiError {
  const why = reason ?? "A test of this source would start a paid job.";
  return new ApiError("conflict", `${why} The source cannot be tested; call the model instead.`);
}

function present(facts: SourceFacts): OperatorSource {
  const { nextAttemptMs: waitMs } = facts;
  return {
    object: "source",
    id: facts.id,
    provider: facts.provider,
    models: [...facts.models],
    setting: facts.setting,
    state: facts.state,
    reason: facts.reason,
    provider_status: facts.status,
    disabled_in: [...facts.disabledIn],
    disabled_since: iso(facts.disabledSince),
    next_attempt_seconds: waitMs === null ? null : Math.ceil(waitMs / 1_000),
  };
}
