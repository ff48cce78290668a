/** Limits on workflows and their runs that several modules use. */
import { paced } from "#shared/config/pace.ts";

/** Maximum items of a list for which a step runs. */
export const FOR_EACH_ITEMS_MAX = 1_000;

/** Maximum nesting depth of workflows that run other workflows. */
export const WORKFLOW_DEPTH_MAX = 5;

/** Maximum number of definitions that are read to check the nesting of a workflow. */
export const WORKFLOW_NESTED_MAX = 100;

/**
 * Maximum number of calls and runs that a definition may cause, including nested workflows. A run with its nested runs and retries has the
 * same limit. Lists from expressions make this necessary, because their length is unknown before the run. The maximum takes a worker
 * minutes, and 20 MB of database rows.
 */
export const WORKFLOW_WORK_MAX = 20_000;
export const RUN_ATTEMPTS_MAX = 5;

/** Maximum size of a step's output, in bytes. */
export const STEP_OUTPUT_BYTES_MAX = 8_388_608;

/** Time after which a run counts as stalled if it neither progresses nor waits for anything, in milliseconds. */
export const RUN_STALLED_MS = paced(60_000);
