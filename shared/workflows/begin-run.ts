/** Starts runs, for callers, publishers and steps of other runs. */
import { Superseded } from "#shared/database/batch-work.ts";
import type { Queryable } from "#shared/database/client.ts";
import {
  insertRun,
  type NewRun,
  type RunBegun,
  type RunRow,
  type RunVerdict,
  ACTIVE_RUNS_MAX,
} from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import { deleteClaim, readClaim, storeRunInput } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Maximum size of an input that is stored in its run's row, in bytes. Larger ones are in the object store. */
export const RUN_INPUT_TEXT_BYTES_MAX = 65_536;

export interface BeginContext {
  readonly database: Queryable;
  readonly storage: Storage;
  readonly log: Logger;
  readonly config: { readonly storageBytesMax: number };
}

/**
 * Creates a run. A large input is written to the object store first.
 * @returns the verdict `begun`, `known` or `over` (see RunVerdict). A batch message can wait, and may also receive `waits` and `crowded`
 * @throws ApiError `overloaded`, `storage_limit_exceeded`, `workflow_not_found`, `service_unavailable`; Superseded
 */
export async function beginRun(context: BeginContext, run: NewRun): Promise<RunBegun> {
  const kept = await keepInput(context.storage, run);
  // After an error, the run may exist: the janitor deletes the input if no run references it.
  const begun = await insertRun(context.database, kept, context.config.storageBytesMax);
  const { verdict } = begun;
  if (verdict === "begun") return begun;
  if (kept.inputRef !== undefined) {
    await deleteClaim(context.storage, kept.inputRef).catch((error: unknown) =>
      context.log.warn({ err: error, run_id: run.id }, "the input of a refused run could not be deleted"),
    );
  }
  if (verdict === "superseded") throw new Superseded();
  const mayWait = verdict === "crowded" && run.publisher !== undefined;
  const refusal = mayWait ? undefined : refusalOf(verdict, context.config.storageBytesMax);
  if (refusal) throw refusal;
  return begun;
}

async function keepInput(storage: Storage, run: NewRun): Promise<NewRun> {
  if (run.input === null || run.inputBytes <= RUN_INPUT_TEXT_BYTES_MAX) return run;
  try {
    // Each attempt has its own reference, so a rejected one never deletes another's input.
    const inputRef = await storeRunInput(storage, run.id, newId(), run.input);
    failpoint("request.stored");
    return { ...run, inputRef };
  } catch (error) {
    throw new ApiError("service_unavailable", "Large inputs cannot be stored right now; try again shortly.", {
      cause: error,
    });
  }
}

function refusalOf(verdict: RunVerdict, storageBytesMax: number): ApiError | undefined {
  switch (verdict) {
    case "crowded":
      return new ApiError(
        "overloaded",
        `The workspace has ${ACTIVE_RUNS_MAX} active runs, which is the maximum. Wait until one ends, or cancel one.`,
      );
    case "full":
      return new ApiError(
        "storage_limit_exceeded",
        `The run would exceed the workspace's storage limit of ${storageBytesMax} bytes; delete files or workflows first.`,
      );
    case "gone":
      return new ApiError("workflow_not_found", "The workflow was deleted before the run began.");
    default:
      return undefined;
  }
}

/** Returns the run with its input loaded. @throws ApiError `service_unavailable` */
export async function withInput(storage: Storage, row: RunRow): Promise<RunRow> {
  if (row.input_ref === null) return row;
  try {
    return { ...row, input: await readClaim(storage, row.input_ref) };
  } catch (error) {
    throw new ApiError("service_unavailable", "The run's input cannot be read right now; try again shortly.", {
      cause: error,
    });
  }
}
