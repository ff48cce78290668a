/** One run: timeline of its step attempts, graph, credits, input, output, errors and child runs. An open run is read again every 2 s. */
import type { JSX } from "preact";
import { Link, useLocation } from "wouter-preact";

import type { WorkflowRun, WorkflowStepRun } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { nameIn, useWorkflowNames } from "../../api/names-of.ts";
import { useAction, useCall } from "../../api/query.ts";
import { Json } from "../../parts/code.tsx";
import { useUrlQuery } from "../../parts/filters.tsx";
import { Button } from "../../parts/form.tsx";
import { durationText, figureText, timeText } from "../../parts/format.ts";
import { Callout, ConfirmButton, FaultCallout } from "../../parts/layers.tsx";
import { CreditStat, Page, Panel, Stat } from "../../parts/page.tsx";
import { Timeline, type TimelineRow } from "../../parts/plot.tsx";
import { Loaded } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { Amount, Id, KeyValues, LimitBar, Status, statusText } from "../../parts/values.tsx";
import { isOpen, runName } from "../runs.tsx";
import { StepGraph } from "../workflows/graph.tsx";
import { stepsOf } from "../workflows/steps.ts";

const REFRESH_MS = 2_000;

export default function RunPage({ id }: { readonly id: string }): JSX.Element {
  const [, navigate] = useLocation();
  const query = useCall(
    "GET /v1/workflows/runs/{id}",
    { path: { id } },
    { everyMs: ({ data }) => (data === undefined || isOpen(data) ? REFRESH_MS : undefined) },
  );
  const names = useWorkflowNames();
  const { data: run } = query;
  const rerun = useAction(async () => {
    if (run?.workflowId === undefined) return;
    const next = await call("POST /v1/workflows/{id}/runs", {
      path: { id: run.workflowId },
      body: {
        mode: "async",
        ...(run.input === undefined ? {} : { input: run.input }),
        ...(run.version === undefined ? {} : { version: run.version }),
        ...(run.maxCredits === undefined ? {} : { max_credits: run.maxCredits }),
      },
    });
    navigate(`/runs/${next.id}`);
  });
  const workflowId = run?.workflowId;
  return (
    <Page
      title={
        run === undefined
          ? "Run"
          : workflowId === undefined
            ? "Run of an inline definition"
            : `Run of version ${run.version}`
      }
      crumb={
        workflowId === undefined ? (
          <Link href="/runs">Runs</Link>
        ) : (
          <>
            <Link href="/workflows">Workflows</Link> /{" "}
            <Link href={`/workflows/${workflowId}`}>{nameIn(names, workflowId)}</Link>
          </>
        )
      }
      about={run === undefined ? undefined : <Status of={run.status} />}
      actions={
        run === undefined ? undefined : (
          <>
            {isOpen(run) ? (
              <ConfirmButton
                kind="danger"
                icon="stop"
                title="Cancel this run?"
                effect="No further step starts. A call that a provider has received is not interrupted, and completed work is charged."
                action="Cancel run"
                dismiss="Keep run"
                run={async () => {
                  const { status } = await call("POST /v1/workflows/runs/{id}/cancel", { path: { id } });
                  toast(status === "cancelled" ? "The run is cancelled" : `The run had already ended: ${status}`);
                  query.reload();
                }}
              />
            ) : null}
            <Button
              icon="play"
              isRunning={rerun.isRunning}
              blocked={workflowId === undefined ? "The definition of an inline run is not stored." : undefined}
              onClick={() => rerun.run()}
            >
              Run again
            </Button>
          </>
        )
      }
    >
      <FaultCallout fault={rerun.fault} retry={() => rerun.run()} />
      <Loaded query={query}>{(one) => <RunBody run={one} name={runName(one, names)} />}</Loaded>
    </Page>
  );
}

function RunBody({ run, name }: { readonly run: WorkflowRun; readonly name: string }): JSX.Element {
  const query = useUrlQuery();
  const selected = run.stepRuns.find((step) => stepKey(step) === query.get("step"));
  return (
    <>
      {run.error === undefined ? null : (
        <Callout tone="bad">
          <b>{run.error.stepId === "output" ? "The output failed" : `Step “${run.error.stepId}” failed`}.</b>{" "}
          {run.error.message} <span class="mono">{run.error.code}</span>
        </Callout>
      )}
      <Figures run={run} />
      <div class="runcols">
        <div class="stack">
          <Panel title="Timeline" note="step attempts since the run was created">
            <div class="pad">
              {run.stepRuns.length === 0 ? (
                <p class="soft">No step has started yet.</p>
              ) : (
                <Timeline {...timelineOf(run, (key) => query.set({ step: key }))} scale={durationText} />
              )}
            </div>
          </Panel>
          {selected === undefined ? null : <StepPanel run={run} step={selected} />}
          <Value title="Input" value={run.input} none="The run has no input." />
          <Value
            title="Output"
            value={run.output}
            none={isOpen(run) ? "The run has not ended yet." : "The run has no output."}
          />
        </div>
        <div class="stack">
          <GraphPanel run={run} />
          <Panel title="Details">
            <div class="pad">
              <KeyValues
                of={[
                  ["Run id", <Id value={run.id} label="run id" />],
                  [
                    "Workflow",
                    run.workflowId === undefined ? name : <Link href={`/workflows/${run.workflowId}`}>{name}</Link>,
                  ],
                  ["Created", `${timeText(run.createdAt, "day")}, ${timeText(run.createdAt, "exact")}`],
                  ["Duration", isOpen(run) ? null : durationText(run.durationMs)],
                  [
                    "Parent run",
                    run.parentRunId === undefined ? null : (
                      <Link href={`/runs/${run.parentRunId}`}>Open parent run</Link>
                    ),
                  ],
                  ["Calls", <Link href={`/requests?run_id=${run.id}`}>Show its requests</Link>],
                ]}
              />
            </div>
          </Panel>
        </div>
      </div>
    </>
  );
}

function Figures({ run }: { readonly run: WorkflowRun }): JSX.Element {
  const { stepRuns, creditsUsed, creditsHeld = 0, maxCredits, mode, attempt, maxAttempts } = run;
  const latest = [
    ...new Map(stepRuns.toSorted((a, b) => a.attempt - b.attempt).map((step) => [step.id, step])).values(),
  ];
  const counts = [...Map.groupBy(latest, ({ status }) => status)].map(
    ([status, { length }]) => `${length} ${statusText(status)}`,
  );
  return (
    <div class="stats">
      <Stat name="Steps" figure={String(latest.length)} note={counts.join(" · ")} />
      <CreditStat
        name={isOpen(run) ? "Charged so far" : "Charged"}
        credits={creditsUsed}
        note={creditsHeld > 0 ? `${figureText(creditsHeld)} held` : "nothing held"}
      />
      {maxCredits === undefined ? (
        <Stat name="Limit of this run" figure="none" note="max_credits is not set" />
      ) : (
        <CreditStat
          name="Limit of this run"
          credits={maxCredits}
          note={
            <LimitBar
              used={creditsUsed}
              held={creditsHeld}
              limit={maxCredits}
              label={`${creditsUsed} of ${maxCredits} credits charged, ${creditsHeld} held`}
            />
          }
        />
      )}
      <Stat name="Mode" figure={mode} note={`attempt ${attempt} of ${maxAttempts}`} />
    </div>
  );
}

function stepKey({ id, attempt }: WorkflowStepRun): string {
  return `${id}.${attempt}`;
}

const TONES: Readonly<Record<WorkflowStepRun["status"], TimelineRow["tone"]>> = {
  succeeded: "",
  failed: "bad",
  running: "run",
  queued: "idle",
  skipped: "idle",
  cancelled: "idle",
};

/** Returns the rows of the timeline in the order of their start. Steps that never started follow without a bar. */
function timelineOf(
  run: WorkflowRun,
  select: (key: string) => void,
): { readonly rows: readonly TimelineRow[]; readonly totalMs: number } {
  const base = Date.parse(run.createdAt);
  const startOf = ({ startedAt }: WorkflowStepRun): number =>
    startedAt === undefined ? Infinity : Date.parse(startedAt) - base;
  const lengthOf = (step: WorkflowStepRun): number => {
    if (step.startedAt === undefined) return 0;
    return step.status === "running" ? Math.max(0, Date.now() - Date.parse(step.startedAt)) : step.durationMs;
  };
  const ordered = run.stepRuns.toSorted((a, b) => startOf(a) - startOf(b) || a.attempt - b.attempt);
  const totalMs = Math.max(
    1,
    ...ordered.map((step) => (step.startedAt === undefined ? 0 : startOf(step) + lengthOf(step))),
  );
  const rows = ordered.map((step): TimelineRow => {
    const { id, attempt, type, status, error, skippedReason, creditsUsed } = step;
    const isStarted = step.startedAt !== undefined;
    return {
      id: stepKey(step),
      name: (
        <button type="button" class="link" onClick={() => select(stepKey(step))}>
          {id}
          {attempt === 1 ? "" : `, attempt ${attempt}`}
        </button>
      ),
      note: (
        <span class="row">
          <span class="muted wide-only">{error?.code ?? skippedReason?.replace("_", " ") ?? type}</span>
          <Status of={status} />
          <Amount credits={creditsUsed} />
          <span class="nw">{isStarted ? durationText(lengthOf(step)) : "—"}</span>
        </span>
      ),
      startMs: isStarted ? Math.max(0, startOf(step)) : totalMs,
      lengthMs: lengthOf(step),
      tone: TONES[status],
    };
  });
  return { rows, totalMs };
}

function StepPanel({ run, step }: { readonly run: WorkflowRun; readonly step: WorkflowStepRun }): JSX.Element {
  const { id, attempt, status, error, output, outputRef, childRunIds = [] } = step;
  // A large output is read only when its step is selected.
  const large = useCall(
    "GET /v1/workflows/runs/{id}/steps/{stepId}/output",
    outputRef === undefined ? null : { path: { id: run.id, stepId: id }, query: { attempt } },
  );
  const value = outputRef === undefined ? output : large.data;
  return (
    <Panel
      title={`Step “${id}”, attempt ${attempt}`}
      link={
        <span class="push">
          <Status of={status} />
        </span>
      }
    >
      <div class="pad stack">
        {error === undefined ? null : (
          <Callout tone="bad">
            {error.message} <span class="mono">{error.code}</span>
          </Callout>
        )}
        <FaultCallout fault={large.fault} retry={large.reload} />
        {childRunIds.length === 0 ? null : (
          <p class="row wrap">
            Child runs:
            {childRunIds.map((child, index) => (
              <Link key={child} href={`/runs/${child}`} title={child}>
                run {index + 1}
              </Link>
            ))}
          </p>
        )}
        {value === undefined ? <p class="soft">The attempt has no output.</p> : <Json value={value} />}
      </div>
    </Panel>
  );
}

function Value({
  title,
  value,
  none,
}: {
  readonly title: string;
  readonly value: unknown;
  readonly none: string;
}): JSX.Element {
  return (
    <Panel title={title}>
      {value === undefined ? (
        <div class="pad">
          <p class="soft">{none}</p>
        </div>
      ) : (
        <Json value={value} />
      )}
    </Panel>
  );
}

function GraphPanel({ run }: { readonly run: WorkflowRun }): JSX.Element | null {
  const { workflowId: id = "", version } = run;
  const query = useCall("GET /v1/workflows/{id}", id === "" ? null : { path: { id }, query: { version } });
  if (query.data === undefined) return null;
  const byStep = new Map(run.stepRuns.toSorted((a, b) => a.attempt - b.attempt).map((step) => [step.id, step.status]));
  return (
    <Panel
      title="Graph"
      link={
        <Link class="push" href={`/workflows/${id}`}>
          Open definition
        </Link>
      }
    >
      <div class="pad graph-box" tabIndex={0} role="group" aria-label="Graph">
        <StepGraph steps={stepsOf(query.data.definition)} statusOf={(step) => byStep.get(step) ?? "queued"} />
      </div>
    </Panel>
  );
}
