/** GET /v1/workflows/templates: lists workflow templates. */
import type { WorkflowTemplateList } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { rememberPairs } from "#shared/base/remembered.ts";
import { templatesFor } from "#shared/workflows/templates.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { KeyRoute } from "../../core/route.ts";

export function workflowTemplates({ catalogue, availableCapabilities, templates }: IngressContext): KeyRoute {
  /** Returns the list of templates. It is cached until the catalogue or the workers' capabilities change. */
  const list = rememberPairs((models: Catalogue, capabilities: readonly Capability[]): WorkflowTemplateList => ({
    object: "list",
    data: [
      ...templatesFor(templates, {
        catalogue: models,
        capability: (id) => capabilities.find((one) => one.id === id),
      }),
    ],
  }));
  return {
    method: "GET",
    path: "/v1/workflows/templates",
    operationId: "listWorkflowTemplates",
    summary: "List workflow templates",
    description:
      "Lists definitions that run unchanged, each with an example input. Store one with POST /v1/workflows, or run " +
      "it with POST /v1/pipelines/runs. Templates with models or capabilities that are not available here are " +
      "omitted.",
    tags: ["Workflows"],
    auth: "key",
    responses: { 200: { description: "The templates, ordered by name", schema: "WorkflowTemplateList" } },
    errors: [],
    handle: () => json(list(catalogue.current(), availableCapabilities.current())),
  };
}
