/** Limits on workflows and their runs that several modules use. */
import { paced } from "#shared/config/pace.ts";

/** Maximum items of a list for which a step runs. */
export const FOR_EACH_ITEMS_MAX = 1_000;

/** Maximum nesting of workflows. */
export const WORKFLOW_DEPTH_MAX = 5;

/** Maximum definitions read to determine the nesting. */
export const WORKFLOW_NESTED_MAX = 100;

/**
 * Maximum calls and runs of a definition, including nested workflows; also of a run with its nested runs and retries, since lists of
 * expressions are known only then. 20,000 take a worker minutes, and 20 MB of rows.
 */
export const WORKFLOW_WORK_MAX = 20_000;
export const RUN_ATTEMPTS_MAX = 5;

/** Maximum bytes of a step's output. */
export const STEP_OUTPUT_BYTES_MAX = 8_388_608;

/** Time after which a run counts as stalled if it neither progresses nor waits for anything, in milliseconds. */
export const RUN_STALLED_MS = paced(60_000);
