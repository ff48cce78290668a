/** Files of the workspace: upload with progress, download and deletion. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { StoredFile } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { uploadFile } from "../api/upload.ts";
import { download } from "../parts/download.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, FaultText } from "../parts/form.tsx";
import { sizeText, timeText, zoneText } from "../parts/format.ts";
import { ConfirmDialog, Menu } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, useCursor } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";

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
      about={
        storage.data === undefined
          ? undefined
          : `${sizeText(storage.data.used_bytes)} of ${sizeText(storage.data.limit_bytes)} are used by files, batches and stored responses.`
      }
      actions={<Upload purpose={purpose === "batch" ? "batch" : "user_data"} onUploaded={changed} />}
    >
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
            cell: ({ expires_at }) => (expires_at === undefined ? "never" : timeText(expires_at * 1_000, "minute")),
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

/** Button that uploads a chosen file, and shows its progress. */
export function Upload({
  purpose,
  onUploaded,
}: {
  readonly purpose: "user_data" | "batch";
  readonly onUploaded: (file: StoredFile) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState<number>();
  const upload = useAction(async (file: File) => {
    try {
      const stored = await uploadFile(file, { purpose, onProgress: setShare });
      toast(`File “${stored.filename}” is stored`);
      onUploaded(stored);
    } finally {
      setShare(undefined);
    }
  });
  return (
    <div class="stack tight">
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) void upload.run(file);
          event.currentTarget.value = "";
        }}
      />
      <Button kind="primary" icon="upload" isRunning={upload.isRunning} onClick={() => input.current?.click()}>
        {share === undefined ? "Upload file" : `Uploading ${Math.round(share * 100)} %`}
      </Button>
      <FaultText fault={upload.fault} />
    </div>
  );
}
