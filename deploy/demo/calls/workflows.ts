/** A template as it is: what a run of several steps gives. */
import type { WorkflowRun, WorkflowTemplateList } from "#schemas/generated/types.ts";

import type { Call } from "../call.ts";

export const workflow: Call = {
  name: "workflow",
  title: "An article as a narrated video, by a workflow",
  model: "article-to-video",
  async run({ client, model, tell }) {
    const { data } = await client.sdk.get<WorkflowTemplateList>("/workflows/templates");
    const template = data.find(({ id }) => id === model);
    if (!template) throw new Error(`the service has no template "${model}"`);
    const { definition, input } = template;
    tell(`${template.name}, ${(definition["steps"] as unknown[]).length} steps`);
    const { body, receipt } = await client.post<WorkflowRun>("/pipelines/runs", { definition, input });
    if (body.status !== "succeeded") throw new Error(body.error?.message ?? `the run ${body.status}`);
    const { video = "", script = "" } = body.output as { readonly video?: string; readonly script?: string };
    const bytes = await client.download(video);
    const steps = body.stepRuns.map(({ id, durationMs }) => `${id} ${durationMs} ms`).join(", ");
    return { receipts: [receipt], artifacts: [{ file: "narrated.mp4", bytes }], text: `${script}\n\n${steps}` };
  },
};
