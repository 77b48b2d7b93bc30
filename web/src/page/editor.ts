/* The scene as text: YAML with the engine's own errors at their lines, completion and help from the
 * field tables. */
import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { FieldTables } from "../source/source";
import { fieldsAt, pathAt } from "./yaml_path";

const colors = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "#7cc7ff" },
  { tag: tags.propertyName, color: "#7cc7ff" },
  { tag: tags.comment, color: "#6f8199", fontStyle: "italic" },
  { tag: tags.string, color: "#a5e3a0" },
  { tag: tags.number, color: "#ffb86b" },
  { tag: tags.content, color: "#e3e9f2" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "#8fa3bd" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", backgroundColor: "transparent", color: "#e3e9f2" },
  ".cm-content": { fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace", caretColor: "#fff" },
  ".cm-gutters": { backgroundColor: "transparent", color: "#54657c", border: "none" },
  ".cm-activeLine": { backgroundColor: "rgba(120,160,220,0.07)" },
  ".cm-cursor": { borderLeftColor: "#fff" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "rgba(76,160,255,0.28) !important" },
  ".cm-tooltip": { backgroundColor: "#1a2331", color: "#e3e9f2", border: "1px solid #33435a", borderRadius: "8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "#2463a8", color: "#fff" },
  ".cm-completionInfo": { maxWidth: "320px", padding: "6px 9px" },
  ".cm-diagnostic-error": { borderLeft: "3px solid #ff6b6b" },
}, { dark: true });

export class Editor {
  private readonly view: EditorView;
  private tables: FieldTables = {};

  constructor(parent: HTMLElement, run: () => void) {
    const complete = (c: CompletionContext) => this.complete(c);
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(), lintGutter(), history(), highlightActiveLine(), bracketMatching(), indentUnit.of("  "), yaml(),
          syntaxHighlighting(colors), theme, autocompletion({ override: [complete] }), EditorView.lineWrapping,
          keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }, ...completionKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": "scene as YAML" }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.mark(null);
  }

  know(tables: FieldTables): void {
    this.tables = tables;
  }

  /* Marks where a message belongs; null: all is well. */
  mark(error: { message: string; line?: number; column?: number } | null): void {
    const doc = this.view.state.doc, line = doc.line(Math.min(Math.max(error?.line ?? 1, 1), doc.lines));
    const from = Math.min(line.from + Math.max((error?.column ?? 1) - 1, 0), line.to);
    const found = error ? [{ from, to: Math.max(line.to, from), severity: "error" as const, message: error.message }] : [];
    this.view.dispatch(setDiagnostics(this.view.state, found));
    if (error?.line) this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }

  private complete(c: CompletionContext): CompletionResult | null {
    const word = c.matchBefore(/[\w.#-]*/)!;
    if (word.from === word.to && !c.explicit) return null;
    const before = c.state.sliceDoc(0, word.from), place = pathAt(before);
    const fields = fieldsAt(this.tables, place.path, c.state.doc.toString());
    if (place.key) {
      const f = fields.find((x) => x.name === place.key);
      const words = f?.choices ?? (f?.type === "flag" ? ["true", "false"] : null);
      return words && { from: word.from, options: words.map((w) => ({ label: w, type: "enum" })) };
    }
    return {
      from: word.from,
      options: fields.map((f) => ({
        label: f.name, apply: `${f.name}: `, type: "property", boost: f.required ? 1 : 0,
        detail: [f.unit, f.required ? "required" : ""].filter(Boolean).join(", "), info: f.help,
      })),
    };
  }
}
