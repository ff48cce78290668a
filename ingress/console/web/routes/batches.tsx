/** Batches: list with progress, creation from a file, cancellation, and download of results and errors. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Batch, BatchLineList, StoredFile } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { downloadFile } from "../parts/download.ts";
import { ChooseButton } from "../parts/choose-file.tsx";
import { UploadButton } from "../parts/file-field.tsx";
import { Button, creditsIn, TextField } from "../parts/form.tsx";
import { countText, timeText, zonedText, zoneText } from "../parts/format.ts";
import { Callout, ConfirmButton, FormDialog, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Loaded, useList, useOpenRow } from "../parts/table.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Amount, Id, KeyValues, ProgressBar, Status } from "../parts/values.tsx";
import { ValueBody } from "./playground/result.tsx";

/** Interval at which the list, and an open batch, are read again, in milliseconds. */
const REFRESH_MS = 5_000;
const OPEN: ReadonlySet<Batch["status"]> = new Set(["validating", "in_progress", "finalizing", "cancelling"]);
const ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/images/generations"];

export default function Batches(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const list = useList("GET /v1/batches", {}, { everyMs: REFRESH_MS });
  const open = useOpenRow("/batches", list, ({ id }) => id);
  return (
    <Page
      title="Batches"
      isWide
      about="A batch runs the calls of a file within 24 hours, at the batch price of each model."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          Create batch
        </Button>
      }
      sheet={open.id && <BatchSheet key={open.id} id={open.id} {...open.sheet} />}
    >
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        open={open}
        columns={[
          {
            head: "Batch",
            place: "main",
            cut: "34%",
            title: (batch) => batch.id,
            cell: ({ endpoint }) => endpoint,
          },
          {
            head: `Created, ${zoneText()}`,
            cell: ({ created_at }) => <span class="nw">{timeText(created_at * 1_000, "minute")}</span>,
          },
          { head: "Status", cell: ({ status }) => <Status of={status} /> },
          {
            head: "Failed",
            place: "mid",
            isNumber: true,
            label: "failed",
            cell: ({ request_counts: { failed } }) => (
              <span class={failed === 0 ? "none" : ""}>{countText(failed)}</span>
            ),
          },
          {
            head: "Done",
            place: "key",
            isNumber: true,
            cell: ({ request_counts: { total, completed, failed } }) =>
              total === 0 ? "—" : `${countText(completed + failed)} of ${countText(total)}`,
          },
        ]}
        empty={
          <Empty title="No batches">
            <p>Create a batch from a JSON Lines file whose lines are calls.</p>
          </Empty>
        }
      />
      {isCreating ? (
        <CreateBatch
          onClose={() => setCreating(false)}
          onSaved={(batch) => {
            list.reload();
            open.show(batch.id);
          }}
        />
      ) : null}
    </Page>
  );
}

function CreateBatch(dialog: DialogProps<Batch>): JSX.Element {
  const [file, setFile] = useState<StoredFile>();
  const form = useForm(
    { fileId: "", endpoint: ENDPOINTS[0] ?? "", max: "" },
    async ({ fileId, endpoint, max }) => {
      const credits = creditsIn(max);
      if (Number.isNaN(credits)) throw new Error(`Expected a number of credits, got “${max}”.`);
      return call("POST /v1/batches", {
        body: {
          input_file_id: fileId.trim(),
          endpoint,
          completion_window: "24h",
          ...(credits === undefined ? {} : { max_credits: credits }),
        },
      });
    },
    dialog,
  );
  const choose = (stored: StoredFile): void => {
    setFile(stored);
    form.set({ fileId: stored.id });
  };
  return (
    <FormDialog
      title="Create batch"
      onClose={dialog.onClose}
      action="Create batch"
      submit={form}
      blocked={form.values.fileId.trim() === "" ? "Upload a file, or enter the id of one." : undefined}
    >
      <span class="row">
        <ChooseButton kinds={undefined} onChosen={choose} />
        <UploadButton label="Upload file" purpose="batch" onStored={choose} />
      </span>
      <TextField
        label="Input file"
        {...form.bind("fileId", "input_file_id")}
        isRequired
        hint={
          file === undefined ? "Id of a JSON Lines file with one call a line and the purpose batch." : file.filename
        }
      />
      <TextField label="Endpoint" {...form.bind("endpoint")} suggestions={ENDPOINTS} />
      <TextField
        label="Maximum cost"
        unit="credits"
        {...form.bind("max", "max_credits")}
        isOptional
        hint="Lines that would exceed it are not run."
      />
    </FormDialog>
  );
}

function BatchSheet({ id, ...controls }: SheetControls & { readonly id: string }): JSX.Element {
  const query = useCall(
    "GET /v1/batches/{batch_id}",
    { path: { batch_id: id } },
    { everyMs: ({ data }) => (data === undefined || OPEN.has(data.status) ? REFRESH_MS : undefined) },
  );
  return (
    <Sheet title={query.data?.endpoint ?? "Batch"} {...controls}>
      <Loaded query={query}>
        {(batch) => (
          <>
            <section>
              <div class="row wrap">
                <Status of={batch.status} />
                {OPEN.has(batch.status) && batch.status !== "cancelling" ? (
                  <span class="push">
                    <ConfirmButton
                      small
                      kind="danger"
                      title="Cancel the batch?"
                      effect={`${countText(endedOf(batch))} of ${countText(batch.request_counts.total)} lines have ended. They stay charged, and their results are stored. Running lines are cancelled, and work that a provider has done for them is charged. The other lines cost nothing.`}
                      action="Cancel batch"
                      dismiss="Keep batch"
                      run={async () => {
                        await call("POST /v1/batches/{batch_id}/cancel", { path: { batch_id: id } });
                        query.reload();
                      }}
                    />
                  </span>
                ) : null}
              </div>
              {batch.request_counts.total === 0 || !OPEN.has(batch.status) ? null : (
                <ProgressBar share={endedOf(batch) / batch.request_counts.total} />
              )}
              {batch.errors?.data.slice(0, 10).map(({ message, line }) => (
                <Callout key={`${line} ${message}`} tone="bad">
                  {line === null ? message : `Line ${line}: ${message}`}
                </Callout>
              ))}
              <KeyValues
                of={[
                  ["Lines", countText(batch.request_counts.total)],
                  ["Succeeded", countText(batch.request_counts.completed)],
                  ["Failed", countText(batch.request_counts.failed)],
                  ["Created", zonedText(batch.created_at * 1_000)],
                  batch.completed_at === undefined
                    ? ["Expires", zonedText(batch.expires_at * 1_000)]
                    : ["Ended", zonedText(batch.completed_at * 1_000)],
                  ["Id", <Id value={batch.id} label="batch id" />],
                ]}
              />
              <div class="row wrap">
                {batch.output_file_id === undefined ? null : (
                  <Button small icon="dl" onClick={() => downloadFile(batch.output_file_id ?? "", "output.jsonl")}>
                    Download results
                  </Button>
                )}
                {batch.error_file_id === undefined ? null : (
                  <Button small icon="dl" onClick={() => downloadFile(batch.error_file_id ?? "", "errors.jsonl")}>
                    Download errors
                  </Button>
                )}
              </div>
            </section>
            <Lines id={id} isOpen={OPEN.has(batch.status)} />
          </>
        )}
      </Loaded>
    </Sheet>
  );
}

/** Returns the number of lines that have ended, with a result or an error. */
function endedOf({ request_counts: { completed, failed } }: Batch): number {
  return completed + failed;
}

type Line = BatchLineList["data"][number];

/** Ended lines in the order of their end, also while the batch runs. A page of the API has at most 4 MB. */
function Lines({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }): JSX.Element {
  const [shown, setShown] = useState<Line>();
  const list = useList(
    "GET /v1/batches/{batch_id}/lines",
    { path: { batch_id: id } },
    { limit: 20, everyMs: isOpen ? REFRESH_MS : undefined },
  );
  // The last lines end with the batch.
  useEffect(() => {
    if (!isOpen) list.reload();
  }, [isOpen]);
  return (
    <section aria-label="Lines">
      <h3>Lines</h3>
      <ListPanel
        query={list}
        isOldestFirst
        idOf={(line) => line.id}
        selected={shown?.id}
        columns={[
          {
            head: "Line",
            place: "main",
            cut: "50%",
            title: ({ custom_id }) => custom_id,
            cell: (line) => (
              <button
                type="button"
                class="link"
                aria-expanded={line.id === shown?.id}
                onClick={() => setShown(line.id === shown?.id ? undefined : line)}
              >
                {line.custom_id}
              </button>
            ),
            sub: errorOf,
          },
          { head: "Status", cell: (line) => <LineStatus line={line} /> },
          { head: "Credits", place: "key", isNumber: true, cell: (line) => <LineCredits line={line} /> },
        ]}
        empty={
          <Empty title="No line has ended">
            <p>Each line appears here when it has a result or an error.</p>
          </Empty>
        }
      />
      {shown === undefined ? null : (
        <>
          <div class="row wrap">
            <b class="cut grow">{shown.custom_id}</b>
            {shown.response === null ? null : (
              <Link href={`/requests/${shown.response.request_id}`}>Show the request</Link>
            )}
          </div>
          <ValueBody value={shown.response?.body ?? shown.error} />
        </>
      )}
    </section>
  );
}

function LineStatus({ line: { response, error } }: { readonly line: Line }): JSX.Element {
  if (response === null) return <Status of={error?.code.replace("batch_", "") ?? "failed"} />;
  const isGood = response.status_code < 400;
  return <Status of={isGood ? "succeeded" : "failed"} code={isGood ? null : response.status_code} />;
}

/** Members of response bodies that state the charge or the error. */
interface LineBody {
  readonly usage?: { readonly credits?: number } | null;
  readonly credits_used?: number;
  readonly error?: { readonly message?: string } | null;
}

function errorOf({ response, error }: Line): string | undefined {
  return error?.message ?? (response?.body as LineBody | null | undefined)?.error?.message;
}

/** Charge that the response states. The charge of any other line is on the page of its request. */
function LineCredits({ line: { response } }: { readonly line: Line }): JSX.Element {
  const { usage, credits_used: used = usage?.credits } = (response?.body ?? {}) as LineBody;
  return used === undefined ? <>—</> : <Amount credits={used} />;
}
