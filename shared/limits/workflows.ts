/** What a definition of a workflow may hold, and what its expressions may cost. */
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
  workflowsPageDefault: 20,
  workflowsPageMax: 100,
  expressionCharsMax: 2_000,
  expressionNodesMax: 200,
  expressionDepthMax: 20,
  /** Items of one list that an expression writes out. */
  expressionItemsMax: 1_000,
  /** Of one evaluation: a character is 1, an item or member 4, a part of the expression 10. At most 25 ms and 25 MB, measured. */
  expressionWorkMax: 2_000_000,
  /** Of what an expression gives, as JSON. */
  expressionValueBytesMax: 1_048_576,
  pathSegmentsMax: 32,
  /** Of all that the expressions of a step's params, or of its input, give. */
  bindingBytesMax: 8_388_608,
} as const;
