/** Files of the workspace: upload with progress, and a side sheet with facts, preview, download and deletion. */
import type { JSX } from "preact";
import { useLocation } from "wouter-preact";

import type { StoredFile } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { downloadFile } from "../parts/download.ts";
import { UploadButton } from "../parts/file-field.tsx";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { sizeText, timeText, zonedText, zoneText } from "../parts/format.ts";
import { ConfirmButton, type Confirmation, Menu, Sheet, type SheetControls } from "../parts/layers.tsx";
import { FilePreview } from "../parts/media.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Loaded, useList, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { BudgetBar, Id, KeyValues } from "../parts/values.tsx";

const PURPOSES = ["user_data", "batch", "batch_output", "vision", "assistants"] as const;

export default function Files(): JSX.Element {
  const query = useUrlQuery();
  const [, navigate] = useLocation();
  const purpose = query.get("purpose");
  const list = useList("GET /v1/files", { query: { order: "desc", purpose } });
  const open = useOpenRow("/files", list, ({ id }) => id);
  const workspace = useCall("GET /workspaces/{workspaceId}");
  const storage = workspace.data?.storage;
  const changed = (): void => {
    list.reload();
    workspace.reload();
  };
  const deletionOf = ({ id, filename }: StoredFile): Confirmation => ({
    title: `Delete “${filename}”?`,
    effect: "Calls that name the file fail from then on. This cannot be undone.",
    action: "Delete file",
    run: async () => {
      await call("DELETE /v1/files/{file_id}", { path: { file_id: id } });
      toast(`File “${filename}” is deleted`);
      if (id === open.id) open.show(undefined);
      changed();
    },
  });
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
      sheet={open.id && <FileSheet key={open.id} id={open.id} {...open.sheet} deletionOf={deletionOf} />}
    >
      {storage === undefined ? null : (
        <BudgetBar used={storage.used_bytes} limit={storage.limit_bytes} window="storage" format={sizeText} />
      )}
      <FilterBar
        query={query}
        filters={[{ name: "purpose", label: "Purpose", choices: PURPOSES.map((value) => ({ value, text: value })) }]}
      />
      <ListPanel
        query={list}
        idOf={({ id }) => id}
        open={open}
        columns={[
          {
            head: "Name",
            place: "main",
            cut: "40%",
            title: ({ filename, id }) => `${filename} (${id})`,
            cell: ({ filename }) => filename,
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
                  { text: "Use in…", onClick: () => navigate(`/capabilities?file=${file.id}`) },
                  { text: "Download file", onClick: () => void downloadFile(file.id, file.filename) },
                  { text: "Delete file", confirm: deletionOf(file) },
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
    </Page>
  );
}

function FileSheet({
  id,
  deletionOf,
  ...controls
}: SheetControls & {
  readonly id: string;
  /** Returns the question before the file is deleted. */
  readonly deletionOf: (file: StoredFile) => Confirmation;
}): JSX.Element {
  const query = useCall("GET /v1/files/{file_id}", { path: { file_id: id } });
  return (
    <Sheet title={query.data?.filename ?? "File"} {...controls}>
      <Loaded query={query}>
        {(file) => (
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
                <ConfirmButton small kind="danger" {...deletionOf(file)} />
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
      </Loaded>
    </Sheet>
  );
}
