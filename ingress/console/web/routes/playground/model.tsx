/** Form of a media or embedding model, its estimate, its result and the call as code. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { useModels, useRequestSchema } from "../../api/catalogue.ts";
import { Code } from "../../parts/code.tsx";
import { useDraft } from "../../parts/draft.ts";
import { Button, TextField } from "../../parts/form.tsx";
import { FaultCallout } from "../../parts/layers.tsx";
import { modelHint } from "../../parts/price.ts";
import { type Draft, labelOf, missingIn, readGroup } from "../../api/schema.ts";
import { SchemaFields } from "../../parts/schema-form.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { snippetsOf } from "./code.ts";
import { Earlier } from "./earlier.tsx";
import { EstimateLine } from "./estimate.tsx";
import { bodyOf, formSchema, type Kind, ruleProblem } from "./kinds.ts";
import { ResultPanel } from "./result.tsx";
import { useRunner } from "./run.ts";

const OTHERS = "other members";

export function ModelForm({
  kind,
  chosen,
  onModel,
}: {
  readonly kind: Kind;
  /** Model of the URL; "" for the first one of the kind. */
  readonly chosen: string;
  readonly onModel: (model: string) => void;
}): JSX.Element {
  const models = useModels();
  const request = useRequestSchema(kind.schema);
  const [model, setModel] = useState(chosen || kind.model);
  const [draft, setDraft] = useState<Draft>({});
  /** Draft of the last call. */
  const [sent, setSent] = useState(draft);
  useDraft(draft !== sent);
  const runner = useRunner();
  const entry = models.data?.find(({ id }) => id === model);
  if (request.data === undefined) {
    return request.fault === undefined ? <Skeleton /> : <FaultCallout fault={request.fault} retry={request.reload} />;
  }
  const schema = formSchema(kind, request.data, entry?._svc.allowed_params);
  const { body, problem } = readForm();
  const fault = runner.state.step === "ended" ? runner.state.result.fault : undefined;
  const blocked = problem ?? (runner.state.step === "running" ? "A call is running." : undefined);
  const run = (): void => {
    if (blocked !== undefined) return;
    setSent(draft);
    void runner.run({ operation: kind.operation, name: `${kind.name}, ${model}`, body, isJob: kind.canBeJob });
  };
  return (
    <div class="pgcols">
      <form
        class="panel"
        aria-label="Request"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
        }}
      >
        <div class="pad stack">
          <TextField
            label="Model"
            value={model}
            onInput={(value) => {
              setModel(value);
              onModel(value);
            }}
            suggestions={models.data?.filter(kind.isOfKind).map(({ id }) => id) ?? []}
            param="model"
            fault={fault}
            hint={modelHint(models.data, entry)}
          />
          <SchemaFields
            schema={schema}
            draft={draft}
            onInput={(changes) => setDraft({ ...draft, ...changes })}
            fault={fault}
            first={kind.first}
          />
          <details>
            <summary class="soft">Other parameters as JSON</summary>
            <TextField
              label="Parameters to add to the request"
              rows={3}
              value={draft[OTHERS] ?? ""}
              onInput={(value) => setDraft({ ...draft, [OTHERS]: value })}
              placeholder={'{"user": "alice"}'}
            />
          </details>
        </div>
        <footer>
          <EstimateLine model={model} body={problem === undefined ? body : undefined} />
          <span class="push">
            <Button kind="primary" icon="play" submit isRunning={runner.state.step === "running"} blocked={blocked}>
              Run
            </Button>
          </span>
        </footer>
      </form>
      <div class="stack">
        <ResultPanel runner={runner} />
        <Code variants={snippetsOf(kind.operation.slice(5), body)} />
        <Earlier onShow={runner.show} />
      </div>
    </div>
  );

  /** Returns the request's body, and why it cannot be sent yet. */
  function readForm(): { readonly body: Record<string, unknown>; readonly problem?: string } {
    try {
      const values = readGroup(schema, draft, "");
      const others: unknown = JSON.parse(draft[OTHERS]?.trim() || "{}");
      const read = { ...bodyOf(model, values), ...(others as Record<string, unknown>) };
      const missing = missingIn(schema, { ...values, ...(others as Record<string, unknown>) });
      const why = missing.length === 0 ? ruleProblem(kind, values) : `Fill in ${missing.map(labelOf).join(", ")}.`;
      return why === undefined ? { body: read } : { body: read, problem: why };
    } catch (error) {
      return { body: { model }, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
