/** One workflow, or a new one: editor with graph, versions, and the form of a run. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, useLocation, useParams } from "wouter-preact";

import type { Workflow } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction, useCall } from "../../api/query.ts";
import { useDraft } from "../../parts/draft.ts";
import { useUrlQuery } from "../../parts/filters.tsx";
import { Button, FaultText, TextField } from "../../parts/form.tsx";
import { ConfirmDialog, FaultCallout, Menu } from "../../parts/layers.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { visibilityOf } from "../workflows.tsx";
import { DefinitionPart, useCheck } from "./definition.tsx";
import { DetailsDialog } from "./details.tsx";
import { RunForm } from "./run-form.tsx";
import { textOf } from "./steps.ts";
import { Versions } from "./versions.tsx";

/** Definition of a new workflow without a template. */
const FIRST = {
  inputs: { topic: { type: "string", required: true } },
  steps: [
    {
      id: "say",
      type: "model",
      model: "sandbox-chat",
      params: { messages: [{ role: "user", content: "Say something about ${{ inputs.topic }}." }] },
    },
  ],
  output: { text: "${{ steps.say.output.text }}" },
};

export default function WorkflowPage({ id }: { readonly id: string }): JSX.Element {
  return id === "new" ? <NewWorkflow /> : <StoredWorkflow id={id} />;
}

function NewWorkflow(): JSX.Element {
  const [, navigate] = useLocation();
  const template = useUrlQuery().get("template");
  const [name, setName] = useState("");
  const [text, setText] = useState(textOf(FIRST));
  const templates = useCall("GET /v1/workflows/templates", template === "" ? null : {});
  const source = templates.data?.data.find((one) => one.id === template);
  useEffect(() => {
    if (source === undefined) return;
    setName(source.name);
    setText(textOf(source.definition));
  }, [source]);
  const check = useCheck(text);
  const create = useAction(async () => {
    const definition = JSON.parse(text) as Record<string, unknown>;
    const body = { name, definition, ...(source === undefined ? {} : { description: source.description }) };
    const { id } = await call("POST /v1/workflows", { body });
    toast(`Workflow “${name}” is stored as version 1`);
    navigate(`/workflows/${id}`);
  });
  const isChanged = name !== (source?.name ?? "") || text !== textOf(source?.definition ?? FIRST);
  useDraft(isChanged && !create.isRunning);
  return (
    <Page
      title="New workflow"
      isWide
      crumb={<Link href="/workflows">Workflows</Link>}
      actions={
        <Button kind="primary" isRunning={create.isRunning} blocked={check.blocked} onClick={() => create.run()}>
          Create workflow
        </Button>
      }
    >
      <FaultCallout fault={templates.fault} retry={templates.reload} />
      <TextField label="Name" value={name} onInput={setName} param="name" fault={create.fault} />
      <FaultText fault={create.fault} />
      <DefinitionPart text={text} check={check} onInput={setText} />
    </Page>
  );
}

function StoredWorkflow({ id }: { readonly id: string }): JSX.Element {
  const query = useCall("GET /v1/workflows/{id}", { path: { id } });
  if (query.data !== undefined) return <Body key={id} workflow={query.data} reload={query.reload} />;
  return (
    <Page title="Workflow" crumb={<Link href="/workflows">Workflows</Link>}>
      {query.fault === undefined ? <Skeleton /> : <FaultCallout fault={query.fault} retry={query.reload} />}
    </Page>
  );
}

const PARTS = [
  { part: "", text: "Definition" },
  { part: "versions", text: "Versions" },
  { part: "run", text: "Run" },
];

function Body({ workflow, reload }: { readonly workflow: Workflow; readonly reload: () => void }): JSX.Element {
  const { id, name, latestVersion, definition } = workflow;
  const { part = "" } = useParams<{ part?: string }>();
  const [, navigate] = useLocation();
  const stored = textOf(definition);
  const [text, setText] = useState(stored);
  const [open, setOpen] = useState<"details" | "delete">();
  const check = useCheck(text);
  const isChanged = text !== stored;
  const href = (one: string): string => `/workflows/${id}${one === "" ? "" : `/${one}`}`;
  const save = useAction(async () => {
    const { version } = await call("PUT /v1/workflows/{id}", {
      path: { id },
      body: { definition: JSON.parse(text) as Record<string, unknown> },
    });
    toast(`Version ${version} is saved`);
    reload();
    navigate(href("versions"));
  });
  // The views of the workflow keep the text. Its deletion has a question of its own.
  useDraft(isChanged && open !== "delete", (path) => path.split("/")[3] === id);
  return (
    <Page
      title={name}
      isWide={part === ""}
      crumb={<Link href="/workflows">Workflows</Link>}
      about={`Version ${latestVersion} · ${visibilityOf(workflow)}${isChanged ? " · unsaved changes" : ""}`}
      actions={
        <>
          {part !== "" && !isChanged ? null : (
            <Button
              kind="primary"
              isRunning={save.isRunning}
              blocked={isChanged ? check.blocked : "The definition equals the latest version."}
              onClick={() => save.run()}
            >
              Save version
            </Button>
          )}
          <Menu
            label="More actions"
            entries={[
              { text: "Show its runs", onClick: () => navigate(`/runs?workflow=${id}`) },
              { text: "Change name and visibility", onClick: () => setOpen("details") },
              { text: "Delete workflow", isDangerous: true, onClick: () => setOpen("delete") },
            ]}
          />
        </>
      }
    >
      <Tabs
        label="Workflow"
        current={href(part)}
        tabs={PARTS.map((one) => ({ text: one.text, href: href(one.part) }))}
      />
      <FaultText fault={save.fault} />
      {part === "versions" ? (
        <Versions
          workflow={workflow}
          onRestored={(restored) => {
            setText(textOf(restored));
            reload();
          }}
        />
      ) : part === "run" ? (
        <RunForm key={latestVersion} workflow={workflow} hasDraft={isChanged} />
      ) : (
        <DefinitionPart text={text} check={check} onInput={setText} />
      )}
      {open === "details" ? (
        <DetailsDialog workflow={workflow} onClose={() => setOpen(undefined)} onSaved={reload} />
      ) : null}
      {open === "delete" ? (
        <ConfirmDialog
          title={`Delete “${name}”?`}
          effect="All versions are deleted. Runs in progress continue. Workflows whose steps run this one fail at that step from now on. This cannot be undone."
          action={`Delete “${name}”`}
          onClose={() => setOpen(undefined)}
          run={async () => {
            await call("DELETE /v1/workflows/{id}", { path: { id } });
            toast(`Workflow “${name}” is deleted`);
            navigate("/workflows");
          }}
        />
      ) : null}
    </Page>
  );
}
