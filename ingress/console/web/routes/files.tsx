/** Files of the workspace: upload with progress, download and deletion. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { StoredFile } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useQuery } from "../api/query.ts";
import { download } from "../parts/download.ts";
import { UploadButton } from "../parts/file-field.tsx";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { sizeText, timeText, zoneText } from "../parts/format.ts";
import { ConfirmDialog, Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useCursor } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { BudgetBar } from "../parts/values.tsx";

const PURPOSES = ["user_data", "batch", "batch_output", "vision", "assistants"] as const;

export default function Files(): JSX.Element {
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
  return (
    <Page
      title="Files"
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
        idOf={({ id }) => id}
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
                  {
                    text: "Download file",
                    onClick: () =>
                      void download(
                        "GET /v1/files/{file_id}/content",
                        { path: { file_id: file.id } },
                        { name: file.filename },
                      ),
                  },
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
            changed();
          }}
        />
      )}
    </Page>
  );
}
