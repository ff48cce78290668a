/** Jobs: one job by its id, with its progress, result and cancellation. The list of ended jobs is the page of requests. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation, useParams } from "wouter-preact";

import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { Button, FaultText, TextField } from "../parts/form.tsx";
import { timeText } from "../parts/format.ts";
import { Callout, FaultCallout } from "../parts/layers.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Skeleton } from "../parts/table.tsx";
import { Amount, Id, KeyValues, Status } from "../parts/values.tsx";
import { ValueBody } from "./playground/result.tsx";

/** Interval at which an open job is read again, in milliseconds. */
const POLL_MS = 2_000;

export default function Jobs(): JSX.Element {
  const { id } = useParams<{ id?: string }>();
  return id === undefined ? <FindJob /> : <JobPage key={id} id={id} />;
}

function FindJob(): JSX.Element {
  const [text, setText] = useState("");
  const [, navigate] = useLocation();
  return (
    <Page title="Jobs" about="Images, speech, music, videos, 3D and capabilities run as jobs when they take long.">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") navigate(`/jobs/${encodeURIComponent(text.trim())}`);
        }}
      >
        <div class="pad stack">
          <TextField
            label="Job id"
            value={text}
            onInput={setText}
            hint={
              <>
                The response that accepted the job contains its id. Ended jobs are also in{" "}
                <Link href="/requests">Requests</Link>.
              </>
            }
          />
          <div class="row">
            <Button kind="primary" submit>
              Open job
            </Button>
          </div>
        </div>
      </form>
    </Page>
  );
}

function JobPage({ id }: { readonly id: string }): JSX.Element {
  const [isOpen, setOpen] = useState(true);
  const query = useQuery(
    `job ${id}`,
    async (signal) => {
      const job = await call("GET /v1/images/jobs/{job_id}", { path: { job_id: id }, signal });
      setOpen(job.status === "queued" || job.status === "processing");
      return job;
    },
    { everyMs: isOpen ? POLL_MS : undefined },
  );
  const cancel = useAction(async () => {
    await call("POST /v1/images/jobs/{job_id}/cancel", { path: { job_id: id } });
    query.reload();
  });
  const { data: job, fault, reload } = query;
  return (
    <Page
      title={job?.model ?? "Job"}
      crumb={<Link href="/jobs">Jobs</Link>}
      actions={
        job !== undefined && isOpen ? (
          <Button kind="danger" isRunning={cancel.isRunning} onClick={() => cancel.run()}>
            Cancel job
          </Button>
        ) : undefined
      }
    >
      {fault === undefined ? null : <FaultCallout fault={fault} retry={reload} />}
      <FaultText fault={cancel.fault} />
      {job === undefined ? (
        fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          <div class="panel">
            <div class="pad stack">
              <div class="row">
                <Status of={job.status} />
                {isOpen ? <span class="soft">{Math.round(job.progress)} %</span> : null}
              </div>
              {job.error === undefined ? null : <Callout tone="bad">{job.error.message}</Callout>}
              <KeyValues
                of={[
                  ["Kind", job.modality],
                  ["Charged", job.credits_used === undefined ? null : <Amount credits={job.credits_used} />],
                  ["Created", timeText(job.created * 1_000, "exact")],
                  ["Ended", job.completed === undefined ? null : timeText(job.completed * 1_000, "exact")],
                  ["Id", <Id value={job.id} label="job id" />],
                  ["Request", isOpen ? null : <Link href={`/requests/${job.id}`}>Show attempts and charge</Link>],
                ]}
              />
            </div>
          </div>
          {job.status === "completed" ? (
            <Section title="Result">
              <ValueBody value={job} />
            </Section>
          ) : null}
        </>
      )}
    </Page>
  );
}
