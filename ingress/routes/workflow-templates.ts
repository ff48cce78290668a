/** GET /v1/workflows/templates. */
import type { WorkflowTemplateList } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { rememberPairs } from "#shared/remembered.ts";
import { templatesFor } from "#shared/workflows/templates.ts";

import { json } from "../answers.ts";
import type { IngressContext } from "../context.ts";
import type { Route } from "../serve.ts";

export function workflowTemplates({ catalogue, offered, templates }: IngressContext): Route {
  /** The same until the catalogue is replaced, or workers can run other things. */
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
    summary: "List workflows to begin with",
    description:
      "Definitions that run as they are, each with an input to try it on: store one with POST /v1/workflows, or run it with " +
      "POST /v1/pipelines/runs. Those that call models or capabilities which this service does not offer are left out.",
    tags: ["Workflows"],
    auth: "key",
    responses: { 200: { description: "Templates, in the order of their names", schema: "WorkflowTemplateList" } },
    errors: [],
    handle: () => json(list(catalogue.current(), offered.current())),
  };
}
