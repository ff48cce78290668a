/** Form of a run, made from the declared inputs of a workflow: estimate before, then the run itself. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import type { Workflow, WorkflowEstimate, WorkflowInput } from "../../../../../schemas/generated/types.ts";
import { ApiFault, call } from "../../api/client.ts";
import { useAction } from "../../api/query.ts";
import { Button, creditsIn, FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { Callout } from "../../parts/layers.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Amount } from "../../parts/values.tsx";

type Draft = Readonly<Record<string, string>>;
type Price = WorkflowEstimate["steps"][number];

export function RunForm({ workflow, hasDraft }: { readonly workflow: Workflow; readonly hasDraft: boolean }): JSX.Element {
  const { id, version, definition } = workflow;
  const inputs = definition.inputs ?? {};
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>({});
  const [limit, setLimit] = useState("");
  const [estimate, setEstimate] = useState<WorkflowEstimate>();
  const ask = useAction(async () => {
    setEstimate(undefined);
    const body = { workflow_id: id, version, input: valuesOf(inputs, draft), mode: "async" } as const;
    setEstimate(await call("POST /v1/workflows/estimate", { body }));
  });
  const start = useAction(async () => {
    const max = creditsIn(limit);
    if (Number.isNaN(max)) {
      throw new ApiFault(`Expected a number of credits, got “${limit}”.`, { param: "max_credits" });
    }
    const body = { mode: "async", version, input: valuesOf(inputs, draft), ...(max === undefined ? {} : { max_credits: max }) } as const;
    const run = await call("POST /v1/workflows/{id}/runs", { path: { id }, body });
    navigate(`/runs/${run.id}`);
  });
  const fault = start.fault ?? ask.fault;
  const params = [...Object.keys(inputs).map((name) => `input.${name}`), "max_credits"];
  return (
    <div class="runcols">
      <section class="panel">
        <header>
          <h2>Run version {version}</h2>
        </header>
        <form
          class="pad stack"
          onSubmit={(event) => {
            event.preventDefault();
            void start.run();
          }}
        >
          {hasDraft ? <Callout tone="warn">The run uses version {version}. The changes in the editor are not saved yet.</Callout> : null}
          {Object.keys(inputs).length === 0 ? <p class="soft">The workflow declares no inputs.</p> : null}
          {Object.entries(inputs).map(([name, input]) => (
            <InputField
              key={name}
              name={name}
              input={input}
              value={draft[name] ?? ""}
              onInput={(value) => setDraft({ ...draft, [name]: value })}
              fault={fault}
            />
          ))}
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
          <FaultText fault={fault} except={params} />
          <div class="row wrap">
            <Button kind="primary" icon="play" submit isRunning={start.isRunning}>
              Run workflow
            </Button>
            <Button isRunning={ask.isRunning} onClick={() => ask.run()}>
              Estimate price
            </Button>
          </div>
        </form>
      </section>
      {estimate === undefined ? null : (
        <section class="panel" role="status">
          <header>
            <h2>Estimate</h2>
            <span class="muted">free, nothing is held</span>
          </header>
          <div class="pad">
            <p>
              <b>
                <Amount credits={estimate.estimated_credits} />
              </b>{" "}
              credits, at most <Amount credits={estimate.max_credits} />
            </p>
          </div>
          <Table columns={PRICES} rows={estimate.steps} idOf={(step) => step.id} />
        </section>
      )}
    </div>
  );
}

const PRICES: readonly Column<Price>[] = [
  {
    head: "Step",
    place: "main",
    cell: ({ id, assumption }) => (
      <>
        {id}
        <span class="sub">{assumption}</span>
      </>
    ),
  },
  { head: "Credits", place: "key", isNumber: true, cell: ({ estimated_credits: credits }) => <Amount credits={credits} /> },
  { head: "At most", isNumber: true, cell: ({ max_credits: credits }) => <Amount credits={credits} /> },
];

function InputField({
  name,
  input: { type, required, default: fallback, description },
  value,
  onInput,
  fault,
}: {
  readonly name: string;
  readonly input: WorkflowInput;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly fault: ApiFault | undefined;
}): JSX.Element {
  const standard = fallback === undefined ? "" : `Default: ${JSON.stringify(fallback)}.`;
  const format = type === "array" || type === "object" ? "As JSON." : "";
  const field = {
    label: name,
    hint: [description, format, standard].filter(Boolean).join(" "),
    isOptional: required !== true || fallback !== undefined,
    param: `input.${name}`,
    fault,
    value,
    onInput,
  };
  if (type === "boolean") {
    const none = fallback === undefined ? "Not set" : "Default";
    return <SelectField {...field} choices={[{ value: "", text: none }, { value: "true", text: "Yes" }, { value: "false", text: "No" }]} />;
  }
  return type === "integer" || type === "number" ? <TextField {...field} /> : <TextField {...field} rows={3} />;
}

/** Returns the values of the fields that are not empty. @throws ApiFault that names the field whose text has the wrong format */
function valuesOf(inputs: Readonly<Record<string, WorkflowInput>>, draft: Draft): Record<string, unknown> {
  const entries = Object.entries(inputs).flatMap(([name, { type }]) => {
    const text = draft[name] ?? "";
    if (text.trim() === "") return [];
    return [[name, type === "string" ? text : jsonIn(name, type, text)] as const];
  });
  return Object.fromEntries(entries);
}

function jsonIn(name: string, type: WorkflowInput["type"], text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const expected = type === "array" ? "a JSON list" : type === "object" ? "a JSON object" : "a number";
    throw new ApiFault(`Expected ${name} to be ${expected}${error instanceof Error ? `: ${error.message}` : ""}.`, { param: `input.${name}` });
  }
}
