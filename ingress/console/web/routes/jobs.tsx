/** Jobs of media calls and capabilities: list by state, and a side sheet with progress, result and cancellation. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { Job } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { durationText, timeText, zoneText } from "../parts/format.ts";
import { Callout, ConfirmButton, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Empty, ListPanel, Loaded, useList, useOpenRow } from "../parts/table.tsx";
import { Amount, Id, KeyValues, ProgressBar, Status, statusChoices } from "../parts/values.tsx";
import { ValueBody } from "./playground/result.tsx";

/** Interval at which open jobs are read again, in milliseconds. */
const POLL_MS = 2_000;

const isOpen = ({ status }: Pick<Job, "status">): boolean => status === "queued" || status === "processing";

export default function Jobs(): JSX.Element {
  const query = useUrlQuery();
  const status = query.get("status");
  const list = useList("GET /v1/jobs", { query: { status } }, { everyMs: POLL_MS * 5 });
  const open = useOpenRow("/jobs", list, ({ id }) => id);
  return (
    <Page
      title="Jobs"
      isWide
      about="Images, speech, music, videos, 3D and capabilities run as jobs, which continue when you leave the page."
      sheet={open.id && <JobSheet key={open.id} id={open.id} {...open.sheet} onChange={list.reload} />}
    >
      <FilterBar
        query={query}
        filters={[
          {
            name: "status",
            label: "Status",
            isFixed: true,
            choices: [
              { value: "", text: "All" },
              ...statusChoices("queued", "processing", "completed", "failed", "cancelled"),
            ],
          },
        ]}
      />
      <ListPanel
        query={list}
        columns={columnsOf()}
        idOf={(job) => job.id}
        open={open}
        empty={
          status === "" ? (
            <Empty title="No jobs">
              <p>
                Each image, recording, video, mesh and capability run is a job.{" "}
                <Link href="/playground/image">Make an image</Link>
              </p>
            </Empty>
          ) : (
            <Empty title="No jobs match">
              <p>Choose another status.</p>
            </Empty>
          )
        }
        note="Jobs of workflow runs and batches are on their pages."
      />
    </Page>
  );
}

function columnsOf(): readonly Column<Job>[] {
  return [
    {
      head: "Model",
      place: "main",
      cut: "34%",
      title: ({ model, id }) => `${model ?? "unknown"} (${id})`,
      cell: ({ model }) => model ?? "unknown",
      sub: (job) => errorOf(job)?.code,
    },
    { head: "Status", cell: ({ status }) => <Status of={status} /> },
    {
      head: "Progress",
      place: "mid",
      isNumber: true,
      cell: (job) => (isOpen(job) ? `${Math.round(job.progress * 100)} %` : "—"),
    },
    {
      head: `Created, ${zoneText()}`,
      cell: ({ created }) => <span class="nw">{timeText(created * 1_000, "minute")}</span>,
    },
    { head: "Duration", place: "low", isNumber: true, cell: (job) => lengthOf(job) ?? "—" },
    {
      head: "Credits",
      place: "key",
      isNumber: true,
      cell: ({ credits_used: credits }) =>
        credits === undefined ? <span class="none">—</span> : <Amount credits={credits} />,
    },
  ];
}

/** Returns the error of a failed job; undefined for a cancelled job, whose error contains no fault. */
function errorOf({ status, error }: Job): Job["error"] {
  return status === "cancelled" ? undefined : error;
}

/** Returns the day, time and zone of a time in whole seconds. */
function secondText(seconds: number): string {
  return `${timeText(seconds * 1_000, "day")}, ${timeText(seconds * 1_000, "time")} ${zoneText()}`;
}

function lengthOf({ created, completed }: Job): string | undefined {
  if (completed === undefined) return undefined;
  // Both times are whole seconds.
  const seconds = completed - created;
  return seconds === 0 ? "< 1 s" : seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000);
}

function JobSheet({
  id,
  onChange,
  ...controls
}: SheetControls & {
  readonly id: string;
  /** Called when the state has changed. */
  readonly onChange: () => void;
}): JSX.Element {
  const query = useCall(
    "GET /v1/images/jobs/{job_id}",
    { path: { job_id: id } },
    // An ended job is not read again: it does not change, and new links would load its files again.
    { everyMs: ({ data }) => (data === undefined || isOpen(data) ? POLL_MS : undefined) },
  );
  const { data: job, reload } = query;
  return (
    <Sheet
      title={job?.model ?? "Job"}
      {...controls}
      actions={
        job !== undefined && isOpen(job) ? (
          <ConfirmButton
            kind="danger"
            title="Cancel the job?"
            effect={
              job.status === "queued"
                ? "The job has not started. It ends now and costs nothing."
                : "The provider is asked to stop. Work done until then is delivered and charged; the other held credits are released. A cancelled capability costs nothing."
            }
            action="Cancel job"
            dismiss="Keep job"
            run={async () => {
              await call("POST /v1/images/jobs/{job_id}/cancel", { path: { job_id: id } });
              reload();
              onChange();
            }}
          />
        ) : undefined
      }
    >
      <Loaded query={query}>{(one) => <JobSections job={one} />}</Loaded>
    </Sheet>
  );
}

function JobSections({ job }: { readonly job: Job }): JSX.Element {
  const error = errorOf(job);
  return (
    <>
      <section>
        <div role="status">
          <Status of={job.status} />
        </div>
        {isOpen(job) ? <ProgressBar share={job.progress} /> : null}
        {error === undefined ? null : <Callout tone="bad">{error.message}</Callout>}
        <KeyValues
          of={[
            ["Kind", job.modality.replaceAll("_", " ")],
            [
              "Charged",
              job.credits_used === undefined ? null : (
                <>
                  <Amount credits={job.credits_used} /> credits
                </>
              ),
            ],
            ["Created", secondText(job.created)],
            ["Ended", job.completed === undefined ? null : secondText(job.completed)],
            ["Duration", lengthOf(job) ?? null],
            ["Id", <Id value={job.id} label="job id" />],
            ["Request", isOpen(job) ? null : <Link href={`/requests/${job.id}`}>Show attempts and charge</Link>],
          ]}
        />
      </section>
      {job.data === undefined ? null : (
        <section>
          <h3>Result</h3>
          <ValueBody value={job} />
        </section>
      )}
    </>
  );
}
