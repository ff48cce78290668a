/** Form of a run, made from the declared inputs of a workflow: estimate before, then the run itself. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import type { Workflow, WorkflowEstimate, WorkflowInput } from "#schemas/generated/types.ts";
import { ApiFault, call } from "../../api/client.ts";
import { useAction } from "../../api/query.ts";
import { useDraft } from "../../parts/draft.ts";
import { Button, creditsIn, FaultText, TextField } from "../../parts/form.tsx";
import { Callout } from "../../parts/layers.tsx";
import { type Draft, readGroup, type Schema } from "../../api/schema.ts";
import { SchemaFields } from "../../parts/schema-form.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Amount } from "../../parts/values.tsx";

type Price = WorkflowEstimate["steps"][number];

export function RunForm({
  workflow,
  hasDraft,
}: {
  readonly workflow: Workflow;
  readonly hasDraft: boolean;
}): JSX.Element {
  const { id, version, definition } = workflow;
  const schema = schemaOf(definition.inputs ?? {});
  const names = Object.keys(definition.inputs ?? {});
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>({});
  const [limit, setLimit] = useState("");
  const [estimate, setEstimate] = useState<WorkflowEstimate>();
  const ask = useAction(async () => {
    setEstimate(undefined);
    const body = { workflow_id: id, version, input: readGroup(schema, draft, "input") ?? {}, mode: "async" } as const;
    setEstimate(await call("POST /v1/workflows/estimate", { body }));
  });
  const start = useAction(async () => {
    const max = creditsIn(limit);
    if (Number.isNaN(max)) {
      throw new ApiFault(`Expected a number of credits, got “${limit}”.`, { param: "max_credits" });
    }
    const body = {
      mode: "async",
      version,
      input: readGroup(schema, draft, "input") ?? {},
      ...(max === undefined ? {} : { max_credits: max }),
    } as const;
    const run = await call("POST /v1/workflows/{id}/runs", { path: { id }, body });
    navigate(`/runs/${run.id}`);
  });
  useDraft((limit !== "" || Object.values(draft).some((text) => text !== "")) && !start.isRunning);
  const fault = start.fault ?? ask.fault;
  return (
    <div class="runcols">
      <Panel title={`Run version ${version}`}>
        <form
          class="pad stack"
          onSubmit={(event) => {
            event.preventDefault();
            void start.run();
          }}
        >
          {hasDraft ? (
            <Callout tone="warn">The run uses version {version}. The changes in the editor are not saved yet.</Callout>
          ) : null}
          {names.length === 0 ? <p class="soft">The workflow declares no inputs.</p> : null}
          <SchemaFields
            schema={schema}
            path="input"
            first={names}
            draft={draft}
            onInput={(changes) => setDraft({ ...draft, ...changes })}
            fault={fault}
          />
          <TextField
            label="Limit of this run"
            unit="credits"
            value={limit}
            onInput={setLimit}
            isOptional
            hint={
              definition.max_credits === undefined
                ? "A step that could exceed the limit fails. Default: no limit."
                : `A step that could exceed the limit fails. Default: ${definition.max_credits}, as in the definition.`
            }
            param="max_credits"
            fault={fault}
          />
          <FaultText fault={fault} />
          <div class="row wrap">
            <Button kind="primary" icon="play" submit isRunning={start.isRunning}>
              Run workflow
            </Button>
            <Button isRunning={ask.isRunning} onClick={() => ask.run()}>
              Estimate price
            </Button>
          </div>
        </form>
      </Panel>
      <div role="status">
        {estimate === undefined ? null : (
          <Panel title="Estimate" note="free, nothing is held">
            <div class="pad">
              <p>
                <b>
                  <Amount credits={estimate.estimated_credits} />
                </b>{" "}
                credits, at most <Amount credits={estimate.max_credits} />
              </p>
            </div>
            <Table columns={PRICES} rows={estimate.steps} idOf={(step) => step.id} />
          </Panel>
        )}
      </div>
    </div>
  );
}

const PRICES: readonly Column<Price>[] = [
  {
    head: "Step",
    place: "main",
    cell: ({ id }) => id,
    sub: ({ assumption }) => assumption,
  },
  {
    head: "Credits",
    place: "key",
    isNumber: true,
    cell: ({ estimated_credits: credits }) => <Amount credits={credits} />,
  },
  { head: "At most", isNumber: true, cell: ({ max_credits: credits }) => <Amount credits={credits} /> },
];

/** Length above which a text has a field of several lines, in characters. A declared text has no maximum length. */
const TEXT_CHARS = 100_000;

/** Returns the declared inputs as the schema of an object. An input with a default is optional. */
function schemaOf(inputs: Readonly<Record<string, WorkflowInput>>): Schema {
  const entries = Object.entries(inputs);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, { type, description = "", default: fallback }]) => {
        // The field of a list or an object shows no placeholder.
        const isJson = type === "array" || type === "object";
        const standard = isJson && fallback !== undefined ? `Default: ${JSON.stringify(fallback)}.` : "";
        const about = [description, standard].filter(Boolean).join(" ");
        return [
          name,
          {
            type,
            ...(about === "" ? {} : { description: about }),
            ...(fallback === undefined ? {} : { default: fallback }),
            ...(type === "string" ? { maxLength: TEXT_CHARS } : {}),
          },
        ];
      }),
    ),
    required: entries.flatMap(([name, { required, default: fallback }]) =>
      required === true && fallback === undefined ? [name] : [],
    ),
  };
}
