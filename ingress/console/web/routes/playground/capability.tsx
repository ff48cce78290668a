/** Form of a capability: input, parameters, estimate, result and the call as code. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { CapabilityEntry } from "#schemas/generated/types.ts";
import { useCapabilities } from "../../api/catalogue.ts";
import { Code } from "../../parts/code.tsx";
import { useDraft } from "../../parts/draft.ts";
import { Button, SelectField, TextField } from "../../parts/form.tsx";
import { Callout, FaultCallout } from "../../parts/layers.tsx";
import { capabilityPriceText } from "../../parts/price.ts";
import { type Draft, groupDraft, labelOf, missingIn, readGroup, type Schema, textPath } from "../../api/schema.ts";
import { fieldFor, inputSchemaOf, useStoredFile } from "../../api/stored-files.ts";
import { SchemaFields } from "../../parts/schema-form.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { snippetsOf } from "./code.ts";
import { Earlier } from "./earlier.tsx";
import { EstimateLine } from "./estimate.tsx";
import { ResultPanel } from "./result.tsx";
import { useRunner } from "./run.ts";

/** Chooser of a capability, and the form of the chosen one. */
export function CapabilityForm({
  id,
  file,
  onChoose,
}: {
  readonly id: string;
  /** Id of a stored file that is filled in; "" for the sample files. */
  readonly file: string;
  readonly onChoose: (id: string) => void;
}): JSX.Element {
  const { data, fault, reload } = useCapabilities();
  const stored = useStoredFile(file);
  const [text, setText] = useState(id);
  if (data === undefined) return fault === undefined ? <Skeleton /> : <FaultCallout fault={fault} retry={reload} />;
  const entry = data.find((one) => one.id === id);
  const chooser = (
    <TextField
      label="Capability"
      value={text}
      onInput={(value) => {
        setText(value);
        if (data.some((one) => one.id === value)) onChoose(value);
      }}
      suggestions={data.map((one) => one.id)}
      hint={entry === undefined ? "Type the id of a capability, such as image.resize." : entry.description}
    />
  );
  if (entry === undefined) {
    return (
      <div class="stack">
        {chooser}
        <Callout tone="warn">
          There is no capability “{id}” for this key. <Link href="/capabilities">List capabilities</Link>
        </Callout>
      </div>
    );
  }
  if (stored.isLoading) return <Skeleton />;
  // The name shows the field. A file that cannot be read is filled in too, so that its field shows why.
  const path = file === "" ? undefined : fieldFor(inputSchemaOf(entry), stored.data?.filename ?? "");
  const preset = path === undefined ? {} : { [path]: file, [textPath(path)]: "" };
  return <Form key={`${entry.id} ${file}`} entry={entry} preset={preset} chooser={chooser} />;
}

function Form({
  entry,
  preset,
  chooser,
}: {
  readonly entry: CapabilityEntry;
  /** Texts of fields that replace those of the examples. */
  readonly preset: Draft;
  readonly chooser: JSX.Element;
}): JSX.Element {
  const { id, sample_input: sample = {}, examples = [] } = entry;
  const [inputSchema, paramsSchema] = [inputSchemaOf(entry), entry.params_schema as Schema];
  // The first example, so that the page shows a call that works.
  const [example, setExample] = useState(examples.length === 0 ? "" : "0");
  const draftOfExample = (place: string): Draft => ({
    ...groupDraft(inputSchema, sample, "input"),
    ...preset,
    ...groupDraft(paramsSchema, examples[Number(place || -1)]?.params ?? {}, "params"),
  });
  const [draft, setDraft] = useState<Draft>(() => draftOfExample(example));
  /** Draft of the last run, or the chosen example. */
  const [kept, setKept] = useState(draft);
  useDraft(draft !== kept);
  const runner = useRunner();
  const fields = {
    draft,
    onInput: (changes: Draft) => setDraft({ ...draft, ...changes }),
    fault: runner.state.step === "ended" ? runner.state.result.fault : undefined,
  };
  const { body, problem } = readForm();
  const blocked = problem ?? (runner.state.step === "running" ? "A run is in progress." : undefined);
  return (
    <div class="pgcols">
      <form
        class="panel"
        aria-label="Request"
        onSubmit={(event) => {
          event.preventDefault();
          const call = {
            operation: "POST /v1/capabilities/{id}/run",
            capability: id,
            name: id,
            body: { ...body, async: true },
          } as const;
          if (blocked !== undefined) return;
          setKept(draft);
          void runner.run(call);
        }}
      >
        <div class="pad stack">
          {chooser}
          {examples.length === 0 ? null : (
            <SelectField
              label="Example"
              isOptional
              value={example}
              choices={[
                { value: "", text: "None" },
                ...examples.map(({ title }, place) => ({ value: String(place), text: title })),
              ]}
              onInput={(value) => {
                const chosen = draftOfExample(value);
                setExample(value);
                setDraft(chosen);
                setKept(chosen);
              }}
              hint="Fills in sample files of the service and parameters."
            />
          )}
          <SchemaFields schema={inputSchema} path="input" {...fields} more="More input" />
          <SchemaFields schema={paramsSchema} path="params" {...fields} more="Parameters" />
        </div>
        <footer>
          <EstimateLine capability={id} body={problem === undefined ? body : undefined} />
          <span class="push">
            <Button kind="primary" icon="play" submit isRunning={runner.state.step === "running"} blocked={blocked}>
              Run
            </Button>
          </span>
        </footer>
      </form>
      <div class="stack">
        <ResultPanel runner={runner} />
        <Code variants={snippetsOf(`/v1/capabilities/${id}/run`, body)} />
        <p class="hint">
          {capabilityPriceText(entry)}. <Link href={`/capabilities/${id}`}>Description and parameters</Link>
        </p>
        <Earlier onShow={runner.show} />
      </div>
    </div>
  );

  /** Returns the body of the run, and why it cannot be sent yet. */
  function readForm(): { readonly body: Record<string, unknown>; readonly problem?: string } {
    try {
      const input = readGroup(inputSchema, draft, "input") ?? {};
      const params = readGroup(paramsSchema, draft, "params");
      const missing = [...missingIn(inputSchema, input), ...missingIn(paramsSchema, params)];
      const body = { input, ...(params === undefined ? {} : { params }) };
      return missing.length === 0 ? { body } : { body, problem: `Fill in ${missing.map(labelOf).join(", ")}.` };
    } catch (error) {
      return { body: { input: {} }, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
