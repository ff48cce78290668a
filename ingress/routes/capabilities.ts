/** GET /v1/tools, POST /v1/capabilities/{id}/run and /estimate. */
import { createHash } from "node:crypto";

import { checkTool, usableTools } from "#shared/access/tools.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { creditsNumber, formatCredits } from "#shared/money.ts";

import { json, JSON_TYPE } from "../answers.ts";
import { readBody } from "../body.ts";
import { readRun } from "#shared/calls/capabilities/read-run.ts";
import { callOfRun } from "#shared/calls/read.ts";
import { listCapabilities, presentRun, type RunOutcome } from "../capabilities/present.ts";
import type { IngressContext } from "../context.ts";
import { answerJob, shownJobById } from "../media/jobs.ts";
import { admitMediaJob, waitForJob } from "../media/media-job.ts";
import { rememberPairs } from "#shared/remembered.ts";
import { type Act, errorsOf } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

const RUN: readonly Act[] = ["reads_json", "reads_files", "fetches_addresses", "holds", "keeps_files", "waits_for_job"];

const EXAMPLE = {
  pathExamples: { id: "image.resize" },
  request: {
    schema: "CapabilityRunRequest",
    example: { input: { image: { file_id: "file-sample-photo" } }, params: { width: 320, format: "webp" } },
  },
} as const;

export function capabilities(context: IngressContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v1/tools",
      operationId: "listCapabilities",
      summary: "List the capabilities that can be run",
      description:
        "Deterministic operations on media and documents, ordered by category; of a key that lists its tools, those. The list " +
        "changes only when the service is deployed, or its prices or engines change: keep it, and ask with `If-None-Match`.",
      tags: ["Capabilities"],
      auth: "key",
      responses: {
        200: { description: "The list", schema: "CapabilityList" },
        304: { description: "The client has it already" },
      },
      errors: [],
      handle: (call) => list(context, call),
    },
    {
      method: "POST",
      path: "/v1/capabilities/{id}/run",
      operationId: "runCapability",
      summary: "Run a capability",
      description:
        "Waits for the result; a run that is waited for too long ends as `job_timeout` with the job's id, under which it can be " +
        "collected. With `async: true` the answer is the job. Sending the same call again starts, and bills, another run.",
      tags: ["Capabilities"],
      auth: "key",
      countsItself: true,
      ...EXAMPLE,
      responses: {
        200: { description: "What the run made", schema: "CapabilityRun", headers: ["x-credits-used"] },
        202: { description: "The job that runs it", schema: "Job" },
      },
      errors: errorsOf(RUN, "capability_not_found"),
      handle: (call) => run(context, call),
    },
    {
      method: "POST",
      path: "/v1/capabilities/{id}/estimate",
      operationId: "estimateCapability",
      summary: "Say what a run would cost",
      description:
        "The body is that of the run, which is checked as there. Files and base64 are looked at for their size, frames or length; addresses " +
        "are not fetched, and what is not known counts as the limits allow. Nothing is held or billed.",
      tags: ["Capabilities"],
      auth: "key",
      ...EXAMPLE,
      responses: { 200: { description: "The estimate", schema: "CapabilityEstimate" } },
      errors: errorsOf(["reads_json", "reads_files", "fetches_addresses"], "capability_not_found"),
      handle: (call) => estimate(context, call),
    },
  ];
}

function idOf(call: RouteCall): string {
  return call.params["id"] ?? "";
}

/** The list is the same for every caller without tools of its own until the catalogue is replaced, or workers can run other things. */
const render = rememberPairs(renderList);

function renderList(catalogue: Catalogue, offered: readonly Capability[]) {
  const text = JSON.stringify(listCapabilities(catalogue, offered));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
}

function list({ catalogue, offered }: IngressContext, call: RouteCall): Response {
  const { request } = call;
  const all = offered.current();
  const usable = usableTools(callerOf(call), all);
  const { text, etag } = (usable === all ? render : renderList)(catalogue.current(), usable);
  const headers = { etag, "cache-control": "private, max-age=300" };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((one) => one.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "content-type": JSON_TYPE } });
}

async function run(context: IngressContext, call: RouteCall): Promise<Response> {
  const caller = callerOf(call);
  const capability = context.offered.find(idOf(call));
  checkTool(caller, capability.id);
  const { value, pause } = await readBody(context, call);
  const asked = await readRun(context, caller, capability.id, value, pause);
  await pause();
  const isNew = await admitMediaJob(context, call, caller, callOfRun(asked));
  if (asked.isAsync) {
    const answer = await answerJob(context, call, await shownJobById(context, caller.workspaceId, call.requestId));
    return new Response(answer.body, { status: 202, headers: answer.headers });
  }
  const row = await waitForJob(context, call, caller, { isNew });
  const outcome = JSON.parse((await loadResult(context.storage, row)) ?? "null") as RunOutcome;
  return json(presentRun(context, row, outcome, call.request), { "x-credits-used": formatCredits(row.credits ?? 0n) });
}

async function estimate(context: IngressContext, call: RouteCall): Promise<Response> {
  checkTool(callerOf(call), idOf(call));
  const { value, pause } = await readBody(context, call);
  await pause();
  const { capability, model, usualNano, checked } = await readRun(context, callerOf(call), idOf(call), value);
  return json({
    capability: capability.id,
    currency: "credits",
    unit: model.price.unit,
    estimated_credits: creditsNumber(usualNano),
    max_credits: creditsNumber(checked.bound.holdNano),
  });
}
