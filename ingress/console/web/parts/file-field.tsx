/** Field for a file: an upload, a stored file, a URL, or a text where the API accepts one. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import type { StoredFile } from "#schemas/generated/types.ts";
import type { ApiFault } from "../api/client.ts";
import { useAction } from "../api/query.ts";
import { useStoredFile } from "../api/stored-files.ts";
import { uploadFile } from "../api/upload.ts";
import { ChooseButton } from "./choose-file.tsx";
import { Button, Field } from "./form.tsx";
import { percentText, sizeText } from "./format.ts";
import { type Draft, type Schema, textPath } from "../api/schema.ts";

export function FileField({
  schema,
  path,
  draft,
  onInput,
  ...field
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isOptional?: boolean;
  readonly param?: string;
  readonly fault?: ApiFault | undefined;
  readonly schema: Schema;
  readonly path: string;
  readonly draft: Draft;
  readonly onInput: (changes: Draft) => void;
}): JSX.Element {
  const sources = schema["x-svc-value-sources"] ?? [];
  const [isTyping, setTyping] = useState(false);
  const value = draft[path] ?? "";
  const text = draft[textPath(path)] ?? "";
  const set = (next: string): void => onInput({ [path]: next, [textPath(path)]: "" });
  const { data: stored, fault: missing } = useStoredFile(isTyping ? "" : value.trim());
  const facts = stored && `${stored.filename}, ${sizeText(stored.bytes)}.`;
  const expected = sources.includes("url") ? "File id or https://…" : "File id";
  return (
    <Field {...field} hint={[facts ?? missing?.message, field.hint].filter(Boolean).join(" ") || undefined}>
      {(control) => (
        <>
          <span class="row">
            <input
              {...control}
              class="input grow"
              value={value}
              placeholder={expected}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => {
                setTyping(true);
                set(event.currentTarget.value);
              }}
              onBlur={() => setTyping(false)}
            />
            <ChooseButton kinds={schema.kinds} onChosen={({ id }) => set(id)} />
            <UploadButton onStored={({ id }) => set(id)} />
          </span>
          {sources.includes("text") ? (
            <textarea
              class="area mono"
              rows={4}
              aria-label={`${field.label} as text`}
              placeholder="Or type the text"
              value={text}
              onInput={(event) => onInput({ [path]: "", [textPath(path)]: event.currentTarget.value })}
            />
          ) : null}
        </>
      )}
    </Field>
  );
}

/** Button that uploads a file, with its progress and a way to cancel. */
export function UploadButton({
  onStored,
  purpose,
  label = "Upload",
  kind,
}: {
  readonly onStored: (file: StoredFile) => void;
  readonly purpose?: string;
  readonly label?: string;
  readonly kind?: "primary";
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [sent, setSent] = useState<{ readonly share: number; readonly abort: () => void }>();
  const upload = useAction(async (file: File) => {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    setSent({ share: 0, abort });
    try {
      const options = { onProgress: (share: number) => setSent({ share, abort }), signal: controller.signal };
      onStored(await uploadFile(file, purpose === undefined ? options : { ...options, purpose }));
    } finally {
      setSent(undefined);
    }
  });
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file !== undefined) void upload.run(file);
        }}
      />
      {sent === undefined ? (
        <Button {...(kind === undefined ? {} : { kind })} icon="upload" onClick={() => input.current?.click()}>
          {label}
        </Button>
      ) : (
        <Button icon="stop" onClick={sent.abort}>
          Cancel, {percentText(sent.share, 1)}
        </Button>
      )}
      {upload.fault === undefined ? null : (
        <span class="hint error" role="alert">
          {upload.fault.message}
        </span>
      )}
    </>
  );
}
