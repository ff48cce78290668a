import { paced } from "../pace.ts";

/** Limits on definitions of workflows and their runs, and on the work of their expressions. */
export const WORKFLOW_LIMITS = {
  definitionBytesMax: 262_144,
  /** Items of a list that a step runs for. */
  forEachItemsMax: 1_000,
  forEachConcurrency: 4,
  /** Calls of one run that are under way at once. */
  runWorkMax: 200,
  /** Workflows that run workflows that run workflows. */
  workflowDepthMax: 5,
  /** Definitions that are read to see how deep one is. */
  workflowNestedMax: 100,
  /**
   * Calls and runs that a definition comes to, with those of the workflows that it runs; and that a run comes to with the runs of its
   * steps, tries again included, since lists of expressions are known no earlier. 20,000 take a worker minutes, and 20 MB of rows.
   */
  workflowWorkMax: 20_000,
  /** A call of a step, waiting included. */
  stepTimeoutMaxMs: 3_600_000,
  runAttemptsMax: 5,
  /** New items of one pass: past this it makes no further list ready, so one list is the most that it goes beyond. */
  passItemsMax: 1_000,
  runInputBytesMax: 4_194_304,
  /** Up to this size an input stands in its run's row, beyond that in the object store. */
  runInputTextBytesMax: 65_536,
  runOutputBytesMax: 1_048_576,
  /** Bytes of a step's output; up to the second it stands in its row, beyond that in the object store. */
  stepOutputBytesMax: 8_388_608,
  stepOutputTextBytesMax: 65_536,
  /** Bytes of all that expressions of one run may read. */
  runValuesBytesMax: 67_108_864,
  /** Bytes that a worker remembers of the runs that it carries on, so as not to read them again. */
  rememberedRunsBytesMax: 67_108_864,
  /** Bytes that rows count in the storage of a workspace, beside the texts in them: about their size. A run's is one block of `storage_blocks`. */
  runRowBytes: 4_096,
  stepRowBytes: 256,
  /** Workflows of one workspace, and versions of one. */
  workflowsPerWorkspaceMax: 1_000,
  workflowVersionsMax: 1_000,
  /** Runs of one workspace that have not ended, those of steps aside. */
  activeRunsMax: 5_000,
  /** A run that neither goes on nor waits for anything stands still after this long. */
  runStalledMs: paced(60_000),
  /** Longest wait of a caller for a run in mode `sync`; the run goes on. */
  runWaitMs: 300_000,
  /** Streams of runs that callers read from one process: each may last an hour. */
  runStreamsPerWorkspaceMax: 100,
  runStreamsPerKeyMax: 50,
  workflowsPageDefault: 20,
  workflowsPageMax: 100,
  expressionCharsMax: 2_000,
  expressionNodesMax: 200,
  expressionDepthMax: 20,
  /** Items of one list that an expression writes out. */
  expressionItemsMax: 1_000,
  /** Units of one evaluation: a character is 1, an item 4, a member or a part of the expression 10. At most 30 ms and 25 MB, measured. */
  expressionWorkMax: 2_000_000,
  /** Units of an expression that names nothing: it is evaluated when the definition is read. */
  constantWorkMax: 10_000,
  /** Units of work to read a definition: a character of an expression in CEL is 40. Some 50 ms. */
  definitionWorkMax: 5_000_000,
  /** Bytes of an expression's value, as JSON. */
  expressionValueBytesMax: 1_048_576,
  pathSegmentsMax: 32,
  /** Work of one run's expressions in one pass, in the same units: some 50 ms, and then other runs have their turn. */
  passWorkMax: 4_000_000,
  /** Bytes of all values that the expressions of a step's params, or of its input, give. */
  bindingBytesMax: 8_388_608,
  /** Work of all these expressions together, in the same units. */
  bindingWorkMax: 4_000_000,
  /** Work of one estimate, with the workflows that it comes to: what is beyond counts as not known. */
  estimateWorkMax: 10_000_000,
  /** Units of work to read all definitions that a run comes to. */
  estimateReadWorkMax: 20_000_000,
} as const;
