/** Values of a form, its submission, and the error of the last submission. */
import { type Dispatch, useState } from "preact/hooks";

import type { ApiFault } from "../api/client.ts";
import { type Action, useAction } from "../api/query.ts";

/** Properties of a field for one value of a form. */
interface Bound<Value> {
  readonly value: Value;
  readonly onInput: Dispatch<Value>;
  readonly param: string;
  readonly fault: ApiFault | undefined;
}

export interface Form<Values> extends Action<void> {
  readonly values: Values;
  readonly set: (changes: Partial<Values>) => void;
  /** Connects a field with a value. @param param parameter of the API that the value sets. Default: the name of the value */
  readonly bind: <Name extends keyof Values & string>(name: Name, param?: string) => Bound<Values[Name]>;
}

/** Properties of a dialog with a form. */
export interface DialogProps<Result = unknown> {
  readonly onClose: () => void;
  /** Receives the result of the submission after the dialog was closed. */
  readonly onSaved: (result: Result) => void;
}

/** @param dialog dialog of the form, which is closed after a successful submission */
export function useForm<Values extends object, Result>(
  initial: Values,
  submit: (values: Values) => Promise<Result>,
  dialog?: DialogProps<Result>,
): Form<Values> {
  const [values, setValues] = useState(initial);
  const action = useAction(async () => {
    const result = await submit(values);
    dialog?.onClose();
    dialog?.onSaved(result);
  });
  const set = (changes: Partial<Values>): void => setValues((before) => ({ ...before, ...changes }));
  return {
    ...action,
    values,
    set,
    bind: (name, param = name) => ({
      value: values[name],
      onInput: (value) => set({ [name]: value } as unknown as Partial<Values>),
      param,
      fault: action.fault,
    }),
  };
}
