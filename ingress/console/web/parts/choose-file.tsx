/** Button that opens the list of the workspace's files, to choose one of them. */
import type { JSX } from "preact";
import { createPortal } from "preact/compat";
import { useState } from "preact/hooks";

import type { StoredFile } from "#schemas/generated/types.ts";
import { isAccepted, mayReadFiles } from "../api/stored-files.ts";
import { Button, TextField } from "./form.tsx";
import { countText, sizeText, timeText, zoneText } from "./format.ts";
import { Dialog } from "./layers.tsx";
import { Empty, ListPanel, useList } from "./table.tsx";

interface ChoiceProps {
  /** Kinds of files that are listed, such as `image`. Undefined: all. */
  readonly kinds: readonly string[] | undefined;
  readonly onChosen: (file: StoredFile) => void;
}

export function ChooseButton({ kinds, onChosen }: ChoiceProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (!mayReadFiles()) return null;
  const close = (): void => setOpen(false);
  const choose = (file: StoredFile): void => {
    close();
    onChosen(file);
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Choose</Button>
      {/* Outside the form of the field, which Enter would submit. */}
      {isOpen ? createPortal(<FileDialog kinds={kinds} onChosen={choose} onClose={close} />, document.body) : null}
    </>
  );
}

/** Number of files of a page. The API cannot search, so the name is searched in the page. */
const FILES = 500;

function FileDialog({ kinds, onChosen, onClose }: ChoiceProps & { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const list = useList("GET /v1/files", { query: { order: "desc" } }, { limit: FILES });
  const page = list.data;
  const found = (page?.data ?? []).filter(
    ({ filename }) => isAccepted(filename, kinds) && filename.toLowerCase().includes(text.trim().toLowerCase()),
  );
  return (
    <Dialog title="Choose a file" onClose={onClose} footer={<Button onClick={onClose}>Cancel</Button>}>
      <TextField label="Name" type="search" value={text} onInput={setText} placeholder="Part of the name" />
      <ListPanel
        query={{ ...list, data: page && { ...page, data: found } }}
        idOf={({ id }) => id}
        columns={[
          {
            head: "Name",
            place: "main",
            cut: "50%",
            title: ({ filename, id }) => `${filename} (${id})`,
            cell: (file) => (
              <button type="button" class="link" onClick={() => onChosen(file)}>
                {file.filename}
              </button>
            ),
          },
          { head: `Created, ${zoneText()}`, cell: ({ created_at }) => timeText(created_at * 1_000, "minute") },
          { head: "Size", place: "key", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
        ]}
        empty={
          <Empty title={page?.data.length === 0 ? "No files" : "No files match"}>
            <p>
              {page?.has_more === true
                ? `None of these ${FILES} files matches. “Older” searches the files before them.`
                : "Files of the workspace that this field accepts are listed here."}
            </p>
          </Empty>
        }
        note={`${found.length === 1 ? "1 file" : `${countText(found.length)} files`}${page?.has_more === true ? ` of ${FILES}` : ""}`}
      />
    </Dialog>
  );
}
