/** Fields that creating and changing a key share: preset, expiry, tools, limits and kept bodies. */
import type { JSX } from "preact";

import type { ApiKey, ApiKeyUpdateRequest } from "#schemas/generated/types.ts";
import { call, type ApiFault } from "../../api/client.ts";
import { useQuery } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { type BodiesDraft, bodiesDraftOf, BodiesFields, bodiesOf } from "../../parts/bodies-form.tsx";
import { SelectField, TextField } from "../../parts/form.tsx";
import { localText, zonedTime, zoneText } from "../../parts/format.ts";
import { draftOf, type LimitsDraft, LimitsFields, limitsOf } from "../../parts/limits-form.tsx";

export interface KeyDraft {
  readonly name: string;
  /** "" for the preset of the caller's key. */
  readonly preset: string;
  /** Local time in the chosen zone. "" for no expiry, or for the expiry of the caller's key if the key is new. */
  readonly expires: string;
  readonly tools: string;
  readonly limits: LimitsDraft;
  readonly bodies: BodiesDraft;
}

export function keyDraftOf(row?: ApiKey): KeyDraft {
  return {
    name: row?.name ?? "",
    preset: row?.preset ?? "",
    expires: localText(row?.expires_at ?? ""),
    tools: (row?.tools ?? []).join(", "),
    limits: draftOf(row?.limits),
    bodies: bodiesDraftOf(row?.bodies ?? null),
  };
}

/**
 * Returns the members of the request whose fields have changed. Others are absent, because a role may change some of them only.
 * @param row key to change; absent for a new key
 * @throws Error for a text that is not an amount, a percentage or a number of hours
 */
export function changesOf(draft: KeyDraft, row?: ApiKey): ApiKeyUpdateRequest {
  const before = keyDraftOf(row);
  const isChanged = (name: keyof KeyDraft): boolean => JSON.stringify(draft[name]) !== JSON.stringify(before[name]);
  const tools = draft.tools.split(/[\s,]+/).filter(Boolean);
  const end = draft.expires === "" ? null : zonedTime(`${draft.expires}:00`).toISOString();
  return {
    ...(isChanged("name") ? { name: draft.name.trim() } : {}),
    ...(isChanged("preset") ? { preset: draft.preset } : {}),
    ...(isChanged("expires") ? { expires_at: end } : {}),
    ...(isChanged("tools") ? { tools: tools.length === 0 ? null : tools } : {}),
    ...(isChanged("limits") ? { limits: limitsOf(draft.limits, row?.limits) } : {}),
    ...(isChanged("bodies") ? { bodies: bodiesOf(draft.bodies) } : {}),
  };
}

interface Props {
  readonly draft: KeyDraft;
  readonly onInput: (draft: KeyDraft) => void;
  readonly fault: ApiFault | undefined;
  /** Key to change. Absent: a new key. */
  readonly row?: ApiKey;
}

export function KeyFields({ draft, onInput, fault, row }: Props): JSX.Element {
  const bind = (name: "expires" | "tools") => ({
    value: draft[name],
    onInput: (value: string) => onInput({ ...draft, [name]: value }),
    fault,
  });
  return (
    <>
      <div class="grid2">
        <PresetField draft={draft} onInput={onInput} fault={fault} {...(row && { row })} />
        <TextField
          label={`Expires, ${zoneText()}`}
          type="datetime-local"
          isOptional
          param="expires_at"
          {...bind("expires")}
        />
      </div>
      <LimitsFields draft={draft.limits} onInput={(limits) => onInput({ ...draft, limits })} fault={fault} />
      <TextField
        label="Tools"
        isOptional
        param="tools"
        placeholder="image.*, document.extract_text"
        hint={`Capabilities and workflows that the key may run: ids, categories such as image.*, or workflow.*. Empty: ${row === undefined ? "those of your key" : "all"}.`}
        {...bind("tools")}
      />
      {hasRole("owner") ? (
        <BodiesFields inherits draft={draft.bodies} onInput={(bodies) => onInput({ ...draft, bodies })} fault={fault} />
      ) : null}
    </>
  );
}

function PresetField({ draft, onInput, fault, row }: Props): JSX.Element {
  const presets = useQuery("presets", (signal) => call("GET /workspaces/{workspaceId}/presets", { signal }));
  const current = row?.preset ?? session.value?.preset ?? "";
  return (
    <SelectField
      label="Preset"
      value={draft.preset}
      onInput={(preset) => onInput({ ...draft, preset })}
      param="preset"
      fault={fault}
      hint="Limits of calls per minute and tokens per day."
      choices={[
        row === undefined ? { value: "", text: `${current} (yours)` } : { value: current, text: current },
        ...(presets.data?.data ?? [])
          .filter(({ can_be_given: isAllowed, name }) => isAllowed && name !== current)
          .map(({ name }) => ({ value: name, text: name })),
      ]}
    />
  );
}
