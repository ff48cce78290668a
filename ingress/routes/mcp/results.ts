/**
 * Builds the results of MCP tools: JSON as text and as structured content, links to files, the price, and errors in the format of the HTTP
 * API.
 */
import type { CallToolResult, ResourceLink } from "@modelcontextprotocol/server";

import type { CapabilityRun, Job, WorkflowRun } from "#schemas/generated/types.ts";

import type { ApiClient } from "../../tools/api-client.ts";
import { type ErrorBody, errorBodyOf } from "../../tools/work.ts";

/** Member of a result's `_meta` that contains the charged credits. */
const CREDITS_USED = "sluice/credits_used";

/**
 * Maximum length of a result that is returned as text in addition to structured content, in characters. Runs of many steps have tens of
 * megabytes.
 */
export const RESULT_TEXT_CHARACTERS_MAX = 2_097_152;

/** Builds a tool's successful result. @param value contains only JSON types */
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

/** Converts an error into a failed tool result that the model can read. */
export async function toolFailure(api: ApiClient, error: unknown): Promise<CallToolResult> {
  return failed(await errorBodyOf(api, error));
}

function failed(error: ErrorBody, beside: object = {}, credits?: number): CallToolResult {
  const content = [{ type: "text" as const, text: `${error.code}: ${error.message}` }];
  return { ...toolResult({ ...beside, error }, credits), content, isError: true };
}

/** Converts a synchronous capability run into a tool result. */
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

/** Converts an ended job into a tool result. A capability's job has the same format as its synchronous run. */
export function jobResult(job: Job): CallToolResult {
  if (job.error) return failed(job.error, {}, job.credits_used);
  const [firstResult] = job.data ?? [];
  if (firstResult && "object" in firstResult && firstResult["object"] === "capability.run") {
    return capabilityResult(firstResult as unknown as CapabilityRun);
  }
  return toolResult(job, job.credits_used);
}
