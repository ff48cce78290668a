/** Prepares a run: finds its definition and validates its input. */
import type { WorkflowDefinition } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { CallLabels } from "#shared/calls/labels.ts";
import { lowerMax, readMaxCredits } from "#shared/calls/max-credits.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { NewRun, RunMode } from "#shared/database/runs.ts";
import { findDefinition, type WorkflowRow } from "#shared/database/workflows.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Lane } from "#shared/queue/subjects.ts";

import { mayRun } from "./access.ts";
import { readRunInput } from "./inputs.ts";
import { RUN_ATTEMPTS_MAX } from "./limits.ts";

interface RunRequest {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly mode: RunMode;
  readonly lane: Lane;
  readonly parent?: NewRun["parent"];
  readonly depth: number;
  /** Maximum cost in the request, in credits. Default: that of the definition. */
  readonly maxCredits?: number | undefined;
  /** Maximum cost that is not in the body of the request, in nano-credits. */
  readonly outerNano?: bigint | undefined;
  readonly limitedBatch?: string;
  readonly traceparent?: string | null;
  /** Labels of all calls of the run; undefined for none. */
  readonly labels?: CallLabels | undefined;
}

/**
 * Prepares a run of a stored workflow.
 * @throws ApiError `workflow_not_found`, `permission_denied`; `invalid_request` for an invalid input
 */
export async function newRunOf(
  target: Queryable,
  caller: Caller,
  asked: RunRequest & {
    readonly workflow: WorkflowRow | undefined;
    readonly version: number | undefined;
    /**
     * True for a run that a step of a parent run starts. The permission of the author was checked when the parent definition was written.
     */
    readonly isJudged?: boolean;
  },
): Promise<NewRun> {
  const { workflow } = asked;
  // Batch messages and batch lines pass no route that checks the role.
  if (caller.role === "billing") {
    throw new ApiError("permission_denied", "Expected a key with the role owner, admin or developer, got billing.");
  }
  if (!workflow) throw new ApiError("workflow_not_found", "There is no such workflow in this workspace.");
  if (asked.isJudged !== true && !mayRun(workflow, caller)) {
    throw new ApiError(
      "permission_denied",
      "This workflow is shared for reading only. Only its creator, owners and admins can run it.",
    );
  }
  const version = asked.version ?? workflow.latest_version;
  const definition = (await findDefinition(target, workflow.id, version)) as WorkflowDefinition | undefined;
  if (!definition) throw new ApiError("workflow_not_found", `The workflow has no version ${version}.`);
  return inlineRunOf(caller, definition, asked, { id: workflow.id, version });
}

/**
 * Prepares a run of a given definition.
 * @param stored id and version of a stored definition; null for an inline one
 * @throws ApiError for an invalid input
 */
export function inlineRunOf(
  caller: Caller,
  definition: WorkflowDefinition,
  { id, input, mode, lane, parent, depth, maxCredits, outerNano, limitedBatch, traceparent, labels }: RunRequest,
  stored: NewRun["workflow"] = null,
): NewRun {
  const runInput = readRunInput(definition.inputs ?? {}, input);
  const text = runInput === undefined ? null : JSON.stringify(runInput);
  const credits = maxCredits ?? definition.max_credits;
  // A synchronous run is tried once: its caller decides about retries.
  const attempts = mode === "async" ? (definition.retry?.max_attempts ?? 1) : 1;
  return {
    id,
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    memberId: caller.memberId,
    workflow: stored,
    definition: stored ? null : JSON.stringify(definition),
    mode,
    lane,
    maxAttempts: Math.min(RUN_ATTEMPTS_MAX, Math.max(1, attempts)),
    input: text,
    inputBytes: text === null ? 0 : Buffer.byteLength(text),
    ...(parent ? { parent } : {}),
    depth,
    maxNano: lowerMax(credits === undefined ? undefined : readMaxCredits(credits), outerNano),
    limitedBatch,
    ...(traceparent == null ? {} : { traceparent }),
    ...(labels === undefined ? {} : { labels }),
  };
}
