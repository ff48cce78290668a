/** Results of tools: JSON as text and as structured content, links to files, the price, and errors in the envelope of HTTP. */
import type { CallToolResult, ResourceLink } from "@modelcontextprotocol/server";

import type { CapabilityRun, Job, WorkflowRun } from "#schemas/generated/types.ts";

import type { ApiClient } from "../../tools/api-client.ts";
import { type ErrorBody, errorBodyOf } from "../../tools/work.ts";

/** Member of a result's `_meta` with the charge. */
const CREDITS_USED = "sluice/credits_used";

/** Longest result that is repeated as text, in characters. Runs of many steps have tens of megabytes. */
export const RESULT_TEXT_CHARACTERS_MAX = 2_097_152;

/** Returns a tool's result. @param value contains only JSON types */
export function toolResult(value: object, credits?: number, links: readonly ResourceLink[] = []): CallToolResult {
  const json = JSON.stringify(value);
  const isShort = json.length <= RESULT_TEXT_CHARACTERS_MAX;
  const text = isShort ? json : `The result has ${json.length} characters; read it in structuredContent.`;
  return {
    content: [{ type: "text", text }, ...links],
    structuredContent: { ...value },
    ...(credits === undefined ? {} : { _meta: { [CREDITS_USED]: credits } }),
  };
}

/** Returns a tool's error for the model. */
export async function toolFailure(api: ApiClient, error: unknown): Promise<CallToolResult> {
  return failed(await errorBodyOf(api, error));
}

function failed(error: ErrorBody, beside: object = {}, credits?: number): CallToolResult {
  const content = [{ type: "text" as const, text: `${error.code}: ${error.message}` }];
  return { ...toolResult({ ...beside, error }, credits), content, isError: true };
}

/** Returns the result of a synchronous run. */
export function capabilityResult(run: CapabilityRun): CallToolResult {
  const links = run.files.map((file) => fileLink(file.url, file.name ?? file.file_id, file.bytes, file.content_type));
  return toolResult(run, run.credits_used, links);
}

export function fileLink(uri: string, name: string, size: number, mimeType?: string): ResourceLink {
  return { type: "resource_link", uri, name, size, ...(mimeType === undefined ? {} : { mimeType }) };
}

export function workflowResult(run: WorkflowRun): CallToolResult {
  if (run.error) return failed(run.error, { run }, run.creditsUsed);
  return toolResult(run, run.creditsUsed);
}

/** Returns the result of an ended job: for a capability in the format of its run. */
export function jobResult(job: Job): CallToolResult {
  if (job.error) return failed(job.error, {}, job.credits_used);
  const [firstResult] = job.data ?? [];
  if (firstResult && "object" in firstResult && firstResult["object"] === "capability.run") {
    return capabilityResult(firstResult as unknown as CapabilityRun);
  }
  return toolResult(job, job.credits_used);
}
