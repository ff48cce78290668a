/** Filters of a list. They are the query of the page's URL, so that a link shows the same rows. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

import { keyNames, NAMES_MAX } from "../api/names.ts";
import { Button, type Choice, choicesOf } from "./form.tsx";
import { localText, zonedTime } from "./format.ts";
import { Icon } from "./icon.tsx";

export interface UrlQuery {
  /** Value of a query parameter; "" if it is absent. */
  readonly get: (name: string) => string;
  /** Changes parameters of the URL. "" removes a parameter. */
  readonly set: (changes: Readonly<Record<string, string>>) => void;
  /** The whole query as text, which identifies the shown list. */
  readonly text: string;
}

export function useUrlQuery(): UrlQuery {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const query = new URLSearchParams(search);
  return {
    get: (name) => query.get(name) ?? "",
    set: (changes) => {
      const next = new URLSearchParams(search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === "") next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      navigate(text === "" ? path : `${path}?${text}`, { replace: true });
    },
    text: search,
  };
}

export interface Filter {
  /** Name of the query parameter. */
  readonly name: string;
  readonly label: string;
  /** Values to choose from. Absent: any text. */
  readonly choices?: readonly Choice[];
  /** Suggestions for a free text. */
  readonly suggestions?: readonly string[];
  /** Returns the text that becomes part of the URL. Absent: the entered text without blanks at its ends. */
  readonly urlText?: (text: string) => string;
  /** True for a time. The URL contains the instant, and the field shows it in the chosen zone. */
  readonly isTime?: boolean;
  /** True for a filter that is always shown and cannot be removed. Its first choice is the default. */
  readonly isFixed?: boolean;
}

/** Filter by a key: a choice of names, or any id if the workspace has more keys than are listed. */
export function keyFilter(): Filter {
  const keys = choicesOf(Object.fromEntries(keyNames.value));
  const isChoice = keys.length > 0 && keys.length < NAMES_MAX;
  return { name: "key_id", label: "Key", ...(isChoice ? { choices: keys } : {}) };
}

/** Bar with a chip for each active filter, and a button that adds one. */
export function FilterBar({
  filters,
  query,
}: {
  readonly filters: readonly Filter[];
  readonly query: UrlQuery;
}): JSX.Element {
  const [added, setAdded] = useState<readonly string[]>([]);
  const shown = filters.filter(
    ({ name, isFixed }) => isFixed === true || query.get(name) !== "" || added.includes(name),
  );
  const others = filters.filter((filter) => !shown.includes(filter));
  const remove = (name: string): void => {
    setAdded(added.filter((one) => one !== name));
    query.set({ [name]: "" });
  };
  const removable = shown.filter(({ isFixed }) => isFixed !== true);
  return (
    <div class="filters">
      {shown.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          value={query.get(filter.name) || (filter.isFixed === true ? (filter.choices?.[0]?.value ?? "") : "")}
          isNew={added.includes(filter.name)}
          set={(value) => query.set({ [filter.name]: value })}
          remove={() => remove(filter.name)}
        />
      ))}
      {others.length === 0 ? null : (
        <span class="chip add">
          <select
            aria-label="Add filter"
            value=""
            onChange={(event) => {
              setAdded([...added, event.currentTarget.value]);
              event.currentTarget.value = "";
            }}
          >
            <option value="">+ Filter</option>
            {others.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </span>
      )}
      {removable.length < 2 ? null : (
        <Button
          kind="quiet"
          small
          onClick={() => {
            setAdded([]);
            query.set(Object.fromEntries(removable.map(({ name }) => [name, ""])));
          }}
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}

function Chip({
  filter: { label, choices, suggestions, urlText = String, isTime, isFixed, name },
  value,
  isNew,
  set,
  remove,
}: {
  readonly filter: Filter;
  readonly value: string;
  readonly isNew: boolean;
  readonly set: (value: string) => void;
  readonly remove: () => void;
}): JSX.Element {
  const listId = `filter-${name}`;
  return (
    <span class="chip">
      <label class="of" for={`${listId}-value`}>
        {label}
      </label>
      {choices === undefined ? (
        <input
          id={`${listId}-value`}
          {...({ type: isTime === true ? "datetime-local" : "text" } as { readonly type: "text" })}
          value={isTime === true ? localText(value) : value}
          placeholder="Any"
          autofocus={isNew && value === ""}
          list={suggestions === undefined ? undefined : listId}
          onChange={(event) => {
            const text = event.currentTarget.value.trim();
            set(isTime === true && text !== "" ? zonedTime(`${text}:00`).toISOString() : urlText(text));
          }}
        />
      ) : (
        <select id={`${listId}-value`} value={value} onChange={(event) => set(event.currentTarget.value)}>
          {isFixed === true ? null : <option value="">Any</option>}
          {isFixed === true || value === "" || choices.some((choice) => choice.value === value) ? null : (
            <option value={value} selected>
              {value}
            </option>
          )}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value} selected={choice.value === value}>
              {choice.text}
            </option>
          ))}
        </select>
      )}
      {suggestions === undefined ? null : (
        <datalist id={listId}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {isFixed === true ? null : (
        <button type="button" class="x" aria-label={`Remove filter ${label}`} onClick={remove}>
          <Icon name="x" small />
        </button>
      )}
    </span>
  );
}
