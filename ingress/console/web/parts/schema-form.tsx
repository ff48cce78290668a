/** Form fields that a JSON Schema describes. A value that no field can express is edited as JSON. */
import type { JSX } from "preact";

import type { ApiFault } from "../api/client.ts";
import { FileField } from "./file-field.tsx";
import { Button, type Choice, Segments, SelectField, TextField } from "./form.tsx";
import { type Draft, filesCount, kindOf, labelOf, scalarText, type Schema } from "../api/schema.ts";

export interface DraftProps {
  readonly draft: Draft;
  readonly onInput: (changes: Draft) => void;
  readonly fault: ApiFault | undefined;
}

/** Fields of an object: the required ones and `first`, then the others under a summary. */
export function SchemaFields({
  schema,
  path = "",
  first = [],
  more = "More parameters",
  ...props
}: DraftProps & {
  readonly schema: Schema;
  readonly path?: string;
  /** Names of optional members that are shown at once. Absent members are skipped. */
  readonly first?: readonly string[];
  readonly more?: string;
}): JSX.Element {
  const { properties = {}, required = [] } = schema;
  const prefix = path === "" ? "" : `${path}.`;
  const entries = Object.entries(properties);
  const isFirst = ([name]: readonly [string, Schema]): boolean => required.includes(name) || first.includes(name);
  const draw = ([name, one]: readonly [string, Schema]): JSX.Element => (
    <SchemaField
      key={name}
      {...props}
      name={name}
      schema={one}
      path={prefix + name}
      isOptional={!required.includes(name)}
    />
  );
  const shown = entries.filter(isFirst);
  const others = entries.filter((entry) => !isFirst(entry));
  const isSmall = (entry: readonly [string, Schema]): boolean =>
    ["number", "boolean", "choice", "text"].includes(kindOf(entry[1]));
  const isOpen = Object.keys(props.draft).some((key) =>
    others.some(([name]) => key === prefix + name || key.startsWith(`${prefix + name}.`)),
  );
  return (
    <>
      {shown.filter((entry) => !isSmall(entry)).map(draw)}
      <div class="grid2 pair">{shown.filter(isSmall).map(draw)}</div>
      {others.length === 0 ? null : (
        <details open={isOpen}>
          <summary class="soft">{more}</summary>
          <div class="stack inner">{others.map(draw)}</div>
        </details>
      )}
    </>
  );
}

function SchemaField({
  name,
  schema,
  path,
  isOptional,
  draft,
  onInput,
  fault,
}: DraftProps & {
  readonly name: string;
  readonly schema: Schema;
  readonly path: string;
  readonly isOptional: boolean;
}): JSX.Element {
  const { description, default: fallback, minimum, maximum, suggestions, "x-svc-unit": unit } = schema;
  const hint = hintOf(description);
  const field = { label: LABELS[name] ?? labelOf(name), hint, param: path, fault };
  const typed = { ...field, isOptional };
  const text = { ...field, value: draft[path] ?? "", onInput: (value: string) => onInput({ [path]: value }) };
  const placeholder = fallback === undefined ? "" : scalarText(fallback);
  switch (kindOf(schema)) {
    case "file":
      return <FileField {...typed} schema={schema} path={path} draft={draft} onInput={onInput} />;
    case "files":
      return <FileFields {...typed} schema={schema} path={path} draft={draft} onInput={onInput} />;
    case "boolean":
      return (
        <ChoiceField
          {...text}
          choices={[noChoice(fallback), { value: "true", text: "Yes" }, { value: "false", text: "No" }]}
        />
      );
    case "choice":
      return <ChoiceField {...text} choices={choicesOf(schema, isOptional)} />;
    case "number": {
      const hasRange =
        minimum !== undefined && maximum !== undefined && maximum < RANGE_MAX && hint?.includes(" from ") !== true;
      return (
        <TextField
          {...text}
          hint={hasRange ? `${minimum} to ${maximum}. ${hint ?? ""}` : hint}
          placeholder={placeholder}
          {...(unit === undefined ? {} : { unit })}
        />
      );
    }
    case "list":
      return <TextField {...text} isOptional={isOptional} hint={`${hint ?? ""} Separate values with commas.`} />;
    case "group":
      return (
        <fieldset class="field">
          <legend>{field.label}</legend>
          <SchemaFields
            schema={schema}
            path={path}
            draft={draft}
            onInput={onInput}
            fault={fault}
            first={Object.keys(schema.properties ?? {})}
          />
        </fieldset>
      );
    case "json":
      return <TextField {...text} isOptional={isOptional} rows={4} hint={`${hint ?? ""} As JSON.`} />;
    case "long text":
      return <TextField {...text} isOptional={isOptional} rows={3} placeholder={placeholder} />;
    default:
      return (
        <TextField
          {...text}
          isOptional={isOptional}
          placeholder={placeholder}
          {...(suggestions === undefined ? {} : { suggestions })}
        />
      );
  }
}

/** Labels of members whose name is no word. */
const LABELS: Readonly<Record<string, string>> = { n: "Results", crf: "CRF", fps: "FPS", top_p: "Top P" };

/** Maximum of a range that is worth showing. */
const RANGE_MAX = 1e6;

/** Returns a description without sentences that the form itself expresses, such as the list of values. */
function hintOf(description: string | undefined): string | undefined {
  const sentences = (description ?? "")
    .split(/(?<=\.) /)
    .filter((one) => !/model's|Rejected|allowed_params|default_duration/.test(one));
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** Choice of no value, which leaves the default to the API. */
function noChoice(fallback: unknown): Choice {
  if (fallback === undefined) return { value: "", text: "Default" };
  const text = typeof fallback === "boolean" ? (fallback ? "yes" : "no") : scalarText(fallback);
  return { value: "", text: `Default (${text})` };
}

function choicesOf(
  { enum: values = [], default: fallback, "x-svc-enum-labels": labels }: Schema,
  isOptional: boolean,
): readonly Choice[] {
  const choices = values
    .filter((value) => value !== null)
    .map((value) => ({ value: scalarText(value), text: labels?.[scalarText(value)] ?? scalarText(value) }));
  if (!isOptional) return choices;
  const isListed = fallback === undefined || values.includes(fallback);
  const label = fallback === undefined ? undefined : labels?.[scalarText(fallback)];
  return [isListed ? noChoice(label ?? fallback) : { value: "", text: scalarText(fallback) }, ...choices];
}

/** Maximum number of characters of a choice that is drawn as segments. */
const SEGMENT_CHARS = 17;

/** Choice as segments if it has few short values, and as a list otherwise. */
function ChoiceField({
  choices,
  ...field
}: Parameters<typeof SelectField>[0] & { readonly choices: readonly Choice[] }): JSX.Element {
  const chars = choices.reduce((sum, { text }) => sum + text.length, 0);
  return choices.length <= 4 && chars <= SEGMENT_CHARS ? (
    <Segments label={field.label} value={field.value} choices={choices} onInput={field.onInput} />
  ) : (
    <SelectField {...field} choices={choices} />
  );
}

/** List of files with a button that adds one. */
function FileFields({ label, schema, path, draft, ...field }: Parameters<typeof FileField>[0]): JSX.Element {
  const { items = {}, maxItems = 20 } = schema;
  const count = filesCount(schema, draft, path);
  return (
    <>
      {Array.from({ length: count }, (_, place) => (
        <FileField
          key={place}
          {...field}
          label={`${label} ${place + 1}`}
          schema={{ ...schema, ...items }}
          path={`${path}.${place}`}
          param={`${path}[${place}]`}
          draft={draft}
        />
      ))}
      <div>
        <Button
          small
          icon="plus"
          blocked={count >= maxItems ? `At most ${maxItems} files are accepted.` : undefined}
          onClick={() => field.onInput({ [`${path}.${count}`]: "" })}
        >
          Add file
        </Button>
      </div>
    </>
  );
}
