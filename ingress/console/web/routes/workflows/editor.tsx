/** Editor of a definition as JSON. Faults are marked at their line. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, Transaction } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import type { Place } from "./places.ts";

export interface TextFault {
  readonly place: Place;
  readonly message: string;
}

const THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--t-sm)", color: "var(--text)", backgroundColor: "var(--well)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65" },
  ".cm-gutters": { backgroundColor: "var(--well)", color: "var(--text-3)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  // The host draws the ring, because the gutter and the active line would cover one of the editor.
  "&.cm-focused": { outline: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selected)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--r-md)",
    color: "var(--text)",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--selected)", color: "inherit" },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--hover)",
    border: "1px solid var(--line-strong)",
    color: "var(--text-2)",
  },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "light-dark(#0b6580, #62c6de)" },
  { tag: tags.string, color: "light-dark(#1a6b3c, #7fd6a2)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#7a4a00, #e9b04c)" },
]);

export function DefinitionEditor({
  text,
  faults,
  isReadOnly,
  onInput,
}: {
  readonly text: string;
  readonly faults: readonly TextFault[];
  readonly isReadOnly: boolean;
  readonly onInput: (text: string) => void;
}): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(onInput);
  latest.current = onInput;
  useEffect(() => {
    if (host.current === null) return undefined;
    // In a shadow root, CodeMirror adopts style sheets. In the page it would add a style element, which the CSP forbids.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          highlightSpecialChars(),
          foldGutter(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          json(),
          syntaxHighlighting(COLOURS),
          THEME,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Definition as JSON", tabindex: "0" }),
          EditorState.readOnly.of(isReadOnly),
          keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
          EditorView.updateListener.of((update) => {
            const isTyped = !update.transactions.some((one) => one.annotation(Transaction.remote));
            if (update.docChanged && isTyped) latest.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [isReadOnly]);
  // Before the next key: later, the text of this render would replace what was typed since.
  useLayoutEffect(() => {
    const editor = view.current;
    // A text from elsewhere, such as a restored version.
    if (editor === undefined || editor.state.doc.toString() === text) return;
    const changes = { from: 0, to: editor.state.doc.length, insert: text };
    editor.dispatch({ changes, annotations: Transaction.remote.of(true) });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const end = editor.state.doc.length;
    const marks = faults.map(({ place: { from, to }, message }) => ({
      from: Math.min(from, end),
      to: Math.min(to, end),
      message,
      severity: "error" as const,
    }));
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [faults, isReadOnly]);
  return <div class="editor" ref={host} />;
}
