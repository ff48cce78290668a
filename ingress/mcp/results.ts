/** Results of tools: JSON as text and as it is, links to files, the price, and errors in the envelope that HTTP has. */
import type { CallToolResult, ResourceLink } from "@modelcontextprotocol/server";

import type { CapabilityRun, Job, WorkflowRun } from "#schemas/generated/types.ts";

import type { ApiClient } from "../tools/api-client.ts";
import { type ShownError, shownError } from "../tools/work.ts";

/** Member of a result's `_meta`. */
const CREDITS_USED = "sluice/credits_used";

/** A result is repeated as text up to this length. Runs of many steps have tens of megabytes. */
export const RESULT_TEXT_CHARACTERS_MAX = 2_097_152;

/** @param value with what JSON has */
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

/** The error as the model is to read it. */
export async function toolFailure(api: ApiClient, error: unknown): Promise<CallToolResult> {
  return failed(await shownError(api, error));
}

function failed(error: ShownError, beside: object = {}, credits?: number): CallToolResult {
  const content = [{ type: "text" as const, text: `${error.code}: ${error.message}` }];
  return { ...toolResult({ ...beside, error }, credits), content, isError: true };
}

/** The answer of a run that has been waited for. */
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

/** A job that has ended: a run of a capability as its own answer has it. */
export function jobResult(job: Job): CallToolResult {
  if (job.error) return failed(job.error, {}, job.credits_used);
  const [made] = job.data ?? [];
  if (made && "object" in made && made["object"] === "capability.run") {
    return capabilityResult(made as unknown as CapabilityRun);
  }
  return toolResult(job, job.credits_used);
}
