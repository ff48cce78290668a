/** Limits on workflows and their runs that more than one module keeps. */
import { paced } from "#shared/pace.ts";

/** Items of a list that a step runs for. */
export const FOR_EACH_ITEMS_MAX = 1_000;

/** Workflows that run workflows that run workflows. */
export const WORKFLOW_DEPTH_MAX = 5;

/** Definitions that are read to see how deep one is. */
export const WORKFLOW_NESTED_MAX = 100;

/**
 * Calls and runs that a definition comes to, with those of the workflows that it runs; and that a run comes to with the runs of its
 * steps, tries again included, since lists of expressions are known no earlier. 20,000 take a worker minutes, and 20 MB of rows.
 */
export const WORKFLOW_WORK_MAX = 20_000;
export const RUN_ATTEMPTS_MAX = 5;

/** Bytes of a step's output. */
export const STEP_OUTPUT_BYTES_MAX = 8_388_608;

/** A run that neither goes on nor waits for anything stands still after this long. */
export const RUN_STALLED_MS = paced(60_000);
