/** Files of the workspace: upload with progress, and a side sheet with facts, preview, download and deletion. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation, useParams } from "wouter-preact";

import type { StoredFile } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { downloadFile } from "../parts/download.ts";
import { UploadButton } from "../parts/file-field.tsx";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button } from "../parts/form.tsx";
import { sizeText, timeText, zonedText, zoneText } from "../parts/format.ts";
import { ConfirmDialog, FaultCallout, Menu, Sheet } from "../parts/layers.tsx";
import { FilePreview } from "../parts/media.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Skeleton, useCursor } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { BudgetBar, Id, KeyValues } from "../parts/values.tsx";

const PURPOSES = ["user_data", "batch", "batch_output", "vision", "assistants"] as const;

export default function Files(): JSX.Element {
  const { id } = useParams<{ id?: string }>();
  const [, navigate] = useLocation();
  const [deleting, setDeleting] = useState<StoredFile>();
  const query = useUrlQuery();
  const purpose = query.get("purpose");
  const cursor = useCursor(query.text);
  const list = useQuery(`files ${query.text} ${cursor.after ?? ""}`, (signal) =>
    call("GET /v1/files", { query: { limit: 50, order: "desc", after: cursor.after, purpose }, signal }),
  );
  const storage = useQuery(
    "storage",
    async (signal) => (await call("GET /workspaces/{workspaceId}", { signal })).storage,
  );
  const changed = (): void => {
    list.reload();
    storage.reload();
  };
  const rows = list.data?.data ?? [];
  const suffix = query.text === "" ? "" : `?${query.text}`;
  const place = rows.findIndex((file) => file.id === id);
  return (
    <Page
      title="Files"
      isWide
      about="Files, batches and stored responses use the storage of the workspace."
      actions={
        <UploadButton
          kind="primary"
          label="Upload file"
          purpose={purpose === "batch" ? "batch" : "user_data"}
          onStored={({ filename }) => {
            toast(`File “${filename}” is stored`);
            changed();
          }}
        />
      }
      sheet={
        id === undefined ? undefined : (
          <FileSheet
            key={id}
            id={id}
            onClose={() => navigate(`/files${suffix}`)}
            onDelete={setDeleting}
            onMove={(step) => {
              const next = rows[place + step];
              if (next !== undefined) navigate(`/files/${next.id}${suffix}`);
            }}
          />
        )
      }
    >
      {storage.data === undefined ? null : (
        <BudgetBar used={storage.data.used_bytes} limit={storage.data.limit_bytes} window="storage" format={sizeText} />
      )}
      <FilterBar
        query={query}
        filters={[{ name: "purpose", label: "Purpose", choices: PURPOSES.map((value) => ({ value, text: value })) }]}
      />
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={(file) => file.id}
        selected={id}
        columns={[
          {
            head: "Name",
            place: "main",
            cut: "40%",
            title: (file) => `${file.filename} (${file.id})`,
            cell: (file) => <Link href={`/files/${file.id}${suffix}`}>{file.filename}</Link>,
          },
          { head: "Purpose", place: "mid", cell: ({ purpose: one }) => one },
          {
            head: `Created, ${zoneText()}`,
            cell: ({ created_at }) => timeText(created_at * 1_000, "minute"),
          },
          {
            head: `Expires, ${zoneText()}`,
            place: "low",
            cell: ({ expires_at }) =>
              expires_at === undefined ? <span class="muted">never</span> : timeText(expires_at * 1_000, "minute"),
          },
          { head: "Size", place: "key", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
          {
            head: <span class="sr">Actions</span>,
            cell: (file) => (
              <Menu
                label={`Actions of ${file.filename}`}
                entries={[
                  { text: "Download file", onClick: () => downloadFile(file.id, file.filename) },
                  { text: "Delete file", isDangerous: true, onClick: () => setDeleting(file) },
                ]}
              />
            ),
          },
        ]}
        empty={
          <Empty title={purpose === "" ? "No files" : "No files match"}>
            <p>Uploaded files and results that batches and capabilities store are listed here.</p>
          </Empty>
        }
      />
      {deleting === undefined ? null : (
        <ConfirmDialog
          title={`Delete “${deleting.filename}”?`}
          effect="Calls that name the file fail from then on. This cannot be undone."
          action="Delete file"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await call("DELETE /v1/files/{file_id}", { path: { file_id: deleting.id } });
            toast(`File “${deleting.filename}” is deleted`);
            if (deleting.id === id) navigate(`/files${suffix}`);
            changed();
          }}
        />
      )}
    </Page>
  );
}

function FileSheet({
  id,
  onClose,
  onMove,
  onDelete,
}: {
  readonly id: string;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
  readonly onDelete: (file: StoredFile) => void;
}): JSX.Element {
  const {
    data: file,
    fault,
    reload,
  } = useQuery(`file ${id}`, (signal) => call("GET /v1/files/{file_id}", { path: { file_id: id }, signal }));
  return (
    <Sheet title={file?.filename ?? "File"} onClose={onClose} onMove={onMove}>
      {fault === undefined ? null : (
        <section>
          <FaultCallout fault={fault} retry={reload} />
        </section>
      )}
      {file === undefined ? (
        fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          <section>
            <KeyValues
              of={[
                ["Purpose", file.purpose],
                ["Size", sizeText(file.bytes)],
                ["Created", zonedText(file.created_at * 1_000)],
                ["Expires", file.expires_at === undefined ? "never" : zonedText(file.expires_at * 1_000)],
                ["Id", <Id value={file.id} label="file id" />],
              ]}
            />
            <div>
              <Button small kind="danger" onClick={() => onDelete(file)}>
                Delete file
              </Button>
            </div>
          </section>
          <section>
            <h3>Preview</h3>
            {file.bytes === 0 ? (
              <p class="hint">The file is empty.</p>
            ) : (
              <FilePreview id={file.id} name={file.filename} />
            )}
          </section>
        </>
      )}
    </Sheet>
  );
}
