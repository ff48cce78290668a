/** GET /v1/tools lists capabilities. POST /v1/capabilities/{id}/run and /estimate run a capability and estimate its price. */
import { createHash } from "node:crypto";

import { checkTool, usableTools } from "#shared/access/tools.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";

import { json, JSON_TYPE } from "../../core/answers.ts";
import { readBody } from "../../core/body.ts";
import { MAX_CREDITS_REQUEST, outerMaxOf } from "../../core/max-credits.ts";
import { readRun } from "#shared/calls/capabilities/read-run.ts";
import { callOfRun, labelled } from "#shared/calls/read.ts";
import { listCapabilities, presentRun, type RunOutcome } from "../media/present-capability.ts";
import type { IngressContext } from "../../context.ts";
import { answerJob, requireJobById } from "../media/jobs.ts";
import { admitMediaJob, waitForJob } from "../media/media-job.ts";
import { rememberPairs } from "#shared/base/remembered.ts";
import { readLabels, TAGS_REQUEST } from "../../core/labels.ts";
import { type Act, errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";

const RUN: readonly Act[] = ["reads_json", "reads_files", "fetches_addresses", "holds", "keeps_files", "waits_for_job"];

const EXAMPLE = {
  pathExamples: { id: "image.resize" },
  request: {
    schema: "CapabilityRunRequest",
    example: { input: { image: { file_id: "file-sample-photo" } }, params: { width: 320, format: "webp" } },
  },
} as const;

export function capabilities(context: IngressContext): readonly KeyRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/tools",
      operationId: "listCapabilities",
      summary: "List capabilities",
      description:
        "Lists deterministic operations on media and documents by category. A key with a tool list sees only its " +
        "tools. The list changes only with a deployment, or with prices and engines: cache it and use " +
        "`If-None-Match`.",
      tags: ["Capabilities"],
      auth: "key",
      responses: {
        200: { description: "The capabilities", schema: "CapabilityList" },
        304: { description: "The client's copy is current" },
      },
      errors: [],
      handle: (call) => list(context, call),
    },
    {
      method: "POST",
      path: "/v1/capabilities/{id}/run",
      operationId: "runCapability",
      summary: "Run capability",
      description:
        "Runs a capability and waits for the result. A call that exceeds the wait limit fails with `job_timeout` " +
        "and the job's id; the result can be retrieved from the job. With `async: true` the response is the job. A " +
        "repeated call starts, and bills, another run.",
      tags: ["Capabilities"],
      auth: "key",
      countsItself: true,
      ...EXAMPLE,
      requestHeaders: [MAX_CREDITS_REQUEST, TAGS_REQUEST],
      responses: {
        200: { description: "The result of the run", schema: "CapabilityRun", headers: ["x-credits-used"] },
        202: { description: "The started job", schema: "Job" },
      },
      errors: errorsOf(RUN, "capability_not_found", "unknown_parameter"),
      handle: (call) => run(context, call),
    },
    {
      method: "POST",
      path: "/v1/capabilities/{id}/estimate",
      operationId: "estimateCapability",
      summary: "Estimate capability run",
      description:
        "Estimates the price of a run with the same body, which is validated like a run. Files and base64 data are " +
        "measured; URLs are not downloaded. Unknown sizes count at their limits. An estimate is free and holds " +
        "nothing.",
      tags: ["Capabilities"],
      auth: "key",
      ...EXAMPLE,
      responses: { 200: { description: "The estimate", schema: "CapabilityEstimate" } },
      errors: errorsOf(["reads_json", "reads_files", "fetches_addresses"], "capability_not_found", "unknown_parameter"),
      handle: (call) => estimate(context, call),
    },
  ];
}

function idOf(call: RouteCall): string {
  return call.params["id"] ?? "";
}

/**
 * Returns the capability list for keys that have no list of tools. The text is cached until the catalogue or the workers' capabilities
 * change.
 */
const render = rememberPairs(renderList);

function renderList(catalogue: Catalogue, usable: readonly Capability[]) {
  const text = JSON.stringify(listCapabilities(catalogue, usable));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}

function list({ catalogue, availableCapabilities }: IngressContext, call: RouteCall): Response {
  const { request } = call;
  const all = availableCapabilities.current();
  const usable = usableTools(call.caller, all);
  const { text, etag } = (usable === all ? render : renderList)(catalogue.current(), usable);
  const headers = { etag, "cache-control": "private, max-age=300" };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "content-type": JSON_TYPE } });
}

async function run(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const capability = context.availableCapabilities.find(idOf(call));
  if (call.asked) call.asked.capability = capability.id;
  checkTool(caller, capability.id);
  const { value, pause } = await readBody(context, call);
  const asked = await readRun(context, caller, capability.id, value, { pause, max: outerMaxOf(call) });
  await pause();
  const isNew = await admitMediaJob(context, call, labelled(callOfRun(asked), readLabels(call)));
  if (asked.isAsync) {
    const answer = await answerJob(context, call, await requireJobById(context, caller.workspaceId, call.requestId));
    return new Response(answer.body, { status: 202, headers: answer.headers });
  }
  const row = await waitForJob(context, call, { isNew });
  const outcome = JSON.parse((await loadResult(context.storage, row)) ?? "null") as RunOutcome;
  return json(presentRun(context, row, outcome, call.request), { "x-credits-used": formatCredits(row.credits ?? 0n) });
}

async function estimate(context: IngressContext, call: RouteCall): Promise<Response> {
  checkTool(call.caller, idOf(call));
  const { value, pause } = await readBody(context, call);
  await pause();
  const { capability, model, usualNano, checked } = await readRun(context, call.caller, idOf(call), value);
  return json({
    capability: capability.id,
    currency: "credits",
    unit: model.price.unit,
    estimated_credits: creditsNumber(usualNano),
    max_credits: creditsNumber(checked.bound.holdNano),
  });
}
